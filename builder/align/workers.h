// SPDX-License-Identifier: Apache-2.0
// Workers keeps what threads align with: one object for each thread that has been at work at once. Any thread may call it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace asr {

template <typename Worker>
class Workers {
 public:
  // Makes the first one at once: loading a model takes more memory for a moment than what follows, and time.
  explicit Workers(std::function<std::unique_ptr<Worker>()> make) : make_(std::move(make)) { give_back(make_()); }

  std::unique_ptr<Worker> take() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<Worker> last = std::move(idle_.back());
        idle_.pop_back();
        return last;
      }
    }
    return make_();
  }

  void give_back(std::unique_ptr<Worker> worker) {
    const std::lock_guard<std::mutex> lock(mutex_);
    idle_.push_back(std::move(worker));
  }

 private:
  const std::function<std::unique_ptr<Worker>()> make_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> idle_;
};

}  // namespace asr
