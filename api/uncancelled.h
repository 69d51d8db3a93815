// SPDX-License-Identifier: Apache-2.0
// Calls of the C ABI are not cancelled: pthread_cancel acts on the calling thread after they have returned. An unwinding in
// their middle would end the process where it meets a noexcept function.
#pragma once

#include <pthread.h>

namespace asr::api {

class Uncancelled {
 public:
  Uncancelled() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state_); }
  ~Uncancelled() { pthread_setcancelstate(state_, nullptr); }
  Uncancelled(const Uncancelled &) = delete;
  Uncancelled &operator=(const Uncancelled &) = delete;

 private:
  int state_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace asr::api
