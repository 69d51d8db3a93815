// SPDX-License-Identifier: Apache-2.0
// Tests the library in a process that has not used it before, loaded by dlopen: a log function that calls it, fork, and
// dlclose. Each part runs in its own child process.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "api/asr.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

// Functions of the library, which this program does not link.
struct Library {
  void *handle = dlopen(SENONE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
// NOLINTNEXTLINE(bugprone-macro-parentheses): a name
#define FUNCTION(name) decltype(&::name) name = reinterpret_cast<decltype(&::name)>(dlsym(handle, #name))
  FUNCTION(asr_set_log);
  FUNCTION(asr_devices);
  FUNCTION(asr_device_list_count);
  FUNCTION(asr_device_list_free);
  FUNCTION(asr_engine_config_default);
  FUNCTION(asr_engine_load);
  FUNCTION(asr_engine_close);
  FUNCTION(asr_open);
  FUNCTION(asr_feed);
  FUNCTION(asr_finish);
  FUNCTION(asr_wait);
  FUNCTION(asr_result);
  FUNCTION(asr_close);
  FUNCTION(asr_event_get_kind);
  FUNCTION(asr_event_text);
  FUNCTION(asr_event_free);
#undef FUNCTION
};

asr_engine *load(const Library &senone) {
  asr_engine_config config;
  senone.asr_engine_config_default(&config);
  config.device = "cpu";
  asr_engine *engine = nullptr;
  return senone.asr_engine_load(tone_bundle().c_str(), &config, &engine) == ASR_OK ? engine : nullptr;
}

std::string hear(const Library &senone, asr_engine *engine, const std::vector<int16_t> &samples) {
  asr_stream *stream = nullptr;
  if (engine == nullptr || senone.asr_open(engine, nullptr, &stream) != ASR_OK) return "no stream";
  std::string text;
  senone.asr_feed(stream, samples.data(), samples.size());
  senone.asr_finish(stream);
  for (asr_event_kind kind = ASR_EVENT_READY; kind != ASR_EVENT_END && senone.asr_wait(stream, 20000) == ASR_OK;) {
    asr_event *event = nullptr;
    senone.asr_result(stream, &event);
    kind = senone.asr_event_get_kind(event);
    if (kind == ASR_EVENT_FINAL) text = senone.asr_event_text(event);
    senone.asr_event_free(event);
  }
  senone.asr_close(stream);
  return text;
}

// Runs the action in a child with a time limit; it must return 0.
void in_a_child(const std::function<int()> &action) {
  tone_bundle();
  fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(action());
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  if (WIFEXITED(status)) {
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
}

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

// The parent has listed devices and uses an engine; the child loads its own.
TEST(Process, AChildOfForkMayLoadEngines) {
  in_a_child([] {
    const Library senone;
    asr_device_list *list = nullptr;
    if (senone.asr_devices(&list) != ASR_OK) return 1;
    senone.asr_device_list_free(list);
    asr_engine *const engine = load(senone);
    const std::vector<int16_t> samples = speak("mid low");
    if (hear(senone, engine, samples) != "mid low") return 2;
    const pid_t child = fork();
    if (child == 0) {
      alarm(30);
      asr_engine *const own = load(senone);
      const bool is_right = hear(senone, own, samples) == "mid low";
      senone.asr_engine_close(own);
      _exit(is_right ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return 3;
    if (hear(senone, engine, samples) != "mid low") return 4;
    senone.asr_engine_close(engine);
    return 0;
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
