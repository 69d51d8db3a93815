// SPDX-License-Identifier: Apache-2.0
// Probes back ends and chooses a device by score and order. A named device never falls back to another one.
#include "core/backend/registry.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>

#include "core/backend/plugin_loader.h"
#include "core/base/error.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/base/printable.h"
#include "core/base/process_wide.h"

namespace asr {
namespace {

constexpr size_t kMaxThreadLocalBytes = 16384;  // limit for a plugin; an error message takes 4096

// Back ends that the first caller loads. They are never destroyed: threads may outlive exit.
class Loaded {
 public:
  const std::vector<Backend> &get(const LoadOptions &options) {
    const HeldLog held;  // other threads wait meanwhile
    const std::lock_guard lock(mutex_);
    if (all_ == nullptr) all_ = new std::vector<Backend>(load_backends(options));
    return *all_;
  }

 private:
  std::mutex mutex_;  // held while code of plugins runs
  const std::vector<Backend> *all_ = nullptr;
};
ProcessWide<Loaded> g_all, g_builtin;

const std::vector<Backend> &process_backends() { return g_all->get(default_load_options()); }

// Returns the linked-in back end alone, so that naming it does not load plugins.
const std::vector<Backend> &builtin_backends() {
  LoadOptions options = default_load_options();
  options.directories.clear();
  options.named = false;
  return g_builtin->get(options);
}

std::string last_error_of(const asr_backend_api *api) {
  const char *text = nullptr;
  const std::string thrown = guarded_call([&] { text = api->last_error(); });
  return thrown.empty() && text && text[0] ? text : "no reason given";
}

DeviceEntry rejected(const std::string &name, const std::string &reason) {
  log(ASR_LOG_WARNING, "back end %s is not used: %s", name.c_str(), reason.c_str());
  DeviceEntry entry;
  entry.id = printable(name);
  entry.reason = printable(reason);
  return entry;
}

// Serialises probes: drivers may initialise in the first call, and some (PoCL) crash if another thread calls meanwhile.
ProcessWide<std::mutex> g_probing;

asr_status call_probe(const Backend &backend, asr_backend_device_info *infos, size_t *n_devices) {
  const std::lock_guard lock(*g_probing);
  set_is_named(backend.named);
  return backend.api->probe(infos, kMaxDevices, n_devices);
}

// The slot that a capability is about.
struct Claim {
  asr_backend_capability capability;
  const char *name, *slot;
  bool (*is_empty)(const asr_backend_api &);
};
constexpr auto kHasNoLattices = [](const asr_backend_api &api) { return api.lattices == nullptr; };
constexpr auto kHasNoSearch = [](const asr_backend_api &api) { return !searches(api); };
constexpr auto kLeavesNothing = [](const asr_backend_api &api) {
  return api.size < offsetof(asr_backend_api, left) + sizeof api.left || api.left == nullptr;
};
constexpr auto kHasNoFeatures = [](const asr_backend_api &api) { return !makes_features(api); };
constexpr Claim kClaims[] = {
    {ASR_BACKEND_LATTICES, "ASR_BACKEND_LATTICES", "lattices", kHasNoLattices},
    {ASR_BACKEND_PIECES, "ASR_BACKEND_PIECES", "advance", kHasNoSearch},
    {ASR_BACKEND_COMMON_PATH, "ASR_BACKEND_COMMON_PATH", "advance", kHasNoSearch},
    {ASR_BACKEND_PACKED_GRAPH, "ASR_BACKEND_PACKED_GRAPH", "load_graph", kHasNoSearch},
    {ASR_BACKEND_OVERLAPS, "ASR_BACKEND_OVERLAPS", "advance", kHasNoSearch},
    {ASR_BACKEND_PATH_PIECES, "ASR_BACKEND_PATH_PIECES", "best_paths", kHasNoSearch},
    {ASR_BACKEND_LEAVES, "ASR_BACKEND_LEAVES", "left", kLeavesNothing},
    {ASR_BACKEND_PLP, "ASR_BACKEND_PLP", "load_features", kHasNoFeatures},
};

// Returns why a device cannot be used; "" if it can.
std::string why_unusable(const asr_backend_api &api, const asr_backend_device_info &info) {
  if (info.score <= 0) return "the back end cannot use this device";
  for (const Claim &claim : kClaims) {
    if ((info.capabilities & claim.capability) == 0 || !claim.is_empty(api)) continue;
    return format("slot \"%s\" of its back end is NULL, but the device has %s", claim.slot, claim.name);
  }
  return "";
}

// Returns the devices of a back end, or one entry with the reason for having none.
std::vector<DeviceEntry> probe(const Backend &backend) {
  if (!backend.api) return {rejected(backend.name, backend.reason)};
  asr_backend_device_info infos[kMaxDevices] = {};
  for (auto &info : infos) info.size = sizeof(info);
  size_t n_devices = 0;
  asr_status status = ASR_OK;
  const std::string thrown = guarded_call([&] { status = call_probe(backend, infos, &n_devices); });
  if (!thrown.empty()) return {rejected(backend.name, backend.name + ": its probe " + thrown)};
  if (status != ASR_OK || n_devices == 0) {
    return {rejected(backend.name, backend.name + ": " + last_error_of(backend.api))};
  }

  std::vector<DeviceEntry> entries;
  for (size_t i = 0; i < std::min(n_devices, kMaxDevices); ++i) {
    DeviceEntry entry;
    entry.id = backend.name + ":" + std::to_string(i);
    entry.info = infos[i];
    const size_t n_name = strnlen(infos[i].name, sizeof(infos[i].name) - 1);
    print_into(entry.info.name, sizeof(entry.info.name), {infos[i].name, n_name});
    entry.api = backend.api;
    entry.index = uint32_t(i);
    const std::string reason = why_unusable(*backend.api, entry.info);
    if (!reason.empty()) entry = rejected(entry.id, entry.id + ": " + reason);
    entries.push_back(entry);
  }
  return entries;
}

bool is_usable(const DeviceEntry &entry) { return entry.api != nullptr; }

std::string back_end_of(const std::string &id) { return id.substr(0, id.find(':')); }

// Example: "usable here: cuda:0 (NVIDIA H200), cpu:0 (...)".
std::string usable_devices(const std::vector<DeviceEntry> &entries) {
  std::string list;
  for (const DeviceEntry &entry : entries) {
    if (is_usable(entry)) list += (list.empty() ? "" : ", ") + entry.id + " (" + entry.info.name + ")";
  }
  return list.empty() ? "no device is usable here" : "usable here: " + list;
}

[[noreturn]] void fail_without_device(const std::vector<DeviceEntry> &entries) {
  std::string reasons;
  for (const DeviceEntry &entry : entries) reasons += (reasons.empty() ? "" : "; ") + entry.reason;
  fail(ASR_NO_DEVICE, "no device is usable: %s", reasons.empty() ? "no back end was found" : reasons.c_str());
}

[[noreturn]] void fail_for_named(const std::vector<DeviceEntry> &entries, const std::string &source,
                                 const std::string &wanted) {
  std::string reason;
  size_t n_devices = 0;
  for (const DeviceEntry &entry : entries) {
    const bool same_back_end = back_end_of(entry.id) == back_end_of(wanted);
    n_devices += same_back_end && is_usable(entry);
    if (same_back_end && !is_usable(entry) && (reason.empty() || entry.id == wanted)) reason = entry.reason;
  }
  if (n_devices > 0 && reason.empty()) reason = format("back end %s has no such device", back_end_of(wanted).c_str());
  if (reason.empty()) reason = format("no back end \"%s\" was found", back_end_of(wanted).c_str());
  fail(ASR_NO_DEVICE, "%s \"%s\": %s; %s", source.c_str(), wanted.c_str(), reason.c_str(), usable_devices(entries).c_str());
}

// Probes only the named back end: others may be slow.
std::optional<DeviceEntry> find_named(const std::vector<Backend> &backends, const std::string &wanted) {
  std::vector<Backend> named;
  for (const Backend &backend : backends) {
    if (backend.name == back_end_of(wanted)) named.push_back(backend);
  }
  for (Backend &backend : named) backend.named = true;
  for (const DeviceEntry &entry : list_devices(named)) {
    const bool is_wanted = wanted.find(':') == std::string::npos || entry.id == wanted;
    if (is_usable(entry) && is_wanted) return entry;
  }
  return std::nullopt;
}

// Chooses among all back ends of the process.
DeviceEntry choose_named(const std::string &wanted, const char *source) {
  if (const std::optional<DeviceEntry> entry = find_named(builtin_backends(), wanted)) return *entry;
  return choose_device(process_backends(), wanted, source);
}

}  // namespace

std::vector<DeviceEntry> list_devices(const std::vector<Backend> &backends) {
  std::vector<DeviceEntry> entries;
  for (const Backend &backend : backends) {
    for (DeviceEntry &entry : probe(backend)) entries.push_back(std::move(entry));
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const DeviceEntry &a, const DeviceEntry &b) { return a.info.score > b.info.score; });
  return entries;
}

DeviceEntry choose_device(const std::vector<Backend> &backends, const std::string &wanted, const std::string &source) {
  if (wanted.empty()) {
    const auto entries = list_devices(backends);
    if (entries.empty() || !is_usable(entries.front())) fail_without_device(entries);
    return entries.front();
  }
  if (const std::optional<DeviceEntry> entry = find_named(backends, wanted)) return *entry;
  fail_for_named(list_devices(backends), source, wanted);
}

std::vector<DeviceEntry> list_devices() {
  std::vector<Backend> backends = process_backends();
  const char *variable = secure_getenv("SENONE_DEVICE");
  for (Backend &backend : backends) backend.named |= variable != nullptr && backend.name == back_end_of(variable);
  return list_devices(backends);
}

DeviceEntry choose_device(const std::string &wanted, const char *source) {
  if (!wanted.empty()) return choose_named(wanted, source);
  const char *variable = secure_getenv("SENONE_DEVICE");
  if (variable != nullptr && variable[0] != '\0') return choose_named(variable, "SENONE_DEVICE");
  return choose_device(process_backends(), "", "");
}

std::vector<DeviceEntry> candidate_devices(const std::string &wanted) {
  if (!wanted.empty() || secure_getenv("SENONE_DEVICE") != nullptr) return {choose_device(wanted)};
  std::vector<DeviceEntry> candidates = list_devices();
  candidates.erase(std::find_if_not(candidates.begin(), candidates.end(), is_usable), candidates.end());
  if (candidates.empty()) candidates.push_back(choose_device(wanted));  // throws with the reason
  return candidates;
}

Device::Device(const DeviceEntry &entry, const asr_backend_options &options) : entry_(entry) { open(options); }

Device::Device(const std::vector<DeviceEntry> &candidates, const asr_backend_options &options) {
  for (size_t i = 0; i < candidates.size() && device_ == nullptr; ++i) {
    entry_ = candidates[i];
    try {
      open(options);
    } catch (const Error &error) {
      if (i + 1 == candidates.size()) throw;
      log(ASR_LOG_WARNING, "%s; trying %s", error.what(), candidates[i + 1].id.c_str());
    }
  }
}

void Device::open(const asr_backend_options &options) {
  begin_thread();
  asr_status status = ASR_OK;
  const std::string thrown = guarded_call([&] { status = entry_.api->open(entry_.index, &options, &device_); });
  if (!thrown.empty()) fail(ASR_INTERNAL, "%s: cannot be opened: the back end %s", entry_.id.c_str(), thrown.c_str());
  check(status);
  if (!device_) fail(ASR_INTERNAL, "%s: cannot be opened: the back end gave no device", entry_.id.c_str());
}

Device::~Device() {
  const std::string thrown = guarded_call([&] { entry_.api->close(device_); });
  if (!thrown.empty()) log(ASR_LOG_ERROR, "%s: closing the device %s", entry_.id.c_str(), thrown.c_str());
}

// The first use of a plugin's thread-local data allocates them, and the C library ends the process if it cannot. An allocation
// of more bytes, given back at once, shows that this one will succeed.
void Device::begin_thread() const {
  ::operator delete(::operator new(kMaxThreadLocalBytes));  // no new expression, which the compiler might leave out
  guarded_call([this] { entry_.api->last_error(); });
}

void Device::require_search() const {
  if (searches(*api())) return;
  fail(ASR_UNSUPPORTED, "%s: its back end does not search; choose another device, such as cpu", entry_.id.c_str());
}

asr_backend_features *Device::load_features(const asr_features_view &view) const {
  if (!makes_features(*api())) {
    fail(ASR_UNSUPPORTED, "%s: its back end makes no features; choose another device, such as cpu", entry_.id.c_str());
  }
  if (view.lpc_order > 0 && !has(ASR_BACKEND_PLP)) {
    fail(ASR_UNSUPPORTED, "%s: does not compute PLP, which the model's features are; choose another device, such as cpu",
         entry_.id.c_str());
  }
  asr_backend_features *features = nullptr;
  const asr_status status = api()->load_features(device_, &view, &features);
  return made(status, features, "load_features");
}

// A status above 0 is none of asr.h, and would pass for a success.
void Device::check(asr_status status) const {
  if (status != ASR_OK) throw Error(status < 0 ? status : ASR_INTERNAL, entry_.id + ": " + last_error_of(entry_.api));
}

void Device::fail_without_object(const char *slot) const {
  fail(ASR_INTERNAL, "%s: slot \"%s\" of its back end returned ASR_OK, but made no object", entry_.id.c_str(), slot);
}

}  // namespace asr
