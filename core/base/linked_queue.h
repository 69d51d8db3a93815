// SPDX-License-Identifier: Apache-2.0
// LinkedQueue links objects through a member of their own, so that no operation allocates memory or fails. The engine uses it
// because queued objects must reach their end even when memory is short.
#pragma once

#include <cstddef>
#include <utility>

namespace asr {

// Pointer: std::unique_ptr or std::shared_ptr. Link: pointer to the link member, which is null outside a queue. An object can
// be in as many queues at a time as it has links.
template <typename Pointer, auto Link>
class LinkedQueue {
 public:
  LinkedQueue() = default;
  LinkedQueue(const LinkedQueue &) = delete;
  LinkedQueue &operator=(const LinkedQueue &) = delete;
  ~LinkedQueue() { clear(); }  // one by one: destroying a chain of links would recurse deeply

  bool empty() const noexcept { return first_ == nullptr; }
  size_t size() const noexcept { return size_; }
  auto *last() const noexcept { return last_; }  // nullptr if empty

  void push(Pointer item) noexcept {
    auto *const added = item.get();
    (last_ == nullptr ? first_ : last_->*Link) = std::move(item);
    last_ = added;
    ++size_;
  }

  // Removes and returns the oldest; null if empty.
  Pointer pop() noexcept {
    if (empty()) return nullptr;
    Pointer item = std::move(first_);
    first_ = std::move(item.get()->*Link);
    if (first_ == nullptr) last_ = nullptr;
    --size_;
    return item;
  }

  void clear() noexcept {
    while (!empty()) pop();
  }

 private:
  Pointer first_;
  decltype(std::declval<Pointer>().get()) last_ = nullptr;
  size_t size_ = 0;
};

}  // namespace asr
