// SPDX-License-Identifier: Apache-2.0
// Meters tell a server how far an engine and its streams are behind their input: asr_engine_get_stats, asr_stream_get_stats.
// Any thread may call.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace asr {

// EngineMeter counts what an engine has done. Times are in nanoseconds, as there are no atomic sums of floating-point numbers
// before C++20.
struct EngineMeter {
  std::atomic<int64_t> fed_ns{0}, searched_ns{0}, waiting_ns{0}, busy_ns{0};
  std::atomic<uint64_t> n_steps{0}, n_lanes{0};
  std::atomic<uint32_t> n_streams{0};
};

// StreamMeter counts what a stream has done. Positions are in values of its intake.
class StreamMeter {
 public:
  // engine: the meter that has the sums; it must outlive this.
  StreamMeter(EngineMeter *engine, double value_s) : engine_(engine), value_s_(value_s) { ++engine_->n_streams; }
  ~StreamMeter() { close(); }
  StreamMeter(const StreamMeter &) = delete;
  StreamMeter &operator=(const StreamMeter &) = delete;

  struct Positions {
    double fed_s, searched_s;
  };
  Positions positions() const {
    const std::lock_guard lock(mutex_);
    return {seconds(fed_), seconds(searched_)};
  }

  void set_fed(uint64_t position) {
    const std::lock_guard lock(mutex_);
    if (has_ended_ || position <= fed_) return;
    const int64_t more = ns(position) - ns(fed_);
    fed_ = position;
    engine_->fed_ns += more;
    engine_->waiting_ns += more;
  }
  // After the loss of a device the position is an earlier one; what is searched again counts again.
  void set_searched(uint64_t position) {
    const std::lock_guard lock(mutex_);
    if (has_ended_) return;
    if (position > fed_) position = fed_;
    const int64_t more = ns(position) - ns(searched_);
    searched_ = position;
    if (more > 0) engine_->searched_ns += more;
    engine_->waiting_ns -= more;
  }
  void end() {  // nothing waits any more
    const std::lock_guard lock(mutex_);
    if (has_ended_) return;
    engine_->waiting_ns -= ns(fed_) - ns(searched_);
    searched_ = fed_;
    has_ended_ = true;
  }
  void close() {  // the user has left the stream
    end();
    if (!is_closed_.exchange(true)) --engine_->n_streams;
  }

 private:
  double seconds(uint64_t position) const { return static_cast<double>(position) * value_s_; }
  int64_t ns(uint64_t position) const { return static_cast<int64_t>(1e9 * seconds(position)); }

  EngineMeter *const engine_;
  const double value_s_;
  mutable std::mutex mutex_;  // guards the members below
  uint64_t fed_ = 0, searched_ = 0;
  bool has_ended_ = false;
  std::atomic<bool> is_closed_{false};
};

}  // namespace asr
