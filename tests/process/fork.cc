// SPDX-License-Identifier: Apache-2.0
// Tests children of fork: they load engines of their own on the CPU, whatever the threads of their parent were doing in the
// library, and call no plugin that their parent has called. A child that waits for ever is ended by its alarm.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "api/asr.h"
#include "tests/api/tone_bundle.h"
#include "tests/process/library.h"
#include "tests/sanitized.h"

namespace asr::test {
namespace {

void no_log(asr_log_level, const char *, void *) {}

// Forks a child that runs the action, which returns 0, with a time limit. Returns its exit status.
int of_a_child(const std::function<int()> &action) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    _exit(action());
  }
  return exit_status(child);
}

int load_and_hear(const Library &senone) {
  asr_engine *const engine = load(senone);
  if (engine == nullptr) return 11;
  if (hear(senone, engine, speak("mid low")) != "mid low") return 12;
  senone.asr_engine_close(engine);
  return 0;
}

// What a child may do: listen to the log anew, list devices, and recognise with an engine of its own.
int live(const Library &senone) {
  senone.asr_set_log(no_log, ASR_LOG_DEBUG, nullptr);
  asr_device_list *list = nullptr;
  if (senone.asr_devices(&list) != ASR_OK || senone.asr_device_list_count(list) == 0) return 10;
  senone.asr_device_list_free(list);
  const int result = load_and_hear(senone);
  senone.asr_set_log(nullptr, ASR_LOG_ERROR, nullptr);
  return result;
}

// The parent has listed devices and uses an engine; the child loads its own.
TEST(Fork, AChildMayLoadEngines) {
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

// A thread of the parent stays in the log function during the fork. The child goes on with that function, or sets another.
TEST(Fork, WhileAThreadIsInTheLogFunction) {
  in_a_child([] {
    static const Library senone;
    static const pid_t parent = getpid();
    static std::atomic<bool> is_inside{false}, may_go{false};
    const auto log = [](asr_log_level, const char *, void *) {
      if (getpid() != parent) return;
      is_inside = true;
      while (!may_go) std::this_thread::yield();
    };
    senone.asr_set_log(log, ASR_LOG_DEBUG, nullptr);
    std::thread logger([] { senone.asr_engine_close(load(senone)); });
    while (!is_inside) std::this_thread::yield();
    const int with_its_log = of_a_child([] { return load_and_hear(senone); });
    const int with_another = of_a_child([] { return live(senone); });
    may_go = true;
    logger.join();
    senone.asr_set_log(nullptr, ASR_LOG_ERROR, nullptr);
    if (with_its_log != 0) return 20;
    return with_another != 0 ? 21 : live(senone);
  });
}

TEST(Fork, InTheLogFunction) {
  in_a_child([] {
    static const Library senone;
    static std::atomic<int> n_calls{0}, result{-1};
    const auto log = [](asr_log_level, const char *, void *) {
      if (n_calls++ == 0) result = of_a_child([] { return live(senone); });
    };
    senone.asr_set_log(log, ASR_LOG_DEBUG, nullptr);
    asr_device_list *list = nullptr;
    if (senone.asr_devices(&list) != ASR_OK) return 1;
    senone.asr_device_list_free(list);
    return result.load();
  });
}

// One thread waits in asr_set_log for another in the old log function.
TEST(Fork, WhileAThreadSetsTheLogFunction) {
  in_a_child([] {
    static const Library senone;
    static std::atomic<bool> is_inside{false}, may_go{false}, is_set{false};
    const auto log = [](asr_log_level, const char *, void *) {
      is_inside = true;
      while (!may_go) std::this_thread::yield();
    };
    senone.asr_set_log(log, ASR_LOG_DEBUG, nullptr);
    std::thread logger([] { senone.asr_engine_close(load(senone)); });
    while (!is_inside) std::this_thread::yield();
    std::thread setter([] {
      senone.asr_set_log(no_log, ASR_LOG_DEBUG, nullptr);
      is_set = true;
    });
    usleep(20000);  // the test holds wherever the setter is; usually it waits by now
    const bool was_early = is_set;
    const int result = of_a_child([] { return live(senone); });
    may_go = true;
    logger.join();
    setter.join();
    if (was_early) return 20;
    return result != 0 ? result : live(senone);
  });
}

// The plugin "waiting" (tests/process/plugins) stops in the function that this names, until it is told to go on.
class WaitingPlugin {
 public:
  explicit WaitingPlugin(const char *stop) {
    setenv("SENONE_PLUGIN_PATH", SENONE_BUILD_DIR "/tests/waiting", 1);
    if (pipe(arrivals_) != 0 || pipe(departures_) != 0) _exit(90);
    setenv("SENONE_WAITING", stop, 1);
    setenv("SENONE_WAITING_ARRIVAL", std::to_string(arrivals_[1]).c_str(), 1);
    setenv("SENONE_WAITING_DEPARTURE", std::to_string(departures_[0]).c_str(), 1);
  }
  void await_stop() const {
    char byte = 0;
    if (read(arrivals_[0], &byte, 1) != 1) _exit(91);
  }
  void go_on() const {
    if (write(departures_[1], "", 1) != 1) _exit(92);
  }

 private:
  int arrivals_[2] = {}, departures_[2] = {};
};

asr_device device_named(const Library &senone, const asr_device_list *list, const std::string &id) {
  asr_device device{};
  device.size = sizeof(device);
  for (size_t i = 0; senone.asr_device_list_get(list, i, &device) == ASR_OK; ++i) {
    if (device.id == id) return device;
  }
  return asr_device{};
}

// What a child meets whose parent has called plugins: a reason instead of their devices. The plugin itself ends a child that
// calls it.
int meet_no_plugin(const Library &senone) {
  asr_device_list *list = nullptr;
  if (senone.asr_devices(&list) != ASR_OK) return 30;
  const asr_device waiting = device_named(senone, list, "waiting");
  if (waiting.size == 0 || strstr(waiting.reason, "was forked after its parent") == nullptr) return 31;
  if (device_named(senone, list, "waiting:0").size != 0 || device_named(senone, list, "cpu:0").size == 0) return 32;
  senone.asr_device_list_free(list);

  asr_engine_config config;
  senone.asr_engine_config_default(&config);
  config.device = "waiting";
  asr_engine *engine = nullptr;
  if (senone.asr_engine_load(tone_bundle().c_str(), &config, &engine) != ASR_NO_DEVICE) return 33;
  const std::string why = senone.asr_last_error();
  if (why.find("was forked after its parent") == std::string::npos || why.find("cpu:0") == std::string::npos) return 34;
  config.device = nullptr;
  if (senone.asr_engine_load(tone_bundle().c_str(), &config, &engine) != ASR_OK) return 35;
  asr_engine_info info{};
  info.size = sizeof(info);
  senone.asr_engine_get_info(engine, &info);
  if (std::string(info.device_id) != "cpu:0") return 36;
  senone.asr_engine_close(engine);
  return live(senone);
}

TEST(Fork, WhileAThreadCallsAPlugin) {
  for (const char *const stop : {"entry", "probe"}) {
    in_a_child([&] {
      static const Library senone;
      const WaitingPlugin plugin(stop);
      std::thread lister([] {
        asr_device_list *list = nullptr;
        senone.asr_devices(&list);
        senone.asr_device_list_free(list);
      });
      plugin.await_stop();
      const int result = of_a_child([] { return meet_no_plugin(senone); });
      plugin.go_on();
      lister.join();
      if (result != 0) return result;
      const int later = of_a_child([] { return meet_no_plugin(senone); });
      return later != 0 ? later : of_a_child([] { return of_a_child([] { return meet_no_plugin(senone); }); });
    });
  }
}

// Nothing of the GPU was touched in the parent, so the child may.
TEST(Fork, AChildMayUsePluginsThatItsParentHasNotCalled) {
  in_a_child([] {
    static const Library senone;
    const WaitingPlugin plugin("");
    if (load_and_hear(senone) != 0) return 1;
    return of_a_child([] {
      asr_device_list *list = nullptr;
      if (senone.asr_devices(&list) != ASR_OK) return 2;
      return device_named(senone, list, "waiting:0").size != 0 ? 0 : 3;
    });
  });
}

// Calls with objects of the parent fail with a message. Those that close do nothing: the threads that they would wait for do
// not exist, and the drivers that they would call do not survive.
TEST(Fork, ObjectsOfTheParentAreRefused) {
  in_a_child([] {
    static const Library senone;
    static asr_engine *const engine = load(senone);
    static asr_stream *stream, *called;
    static asr_speaker *speaker;
    static std::atomic<bool> is_inside{false}, may_go{false};
    asr_stream_config config;
    senone.asr_stream_config_default(&config);
    config.callback = [](asr_stream *, asr_event *event, void *) {
      senone.asr_event_free(event);
      is_inside = true;
      while (!may_go) std::this_thread::yield();
    };
    if (senone.asr_open(engine, nullptr, &stream) != ASR_OK || senone.asr_open(engine, &config, &called) != ASR_OK) return 1;
    if (senone.asr_speaker_new(engine, &speaker) != ASR_OK) return 2;
    while (!is_inside) std::this_thread::yield();
    const int result = of_a_child([] {
      asr_stream *none = nullptr;
      if (senone.asr_open(engine, nullptr, &none) != ASR_INVALID_STATE || none != nullptr) return 3;
      if (std::string(senone.asr_last_error()).find("from which this one was forked") == std::string::npos) return 4;
      const int16_t sample = 0;
      if (senone.asr_feed(stream, &sample, 1) != ASR_INVALID_STATE) return 5;
      if (senone.asr_wait(stream, -1) != ASR_INVALID_STATE) return 6;
      asr_speaker *other = nullptr;
      asr_engine *const own = load(senone);
      asr_stream_config with_speaker;
      senone.asr_stream_config_default(&with_speaker);
      with_speaker.speaker = speaker;
      if (senone.asr_open(own, &with_speaker, &none) != ASR_INVALID_STATE) return 7;
      if (senone.asr_speaker_new(engine, &other) != ASR_INVALID_STATE) return 8;
      senone.asr_close(called);
      senone.asr_close(stream);
      senone.asr_speaker_free(speaker);
      senone.asr_engine_close(engine);
      senone.asr_engine_close(own);
      return live(senone);
    });
    may_go = true;
    senone.asr_close(called);
    senone.asr_close(stream);
    senone.asr_speaker_free(speaker);
    senone.asr_engine_close(engine);
    return result;
  });
}

// Forks at random times beside threads that load, recognise, list devices and set the log function.
TEST(Fork, BesideBusyThreads) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's allocator keeps locks that threads held at the fork";
  in_a_child([] {
    static const Library senone;
    static std::atomic<bool> is_over{false};
    const auto repeat = [](const std::function<void()> &action) {
      return std::thread([action] {
        while (!is_over) action();
      });
    };
    static asr_engine *const engine = load(senone);
    static const std::vector<int16_t> samples = speak("high low");
    std::vector<std::thread> threads;
    threads.push_back(repeat([] { senone.asr_engine_close(load(senone)); }));
    threads.push_back(repeat([] { hear(senone, engine, samples); }));
    threads.push_back(repeat([] {
      senone.asr_set_log(no_log, ASR_LOG_DEBUG, nullptr);
      senone.asr_set_log(nullptr, ASR_LOG_ERROR, nullptr);
    }));
    threads.push_back(repeat([] {
      asr_device_list *list = nullptr;
      senone.asr_devices(&list);
      senone.asr_device_list_free(list);
    }));
    int result = 0;
    for (int i = 0; i < 24 && result == 0; ++i) {
      usleep(static_cast<useconds_t>(i * 211 % 2000));
      result = of_a_child([] { return live(senone); });
    }
    is_over = true;
    for (std::thread &thread : threads) thread.join();
    senone.asr_engine_close(engine);
    return result;
  });
}

}  // namespace
}  // namespace asr::test
