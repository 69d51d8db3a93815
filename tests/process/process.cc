// SPDX-License-Identifier: Apache-2.0
// Tests the library in a process that has not used it before, loaded by dlopen: a log function that calls it, and dlclose. Each
// part runs in its own child process.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "api/asr.h"
#include "tests/api/tone_bundle.h"
#include "tests/process/library.h"

namespace asr::test {
namespace {

// The first call of the process searches for plugins and logs its findings.
TEST(Process, ALogFunctionMayCallTheLibrary) {
  in_a_child([] {
    static Library senone;
    static std::atomic<int> n_messages{0}, n_failed{0};
    const auto log = [](asr_log_level, const char *, void *) {
      ++n_messages;
      asr_device_list *list = nullptr;
      static thread_local int depth = 0;
      if (depth > 0) return;
      ++depth;
      if (senone.asr_devices(&list) != ASR_OK || senone.asr_device_list_count(list) == 0) ++n_failed;
      senone.asr_device_list_free(list);
      --depth;
    };
    senone.asr_set_log(log, ASR_LOG_DEBUG, nullptr);
    asr_engine *const engine = load(senone);
    if (hear(senone, engine, speak("low high")) != "low high") return 1;
    senone.asr_engine_close(engine);
    return n_messages > 0 && n_failed == 0 ? 0 : 2;
  });
}

// A log function without its own guard against recursion: every call from it logs something.
TEST(Process, ALogFunctionIsNotCalledByItsOwnCalls) {
  in_a_child([] {
    setenv("SENONE_PLUGIN_PATH", "/nowhere", 1);
    static Library senone;
    static int n_messages = 0;
    const auto log = [](asr_log_level, const char *, void *) {
      if (++n_messages > 1000) _exit(3);
      asr_engine *none = nullptr;
      senone.asr_engine_load("/no/such/bundle", nullptr, &none);
      asr_device_list *list = nullptr;
      senone.asr_devices(&list);
      senone.asr_device_list_free(list);
    };
    senone.asr_set_log(log, ASR_LOG_DEBUG, nullptr);
    senone.asr_engine_close(load(senone));
    return n_messages > 0 ? 0 : 2;
  });
}

// A log function that locks a mutex of the program, which another thread holds while it calls the library.
TEST(Process, ALogFunctionMayWaitForAThreadThatCallsTheLibrary) {
  in_a_child([] {
    static Library senone;
    static std::atomic<bool> has_begun{false}, is_done{false};
    const auto log = [](asr_log_level, const char *, void *) {
      if (has_begun.exchange(true)) return;
      std::thread other([] {
        asr_device_list *list = nullptr;
        senone.asr_devices(&list);
        senone.asr_device_list_free(list);
        is_done = true;
      });
      other.join();
    };
    senone.asr_set_log(log, ASR_LOG_DEBUG, nullptr);
    asr_device_list *list = nullptr;
    if (senone.asr_devices(&list) != ASR_OK) return 1;
    senone.asr_device_list_free(list);
    return is_done ? 0 : 2;
  });
}

TEST(Process, PathsCannotForgeLinesOfTheLog) {
  in_a_child([] {
    static const Library senone;
    static int n_lines = 0, n_others = 0;
    const auto log = [](asr_log_level, const char *message, void *) {
      ++n_lines;
      n_others += strpbrk(message, "\n\033\r") != nullptr ? 1 : 0;
    };
    senone.asr_set_log(log, ASR_LOG_DEBUG, nullptr);
    const std::string odd = std::string(testing::TempDir()) + "senone\n[0] forged \033[2J" + std::to_string(getpid());
    if (symlink(tone_bundle().c_str(), odd.c_str()) != 0) return 1;
    asr_engine *engine = nullptr;
    const asr_status status = senone.asr_engine_load(odd.c_str(), nullptr, &engine);
    unlink(odd.c_str());
    senone.asr_engine_close(engine);
    if (status != ASR_OK || n_lines == 0 || n_others > 0) return 2;
    if (senone.asr_engine_load(odd.c_str(), nullptr, &engine) != ASR_NOT_FOUND) return 3;
    const std::string message = senone.asr_last_error();
    return message.find("senone\\n[0] forged \\x1b[2J") != std::string::npos ? 0 : 4;
  });
}

bool is_mapped(const std::string &name) {
  std::ifstream maps("/proc/self/maps");
  const std::string all(std::istreambuf_iterator<char>(maps), {});
  return all.find(name) != std::string::npos;
}

// Naming the CPU does not wait for plugins to load; listing all devices does.
TEST(Process, TheNamedCpuNeedsNoPlugin) {
  in_a_child([] {
    setenv("SENONE_PLUGIN_PATH", SENONE_BUILD_DIR "/tests/faulty", 1);
    const Library senone;
    asr_engine *const engine = load(senone);
    if (engine == nullptr) return 1;
    if (is_mapped("libsenone_faulty")) return 2;
    asr_device_list *list = nullptr;
    if (senone.asr_devices(&list) != ASR_OK || !is_mapped("libsenone_faulty")) return 3;
    senone.asr_device_list_free(list);
    senone.asr_engine_close(engine);
    return 0;
  });
}

// Plugins call back into the library and threads keep their last error there, so it stays loaded.
TEST(Process, ClosingTheLibraryKeepsItLoaded) {
  in_a_child([] {
    const std::vector<int16_t> samples = speak("high");
    for (int i = 0; i < 3; ++i) {
      const Library senone;
      if (senone.handle == nullptr) return 1;
      asr_engine *const engine = load(senone);
      if (hear(senone, engine, samples) != "high") return 2;
      asr_engine *none = nullptr;
      if (senone.asr_engine_load("/no/such/bundle", nullptr, &none) == ASR_OK) return 3;
      senone.asr_engine_close(engine);
      if (dlclose(senone.handle) != 0) return 4;
    }
    return dlopen(SENONE_LIBRARY, RTLD_NOW | RTLD_NOLOAD) != nullptr ? 0 : 5;
  });
}

}  // namespace
}  // namespace asr::test
