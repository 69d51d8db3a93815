// SPDX-License-Identifier: Apache-2.0
// Gets the tables of back ends: from the linked-in CPU one and from plugins, the files libsenone_<name>.so of a plugin
// directory. Called by the registry, once a process; plugins stay loaded until it ends.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "core/backend/asr_backend.h"

namespace asr {

struct Backend {
  std::string name;                      // "cuda"
  std::string path;                      // of the plugin; empty for the linked-in back end
  const asr_backend_api *api = nullptr;  // NULL if rejected
  std::string reason;                    // why it was rejected, one sentence; empty if it was not
};

struct LoadOptions {
  std::vector<std::string> directories;  // absolute; searched in this order
  std::vector<std::string> only;         // names to take; empty = all
  bool named = false;                    // SENONE_PLUGIN_PATH names the directories, so that what it lacks is worth a warning
};

// What the environment and the place of this library say: SENONE_PLUGIN_PATH, else the plugin directory beside the library;
// SENONE_PLUGINS. Both are ignored in setuid programs.
LoadOptions default_load_options();

// Returns why a plugin, or a directory of plugins, is skipped: its path is not absolute, it belongs to neither root nor the
// user, or everybody may write to it. "" if it is good or does not exist.
std::string why_untrusted(const std::string &path);

// All back ends, also rejected ones: the linked-in one first, then plugins by directory and name. A directory that is not to be
// trusted is skipped with a warning in the log, and stands in the list like a rejected plugin. Never throws for the sake of a
// bad plugin.
std::vector<Backend> load_backends(const LoadOptions &options);

// One plugin; api == NULL and a reason if it is not usable.
Backend load_plugin(const std::string &path);

// Rejects a back end whose entry function does not keep the contract: abi, size, name, every slot.
void check_backend(asr_backend_entry_fn entry, Backend *backend);

// Calls into a back end, which must not throw; one that does all the same has failed. Returns "" or what was thrown.
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
