// SPDX-License-Identifier: Apache-2.0
// Makes every allocation of the library fail in turn, first in its own threads, then in the caller's. The library must not
// abort, every stream must end, and the engine must work afterwards. A child process tries one point after another. If it
// aborts, the failure is counted and the next child goes on behind that point.
//
//   alloc_failures [--all] [--verbose] [--malloc] [--only NAME]    without --all only as many points as take a minute
#include <execinfo.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/asr.h"
#include "tests/alloc/failing_new.h"
#include "tests/api/tone_bundle.h"
#include "tests/sanitized.h"

namespace asr::test {
namespace {

// Streams of a window say different words, so that none can pass for another.
constexpr const char *kWords[] = {"low high mid", "mid low high", "high mid low"};
constexpr int kMaxStreams = 64;
constexpr long kLastPoint = 1000000;  // upper bound of the number of points
// One point in so many is tried, and of slow scenarios; fewer where the library is ten times as slow.
constexpr long kStride = kSanitized ? 367 : 37, kSlowStride = kSanitized ? 3501 : 701;

struct Scenario {
  const char *name;
  const char *back_end, *device;  // device: prefix of the device's name
  const char *fallback;
  bool loads_each_time;  // loads the engine for each point: the device is lost, or memory that an engine keeps is under test
  bool lattices, partials, callbacks, is_slow;
  int n_streams = 3;
  bool is_dialog = false;    // endpoints; an utterance is cancelled and the stream begun anew before it counts
  bool adds_graphs = false;  // one from bytes and one from a bundle take another's place, and streams choose one of them
  bool fuses_models = false;
  const char *search_device = nullptr;
  // All streams are fed before the engine makes rows, and one has a speaker. Every point of one failure is tried, but under
  // sanitizers.
  bool begins_together = false;
  bool gives_rows = false;  // log-likelihoods in place of words
};

constexpr Scenario kScenarios[] = {
    {"best paths", "cpu", "", nullptr, false, false, false, false, false},
    {"partial results", "cpu", "", nullptr, false, false, true, false, false},
    {"lattices", "cpu", "", nullptr, false, true, false, false, false},
    {"callbacks", "cpu", "", nullptr, false, false, true, true, false},
    {"lattices with callbacks", "cpu", "", nullptr, false, true, true, true, false},
    {"overlapping advances", "overlapping", "none", nullptr, false, false, true, false, false},
    {"overlapping advances, lattices", "overlapping", "none", nullptr, false, true, true, true, false},
    {"fused step", "stepping", "steps", nullptr, false, false, true, false, false},
    {"dialog", "cpu", "", nullptr, false, true, true, false, false, 3, true},
    {"graphs", "cpu", "", nullptr, false, false, true, false, false, 3, true, true},
    {"graphs, fallback", "faulty", "advance 5: lost", "cpu", true, false, false, false, true, 3, false, true},
    {"fusion", "cpu", "", nullptr, false, true, true, false, false, 3, false, false, true},
    {"fusion, overlapping advances", "overlapping", "none", nullptr, false, false, true, false, false, 3, false, false, true},
    {"two devices", "overlapping", "none", nullptr, false, true, true, false, false, 3, false, false, false, "cpu"},
    {"two devices, together", "overlapping", "none", nullptr, true, false, false, false, false, 3, false, false, false, "cpu",
     true},
    {"rows", "cpu", "", nullptr, false, false, false, true, false, 3, false, false, false, nullptr, false, true},
    {"rows, fallback", "faulty", "score 5: lost", "cpu", true, false, false, false, true, 3, false, false, false, nullptr,
     false, true},
    {"64 streams", "cpu", "", nullptr, false, false, true, false, true, 64},
    {"lost device", "faulty", "advance 5: lost", nullptr, true, false, true, false, true},
    {"fallback", "faulty", "advance 5: lost", "cpu", true, false, true, false, true},
    {"fallback, lattices", "overlapping", "lattice 2: lost", "cpu", true, true, true, true, true},
};

// Report of a child to its parent, in shared memory.
struct Report {
  long next;  // the point under test, or 0
  long n_tried, n_lost_streams, n_wrong, n_one_harmed, n_more_harmed, max_harmed;
  bool done;
};
Report *g_report;
bool g_verbose = false, g_with_malloc = false;

const char *g_where = "";  // current step, in a child

void note(long *count, const char *what) {
  ++*count;
  if (g_verbose) fprintf(stderr, "  point %ld, %s: %s (%s)\n", g_report->next, g_where, what, asr_last_error());
}

[[noreturn]] void show_and_abort() {
  disarm();
  void *frames[40];
  backtrace_symbols_fd(frames, backtrace(frames, 40), STDERR_FILENO);
  abort();
}

[[noreturn]] void give_up(const char *what) {
  disarm();
  fprintf(stderr, "%s: %s\n", what, asr_last_error());
  _exit(3);
}

// Results collected from a stream's events, without own allocations.
struct Heard {
  std::atomic<int> n_ends{0}, n_results{0}, n_after_end{0};
  std::atomic<asr_status> status{ASR_OK};
  char text[64] = "";
  uint32_t tone = 0;  // likeliest state of the last row, and how often it was that without a break
  uint32_t n_alike = 0;

  // The words of rows are the states that are likeliest in many frames; state 0 is that of pauses.
  void take_rows(const asr_event *event) {
    constexpr uint32_t kMinFrames = 15;
    constexpr const char *kTones[] = {"", "low", "mid", "high"};
    asr_rows rows{};
    rows.size = sizeof(rows);
    if (asr_event_rows(event, &rows) != ASR_OK || rows.n_values != 4) return;
    for (const float *row = rows.values; row < rows.values + size_t{4} * rows.n_rows; row += 4) {
      const auto best = static_cast<uint32_t>(std::max_element(row, row + 4) - row);
      n_alike = best == tone ? n_alike + 1 : 1;
      tone = best;
      if (n_alike != kMinFrames || tone == 0) continue;
      const size_t length = strlen(text);
      snprintf(text + length, sizeof(text) - length, "%s%s", length > 0 ? " " : "", kTones[tone]);
    }
  }

  void take(asr_event *event) {
    const asr_event_kind kind = asr_event_get_kind(event);
    if (n_ends > 0) ++n_after_end;
    if (kind == ASR_EVENT_ERROR) status = asr_event_status(event);
    if (kind == ASR_EVENT_FINAL) snprintf(text, sizeof(text), "%s", asr_event_text(event));
    if (kind == ASR_EVENT_ROWS) take_rows(event);
    const bool is_end_of_rows = kind == ASR_EVENT_END && n_results == 0 && n_alike > 0;
    if (kind == ASR_EVENT_FINAL || kind == ASR_EVENT_ERROR || is_end_of_rows) ++n_results;
    asr_event_free(event);
    if (kind == ASR_EVENT_END) ++n_ends;
  }
  static void receive(asr_stream *, asr_event *event, void *user_data) { static_cast<Heard *>(user_data)->take(event); }
};

class Trial {
 public:
  Trial(const Scenario &scenario, Threads threads) : scenario_(scenario), threads_(threads) {
    for (const char *words : kWords) samples_.push_back(speak(words));
    resampled_ = speak(kWords[1], 48000);
    archive_ = tone_archive();
    other_model_ = tone_model_bundle(ToneModel::kOtherFeatures);
    find_device();
    if (scenario_.loads_each_time) return;
    engine_ = load();
  }
  ~Trial() { asr_engine_close(engine_); }

  // Returns false if no allocation failed, so that this point does not exist.
  bool try_point(long nth, long n_more) {
    g_where = "with the failure";
    n_failed_ = 0;
    arm(threads_, nth, n_more);
    if (scenario_.loads_each_time) engine_ = load();
    recognize();
    n_failed_ += disarm();
    check(n_failed_ > 0);
    if (scenario_.loads_each_time) {
      asr_engine_close(engine_);
      engine_ = nullptr;
    } else if (n_failed_ > 0) {
      g_where = "after it";
      recognize();
      check(false);
    }
    return n_failed_ > 0;
  }

 private:
  void find_device() {
    asr_device_list *list = nullptr;
    if (asr_devices(&list) != ASR_OK) give_up("asr_devices");
    for (size_t i = 0; i < asr_device_list_count(list); ++i) {
      asr_device device;
      device.size = sizeof(device);
      if (asr_device_list_get(list, i, &device) != ASR_OK) give_up("asr_device_list_get");
      const bool is_of_it = strncmp(device.id, scenario_.back_end, strlen(scenario_.back_end)) == 0;
      if (device_.empty() && is_of_it && strncmp(device.name, scenario_.device, strlen(scenario_.device)) == 0) {
        device_ = device.id;
      }
    }
    asr_device_list_free(list);
    if (device_.empty()) give_up("no such device");
  }

  // Repeats a call until there is memory.
  template <typename Call>
  void insist(const char *name, Call call) {
    for (int i = 0; i < 1000; ++i) {
      const asr_status status = call();
      if (status == ASR_OK) return;
      if (status != ASR_OUT_OF_MEMORY) break;
      if (i == 20) n_failed_ += disarm();  // persistent failures would repeat for ever
    }
    give_up(name);
  }

  asr_engine *load() {
    asr_engine_config config;
    asr_engine_config_default(&config);
    config.device = device_.c_str();
    config.fallback = scenario_.fallback;
    config.search_device = scenario_.search_device;
    config.window_frames = 16;
    config.n_threads = 2;
    asr_engine *engine = nullptr;
    insist("asr_engine_load", [&] { return asr_engine_load(tone_bundle().c_str(), &config, &engine); });
    return engine;
  }

  bool has_speaker() const { return scenario_.is_dialog || scenario_.begins_together; }

  asr_stream *open(int i) {
    asr_stream_config config;
    asr_stream_config_default(&config);
    if (scenario_.lattices) config.lattice_beam = 6, config.n_best = 3;
    if (scenario_.partials) config.partial_interval_ms = 200;
    if (scenario_.callbacks) config.callback = Heard::receive, config.user_data = &heard_[i];
    if (i == 1) config.sample_rate_hz = 48000;
    if (i == 2 && !scenario_.begins_together) config.cmn = ASR_CMN_LIVE;
    if (scenario_.gives_rows) config.output = ASR_OUTPUT_LOGLIKES;
    if (scenario_.is_dialog) config.endpoint = ASR_ENDPOINT_DICTATION;
    if (scenario_.adds_graphs) config.graph = "bytes";
    asr_fusion fusion;
    asr_fusion_default(&fusion);
    const char *const models[] = {"", "other"};
    fusion.rule = i == 1 ? ASR_FUSION_SELECT : ASR_FUSION_FOLLOW;
    fusion.n_models = 2, fusion.models = models;
    if (scenario_.fuses_models && i != 2) config.fusion = &fusion;
    // Begun together, stream 0 is a window ahead: the windows of all three hold the rows of streams 1, 2 and 0, in this order.
    if (has_speaker() && i == (scenario_.begins_together ? 1 : 0)) config.speaker = speaker_;
    if (scenario_.is_dialog && i == 0) config.adaptation = ASR_ADAPTATION_BETWEEN_UTTERANCES;
    asr_stream *stream = nullptr;
    insist("asr_open", [&] { return asr_open(engine_, &config, &stream); });
    return stream;
  }

  void recognize() {
    asr_stream *streams[kMaxStreams];
    const int n = scenario_.n_streams;
    if (scenario_.adds_graphs) add_graphs();
    if (scenario_.fuses_models) {
      insist("asr_engine_add_model", [&] { return asr_engine_add_model(engine_, "other", other_model_.c_str()); });
    }
    if (has_speaker()) insist("asr_speaker_new", [&] { return asr_speaker_new(engine_, &speaker_); });
    if (scenario_.is_dialog) {
      insist("asr_speaker_set_methods",
             [&] { return asr_speaker_set_methods(speaker_, ASR_SPEAKER_FMLLR | ASR_SPEAKER_MLLR, 0); });
    }
    if (scenario_.lattices) {
      insist("asr_engine_boost", [&] {
        asr_engine_boost(engine_, nullptr, nullptr, 0, 0, 0);
        return asr_engine_boost(engine_, nullptr, "Low\nmid low", 11, 0.125f, 0);
      });
    }
    for (int i = 0; i < n; ++i) {
      heard_[i].~Heard();
      new (&heard_[i]) Heard;
      streams[i] = open(i);
    }
    for (int i = 0; i < n && scenario_.is_dialog; ++i) begin_anew(streams[i]);
    for (int i = 1; i < n && scenario_.adds_graphs; ++i) {
      insist("asr_set_graph", [&] { return asr_set_graph(streams[i], "bundle"); });
    }
    for (int i = 0; i < n && scenario_.lattices; ++i) {
      insist("asr_boost", [&] { return asr_boost(streams[i], "high low\nmid", 12, 0.25f); });
    }
    if (scenario_.begins_together) hold();
    for (int i = 0; i < n; ++i) feed(streams[i], i == 1 ? resampled_ : samples_[i % 3]);
    release();
    for (int i = 0; i < n; ++i) drain(streams[i], &heard_[i]);
    const asr_status adapted = has_speaker() ? asr_adapt(speaker_) : ASR_OK;
    if (adapted != ASR_OK && adapted != ASR_OUT_OF_MEMORY && adapted != ASR_INVALID_STATE) give_up("asr_adapt");
    asr_speaker_free(std::exchange(speaker_, nullptr));
    for (int i = 0; i < n; ++i) asr_close(streams[i]);
  }

  // Adds the bundle's own graph again, under two names.
  void add_graphs() {
    insist("asr_engine_add_graph", [&] { return asr_engine_add_graph(engine_, "bundle", tone_bundle().c_str()); });
    insist("asr_engine_add_graph_bytes",
           [&] { return asr_engine_add_graph_bytes(engine_, "bytes", archive_.data(), archive_.size()); });
    (void)asr_engine_remove_graph(engine_, "none");
  }

  void begin_anew(asr_stream *stream) {
    (void)asr_feed(stream, samples_[0].data(), samples_[0].size());
    (void)asr_cancel_utterance(stream);
    (void)asr_try_feed(stream, samples_[0].data(), samples_[0].size());
    insist("asr_reset", [&] { return asr_reset(stream); });
  }

  void feed(asr_stream *stream, const std::vector<int16_t> &samples) {
    for (size_t at = 0; at < samples.size(); at += 4000) {
      if (asr_feed(stream, samples.data() + at, std::min<size_t>(4000, samples.size() - at)) != ASR_OK) return;
    }
    asr_finish(stream);
  }

  void drain(asr_stream *stream, Heard *heard) {
    while (heard->n_ends == 0) {
      const asr_status status = asr_wait(stream, 10000);
      if (status == ASR_OUT_OF_MEMORY) continue;
      if (status != ASR_OK) {
        note(&g_report->n_lost_streams, "a stream did not end");
        _exit(4);  // closing it may hang, too
      }
      if (scenario_.callbacks) continue;
      asr_event *event = nullptr;
      if (asr_result(stream, &event) == ASR_OK && event != nullptr) heard->take(event);
    }
  }

  void check(bool may_fail) {
    int n_failed = 0;
    for (int i = 0; i < scenario_.n_streams; ++i) {
      const Heard &heard = heard_[i];
      if (heard.n_ends != 1 || heard.n_results != 1 || heard.n_after_end != 0) note(&g_report->n_wrong, "events");
      if (heard.status == ASR_OK && strcmp(heard.text, kWords[i % 3]) != 0) note(&g_report->n_wrong, heard.text);
      if (heard.status == ASR_OK) continue;
      ++n_failed;
      const bool is_lost = scenario_.loads_each_time && heard.status == ASR_DEVICE_LOST;
      if (!may_fail && !is_lost) note(&g_report->n_wrong, "a failure without a reason");
      if (heard.status != ASR_OUT_OF_MEMORY && !is_lost) note(&g_report->n_wrong, asr_status_text(heard.status));
    }
    g_report->n_one_harmed += n_failed == 1;
    g_report->n_more_harmed += n_failed > 1;
    g_report->max_harmed = std::max<long>(g_report->max_harmed, n_failed);
  }

  const Scenario &scenario_;
  const Threads threads_;
  std::string device_;
  std::vector<std::vector<int16_t>> samples_;  // samples of each of kWords
  std::vector<int16_t> resampled_;
  std::string archive_, other_model_;
  asr_engine *engine_ = nullptr;
  asr_speaker *speaker_ = nullptr;
  long n_failed_ = 0;  // failed allocations at this point
  Heard heard_[kMaxStreams];
};

// Body of a child: tries the points from the report's on.
[[noreturn]] void try_points(const Scenario &scenario, Threads threads, long n_more, long stride) {
  mark_caller_thread();
  std::set_terminate(g_verbose ? show_and_abort : std::abort);
  {
    Trial trial(scenario, threads);
    for (; g_report->next < kLastPoint; g_report->next += stride) {
      const bool was_there = trial.try_point(g_report->next, n_more);
      if (!was_there) break;
      ++g_report->n_tried;
    }
  }
  g_report->done = true;
  _exit(0);
}

struct Totals {
  long n_tried = 0, n_aborts = 0, n_lost = 0, n_wrong = 0;
};

void try_scenario(const Scenario &scenario, Threads threads, long n_more, long stride, Totals *totals) {
  *g_report = {};
  long n_aborts = 0;
  const auto began = std::chrono::steady_clock::now();
  while (!g_report->done && n_aborts < 1000) {
    fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) try_points(scenario, threads, n_more, stride);
    int status = 0;
    waitpid(child, &status, 0);
    if (g_report->done) break;
    if (WIFSIGNALED(status)) {
      ++n_aborts;
      if (g_verbose) fprintf(stderr, "  point %ld of %s: signal %d\n", g_report->next, scenario.name, WTERMSIG(status));
    } else if (WEXITSTATUS(status) != 4) {
      note(&g_report->n_wrong, "the child gave up");
    }
    ++g_report->n_tried;
    g_report->next += stride;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  printf("%-31s %-15s %-11s %6ld points, %3ld aborts, %3ld lost streams, %3ld wrong; harmed one: %ld, up to %ld: %ld; %.1f s\n",
         scenario.name, threads == Threads::kCaller ? "caller's thread" : "its threads", n_more == 0 ? "once" : "from then on",
         g_report->n_tried, n_aborts, g_report->n_lost_streams, g_report->n_wrong, g_report->n_one_harmed, g_report->max_harmed,
         g_report->n_more_harmed, seconds);
  totals->n_tried += g_report->n_tried;
  totals->n_aborts += n_aborts;
  totals->n_lost += g_report->n_lost_streams;
  totals->n_wrong += g_report->n_wrong;
}

// Starts a thread whose first failing call finds no memory, not even for the C library's data of a thread.
[[noreturn]] void fail_first_in_a_thread() {
  std::thread([] {
    mark_caller_thread();
    include_malloc();
    arm(Threads::kCaller, 0, kAllMore);
    const asr_status status = asr_feed(nullptr, nullptr, 0);
    disarm();
    const bool is_right = (status == ASR_INVALID_ARGUMENT || status == ASR_OUT_OF_MEMORY) && asr_last_error()[0] != '\0';
    _exit(is_right ? 0 : 1);
  }).join();
  _exit(2);
}

// An exception out of std::call_once passes through the C library, which must have loaded its unwinder by then.
[[noreturn]] void throw_out_of_call_once() {
  asr_engine *engine = nullptr;
  if (asr_engine_load(tone_bundle().c_str(), nullptr, &engine) != ASR_OK) _exit(2);
  mark_caller_thread();
  include_malloc();
  arm(Threads::kCaller, 0, kAllMore);
  try {
    std::once_flag once;
    std::call_once(once, [] { throw std::bad_alloc(); });
  } catch (const std::bad_alloc &) {
    _exit(0);
  }
  _exit(1);
}

bool ends_well(const char *what, void (*action)()) {
  fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) action();
  int status = 0;
  waitpid(child, &status, 0);
  printf("%s: wait status %d\n", what, status);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Tries the scenarios whose names contain `only`.
int run(bool all, const char *only) {
  void *const shared = mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 2;
  g_report = new (shared) Report;
  tone_bundle();
  const bool is_prepared = ends_well("the first error of a thread without memory", fail_first_in_a_thread) &&
                           ends_well("an exception out of std::call_once without memory", throw_out_of_call_once);
  Totals totals;
  for (const Scenario &scenario : kScenarios) {
    if (strstr(scenario.name, only) == nullptr) continue;
    for (const Threads threads : {Threads::kLibrary, Threads::kCaller}) {
      for (const long n_more : {0L, kAllMore}) {
        const bool is_whole = scenario.begins_together && threads == Threads::kLibrary && n_more == 0 && !kSanitized;
        const long stride = all || is_whole ? 1 : scenario.is_slow ? kSlowStride : kStride;
        try_scenario(scenario, threads, n_more, stride, &totals);
      }
    }
  }
  printf("points tried %ld, aborts %ld, lost streams %ld", totals.n_tried, totals.n_aborts, totals.n_lost);
  printf(totals.n_wrong == 0 ? "\n" : ", wrong %ld\n", totals.n_wrong);
  return is_prepared && totals.n_tried > 0 && totals.n_aborts + totals.n_lost + totals.n_wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace asr::test

int main(int argc, char **argv) {
  bool all = false;
  const char *only = "";
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--all") == 0) all = true;
    if (strcmp(argv[i], "--verbose") == 0) asr::test::g_verbose = true;
    if (strcmp(argv[i], "--malloc") == 0) asr::test::g_with_malloc = true;
    if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) only = argv[++i];
  }
  if (asr::test::g_with_malloc) asr::test::include_malloc();
  setenv("SENONE_PLUGIN_PATH", SENONE_BUILD_DIR "/tests/faulty", 1);
  return asr::test::run(all, only);
}
