// SPDX-License-Identifier: Apache-2.0
// Loads the tables of back ends: the linked-in CPU one, and plugins libsenone_<name>.so of a plugin directory. The registry
// calls it once per process; plugins stay loaded until the process ends.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "core/backend/asr_backend.h"

namespace asr {

struct Backend {
  std::string name;                      // for example "cuda"
  std::string path;                      // path of the plugin; empty for the linked-in back end
  const asr_backend_api *api = nullptr;  // NULL if rejected
  std::string reason;                    // reason of the rejection, one line; empty if accepted
  bool named = false;                    // the user has named it: see asr_host_api.is_named
};

struct LoadOptions {
  std::vector<std::string> directories;  // absolute; searched in this order
  std::vector<std::string> only;         // names of the plugins to load; empty = all
  bool named = false;                    // SENONE_PLUGIN_PATH names the directories, so missing plugins cause a warning
};

// Returns the options from the environment: SENONE_PLUGIN_PATH, else the plugin directory beside the library; SENONE_PLUGINS.
// Setuid programs ignore both variables.
LoadOptions default_load_options();

// Returns why a plugin or a directory of plugins is skipped; "" if it is good or does not exist. Reasons are a relative path,
// an owner other than root or the user, and write permission for everybody or a group (why_others_may_change).
std::string why_untrusted(const std::string &path);

// For root, who must not load what a user exchanges after it was looked at: the path without symbolic links, and who could
// replace that directory by changing one above it; "" if nobody could. Both leave other users' directories alone. They often
// lie in a directory shared with others, as the program itself does.
std::string without_links(const std::string &directory);
std::string why_replaceable(const std::string &directory);

// Returns all back ends, including rejected ones: the linked-in one first, then plugins by directory and name. An untrusted
// directory is skipped with a warning in the log and listed like a rejected plugin. Bad plugins never make it throw.
std::vector<Backend> load_backends(const LoadOptions &options);

// Loads one plugin; an unusable one has api == NULL and a reason. In a child of fork whose parent has loaded plugins all are
// unusable, and none of their code runs.
Backend load_plugin(const std::string &path);

// Sets what asr_host_api.is_named returns. The caller serialises probes.
void set_is_named(bool named);

// Rejects a back end whose entry function breaks the contract: abi, size, name, slots.
void check_backend(asr_backend_entry_fn entry, Backend *backend);

// Calls into a back end. Back ends must not throw; one that does has failed. Returns "" or the exception's text.
template <typename Call>
std::string guarded_call(Call &&call) {
  try {
    call();
    return "";
  } catch (const std::exception &error) {
    return std::string("threw an exception (") + error.what() + ")";
  } catch (...) {
    return "threw an exception";
  }
}

}  // namespace asr
