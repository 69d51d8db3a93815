// SPDX-License-Identifier: Apache-2.0
#include "tests/api/recognizer.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>

#include "core/base/error.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {

EnginePointer load_engine(uint32_t max_lanes, uint32_t window_frames, const std::string &bundle, const std::string &device) {
  asr_engine_config config;
  asr_engine_config_default(&config);
  config.device = device.c_str();
  config.max_lanes = max_lanes;
  config.window_frames = window_frames;
  config.n_threads = 2;
  asr_engine *engine = nullptr;
  EXPECT_OK(asr_engine_load(bundle.empty() ? tone_bundle().c_str() : bundle.c_str(), &config, &engine));
  return {engine, asr_engine_close};
}

asr_stream_config default_stream() {
  asr_stream_config config;
  asr_stream_config_default(&config);
  return config;
}

StreamPointer open_stream(asr_engine *engine, const asr_stream_config &config) {
  asr_stream *stream = nullptr;
  EXPECT_OK(asr_open(engine, &config, &stream));
  return {stream, asr_close};
}

namespace {

// Returns all bits of a lattice as text.
std::string shown(const asr_lattice &lattice) {
  std::string text = format(" lattice %u %a %a", lattice.n_frames, lattice.beam, lattice.acoustic_scale);
  for (uint32_t s = 0; s < lattice.n_states; ++s) {
    text += format(" {%a %a %a %a}", lattice.state_time_s[s], lattice.end_graph_cost[s], lattice.end_acoustic_cost[s],
                   lattice.end_posterior[s]);
  }
  for (uint64_t a = 0; a < lattice.n_arcs; ++a) {
    text += format(" <%u %u %u %s %a %a %a>", lattice.arc_from[a], lattice.arc_to[a], lattice.arc_word_id[a],
                   lattice.arc_word[a], lattice.arc_graph_cost[a], lattice.arc_acoustic_cost[a], lattice.arc_posterior[a]);
  }
  const uint64_t n_ids = lattice.n_states == 0 ? 0 : lattice.alignment_begin[lattice.n_arcs + lattice.n_states];
  for (uint64_t i = 0; i < n_ids; ++i) text += format(" %u", lattice.transition_id[i]);
  return text;
}

}  // namespace

std::string shown(const asr_event *event) {
  static const char *const kKinds[] = {"?",     "READY", "SPEECH_START",      "PARTIAL",        "ENDPOINT", "FINAL",
                                       "ERROR", "END",   "PROBABLY_FINISHED", "SPEECH_RESUMED", "NO_INPUT"};
  std::string text =
      format("%s %s flags=%u t=%.4f '%s'", kKinds[asr_event_get_kind(event)], asr_status_text(asr_event_status(event)),
             asr_event_flags(event), asr_event_time_s(event), asr_event_text(event));
  for (size_t a = 0; a < asr_event_n_alternatives(event); ++a) {
    double graph_cost = 0, acoustic_cost = 0;
    EXPECT_OK(asr_event_alternative_costs(event, a, &graph_cost, &acoustic_cost));
    text += format(" [%s g=%.9g a=%.9g", asr_event_alternative_text(event, a), graph_cost, acoustic_cost);
    for (size_t i = 0; i < asr_event_n_words(event, a); ++i) {
      asr_word word{};
      word.size = sizeof(word);
      EXPECT_OK(asr_event_word(event, a, i, &word));
      text += format(" %s#%u(%.3f-%.3f)", word.text, word.word_id, word.start_s, word.end_s);
      if (word.confidence >= 0) text += format("~%a", static_cast<double>(word.confidence));
    }
    text += "]";
  }
  if (asr_event_out_of_grammar(event) >= 0) text += format(" out=%a", static_cast<double>(asr_event_out_of_grammar(event)));
  asr_lattice lattice{};
  lattice.size = sizeof(lattice);
  if (asr_event_lattice(event, &lattice) == ASR_OK) text += shown(lattice);
  return text;
}

std::vector<std::string> poll_every(asr_stream *stream) {
  std::vector<std::string> events;
  for (bool ended = false; !ended;) {
    if (asr_wait(stream, 600000) != ASR_OK) {  // some drivers compile kernels for minutes
      ADD_FAILURE() << asr_last_error();
      break;
    }
    asr_event *event = nullptr;
    EXPECT_OK(asr_result(stream, &event));
    events.push_back(shown(event));
    ended = asr_event_get_kind(event) == ASR_EVENT_END;
    asr_event_free(event);
  }
  return events;
}

std::vector<std::string> without_replaced(const std::vector<std::string> &events) {
  std::vector<std::string> kept;
  for (size_t i = 0; i < events.size(); ++i) {
    const bool is_replaced =
        i + 1 < events.size() && events[i].rfind("PARTIAL", 0) == 0 && events[i + 1].rfind("PARTIAL", 0) == 0;
    if (!is_replaced) kept.push_back(events[i]);
  }
  return kept;
}

std::vector<std::string> poll_all(asr_stream *stream) { return without_replaced(poll_every(stream)); }

void feed(asr_stream *stream, const std::vector<int16_t> &samples, size_t chunk, uint32_t n_channels) {
  const size_t step = chunk * n_channels;
  for (size_t i = 0; i < samples.size(); i += step) {
    ASSERT_OK(asr_feed(stream, samples.data() + i, std::min(step, samples.size() - i) / n_channels));
  }
}

std::vector<std::string> recognize(asr_engine *engine, const asr_stream_config &config, const std::vector<int16_t> &samples,
                                   size_t chunk) {
  const StreamPointer stream = open_stream(engine, config);
  feed(stream.get(), samples, chunk, config.n_channels);
  EXPECT_OK(asr_finish(stream.get()));
  return poll_all(stream.get());
}

Outcome run_program(const std::string &name, const std::string &arguments) {
  FILE *pipe = popen((SENONE_EMULATOR SENONE_BUILD_DIR "/bin/" + name + " " + arguments + " 2>&1").c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  Outcome outcome;
  std::array<char, 256> buffer{};
  while (fgets(buffer.data(), buffer.size(), pipe) != nullptr) outcome.output += buffer.data();
  const int status = pclose(pipe);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

void add_rows(const asr_event *event, GivenRows *given) {
  asr_rows rows{};
  rows.size = sizeof(rows);
  given->flags |= asr_event_flags(event);
  if (asr_event_get_kind(event) == ASR_EVENT_ERROR) given->status = asr_event_status(event);
  if (asr_event_get_kind(event) != ASR_EVENT_ROWS) {
    EXPECT_EQ(asr_event_rows(event, &rows), ASR_NOT_FOUND);
    return;
  }
  ASSERT_OK(asr_event_rows(event, &rows));
  EXPECT_GT(rows.n_rows, 0u);
  EXPECT_EQ(rows.first_frame, given->n_rows);
  EXPECT_TRUE(given->n_values == 0 || given->n_values == rows.n_values);
  given->n_rows += rows.n_rows;
  given->n_values = rows.n_values;
  given->values.insert(given->values.end(), rows.values, rows.values + size_t{rows.n_rows} * rows.n_values);
}

GivenRows poll_rows(asr_stream *stream) {
  GivenRows given;
  for (asr_event_kind kind = ASR_EVENT_READY; kind != ASR_EVENT_END;) {
    asr_event *event = nullptr;
    EXPECT_OK(asr_wait(stream, -1));
    EXPECT_OK(asr_result(stream, &event));
    kind = event == nullptr ? ASR_EVENT_END : asr_event_get_kind(event);
    add_rows(event, &given);
    asr_event_free(event);
  }
  return given;
}

GivenRows rows_of(asr_engine *engine, const asr_stream_config &config, const std::vector<int16_t> &samples, size_t chunk) {
  const StreamPointer stream = open_stream(engine, config);
  feed(stream.get(), samples, chunk);
  EXPECT_OK(asr_finish(stream.get()));
  return poll_rows(stream.get());
}

asr_stream_config giving(asr_output output) {
  asr_stream_config config = default_stream();
  config.output = output;
  return config;
}

std::vector<std::string> devices_named(const std::string &backend, const std::string &part) {
  std::vector<std::string> ids;
  asr_device_list *list = nullptr;
  EXPECT_OK(asr_devices(&list));
  for (size_t i = 0; i < asr_device_list_count(list); ++i) {
    asr_device device;
    device.size = sizeof(device);
    EXPECT_OK(asr_device_list_get(list, i, &device));
    const std::string id = device.id;
    if (id.rfind(backend + ":", 0) == 0 && std::string(device.name).find(part) != std::string::npos) ids.push_back(id);
  }
  asr_device_list_free(list);
  EXPECT_FALSE(ids.empty()) << backend << " " << part;
  return ids;
}

size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  size_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

std::string final_text(const std::vector<std::string> &events) {
  for (const std::string &event : events) {
    if (event.rfind("FINAL", 0) != 0) continue;
    const size_t begin = event.find('\'') + 1;
    return event.substr(begin, event.find('\'', begin) - begin);
  }
  return "no FINAL event";
}

}  // namespace asr::test
