// SPDX-License-Identifier: Apache-2.0
// Whether a channel still consumes frames, and if not why: its beam died, or it failed. Each back end's Search is derived from
// it; a failure stays with its channel, and others of the same advance go on.
#pragma once

#include <atomic>
#include <exception>

namespace asr {

class ChannelOutcome {
 public:
  // Nothing is consumed any more.
  bool died() const { return died_; }
  // Why nothing can be consumed any more; the first reason stays.
  void give_up(std::exception_ptr why) {
    if (!failure_) failure_ = std::move(why);
    died_ = true;
  }
  // Throws why the channel gave up, if it did.
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
