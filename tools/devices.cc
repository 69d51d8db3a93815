// SPDX-License-Identifier: Apache-2.0
// Implements `senone devices`: the list of asr_devices, usable devices first, then rejected ones with reasons.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "tools/tool.h"

namespace asr::tool {
namespace {

std::vector<asr_device> devices(const asr_device_list *list) {
  std::vector<asr_device> all(asr_device_list_count(list));
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].size = sizeof(asr_device);
    if (const asr_status status = asr_device_list_get(list, i, &all[i])) fail(status, "%s", asr_last_error());
  }
  return all;
}

bool is_usable(const asr_device &device) { return device.reason[0] == '\0'; }

void print_json(const std::vector<asr_device> &all) {
  auto array = nlohmann::json::array();
  for (const asr_device &device : all) {
    array.push_back({{"id", device.id},
                     {"name", device.name},
                     {"usable", is_usable(device)},
                     {"reason", device.reason},
                     {"score", device.score},
                     {"memory_bytes", device.memory_bytes},
                     {"n_cores", device.n_cores}});
  }
  printf("%s\n", array.dump(2).c_str());
}

void print_table(const std::vector<asr_device> &all) {
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  printf("%-12s %6s %6s %10s  %s\n", "device", "score", "cores", "memory", "name");
  for (const asr_device &device : all) {
    if (!is_usable(device)) continue;
    printf("%-12s %6d %6u %6.1f GiB  %s\n", device.id, device.score, device.n_cores, double(device.memory_bytes) / kGiB,
           device.name);
  }
  for (const asr_device &device : all) {
    if (!is_usable(device)) printf("not used: %s\n", device.reason);
  }
}

void run(bool json) {
  asr_device_list *list = nullptr;
  if (const asr_status status = asr_devices(&list)) fail(status, "%s", asr_last_error());
  const std::unique_ptr<asr_device_list, decltype(&asr_device_list_free)> owner(list, asr_device_list_free);
  if (json) {
    print_json(devices(list));
  } else {
    print_table(devices(list));
  }
}

void add_devices(Command app) {
  Command command = app.command("devices", "List the devices of all back ends, and why others are not used");
  const auto json = std::make_shared<bool>(false);
  command.flag("--json", *json, "Print JSON");
  command.callback([json] { run(*json); });
}

const Subcommand kRegistration{"devices", add_devices};

}  // namespace
}  // namespace asr::tool
