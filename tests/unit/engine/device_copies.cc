// SPDX-License-Identifier: Apache-2.0
// Objects of a device: who frees them, and when. The device is a list of what was freed.
#include "core/engine/device_copies.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace asr {
namespace {

std::vector<std::string> g_freed;

struct Object {
  std::string name;
};

BackendPointer<Object> new_object(const std::string &name) {
  return {new Object{name}, [](Object *object) {
            g_freed.push_back(object->name);
            delete object;
          }};
}

using Names = std::vector<std::string>;

class DeviceCopiesTest : public testing::Test {
 protected:
  DeviceCopiesTest() { g_freed.clear(); }
};

TEST_F(DeviceCopiesTest, AnObjectIsFreedByTheDevicesThreadAndItsUserWakesThat) {
  int n_wakes = 0;
  DeviceObjects device;
  device.set_wake([&] { ++n_wakes; });
  std::shared_ptr<Object> graph = device.hold(new_object("graph"), nullptr);
  EXPECT_EQ(graph->name, "graph");
  device.free_unused();
  EXPECT_EQ(n_wakes, 0);
  graph.reset();
  EXPECT_EQ(n_wakes, 1);
  EXPECT_EQ(g_freed, Names{});
  device.free_unused();
  EXPECT_EQ(g_freed, Names{"graph"});
}

TEST_F(DeviceCopiesTest, AChannelIsFreedBeforeItsGraph) {
  DeviceObjects device;
  std::shared_ptr<Object> graph = device.hold(new_object("graph"), nullptr);
  std::shared_ptr<Object> channel = device.hold(new_object("channel"), graph);
  graph.reset();
  device.free_unused();
  EXPECT_EQ(g_freed, Names{});  // the channel has the graph
  channel.reset();
  device.free_unused();
  EXPECT_EQ(g_freed, (Names{"channel", "graph"}));
}

TEST_F(DeviceCopiesTest, WhatIsStillUsedGoesWithTheDevice) {
  std::shared_ptr<Object> graph, channel;
  int n_wakes = 0;
  {
    DeviceObjects device;
    device.set_wake([&] { ++n_wakes; });
    graph = device.hold(new_object("graph"), nullptr);
    channel = device.hold(new_object("channel"), graph);
  }
  EXPECT_EQ(g_freed, (Names{"channel", "graph"}));
  channel.reset();
  graph.reset();
  EXPECT_EQ(n_wakes, 0);
  EXPECT_EQ(g_freed.size(), 2u);
}

TEST_F(DeviceCopiesTest, ACopyIsLoadedOnceForEachDevice) {
  DeviceCopies<std::shared_ptr<Object>> copies;
  int n_loads = 0;
  const auto on = [&](DeviceObjects *device) {
    return copies.on(*device, [&] {
      ++n_loads;
      return device->hold(new_object(std::to_string(n_loads)), nullptr);
    });
  };
  DeviceObjects first;
  {
    DeviceObjects second;
    EXPECT_EQ(on(&first)->name, "1");
    EXPECT_EQ(on(&second)->name, "2");
    EXPECT_EQ(on(&first)->name, "1");
  }
  EXPECT_EQ(g_freed, Names{"2"});
  DeviceObjects third;
  EXPECT_EQ(on(&third)->name, "3");
  EXPECT_EQ(on(&first)->name, "1");
}

TEST_F(DeviceCopiesTest, AFailedLoadLeavesNothing) {
  DeviceCopies<std::shared_ptr<Object>> copies;
  DeviceObjects device;
  EXPECT_THROW(copies.on(device, []() -> std::shared_ptr<Object> { throw 1; }), int);
  EXPECT_EQ(copies.on(device, [&] { return device.hold(new_object("graph"), nullptr); })->name, "graph");
}

}  // namespace
}  // namespace asr
