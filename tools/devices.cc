// SPDX-License-Identifier: Apache-2.0
// Implements `senone devices`: the devices of all back ends, usable ones first, then rejected ones with reasons.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/backend/registry.h"
#include "tools/tool.h"

namespace asr::tool {
namespace {

bool is_usable(const DeviceEntry &device) { return device.reason.empty(); }

// Returns what a device does itself. The CPU does the rest for it.
std::vector<std::string> parts_done_by(const DeviceEntry &device) {
  if (!is_usable(device)) return {};
  std::vector<std::string> parts;
  if (makes_features(*device.api)) parts.emplace_back("features");
  parts.emplace_back("scores");
  if (searches(*device.api)) parts.emplace_back("search");
  return parts;
}

// Returns what to print after the name of a device that leaves a part to the CPU; "" for others.
std::string restriction_of(const DeviceEntry &device) {
  if (makes_features(*device.api) && searches(*device.api)) return "";
  if (makes_features(*device.api)) return ", which makes features and scores; the CPU searches";
  if (searches(*device.api)) return ", which scores and searches; the CPU makes the features";
  return ", which scores; the CPU makes the features and searches";
}

void print_json(const std::vector<DeviceEntry> &all) {
  auto array = nlohmann::json::array();
  for (const DeviceEntry &device : all) {
    array.push_back({{"id", device.id},
                     {"name", device.info.name},
                     {"usable", is_usable(device)},
                     {"does", parts_done_by(device)},
                     {"reason", device.reason},
                     {"score", device.info.score},
                     {"memory_bytes", device.info.memory_bytes},
                     {"n_cores", device.info.n_cores}});
  }
  printf("%s\n", array.dump(2).c_str());
}

void print_table(const std::vector<DeviceEntry> &all) {
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  printf("%-12s %6s %6s %10s  %s\n", "device", "score", "cores", "memory", "name");
  for (const DeviceEntry &device : all) {
    if (!is_usable(device)) continue;
    printf("%-12s %6d %6u %6.1f GiB  %s%s\n", device.id.c_str(), device.info.score, device.info.n_cores,
           double(device.info.memory_bytes) / kGiB, device.info.name, restriction_of(device).c_str());
  }
  for (const DeviceEntry &device : all) {
    if (!is_usable(device)) printf("not used: %s\n", device.reason.c_str());
  }
}

void run(bool json) {
  const std::vector<DeviceEntry> all = list_devices();
  if (json) {
    print_json(all);
  } else {
    print_table(all);
  }
}

void add_devices(Command app) {
  Command command = app.command("devices", "List the devices of all back ends, and why others are not used");
  const auto json = std::make_shared<bool>(false);
  command.flag("--json", *json, "Print JSON");
  command.callback([json] { run(*json); });
}

const Subcommand kDevices{"devices", add_devices};

}  // namespace
}  // namespace asr::tool
