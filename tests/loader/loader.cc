// SPDX-License-Identifier: Apache-2.0
// Tests real plugins, good and broken (tests/loader/plugins): each broken one must be rejected with a message, and none may
// disturb the others.
#include <dlfcn.h>
#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/backend/plugin_loader.h"
#include "core/backend/registry.h"
#include "core/base/error.h"
#include "core/base/limits.h"
#include "core/base/log.h"

namespace asr {
namespace {

namespace fs = std::filesystem;

const std::string kPlugins = SENONE_BUILD_DIR "/tests/plugins";

std::string plugin(const std::string &name) { return kPlugins + "/libsenone_" + name + ".so"; }

// Returns why a plugin is unused: rejected by the loader, or by its probe.
std::string reason_of(const std::string &name) {
  const auto entries = list_devices(std::vector<Backend>{load_plugin(plugin(name))});
  EXPECT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].id, name);
  EXPECT_EQ(entries[0].api, nullptr);
  return entries[0].reason;
}

// Returns the message of the error that an action throws, whose code is expected.
template <typename Action>
std::string failure_of(asr_status code, Action action) {
  try {
    action();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

asr_backend_options options() {
  asr_backend_options options{};
  options.size = sizeof(options);
  options.max_lanes = 1;
  options.window_frames = 8;
  options.n_threads = 1;
  return options;
}

// A temporary directory, removed at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory() : path_(fs::temp_directory_path() / ("senone_loader_" + std::to_string(getpid()))) {
    fs::create_directory(path_);
  }
  ~TemporaryDirectory() { fs::remove_all(path_); }
  std::string file(const std::string &name) const { return path_ / name; }
  std::string path() const { return path_; }

 private:
  fs::path path_;
};

// Sets an environment variable for its lifetime.
class Environment {
 public:
  Environment(const char *name, const std::string &value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~Environment() { unsetenv(name_); }

 private:
  const char *name_;
};

struct Messages {
  Messages() { set_log(receive, ASR_LOG_DEBUG, this); }
  ~Messages() { set_log(nullptr, ASR_LOG_ERROR, nullptr); }
  static void receive(asr_log_level, const char *message, void *self) {
    static_cast<Messages *>(self)->text += std::string(message) + "\n";
  }
  std::string text;
};

#define EXPECT_CONTAINS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(Loader, TakesAGoodPlugin) {
  const Messages messages;
  const Backend backend = load_plugin(plugin("good"));
  ASSERT_NE(backend.api, nullptr) << backend.reason;
  EXPECT_EQ(backend.name, "good");
  EXPECT_EQ(backend.reason, "");
  EXPECT_CONTAINS(messages.text, "hello from the stub");

  const auto entries = list_devices({backend});
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].id, "good:1");  // has the higher score
  EXPECT_STREQ(entries[0].info.name, "stub device 1");
  EXPECT_EQ(entries[1].id, "good:0");

  const Device device(entries[0], options());
  EXPECT_NE(device.get(), nullptr);
  EXPECT_EQ(device.entry().index, 1u);
}

TEST(Loader, MissingEntry) { EXPECT_CONTAINS(reason_of("missing_entry"), "exports no asr_backend_entry"); }

TEST(Loader, UndefinedSymbol) { EXPECT_CONTAINS(reason_of("undefined_symbol"), "stub_function_that_does_not_exist"); }

// The whole message about a plugin of another contract; `what` names the contract.
std::string wrong_contract(const char *name, const char *what) {
  return plugin(name) + ": is a plugin of " + what +
         ", but this library has contract 2; build it anew with this library's asr_backend.h, or remove the file";
}

TEST(Loader, EntryRefuses) { EXPECT_EQ(reason_of("refuses"), wrong_contract("refuses", "another back-end contract")); }

TEST(Loader, EntryThrows) { EXPECT_CONTAINS(reason_of("entry_throws"), "threw an exception (stub entry)"); }

TEST(Loader, OtherContractsAreNamed) {
  EXPECT_EQ(reason_of("old_abi"), wrong_contract("old_abi", "back-end contract 1"));
  EXPECT_EQ(reason_of("new_abi"), wrong_contract("new_abi", "back-end contract 3"));
}

TEST(Loader, ShortTableNamesBothSizes) {
  const std::string expected =
      format("its table has %zu bytes, this library needs %zu", offsetof(asr_backend_api, wait), offsetof(asr_backend_api, left));
  EXPECT_CONTAINS(reason_of("short_table"), expected);
}

TEST(Loader, CapabilitiesNeedTheirSlots) {
  const Backend backend = load_plugin(plugin("no_lattices"));
  ASSERT_NE(backend.api, nullptr) << backend.reason;
  const auto entries = list_devices({backend});
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].id, "no_lattices:1");
  EXPECT_NE(entries[0].api, nullptr);
  EXPECT_EQ(entries[1].api, nullptr);
  EXPECT_EQ(entries[1].reason,
            "no_lattices:0: slot \"lattices\" of its back end is NULL, but the device has ASR_BACKEND_LATTICES");
}

TEST(Loader, NullSlotIsNamed) { EXPECT_CONTAINS(reason_of("null_slot"), "slot \"score\" of its table is NULL"); }

// A part that a back end leaves out is left out as a whole.
TEST(Loader, PartsOfTheTableAreWholeOrAbsent) {
  EXPECT_EQ(reason_of("half_search"), plugin("half_search") +
                                          ": slot \"load_graph\" of its table is NULL, but \"best_paths\" is not; the search "
                                          "needs all of its slots or none");
  EXPECT_EQ(reason_of("half_features"), plugin("half_features") +
                                            ": slot \"free_features\" of its table is NULL, but \"load_features\" is not; the "
                                            "front end needs all of its slots or none");
  EXPECT_EQ(reason_of("only_lattices"), plugin("only_lattices") +
                                            ": slot \"load_graph\" of its table is NULL, but \"lattices\" is not; the search "
                                            "needs all of its slots or none");
}

TEST(Loader, ABackEndMayOnlyScore) {
  const Backend backend = load_plugin(plugin("only_scores"));
  ASSERT_NE(backend.api, nullptr) << backend.reason;
  EXPECT_FALSE(makes_features(*backend.api));
  EXPECT_FALSE(searches(*backend.api));
  const auto entries = list_devices({backend});
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].id, "only_scores:1");
  EXPECT_EQ(entries[1].reason,
            "only_scores:0: slot \"advance\" of its back end is NULL, but the device has ASR_BACKEND_OVERLAPS");
  const Device device(entries[0], options());
  EXPECT_EQ(failure_of(ASR_UNSUPPORTED, [&] { device.load_features({}); }),
            "only_scores:1: its back end makes no features; choose another device, such as cpu");
  EXPECT_EQ(failure_of(ASR_UNSUPPORTED, [&] { device.require_search(); }),
            "only_scores:1: its back end does not search; choose another device, such as cpu");
}

TEST(Loader, NullSlotOfAnExtensionIsNamed) {
  EXPECT_CONTAINS(reason_of("null_extension"), "slot \"step\" of its extension \"signals\" is NULL");
}

TEST(Loader, NamesOfDevicesHaveNoControlCharacters) {
  const auto entries = list_devices({load_plugin(plugin("odd_name"))});
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].info.name, "a\\nb\\x1b" + std::string(sizeof(entries[0].info.name) - 9, 'x'));
}

// The stub's load slots succeed and make nothing.
TEST(Loader, SlotsThatMakeNothingHaveFailed) {
  const auto entries = list_devices({load_plugin(plugin("good"))});
  const Device device(entries[0], options());
  EXPECT_EQ(failure_of(ASR_INTERNAL, [&] { device.load_features({}); }),
            "good:1: slot \"load_features\" of its back end returned ASR_OK, but made no object");
}

TEST(Loader, PositiveStatusesAreFailures) {
  const auto entries = list_devices({load_plugin(plugin("good"))});
  const Device device(entries[0], options());
  failure_of(ASR_INTERNAL, [&] { device.check(static_cast<asr_status>(7)); });
}

TEST(Loader, NameMustBeThatOfTheFile) {
  const std::string reason = reason_of("wrong_name");
  EXPECT_CONTAINS(reason, "calls itself \"cpu\"");
  EXPECT_CONTAINS(reason, "\"wrong_name\"");
}

TEST(Loader, NoDeviceGivesThePluginsReason) { EXPECT_EQ(reason_of("no_device"), "no_device: no stub driver"); }

TEST(Loader, ProbeFails) { EXPECT_EQ(reason_of("probe_fails"), "probe_fails: the stub driver is broken"); }

TEST(Loader, ProbeThrows) { EXPECT_CONTAINS(reason_of("probe_throws"), "its probe threw an exception"); }

TEST(Loader, FailureWithoutAMessage) { EXPECT_EQ(reason_of("silent"), "silent: no reason given"); }

TEST(Loader, OpenFails) {
  const auto entries = list_devices({load_plugin(plugin("open_fails"))});
  ASSERT_FALSE(entries.empty());
  EXPECT_EQ(failure_of(ASR_INTERNAL, [&] { const Device device(entries[0], options()); }), "open_fails:1: the stub is busy");
}

TEST(Loader, OpenThrows) {
  const auto entries = list_devices({load_plugin(plugin("open_throws"))});
  ASSERT_FALSE(entries.empty());
  const std::string failure = failure_of(ASR_INTERNAL, [&] { const Device device(entries[0], options()); });
  EXPECT_CONTAINS(failure, "threw an exception (stub open)");
}

TEST(Loader, FilesThatAreNoSharedObjects) {
  const TemporaryDirectory directory;
  std::ofstream(directory.file("libsenone_text.so")) << "not an ELF file\n";
  std::ofstream(directory.file("libsenone_empty.so")) << "";
  fs::create_directory(directory.file("libsenone_folder.so"));
  fs::create_symlink("/nowhere", directory.file("libsenone_dangling.so"));
  for (const char *name : {"text", "empty", "folder", "dangling", "absent"}) {
    const std::string path = directory.file(std::string("libsenone_") + name + ".so");
    const Backend backend = load_plugin(path);
    EXPECT_EQ(backend.api, nullptr) << name;
    EXPECT_EQ(backend.reason.rfind(path + ": cannot be loaded: ", 0), 0u) << backend.reason;
  }
}

// Returns the size of the part of a shared object that is loaded; symbols and debug information follow it.
size_t loaded_bytes(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  file.read(reinterpret_cast<char *>(&header), sizeof header);
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  file.read(reinterpret_cast<char *>(segments.data()), static_cast<std::streamsize>(segments.size() * sizeof segments[0]));
  size_t end = 0;
  for (const Elf64_Phdr &segment : segments) {
    if (segment.p_type == PT_LOAD) end = std::max<size_t>(end, segment.p_offset + segment.p_filesz);
  }
  return end;
}

TEST(Loader, FilesCutShort) {
  const TemporaryDirectory directory;
  const size_t needed = loaded_bytes(plugin("good"));
  ASSERT_GT(needed, 4096u);
  for (size_t kept = 0; kept < needed; kept += 61) {
    const std::string path = directory.file("libsenone_cut" + std::to_string(kept) + ".so");
    fs::copy_file(plugin("good"), path);
    fs::resize_file(path, kept);
    const Backend backend = load_plugin(path);
    EXPECT_EQ(backend.api, nullptr) << kept;
    EXPECT_EQ(backend.reason.rfind(path + ": cannot be loaded: ", 0), 0u) << backend.reason;
  }
}

TEST(Loader, UnreadableFile) {
  const TemporaryDirectory directory;
  fs::copy_file(plugin("good"), directory.file("libsenone_good.so"));
  fs::permissions(directory.file("libsenone_good.so"), fs::perms::none);
  const uid_t user = geteuid();
  ASSERT_EQ(seteuid(user == 0 ? 65534 : user), 0);  // root can read every file
  const Backend backend = load_plugin(directory.file("libsenone_good.so"));
  ASSERT_EQ(seteuid(user), 0);
  EXPECT_CONTAINS(backend.reason, "Permission denied");
}

TEST(Loader, BrokenPluginsDisturbNobody) {
  const auto entries = list_devices(load_backends({{kPlugins}, {}}));
  ASSERT_GE(entries.size(), 10u);
  EXPECT_EQ(entries[0].info.score, 200);
  size_t n_rejected = 0, n_cpu = 0;
  for (const DeviceEntry &entry : entries) {
    n_rejected += !entry.reason.empty();
    n_cpu += entry.id == "cpu:0" && entry.reason.empty();
  }
  EXPECT_GE(n_rejected, 10u);
  EXPECT_EQ(n_cpu, 1u);
}

TEST(Loader, FirstPluginOfANameWins) {
  const TemporaryDirectory directory;
  fs::copy_file(plugin("good"), directory.file("libsenone_good.so"));
  const auto backends = load_backends({{directory.path(), kPlugins}, {"good"}});
  std::vector<std::string> used, rejected;
  for (const Backend &backend : backends) {
    if (backend.name == "good") (backend.api ? used : rejected).push_back(backend.path);
  }
  EXPECT_EQ(used, std::vector<std::string>{directory.file("libsenone_good.so")});
  EXPECT_EQ(rejected, std::vector<std::string>{plugin("good")});
}

TEST(Loader, OnlyFilesNamedLikePluginsAreTried) {
  const TemporaryDirectory directory;
  for (const char *name : {"good.so", "libsenone_good.so.1", "libgood.so", "libsenone_.so", "README"}) {
    fs::copy_file(plugin("good"), directory.file(name));
  }
  EXPECT_EQ(load_backends({{directory.path()}, {}}).size(), 1u);  // only the linked-in one
}

TEST(Loader, SelectionByName) {
  const Environment only("SENONE_PLUGINS", "good,no_device"), path("SENONE_PLUGIN_PATH", kPlugins);
  for (const Backend &backend : load_backends(default_load_options())) {
    if (backend.name == "good" || backend.name == "no_device") {
      EXPECT_NE(backend.api, nullptr) << backend.name;
    } else {
      EXPECT_EQ(backend.reason, backend.name + ": left out by SENONE_PLUGINS");
    }
  }
}

// A back end that is only looked for must not load drivers without its hardware, so it may ask.
TEST(Loader, ProbesSayWhetherTheBackEndWasNamed) {
  const std::vector<Backend> backends = {load_plugin(plugin("asks"))};
  const auto listed = [](const std::vector<Backend> &some) { return std::string(list_devices(some).at(0).info.name); };
  EXPECT_EQ(listed(backends), "looked for");
  EXPECT_STREQ(choose_device(backends, "", "").info.name, "looked for");
  EXPECT_STREQ(choose_device(backends, "asks", "device").info.name, "named");
  EXPECT_STREQ(choose_device(backends, "asks:0", "device").info.name, "named");
  EXPECT_EQ(listed(backends), "looked for");
  const Environment path("SENONE_PLUGIN_PATH", kPlugins), only("SENONE_PLUGINS", "asks");
  std::vector<Backend> named = load_backends(default_load_options());
  named.erase(std::remove_if(named.begin(), named.end(), [](const Backend &b) { return b.api == nullptr; }), named.end());
  EXPECT_EQ(listed(named), "named");
}

TEST(Loader, DirectoryBesideTheProgram) {
  EXPECT_EQ(default_load_options().directories, std::vector<std::string>{SENONE_BUILD_DIR "/lib/senone/plugins"});
}

TEST(Loader, SeveralDirectoriesNeverTheCurrentOne) {
  const Environment path("SENONE_PLUGIN_PATH", ":plugins:.:/nowhere::" + kPlugins);
  const LoadOptions options = default_load_options();
  EXPECT_EQ(options.directories, (std::vector<std::string>{"plugins", ".", "/nowhere", kPlugins}));
  const fs::path before = fs::current_path();
  fs::current_path(kPlugins);
  const Messages messages;
  const size_t n_all = load_backends(options).size();
  const size_t n_relative = load_backends({{"."}, {}}).size();
  fs::current_path(before);
  EXPECT_GT(n_all, 10u);
  EXPECT_EQ(n_relative, 2u);
  EXPECT_CONTAINS(messages.text, "plugin directory .: is skipped: it is not an absolute path");
}

TEST(Loader, SaysWhereThePluginPathLeadsToNothing) {
  const TemporaryDirectory directory;
  for (const auto &[path, warning] :
       {std::pair(std::string(), std::string("SENONE_PLUGIN_PATH is empty: no plugin is loaded")),
        std::pair(std::string("/nowhere"), std::string("SENONE_PLUGIN_PATH: /nowhere does not exist")),
        std::pair(directory.path(), "SENONE_PLUGIN_PATH: " + directory.path() + " holds no plugin")}) {
    const Environment variable("SENONE_PLUGIN_PATH", path);
    const Messages messages;
    load_backends(default_load_options());
    EXPECT_CONTAINS(messages.text, warning);
  }
  const Environment good("SENONE_PLUGIN_PATH", kPlugins);
  const Messages messages;
  load_backends(default_load_options());
  EXPECT_EQ(messages.text.find("SENONE_PLUGIN_PATH"), std::string::npos) << messages.text;
}

// Opening a pipe would block until somebody writes to it.
TEST(Loader, PipesAreNotOpened) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("libsenone_pipe.so");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(load_plugin(path).reason, path + ": cannot be loaded: it is not a regular file");
}

TEST(Loader, DirectoriesThatEverybodyMayWrite) {
  const TemporaryDirectory directory;
  fs::copy_file(plugin("good"), directory.file("libsenone_good.so"));
  EXPECT_EQ(why_untrusted(directory.path()), "");
  EXPECT_EQ(load_backends({{directory.path()}, {}}).size(), 2u);
  for (const mode_t mode : {0777, 01777, 0702}) {
    ASSERT_EQ(chmod(directory.path().c_str(), mode), 0);
    const Messages messages;
    const std::vector<Backend> backends = load_backends({{directory.path()}, {}});
    ASSERT_EQ(backends.size(), 2u) << std::oct << mode;
    EXPECT_EQ(backends[1].api, nullptr);
    const std::string reason = "plugin directory " + directory.path() + ": is skipped: it can be written by everybody";
    EXPECT_CONTAINS(messages.text, reason);
    EXPECT_CONTAINS(list_devices(backends).back().reason, reason);
  }
  EXPECT_EQ(why_untrusted("/nowhere"), "");
}

TEST(Loader, PluginsThatEverybodyMayWrite) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("libsenone_good.so");
  fs::copy_file(plugin("good"), path);
  ASSERT_EQ(chmod(path.c_str(), 0666), 0);
  EXPECT_CONTAINS(load_plugin(path).reason, path + ": is not loaded: it can be written by everybody");
}

// A group with the number of the user is the user's own, as many distributions make it.
TEST(Loader, PluginsThatAGroupMayWrite) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a plugin to any group";
  const TemporaryDirectory directory;
  const std::string path = directory.file("libsenone_good.so");
  fs::copy_file(plugin("good"), path);
  ASSERT_EQ(chmod(directory.path().c_str(), 0775), 0);
  ASSERT_EQ(chmod(path.c_str(), 0664), 0);
  EXPECT_EQ(why_untrusted(directory.path()), "");
  EXPECT_EQ(load_plugin(path).reason, "");
  ASSERT_EQ(chown(path.c_str(), 0, 65534), 0);
  EXPECT_CONTAINS(load_plugin(path).reason, path + ": is not loaded: it can be written by group 65534");
  ASSERT_EQ(chown(directory.path().c_str(), 0, 65534), 0);
  EXPECT_CONTAINS(why_untrusted(directory.path()), "can be written by group 65534");
  EXPECT_EQ(load_backends({{directory.path()}, {}}).back().api, nullptr);
}

// Its owner could exchange the directory after it was looked at.
TEST(Loader, RootTakesNoNamedDirectoryBelowThatOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  const TemporaryDirectory above;
  const std::string directory = above.file("plugins");
  fs::create_directory(directory);
  fs::copy_file(plugin("good"), directory + "/libsenone_good.so");
  EXPECT_EQ(why_replaceable(directory), "");
  ASSERT_EQ(chown(above.path().c_str(), 1, 1), 0);
  EXPECT_CONTAINS(why_replaceable(directory), "lies in " + above.path() + ", which belongs to user 1");
  EXPECT_EQ(load_backends({{directory}, {}, true}).back().api, nullptr);
  EXPECT_NE(load_backends({{directory}, {}}).back().api, nullptr) << "an installed directory";
  const TemporaryDirectory own;
  fs::create_directory_symlink(directory, own.file("link"));
  const Backend by_link = load_backends({{own.file("link")}, {}, true}).back();
  EXPECT_EQ(by_link.api, nullptr);
  EXPECT_CONTAINS(by_link.reason, "lies in " + above.path());
  ASSERT_EQ(chown(above.path().c_str(), 0, 0), 0);
  ASSERT_EQ(chmod(above.path().c_str(), 0777), 0);
  EXPECT_CONTAINS(why_replaceable(directory), "which can be written by everybody");
}

// More devices than the list can hold; the back end must respect the given capacity.
TEST(Loader, ManyDevices) {
  const auto entries = list_devices(std::vector<Backend>{load_plugin(plugin("many_devices"))});
  ASSERT_EQ(entries.size(), kMaxDevices);
  EXPECT_EQ(entries.back().id, "many_devices:" + std::to_string(kMaxDevices - 1));
}

TEST(Loader, DirectoriesOfOtherUsers) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  const TemporaryDirectory directory;
  ASSERT_EQ(chown(directory.path().c_str(), 65534, 65534), 0);
  EXPECT_CONTAINS(why_untrusted(directory.path()), "belongs to user 65534, neither root nor the user 0");
  ASSERT_EQ(seteuid(65534), 0);
  const std::string own = why_untrusted(directory.path()), of_root = why_untrusted("/usr");
  ASSERT_EQ(seteuid(0), 0);
  EXPECT_EQ(own, "");
  EXPECT_EQ(of_root, "");
}

// A program loads the library by a relative path and then changes to a directory where that path leads to someone else's
// plugin.
TEST(Loader, ALibraryLoadedByARelativePath) {
  const TemporaryDirectory elsewhere;
  fs::create_directories(elsewhere.file("lib/senone/plugins"));
  fs::copy_file(SENONE_LIBRARY, elsewhere.file("lib/libsenone.so"));
  fs::copy_file(plugin("good"), elsewhere.file("lib/senone/plugins/libsenone_good.so"));
  const pid_t child = fork();
  if (child == 0) {
    const fs::path library = SENONE_LIBRARY;
    if (chdir(library.parent_path().parent_path().c_str()) != 0) _exit(2);
    void *handle = dlopen("lib/libsenone.so", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr || chdir(elsewhere.path().c_str()) != 0) _exit(3);
    const auto list = reinterpret_cast<asr_status (*)(asr_device_list **)>(dlsym(handle, "asr_devices"));
    const auto get =
        reinterpret_cast<asr_status (*)(const asr_device_list *, size_t, asr_device *)>(dlsym(handle, "asr_device_list_get"));
    asr_device_list *devices = nullptr;
    if (list == nullptr || get == nullptr || list(&devices) != ASR_OK) _exit(4);
    asr_device device{};
    device.size = sizeof(device);
    for (size_t i = 0; get(devices, i, &device) == ASR_OK; ++i) {
      if (strncmp(device.id, "good", 4) == 0) _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "1: a plugin of the current directory was loaded";
}

}  // namespace
}  // namespace asr
