// SPDX-License-Identifier: Apache-2.0
// A queue of objects that hold their own link, so that no operation allocates memory or fails. The engine's queues are of this
// kind: where memory is short, what they hold must still reach its end.
#pragma once

#include <cstddef>
#include <utility>

namespace asr {

// Pointer: std::unique_ptr or std::shared_ptr. Link: the pointer-to-member of the link, which is null outside a queue. An
// object may be in as many queues at a time as it has links.
template <typename Pointer, auto Link>
class LinkedQueue {
 public:
  LinkedQueue() = default;
  LinkedQueue(const LinkedQueue &) = delete;
  LinkedQueue &operator=(const LinkedQueue &) = delete;
  ~LinkedQueue() { clear(); }  // one by one: a chain of links would end in a deep recursion

  bool empty() const noexcept { return first_ == nullptr; }
  size_t size() const noexcept { return size_; }
  auto *last() const noexcept { return last_; }  // nullptr if empty

  void push(Pointer item) noexcept {
    auto *const added = item.get();
    (last_ == nullptr ? first_ : last_->*Link) = std::move(item);
    last_ = added;
    ++size_;
  }

  // The oldest; null if empty.
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
