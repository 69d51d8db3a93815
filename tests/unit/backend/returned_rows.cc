// SPDX-License-Identifier: Apache-2.0
// Tests which rows of steps are delivered when, on a device whose copies are done when they are awaited.
#include "plugins/gpu/signals/returned_rows.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "core/base/error.h"

namespace asr {
namespace {

using Floats = std::vector<float>;

struct Copies {
  std::vector<std::function<void()>> waiting;
  void finish() {
    for (const auto &copy : waiting) copy();
    waiting.clear();
  }
};

// A mark waits for all copies before it, as they are in order.
struct Event {
  Copies *copies = nullptr;
  bool *fails = nullptr;
  void wait() const {
    if (fails != nullptr && *fails) fail(ASR_DEVICE_LOST, "lost for this test");
    if (copies != nullptr) copies->finish();
  }
};

struct FakeRuntime {
  template <typename T>
  struct PinnedArray {
    std::vector<T> values;
    void reserve(size_t n) { values.resize(std::max(n, values.size())); }
    T *data() { return values.data(); }
  };
  struct Queue {
    Copies copies;
    bool fails = false;
    void read(const std::vector<float> &from, size_t first, float *to, size_t n) {
      const std::vector<float> values(from.begin() + static_cast<ptrdiff_t>(first),
                                      from.begin() + static_cast<ptrdiff_t>(first + n));
      copies.waiting.emplace_back([values, to] { std::copy(values.begin(), values.end(), to); });
    }
    void mark(Event *event) { *event = {&copies, &fails}; }
    void finish() { copies.finish(); }
  };
};

struct FakeDevice {
  using Event = asr::Event;
  FakeRuntime::Queue queue;
  FakeRuntime::Queue &compute() { return queue; }
  static std::unique_ptr<FakeRuntime::PinnedArray<float>> new_pinned() {
    return std::make_unique<FakeRuntime::PinnedArray<float>>();
  }
};

TEST(ReturnedRows, ThoseBeforeAnAwaitedAdvance) {
  FakeDevice device;
  ReturnedRows<FakeDevice> rows(device);
  std::vector<float> to(6, -1);
  rows.start(Floats{1, 2, 9}, {{&to[0], 1}, {&to[1], 1}}, 2);  // neighbours in the array, each with its destination
  rows.note_advance();
  rows.start(Floats{3}, {{&to[2], 1}}, 1);
  rows.start(Floats{4}, {{&to[3], 1}}, 1);
  rows.deliver(1);  // the only advance may be running
  EXPECT_EQ(to, (std::vector<float>{-1, -1, -1, -1, -1, -1}));
  rows.note_advance();
  rows.deliver(1);
  EXPECT_EQ(to, (std::vector<float>{1, 2, -1, -1, -1, -1}));
  rows.start(Floats{5}, {{&to[4], 1}}, 1);
  rows.note_advance();
  rows.deliver(1);
  EXPECT_EQ(to, (std::vector<float>{1, 2, 3, 4, -1, -1}));
  to[2] = 7;
  rows.start(Floats{6}, {{&to[5], 1}}, 1);
  rows.deliver(0);
  EXPECT_EQ(to, (std::vector<float>{1, 2, 7, 4, 5, 6}));  // each once
}

TEST(ReturnedRows, NoneAfterAFailure) {
  FakeDevice device;
  ReturnedRows<FakeDevice> rows(device);
  std::vector<float> to(3, -1);
  rows.start(Floats{1}, {{&to[0], 1}}, 1);
  rows.start(Floats{2}, {{&to[1], 1}}, 1);
  device.queue.fails = true;
  EXPECT_THROW(rows.deliver(0), Error);
  device.queue.fails = false;
  rows.start(Floats{3}, {{&to[2], 1}}, 1);
  rows.deliver(0);
  EXPECT_EQ(to, (std::vector<float>{-1, -1, 3}));
}

}  // namespace
}  // namespace asr
