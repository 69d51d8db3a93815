// SPDX-License-Identifier: Apache-2.0
#include "core/base/linked_queue.h"

#include <gtest/gtest.h>

#include <memory>

namespace asr {
namespace {

struct Item {
  explicit Item(int n) : number(n) {}
  int number;
  std::shared_ptr<Item> next, next_of_other;
};
using Queue = LinkedQueue<std::shared_ptr<Item>, &Item::next>;

TEST(LinkedQueue, GivesWhatCameFirst) {
  Queue queue;
  EXPECT_EQ(queue.pop(), nullptr);
  EXPECT_EQ(queue.last(), nullptr);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 3; ++i) queue.push(std::make_shared<Item>(i));
    EXPECT_EQ(queue.size(), 3u);
    EXPECT_EQ(queue.last()->number, 2);
    for (int i = 0; i < 3; ++i) {
      const std::shared_ptr<Item> item = queue.pop();
      EXPECT_EQ(item->number, i);
      EXPECT_EQ(item->next, nullptr);
    }
    EXPECT_TRUE(queue.empty());
  }
}

TEST(LinkedQueue, AnObjectMayBeInTwo) {
  Queue queue;
  LinkedQueue<std::shared_ptr<Item>, &Item::next_of_other> other;
  const auto first = std::make_shared<Item>(1), second = std::make_shared<Item>(2);
  queue.push(first), queue.push(second);
  other.push(second), other.push(first);
  EXPECT_EQ(queue.pop(), first);
  EXPECT_EQ(other.pop(), second);
  EXPECT_EQ(queue.pop(), second);
  EXPECT_EQ(other.pop(), first);
}

TEST(LinkedQueue, ALongOneIsFreedWithoutRecursion) {
  std::weak_ptr<Item> last;
  {
    Queue queue;
    for (int i = 0; i < 1000000; ++i) {
      auto item = std::make_shared<Item>(i);
      last = item;
      queue.push(std::move(item));
    }
  }
  EXPECT_TRUE(last.expired());
}

}  // namespace
}  // namespace asr
