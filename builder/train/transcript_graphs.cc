// SPDX-License-Identifier: Apache-2.0
#include "builder/train/transcript_graphs.h"

#include <algorithm>
#include <utility>

namespace asr::train {
namespace {

Grammar sequence_grammar(const Transcript &words) {
  Grammar grammar;
  grammar.words = {"<eps>"};
  grammar.start = grammar.add_state();
  for (const std::string &word : words) {
    const auto known = std::find(grammar.words.begin() + 1, grammar.words.end(), word);
    const auto id = static_cast<uint32_t>(known - grammar.words.begin());
    if (known == grammar.words.end()) grammar.words.push_back(word);
    const uint32_t last = grammar.n_states() - 1;
    const uint32_t next = grammar.add_state();
    grammar.arcs[last].push_back({id, 0, next});
  }
  grammar.final_costs.back() = 0;
  return grammar;
}

}  // namespace

TranscriptGraphs::TranscriptGraphs(const HmmSet &set, Lexicon lexicon, GraphOptions options)
    : set_(set), contexts_(set), lexicon_(std::move(lexicon)), options_(std::move(options)) {}

std::string TranscriptGraphs::unknown_word(const Transcript &words) const {
  const auto unknown = std::find_if(words.begin(), words.end(), [&](const auto &word) { return !lexicon_.contains(word); });
  return unknown == words.end() ? "" : *unknown;
}

std::string TranscriptGraphs::why_unknown(const std::string &word) const {
  const auto left_out = lexicon_.left_out.find(word);
  const std::string said = "'" + word + "' has no pronunciation";
  return left_out == lexicon_.left_out.end() ? said : said + " that can be used: " + left_out->second.why();
}

GraphData TranscriptGraphs::graph(const Transcript &words) const {
  GraphSizes sizes{};
  const BuildProgress no_progress = [](double, const std::string &) {};
  return build_graph(set_, contexts_, restricted(lexicon_, words), sequence_grammar(words), options_, no_progress, &sizes);
}

std::vector<uint32_t> TranscriptGraphs::states(const Transcript &words) const {
  struct Spoken {
    uint32_t phone;
    WordPosition position;
    uint32_t neighbour;  // the phone as one
  };
  std::vector<Spoken> phones;
  const auto add_silence = [&] {
    if (set_.silence != kNoPhone) phones.push_back({set_.silence, WordPosition::kSingle, contexts_.silence_neighbour()});
  };
  add_silence();
  for (const std::string &word : words) {
    const std::vector<uint32_t> &spoken = lexicon_.pronunciations[lexicon_.pronunciations_of.at(word).front()];
    for (size_t i = 0; i < spoken.size(); ++i) {
      const WordPosition position = position_in_word(i, spoken.size());
      phones.push_back({spoken[i], position, contexts_.neighbour(spoken[i], position)});
    }
  }
  add_silence();
  std::vector<uint32_t> pdfs;
  for (size_t i = 0; i < phones.size(); ++i) {
    const bool is_filler = set_.phones[phones[i].phone].filler;
    const uint32_t left = i == 0 ? contexts_.edge_neighbour() : phones[i - 1].neighbour;
    const uint32_t right = i + 1 == phones.size() ? contexts_.edge_neighbour() : phones[i + 1].neighbour;
    const uint32_t hmm =
        is_filler ? set_.phones[phones[i].phone].hmm : contexts_.find_between(phones[i].phone, left, right, phones[i].position);
    pdfs.insert(pdfs.end(), set_.hmms[hmm].pdfs.begin(), set_.hmms[hmm].pdfs.end());
  }
  return pdfs;
}

std::vector<uint32_t> equal_stretches(const std::vector<uint32_t> &states, uint64_t n_frames) {
  if (states.empty() || states.size() > n_frames) return {};
  std::vector<uint32_t> of_frames(n_frames);
  for (uint64_t i = 0; i < n_frames; ++i) of_frames[i] = states[i * states.size() / n_frames];
  return of_frames;
}

}  // namespace asr::train
