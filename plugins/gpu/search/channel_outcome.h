// SPDX-License-Identifier: Apache-2.0
// ChannelOutcome records that a channel consumes no more frames because its beam died or it failed. Each back end's Search is
// derived from it. A failure stays with its channel; other channels of the same advance go on.
#pragma once

#include <atomic>
#include <exception>

namespace asr {

class ChannelOutcome {
 public:
  // Returns true if the channel consumes no more frames.
  bool died() const { return died_; }
  // Ends the channel with a failure; the first one is kept.
  void give_up(std::exception_ptr why) {
    if (!failure_) failure_ = std::move(why);
    died_ = true;
  }
  // Rethrows the channel's failure, if any.
  void check_outcome() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 protected:
  ~ChannelOutcome() = default;
  void die() { died_ = true; }

 private:
  std::exception_ptr failure_;
  std::atomic<bool> died_{false};  // also read while a lattice is made on another thread
};

}  // namespace asr
