// SPDX-License-Identifier: Apache-2.0
// Tests lattices, alternatives and confidences through the C ABI. The arrays are as asr.h documents, and the feeding of
// audio does not change a bit of them.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <thread>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

using Events = std::vector<std::string>;
using EventPointer = std::unique_ptr<asr_event, void (*)(asr_event *)>;

// A low acoustic scale, so that many sentences are within the beam.
asr_stream_config lattice_stream() {
  asr_stream_config config = default_stream();
  config.acoustic_scale = 0.02f;
  config.lattice_beam = 4;
  config.word_insertion_cost = 2;
  config.n_best = 20;
  return config;
}

template <typename Value>
EventPointer final_event(asr_engine *engine, const asr_stream_config &config, const std::vector<Value> &values, size_t n) {
  const StreamPointer stream = open_stream(engine, config);
  EXPECT_OK(asr_feed(stream.get(), values.data(), n));
  EXPECT_OK(asr_finish(stream.get()));
  EventPointer result(nullptr, asr_event_free);
  for (asr_event_kind kind = ASR_EVENT_READY; kind != ASR_EVENT_END;) {
    EXPECT_OK(asr_wait(stream.get(), 60000));
    asr_event *event = nullptr;
    EXPECT_OK(asr_result(stream.get(), &event));
    kind = asr_event_get_kind(event);
    if (kind == ASR_EVENT_FINAL) {
      result.reset(event);
    } else {
      asr_lattice none{};
      none.size = sizeof(none);
      EXPECT_EQ(asr_event_lattice(event, &none), ASR_NOT_FOUND);
      asr_event_free(event);
    }
  }
  return result;
}

EventPointer final_event(asr_engine *engine, const asr_stream_config &config, const std::string &words) {
  const std::vector<int16_t> samples = speak(words);
  return final_event(engine, config, samples, samples.size());
}

asr_lattice lattice_of(const asr_event *event) {
  asr_lattice lattice{};
  lattice.size = sizeof(lattice);
  EXPECT_OK(asr_event_lattice(event, &lattice));
  return lattice;
}

struct Cost {
  double graph, acoustic;
};

// Returns every path of the lattice: its words and costs.
std::map<std::string, Cost> all_paths(const asr_lattice &lattice) {
  std::map<std::string, Cost> paths;
  const std::function<void(uint32_t, const std::string &, Cost)> follow = [&](uint32_t state, const std::string &words,
                                                                              Cost c) {
    if (std::isfinite(lattice.end_graph_cost[state])) {
      const Cost whole = {c.graph + lattice.end_graph_cost[state], c.acoustic + lattice.end_acoustic_cost[state]};
      EXPECT_TRUE(paths.emplace(words, whole).second) << "twice: " << words;
    }
    for (uint64_t a = 0; a < lattice.n_arcs; ++a) {
      if (lattice.arc_from[a] != state) continue;
      const std::string more = words + (words.empty() ? "" : " ") + lattice.arc_word[a];
      follow(lattice.arc_to[a], more, {c.graph + lattice.arc_graph_cost[a], c.acoustic + lattice.arc_acoustic_cost[a]});
    }
  };
  if (lattice.n_states > 0) follow(0, "", {0, 0});
  return paths;
}

TEST(Lattices, AlternativesAreItsBestPaths) {
  const EnginePointer engine = load_engine();
  const EventPointer event = final_event(engine.get(), lattice_stream(), "low high mid");
  const asr_lattice lattice = lattice_of(event.get());
  const std::map<std::string, Cost> paths = all_paths(lattice);
  const size_t n = asr_event_n_alternatives(event.get());
  ASSERT_GT(n, 2u);
  EXPECT_STREQ(asr_event_alternative_text(event.get(), 0), asr_event_text(event.get()));
  const auto total = [&](const Cost &cost) { return cost.graph + lattice.acoustic_scale * cost.acoustic; };
  std::vector<double> totals;
  for (const auto &[words, cost] : paths) totals.push_back(total(cost));
  std::sort(totals.begin(), totals.end());
  const auto end_of_beam = std::upper_bound(totals.begin(), totals.end(), totals.front() + lattice.beam);
  EXPECT_EQ(n, std::min<size_t>(20, static_cast<size_t>(end_of_beam - totals.begin())));
  std::set<std::string> texts;
  for (size_t i = 0; i < n; ++i) {
    const std::string text = asr_event_alternative_text(event.get(), i);
    EXPECT_TRUE(texts.insert(text).second) << text;
    const auto path = paths.find(text);
    ASSERT_NE(path, paths.end()) << text;
    Cost cost{};
    ASSERT_OK(asr_event_alternative_costs(event.get(), i, &cost.graph, &cost.acoustic));
    EXPECT_NEAR(cost.graph, path->second.graph, 1e-9);
    EXPECT_NEAR(cost.acoustic, path->second.acoustic, 1e-9);
    EXPECT_NEAR(total(cost), totals[i], 1e-9);
  }
}

TEST(Lattices, ArraysKeepTheirRules) {
  const EnginePointer engine = load_engine();
  const EventPointer event = final_event(engine.get(), lattice_stream(), "mid low");
  const asr_lattice lattice = lattice_of(event.get());
  ASSERT_GT(lattice.n_arcs, 3u);
  EXPECT_EQ(lattice.beam, 4);
  EXPECT_EQ(lattice.acoustic_scale, double{0.02f});
  EXPECT_EQ(lattice.state_time_s[0], 0);
  std::vector<double> in(lattice.n_states, 0), out(lattice.n_states, 0);
  in[0] = 1;
  double ends = 0;
  for (uint64_t a = 0; a < lattice.n_arcs; ++a) {
    EXPECT_LE(lattice.arc_from[a == 0 ? 0 : a - 1], lattice.arc_from[a]);
    ASSERT_LT(lattice.arc_from[a], lattice.arc_to[a]);
    ASSERT_LT(lattice.arc_to[a], lattice.n_states);
    EXPECT_EQ(lattice.arc_start_s[a], lattice.state_time_s[lattice.arc_from[a]]);
    EXPECT_EQ(lattice.arc_end_s[a], lattice.state_time_s[lattice.arc_to[a]]);
    const double n_frames = double(lattice.alignment_begin[a + 1] - lattice.alignment_begin[a]);
    EXPECT_NEAR(lattice.arc_end_s[a] - lattice.arc_start_s[a], 0.01 * n_frames, 1e-9);
    EXPECT_STREQ(lattice.arc_word[a], lattice.arc_word_id[a] == 1 ? "low" : lattice.arc_word_id[a] == 2 ? "mid" : "high");
    in[lattice.arc_to[a]] += lattice.arc_posterior[a];
    out[lattice.arc_from[a]] += lattice.arc_posterior[a];
  }
  for (uint32_t s = 0; s < lattice.n_states; ++s) {
    const uint64_t i = lattice.n_arcs + s;
    const double n_frames = double(lattice.alignment_begin[i + 1] - lattice.alignment_begin[i]);
    if (std::isfinite(lattice.end_graph_cost[s])) {
      EXPECT_NEAR(lattice.state_time_s[s] + 0.01 * n_frames, 0.01 * lattice.n_frames, 1e-9);
    } else {
      EXPECT_EQ(lattice.end_posterior[s], 0);
    }
    EXPECT_NEAR(in[s], out[s] + lattice.end_posterior[s], 1e-9) << "state " << s;
    ends += lattice.end_posterior[s];
  }
  EXPECT_NEAR(ends, 1, 1e-9);
}

TEST(Lattices, ConfidencesFallWithTheEvidence) {
  const EnginePointer engine = load_engine();
  asr_stream_config config = lattice_stream();
  const auto min_confidence = [&] {
    const EventPointer event = final_event(engine.get(), config, "low mid");
    EXPECT_STREQ(asr_event_text(event.get()), "low mid");
    float least = 2;
    for (size_t i = 0; i < asr_event_n_words(event.get(), 0); ++i) {
      asr_word word{};
      word.size = sizeof(word);
      EXPECT_OK(asr_event_word(event.get(), 0, i, &word));
      EXPECT_GE(word.confidence, 0);
      EXPECT_LE(word.confidence, 1);
      least = std::min(least, word.confidence);
    }
    return least;
  };
  const float doubtful = min_confidence();
  config.acoustic_scale = 1;
  EXPECT_LT(doubtful, 0.99f);
  EXPECT_GT(min_confidence(), 0.999f);
}

// Events must not depend on chunks, windows, or other streams of the engine.
void expect_same_whatever(const asr_stream_config &config, const std::vector<int16_t> &samples, size_t min_chunk) {
  const Events expected = recognize(load_engine().get(), config, samples, samples.size());
  EXPECT_NE(expected[3].find("lattice"), std::string::npos) << expected[3];
  const EnginePointer again = load_engine();
  for (const size_t chunk : {min_chunk, size_t{160}, size_t{1000}, size_t{16000}}) {
    EXPECT_TRUE(recognize(again.get(), config, samples, chunk) == expected) << chunk;
  }
  for (const uint32_t window_frames : {8u, 31u, 256u}) {
    EXPECT_TRUE(recognize(load_engine(1, window_frames).get(), config, samples, 4000) == expected) << window_frames;
  }
  const EnginePointer shared = load_engine(3);
  std::vector<Events> found(8);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] { found[i] = recognize(shared.get(), config, samples, 100 + 333 * i); });
  }
  for (std::thread &thread : threads) thread.join();
  for (const Events &events : found) EXPECT_TRUE(events == expected);
}

TEST(Lattices, NothingChangesABitOfThem) { expect_same_whatever(lattice_stream(), speak("low high mid low"), 1); }

// Returns words so long that the search returns their lattice in pieces.
std::string many_words() {
  std::string words = "low";
  for (int i = 0; i < 12; ++i) words += " high mid low";
  return words;
}

asr_stream_config many_words_stream() {
  asr_stream_config config = lattice_stream();
  config.acoustic_scale = 0.1f;
  return config;
}

TEST(Lattices, NothingChangesABitOfThoseInPieces) { expect_same_whatever(many_words_stream(), speak(many_words()), 37); }

TEST(Lattices, InPiecesHaveEveryWordSequenceOnce) {
  const EventPointer event = final_event(load_engine().get(), many_words_stream(), many_words());
  const asr_lattice lattice = lattice_of(event.get());
  EXPECT_GT(lattice.n_frames, 1000u);
  EXPECT_EQ(lattice.beam, 4);
  std::set<std::pair<uint32_t, std::string>> arcs;
  for (uint64_t a = 0; a < lattice.n_arcs; ++a) EXPECT_TRUE(arcs.emplace(lattice.arc_from[a], lattice.arc_word[a]).second) << a;
  EXPECT_STREQ(asr_event_text(event.get()), many_words().c_str());
  const size_t n = asr_event_n_alternatives(event.get());
  EXPECT_GT(n, 2u);
  double before = -HUGE_VAL;
  std::set<std::string> texts;
  for (size_t i = 0; i < n; ++i) {
    EXPECT_TRUE(texts.insert(asr_event_alternative_text(event.get(), i)).second);
    Cost cost{};
    ASSERT_OK(asr_event_alternative_costs(event.get(), i, &cost.graph, &cost.acoustic));
    const double total = cost.graph + lattice.acoustic_scale * cost.acoustic;
    EXPECT_GE(total, before);
    before = total;
  }
}

// In these rows all words are equally likely. One row has the value that HTK writes for a probability of 0, or one so large that
// sums with it cannot tell paths of the beam apart: then the lattice has what is left of them, and its numbers are still sound.
TEST(Lattices, OfTooMuchAreNarrowedAndSaySo) {
  constexpr size_t kFrames = 700, kPdfs = 4;
  asr_stream_config config = lattice_stream();
  config.input = ASR_INPUT_LOGLIKES;
  config.lattice_beam = 10;
  config.acoustic_scale = 0.42f;
  for (const float loud : {-1e10f, -1e18f}) {
    std::vector<float> rows(kFrames * kPdfs, 0);
    for (size_t p = 0; p < kPdfs; ++p) rows[kPdfs * 400 + p] = loud * (1 - 1e-7f * static_cast<float>(p));
    const EventPointer event = final_event(load_engine().get(), config, rows, kFrames);
    ASSERT_NE(event, nullptr);
    const asr_lattice lattice = lattice_of(event.get());
    EXPECT_EQ((asr_event_flags(event.get()) & ASR_FLAG_BEAM_NARROWED) != 0, lattice.beam < 10);
    if (loud > -1e11f) {
      EXPECT_LT(lattice.beam, 10);
    }
    EXPECT_EQ(lattice.n_frames, kFrames);
    for (uint64_t a = 0; a < lattice.n_arcs; ++a) {
      ASSERT_TRUE(lattice.arc_posterior[a] >= 0 && lattice.arc_posterior[a] <= 1) << lattice.arc_posterior[a];
    }
    for (size_t i = 0; i < asr_event_n_words(event.get(), 0); ++i) {
      asr_word word{};
      word.size = sizeof(word);
      ASSERT_OK(asr_event_word(event.get(), 0, i, &word));
      ASSERT_TRUE(word.confidence >= 0 && word.confidence <= 1) << word.confidence;
    }
  }
  EXPECT_EQ(asr_event_flags(final_event(load_engine().get(), lattice_stream(), "low").get()) & ASR_FLAG_BEAM_NARROWED, 0u);
}

TEST(Lattices, LiveLongerThanStreamAndEngine) {
  EnginePointer engine = load_engine();
  const EventPointer event = final_event(engine.get(), lattice_stream(), "high");
  const std::string before = shown(event.get());
  engine.reset();
  std::thread([&] { EXPECT_EQ(shown(event.get()), before); }).join();
}

TEST(Lattices, OlderProgramsGetTheFieldsTheyKnow) {
  const EnginePointer engine = load_engine();
  const EventPointer event = final_event(engine.get(), lattice_stream(), "high");
  asr_lattice lattice{};
  lattice.size = offsetof(asr_lattice, n_arcs);
  ASSERT_OK(asr_event_lattice(event.get(), &lattice));
  EXPECT_GT(lattice.n_states, 0u);
  EXPECT_EQ(lattice.n_arcs, 0u);
  lattice.size = 0;
  EXPECT_EQ(asr_event_lattice(event.get(), &lattice), ASR_INVALID_ARGUMENT);
}

TEST(Lattices, ShortAudioAndNone) {
  const EnginePointer engine = load_engine();
  for (const size_t n_samples : {0u, 1u, 399u, 1000u}) {
    const Events events = recognize(engine.get(), lattice_stream(), std::vector<int16_t>(n_samples, 3), 100);
    EXPECT_EQ(events[3].rfind("FINAL ASR_OK", 0), 0u) << events[3];
  }
}

TEST(Lattices, ClosingAndCancellingBeforeTheyAreMade) {
  const std::vector<int16_t> samples = speak("low high mid low low high mid low");
  EnginePointer engine = load_engine();
  for (const bool cancel : {false, true}) {
    const StreamPointer stream = open_stream(engine.get(), lattice_stream());
    ASSERT_OK(asr_feed(stream.get(), samples.data(), samples.size()));
    ASSERT_OK(asr_finish(stream.get()));
    if (!cancel) continue;
    ASSERT_OK(asr_cancel(stream.get()));
    const Events events = poll_all(stream.get());
    EXPECT_EQ(events.back().rfind("END", 0), 0u);
  }
  const StreamPointer last = open_stream(engine.get(), lattice_stream());
  ASSERT_OK(asr_finish(last.get()));
  engine.reset();
}

}  // namespace
}  // namespace asr::test
