// SPDX-License-Identifier: Apache-2.0
// The library loaded by dlopen, and child processes, for the tests of this folder.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "api/asr.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {

// Functions of the library, which this program does not link.
struct Library {
  void *handle = dlopen(SENONE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
// NOLINTNEXTLINE(bugprone-macro-parentheses): a name
#define FUNCTION(name) decltype(&::name) name = reinterpret_cast<decltype(&::name)>(dlsym(handle, #name))
  FUNCTION(asr_last_error);
  FUNCTION(asr_set_log);
  FUNCTION(asr_devices);
  FUNCTION(asr_device_list_count);
  FUNCTION(asr_device_list_get);
  FUNCTION(asr_device_list_free);
  FUNCTION(asr_engine_config_default);
  FUNCTION(asr_engine_load);
  FUNCTION(asr_engine_close);
  FUNCTION(asr_engine_get_info);
  FUNCTION(asr_speaker_new);
  FUNCTION(asr_speaker_free);
  FUNCTION(asr_stream_config_default);
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

inline asr_engine *load(const Library &senone) {
  asr_engine_config config;
  senone.asr_engine_config_default(&config);
  config.device = "cpu";
  asr_engine *engine = nullptr;
  return senone.asr_engine_load(tone_bundle().c_str(), &config, &engine) == ASR_OK ? engine : nullptr;
}

inline std::string hear(const Library &senone, asr_engine *engine, const std::vector<int16_t> &samples) {
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
inline void in_a_child(const std::function<int()> &action) {
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

// Returns the exit status of a child, or -1 minus the signal that ended it.
inline int exit_status(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) return -1000;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1 - WTERMSIG(status);
}

}  // namespace asr::test
