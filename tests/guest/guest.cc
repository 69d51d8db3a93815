// SPDX-License-Identifier: Apache-2.0
// A program that compares itself before and after it used the library: what asr.h promises under SIDE EFFECTS. guest.sh runs
// it, also under strace. Prints each difference; the exit status is 1 if there is one.
//
//   guest BUNDLE              lists devices, hears with the default device, closes
//   guest --list              lists devices only
//   guest --swap N BUNDLE...  loads, hears and closes N times in turn; resident memory must come to rest
#include <dirent.h>
#include <fenv.h>
#include <link.h>
#include <locale.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "api/asr.h"

extern char **environ;

namespace {

using State = std::map<std::string, std::string>;

std::string text(const char *format, unsigned long long value) {
  char line[64];
  snprintf(line, sizeof(line), format, value);
  return line;
}

std::vector<std::string> names_in(const char *directory) {
  std::vector<std::string> names;
  DIR *const open_directory = opendir(directory);
  const std::string own = open_directory != nullptr ? std::to_string(dirfd(open_directory)) : "";
  while (const dirent *entry = open_directory != nullptr ? readdir(open_directory) : nullptr) {
    if (entry->d_name[0] != '.' && entry->d_name != own) names.emplace_back(entry->d_name);
  }
  if (open_directory != nullptr) closedir(open_directory);
  std::sort(names.begin(), names.end());
  return names;
}

// Returns the value of a line such as "VmRSS:" of /proc/self/status or another thread's.
std::string status_line(const std::string &file, const std::string &key) {
  std::ifstream status(file);
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(key, 0) == 0) return line.substr(key.size());
  }
  return "";
}

void add_signals(State *state) {
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) != 0) continue;
    const int flags = action.sa_flags & (SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER | SA_NOCLDWAIT);
    (*state)["handler of signal " + std::to_string(signal)] =
        text("%#llx", reinterpret_cast<uintptr_t>(action.sa_handler)) + text(" flags %#llx", static_cast<unsigned>(flags));
  }
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  for (int signal = 1; signal <= SIGRTMAX; ++signal) (*state)["signal mask"] += sigismember(&mask, signal) == 1 ? '1' : '0';
  stack_t stack{};
  sigaltstack(nullptr, &stack);
  (*state)["signal stack"] =
      text("%#llx", reinterpret_cast<uintptr_t>(stack.ss_sp)) + text(" flags %llu", static_cast<unsigned>(stack.ss_flags));
}

State state_of_process(bool of_driver) {
  State state;
  add_signals(&state);
  char path[4096];
  state["directory"] = getcwd(path, sizeof(path)) != nullptr ? path : "none";
  const mode_t mask = umask(0);
  umask(mask);
  state["umask"] = text("%llo", mask);
  state["locale"] = setlocale(LC_ALL, nullptr);
  state["rounding"] = std::to_string(fegetround());
#if defined(__x86_64__)
  state["floating-point modes"] = text("%#llx", __builtin_ia32_stmxcsr() & ~0x3fu);  // without the flags of what happened
#endif
  if (of_driver) return state;  // drivers keep threads and descriptors, and PoCL's sets a variable
  for (char **variable = environ; *variable != nullptr; ++variable) state["environment: " + std::string(*variable)] = "set";
  for (const std::string &name : names_in("/proc/self/fd")) {
    const ssize_t n = readlink(("/proc/self/fd/" + name).c_str(), path, sizeof(path) - 1);
    if (n > 0) state["descriptors"] += name + " " + std::string(path, static_cast<size_t>(n)) + "\n";
  }
  state["threads"] = std::to_string(names_in("/proc/self/task").size());
  return state;
}

int n_differences(const State &before, const State &after) {
  int n = 0;
  for (const auto &[name, value] : after) {
    const auto old = before.find(name);
    if (old != before.end() && old->second == value) continue;
    printf("%s: was %s, is %s\n", name.c_str(), old == before.end() ? "nothing" : old->second.c_str(), value.c_str());
    ++n;
  }
  return n;
}

int find_opencl(dl_phdr_info *object, size_t, void *found) {
  if (strstr(object->dlpi_name, "libOpenCL") == nullptr) return 0;
  *static_cast<bool *>(found) = true;
  return 1;
}

// OpenCL must not be loaded if the reason of a back end says that, unless another one has devices.
int list_devices() {
  asr_device_list *list = nullptr;
  if (asr_devices(&list) != ASR_OK) return 1;
  bool is_promised = false, is_used = false, is_loaded = false;
  asr_device device{};
  device.size = sizeof(device);
  for (size_t i = 0; i < asr_device_list_count(list); ++i) {
    if (asr_device_list_get(list, i, &device) != ASR_OK) return 1;
    printf("device %s %s%s\n", device.id, device.name, device.reason);
    is_used = is_used || (strncmp(device.id, "ocl_", 4) == 0 && device.reason[0] == '\0');
    is_promised = is_promised || strstr(device.reason, "OpenCL is not loaded") != nullptr;
  }
  asr_device_list_free(list);
  dl_iterate_phdr(find_opencl, &is_loaded);
  printf("OpenCL is %sloaded\n", is_loaded ? "" : "not ");
  return is_promised && !is_used && is_loaded ? 1 : 0;
}

int fail(const char *what) {
  printf("%s: %s\n", what, asr_last_error());
  return 1;
}

// The threads of the library must leave signals such as SIGTERM to the program.
int n_threads_with_signals() {
  int n = 0;
  for (const std::string &thread : names_in("/proc/self/task")) {
    if (thread == std::to_string(getpid())) continue;
    const std::string blocked = status_line("/proc/self/task/" + thread + "/status", "SigBlk:");
    const bool takes_sigterm = (strtoull(blocked.c_str(), nullptr, 16) >> (SIGTERM - 1) & 1) == 0;
    if (takes_sigterm) printf("thread %s takes signals: blocked are%s\n", thread.c_str(), blocked.c_str());
    n += takes_sigterm;
  }
  return n;
}

int hear(const char *bundle, bool looks_at_threads) {
  asr_engine *engine = nullptr;
  if (asr_engine_load(bundle, nullptr, &engine) != ASR_OK) return fail(bundle);
  asr_stream *stream = nullptr;
  if (asr_open(engine, nullptr, &stream) != ASR_OK) return fail("asr_open");
  std::vector<int16_t> samples(16000);
  for (size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<int16_t>(i * 7919 % 400);
  asr_feed(stream, samples.data(), samples.size());
  asr_finish(stream);
  for (asr_event_kind kind = ASR_EVENT_READY; kind != ASR_EVENT_END && asr_wait(stream, -1) == ASR_OK;) {
    asr_event *event = nullptr;
    asr_result(stream, &event);
    kind = asr_event_get_kind(event);
    asr_event_free(event);
  }
  const int n_bad = looks_at_threads ? n_threads_with_signals() : 0;
  asr_close(stream);
  asr_engine_close(engine);
  return n_bad;
}

// The first quarter of the rounds may find the level. What malloc holds then is not more at the end.
int swap(int n_rounds, char **bundles, int n_bundles) {
  long level_kb = 0, last_kb = 0;
  for (int round = 0; round < n_rounds; ++round) {
    if (hear(bundles[round % n_bundles], false) != 0) return 1;
    last_kb = atol(status_line("/proc/self/status", "VmRSS:").c_str());
    if (round <= n_rounds / 4) level_kb = std::max(level_kb, last_kb);
  }
  printf("%d engines: %ld kB resident after a quarter of them, %ld kB at the end\n", n_rounds, level_kb, last_kb);
  constexpr long kNoise_kb = 4096;
  return last_kb <= level_kb + kNoise_kb ? 0 : 1;
}

void handle(int) {}

}  // namespace

int main(int argc, char **argv) {
  setvbuf(stdout, nullptr, _IOLBF, 4096);
  if (argc > 3 && strcmp(argv[1], "--swap") == 0) return swap(atoi(argv[2]), argv + 3, argc - 3);
  if (argc != 2) return 2;
  const bool only_lists = strcmp(argv[1], "--list") == 0;
  struct sigaction own {};
  own.sa_handler = handle;
  own.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGSEGV, SIGUSR2, SIGRTMIN + 2}) sigaction(signal, &own, nullptr);
  const State before = state_of_process(only_lists);
  access("/guest begins", F_OK);  // seen by strace
  int n_bad = list_devices();
  if (!only_lists) n_bad += hear(argv[1], true);
  access("/guest ends", F_OK);
  n_bad += n_differences(before, state_of_process(only_lists));
  return n_bad == 0 ? 0 : 1;
}
