// SPDX-License-Identifier: Apache-2.0
// Loads plugins with dlopen and checks their tables before any use.
#include "core/backend/plugin_loader.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <set>

#include "core/backend/asr_backend_forced.h"
#include "core/backend/asr_backend_fusion.h"
#include "core/backend/asr_backend_signals.h"
#include "core/backend/asr_backend_statistics.h"
#include "core/backend/builtin.h"
#include "core/backend/plugin_file.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/process_wide.h"

namespace asr {
namespace {

constexpr char kFilePrefix[] = "libsenone_";
constexpr char kFileSuffix[] = ".so";

struct Slot {
  const char *name;
  size_t offset;
};
#define SLOT(name) \
  { #name, offsetof(asr_backend_api, name) }
// The slots that every back end has.
constexpr Slot kSlots[] = {
    SLOT(probe),         SLOT(open),  SLOT(close), SLOT(last_error), SLOT(load_acoustic),
    SLOT(free_acoustic), SLOT(score), SLOT(wait),  SLOT(extension),
};
// The slots that a back end may leave out, but only all of a group together. The registry checks those that a device's
// capabilities name.
constexpr Slot kFeatureSlots[] = {SLOT(load_features), SLOT(free_features), SLOT(extract)};
constexpr Slot kSearchSlots[] = {SLOT(load_graph), SLOT(free_graph), SLOT(channel_begin), SLOT(channel_end),
                                 SLOT(advance),    SLOT(best_paths), SLOT(outcome)};
constexpr Slot kLattices = SLOT(lattices);  // may be NULL with the search, too
#undef SLOT
constexpr size_t kMinTableBytes = offsetof(asr_backend_api, extension) + sizeof(asr_backend_api::extension);

// The slots of the extensions that the library calls, if the table is long enough to have them. Those of "bench" may be NULL.
struct ExtensionSlot {
  const char *extension, *name;
  size_t offset;
};
#define SLOT(extension, table, name) \
  { extension, #name, offsetof(table, name) }
constexpr ExtensionSlot kExtensionSlots[] = {
    SLOT(ASR_BACKEND_SIGNALS, asr_backend_signals_api, prepare),
    SLOT(ASR_BACKEND_SIGNALS, asr_backend_signals_api, signal_begin),
    SLOT(ASR_BACKEND_SIGNALS, asr_backend_signals_api, signal_end),
    SLOT(ASR_BACKEND_SIGNALS, asr_backend_signals_api, step),
    SLOT(ASR_BACKEND_SIGNALS, asr_backend_signals_api, set_transform),
    SLOT(ASR_BACKEND_SIGNALS, asr_backend_signals_api, step_with_rows),
    SLOT(ASR_BACKEND_FUSION, asr_backend_fusion_api, fuse),
    SLOT(ASR_BACKEND_STATISTICS, asr_backend_statistics_api, prepare),
    SLOT(ASR_BACKEND_STATISTICS, asr_backend_statistics_api, load_rows),
    SLOT(ASR_BACKEND_STATISTICS, asr_backend_statistics_api, free_rows),
    SLOT(ASR_BACKEND_STATISTICS, asr_backend_statistics_api, sums_begin),
    SLOT(ASR_BACKEND_STATISTICS, asr_backend_statistics_api, sums_end),
    SLOT(ASR_BACKEND_STATISTICS, asr_backend_statistics_api, add),
    SLOT(ASR_BACKEND_STATISTICS, asr_backend_statistics_api, read),
    SLOT(ASR_BACKEND_FORCED, asr_backend_forced_api, load),
    SLOT(ASR_BACKEND_FORCED, asr_backend_forced_api, free),
    SLOT(ASR_BACKEND_FORCED, asr_backend_forced_api, score),
};
#undef SLOT

void host_log(asr_log_level level, const char *message) {
  if (message) log(level, "%s", message);
}

std::atomic<bool> g_is_named{false};

uint32_t host_is_named() { return g_is_named ? 1 : 0; }

constexpr asr_host_api kHost = {sizeof(asr_host_api), host_log, host_is_named};

// Returns the back end's name from a plugin's path: "cuda" for ".../libsenone_cuda.so"; "" for other paths.
std::string name_in_path(const std::string &path) {
  const std::string file = std::filesystem::path(path).filename();
  const size_t prefix = strlen(kFilePrefix), suffix = strlen(kFileSuffix);
  if (file.size() <= prefix + suffix || file.compare(0, prefix, kFilePrefix) != 0) return "";
  if (file.compare(file.size() - suffix, suffix, kFileSuffix) != 0) return "";
  return file.substr(prefix, file.size() - prefix - suffix);
}

// Returns the dynamic loader's last error without the path at its beginning.
std::string loader_error(const std::string &path) {
  const char *text = dlerror();
  std::string error = text ? text : "unknown error";
  if (error.rfind(path + ": ", 0) == 0) error.erase(0, path.size() + 2);
  return error;
}

std::vector<std::string> plugin_files(const std::string &directory) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto &entry : std::filesystem::directory_iterator(directory, error)) {
    if (!name_in_path(entry.path()).empty()) files.push_back(entry.path());
  }
  if (error) log(ASR_LOG_INFO, "plugin directory %s: %s", directory.c_str(), error.message().c_str());
  std::sort(files.begin(), files.end());
  return files;
}

// Warns that a directory of SENONE_PLUGIN_PATH is missing or has no plugins.
void warn_of_nothing(const std::string &directory) {
  std::error_code error;
  const char *what = std::filesystem::exists(directory, error) ? "holds no plugin (libsenone_NAME.so)" : "does not exist";
  log(ASR_LOG_WARNING, "SENONE_PLUGIN_PATH: %s %s; correct the variable, or unset it to use the installed plugins",
      directory.c_str(), what);
}

// Returns why a directory is not searched; "" if it is searched or does not exist. Above the installed one, whoever could
// replace it could replace the library.
std::string why_skipped(const std::string &directory, bool is_named) {
  std::error_code error;
  std::string reason = why_untrusted(directory);
  if (reason.empty() && is_named) reason = why_replaceable(directory);
  const bool is_other = std::filesystem::exists(directory, error) && !std::filesystem::is_directory(directory, error);
  if (reason.empty() && is_other) reason = "is not a directory";
  return reason.empty() ? "" : "plugin directory " + directory + ": is skipped: it " + reason;
}

bool is_wanted(const std::vector<std::string> &only, const std::string &name) {
  return only.empty() || std::find(only.begin(), only.end(), name) != only.end();
}

// Returns the older contract that a plugin serves, of those that refuse this library's; 0 if there is none.
uint32_t older_abi(asr_backend_entry_fn entry) {
  for (uint32_t abi = ASR_BACKEND_ABI - 1; abi > 0; --abi) {
    const asr_backend_api *api = nullptr;
    if (guarded_call([&] { api = entry(abi, &kHost); }).empty() && api != nullptr) return api->abi;
  }
  return 0;
}

std::string wrong_abi(uint32_t abi) {
  const std::string plugin =
      abi == 0 ? "a plugin of another back-end contract" : format("a plugin of back-end contract %u", abi);
  return "is " + plugin +
         format(", but this library has contract %u; build it anew with this library's asr_backend.h, or remove the file",
                ASR_BACKEND_ABI);
}

// Generation of the first process that loaded plugins (process_generation()).
constexpr uint32_t kNone = UINT32_MAX;
std::atomic<uint32_t> g_loading_generation{kNone};

// Returns false in a child of fork whose parent loaded plugins, or had begun to: their drivers must not be called there.
bool may_load_plugins() {
  uint32_t first = kNone;
  return g_loading_generation.compare_exchange_strong(first, process_generation()) || first == process_generation();
}

bool is_null(const void *table, size_t offset) {
  void *function = nullptr;
  memcpy(&function, static_cast<const char *>(table) + offset, sizeof(function));
  return function == nullptr;
}

// Returns why a table with some slots of a group, or with a slot that needs the group, cannot be used; "" if it can.
template <size_t n>
std::string why_incomplete(const asr_backend_api *api, const char *group, const Slot (&slots)[n], const Slot *needs_them) {
  const Slot *missing = nullptr, *present = needs_them != nullptr && !is_null(api, needs_them->offset) ? needs_them : nullptr;
  for (const Slot &slot : slots) {
    const Slot **const first = is_null(api, slot.offset) ? &missing : &present;
    if (*first == nullptr) *first = &slot;
  }
  if (missing == nullptr || present == nullptr) return "";
  return format("slot \"%s\" of its table is NULL, but \"%s\" is not; %s needs all of its slots or none", missing->name,
                present->name, group);
}

}  // namespace

void set_is_named(bool named) { g_is_named = named; }

void check_backend(asr_backend_entry_fn entry, Backend *backend) {
  const std::string where = backend->path.empty() ? backend->name : backend->path;
  const auto reject = [&](const std::string &why) { backend->reason = where + ": " + why; };

  const asr_backend_api *api = nullptr;
  const std::string thrown = guarded_call([&] { api = entry(ASR_BACKEND_ABI, &kHost); });
  if (!thrown.empty()) return reject(thrown + " out of " ASR_BACKEND_ENTRY_NAME);
  if (api == nullptr) return reject(wrong_abi(older_abi(entry)));
  if (api->abi != ASR_BACKEND_ABI) return reject(wrong_abi(api->abi));
  if (api->size < kMinTableBytes) {
    return reject(format("its table has %zu bytes, this library needs %zu; rebuild the plugin", api->size, kMinTableBytes));
  }
  if (!api->name || backend->name != api->name) {
    return reject(format("calls itself \"%s\", but the name of its file says \"%s\"; rename the file",
                         api->name ? api->name : "", backend->name.c_str()));
  }
  for (const Slot &slot : kSlots) {
    if (is_null(api, slot.offset)) return reject(format("slot \"%s\" of its table is NULL", slot.name));
  }
  if (const auto why = why_incomplete(api, "the front end", kFeatureSlots, nullptr); !why.empty()) return reject(why);
  if (const auto why = why_incomplete(api, "the search", kSearchSlots, &kLattices); !why.empty()) return reject(why);
  for (const ExtensionSlot &slot : kExtensionSlots) {
    const void *table = nullptr;
    const std::string threw = guarded_call([&] { table = api->extension(slot.extension); });
    if (!threw.empty()) return reject("its slot \"extension\" " + threw);
    if (table == nullptr || slot.offset + sizeof(void (*)()) > *static_cast<const size_t *>(table)) continue;
    if (is_null(table, slot.offset)) {
      return reject(format("slot \"%s\" of its extension \"%s\" is NULL", slot.name, slot.extension));
    }
  }
  backend->api = api;
}

Backend load_plugin(const std::string &path) {
  Backend backend;
  backend.name = name_in_path(path);
  backend.path = path;
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  if (type != std::filesystem::file_type::regular && type != std::filesystem::file_type::not_found) {
    backend.reason = path + ": cannot be loaded: it is not a regular file";  // opening a pipe would block for ever
    return backend;
  }
  if (const std::string reason = why_untrusted(path); !reason.empty()) {
    backend.reason = path + ": is not loaded: it " + reason;
    return backend;
  }
  if (!is_complete_shared_object(path)) {
    backend.reason = path + ": cannot be loaded: the file is cut short; install it again";
    return backend;
  }
  if (!may_load_plugins()) {
    backend.reason = path +
                     ": is not used in this process, which was forked after its parent had looked for back ends: GPU "
                     "drivers do not survive fork; fork earlier, or start a new program";
    return backend;
  }
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    backend.reason = path + ": cannot be loaded: " + loader_error(path);
    return backend;
  }
  const auto entry = reinterpret_cast<asr_backend_entry_fn>(dlsym(handle, ASR_BACKEND_ENTRY_NAME));
  if (entry) {
    check_backend(entry, &backend);  // a rejected plugin stays loaded, too: it may have started threads
  } else {
    backend.reason = path + ": exports no " ASR_BACKEND_ENTRY_NAME ", so it is not a back end";
    dlclose(handle);
  }
  return backend;
}

std::vector<Backend> load_backends(const LoadOptions &options) {
  std::vector<Backend> all;
  std::set<std::string> loaded;
  const auto add = [&](Backend backend) {
    if (backend.api) {
      loaded.insert(backend.name);
      log(ASR_LOG_INFO, "back end %s: %s", backend.name.c_str(), backend.path.empty() ? "built in" : backend.path.c_str());
    }
    all.push_back(std::move(backend));
  };
  const auto load = [&](Backend backend, const auto &how) {
    if (!is_wanted(options.only, backend.name)) {
      backend.reason = backend.name + ": left out by SENONE_PLUGINS";
    } else if (loaded.count(backend.name) > 0) {
      backend.reason = backend.path + ": a back end \"" + backend.name + "\" is loaded already";
    } else {
      backend = how(std::move(backend));
      backend.named = !options.only.empty();
    }
    add(std::move(backend));
  };

  load({builtin_name(), "", nullptr, ""}, [](Backend backend) {
    check_backend(builtin_entry(), &backend);
    return backend;
  });
  if (options.named && options.directories.empty()) {
    log(ASR_LOG_WARNING, "SENONE_PLUGIN_PATH is empty: no plugin is loaded; unset it to use the installed ones");
  }
  for (const std::string &listed : options.directories) {
    const std::string directory = options.named ? without_links(listed) : listed;
    if (const std::string reason = why_skipped(directory, options.named); !reason.empty()) {
      log(ASR_LOG_WARNING, "%s", reason.c_str());
      all.push_back({directory, directory, nullptr, reason});
      continue;
    }
    const std::vector<std::string> files = plugin_files(directory);
    if (options.named && files.empty()) warn_of_nothing(directory);
    for (const std::string &path : files) {
      load({name_in_path(path), path, nullptr, ""}, [](const Backend &backend) { return load_plugin(backend.path); });
    }
  }
  return all;
}

}  // namespace asr
