// SPDX-License-Identifier: Apache-2.0
#include "tests/api/token_bundle.h"

#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "core/graph/graph.h"
#include "core/model/bundle.h"
#include "core/model/hmm_set.h"

namespace asr::test {
namespace {

constexpr uint32_t kWords = 3;

HmmSet hmms() {
  HmmSet set;
  set.topologies = {{1, {{0, 0, 0.7f}, {0, 1, 0.7f}, {kEntry, 0, 0}}}};
  for (const char *name : {"<blank>", "l", "m", "h"}) {
    const auto number = static_cast<uint32_t>(set.phones.size());
    set.phones.push_back({name, false, number});
    set.hmms.push_back({0, {number}});
  }
  set.n_pdfs = 1 + kWords;
  return set;
}

// State 0 has blanks, state i the frames of token i.
GraphData graph() {
  GraphData graph;
  graph.n_pdfs = 1 + kWords;
  graph.n_words = 1 + kWords;
  graph.transitions = {{0, 0, 0, false, 0}, {0, kAnyPosition, 0, true, 0}};
  const auto single = static_cast<uint8_t>(WordPosition::kSingle);
  for (uint32_t token = 1; token <= kWords; ++token) {
    graph.transitions.push_back({token, single, 0, false, token});
    graph.transitions.push_back({token, single, 0, true, token});
  }
  for (uint32_t state = 0; state <= kWords; ++state) {
    graph.emitting_begin.push_back(static_cast<uint32_t>(graph.arcs.size()));
    graph.final_costs.push_back(0);
    graph.arcs.push_back({0, 1, 0, 0});
    for (uint32_t token = 1; token <= kWords; ++token) {
      const bool is_loop = token == state;
      graph.arcs.push_back({token, 2 * token + (is_loop ? 1 : 0), is_loop ? 0 : token, is_loop ? 0.0f : 1.0f});
    }
  }
  graph.emitting_begin.push_back(static_cast<uint32_t>(graph.arcs.size()));
  for (uint32_t state = 0; state <= kWords + 1; ++state) graph.epsilon_begin.push_back(graph.emitting_begin.back());
  return graph;
}

struct TemporaryBundle {
  std::string path = std::filesystem::temp_directory_path() / ("senone_tokens_" + std::to_string(getpid()));

  TemporaryBundle() {
    std::filesystem::create_directories(path);
    write_hmm_set(hmms(), path + "/hmms.bin");
    write_graph(graph(), path + "/graph.bin");
    write_symbols({"<eps>", "low", "mid", "high"}, path + "/words.txt");
    write_symbols({"<eps>", "<blank>", "l", "m", "h"}, path + "/phones.txt");
    Bundle bundle;
    bundle.name = "tokens";
    bundle.front_end.shift_samples = 320;
    bundle.decoding.beam = 50;
    bundle.decoding.acoustic_scale = 1;
    bundle.filler_words = {{"<blank>", {"<blank>"}}};
    ScoreModel scores;
    scores.n_states = 1 + kWords;
    scores.topology = TokenTopology::kCtc;
    scores.blank = 0;
    scores.state_of_column = {0, 1, 2, 3, 3};
    scores.log_priors = {std::log(0.7f), std::log(0.1f), std::log(0.1f), std::log(0.1f)};
    bundle.scores = scores;
    write_bundle_index(bundle, path, {"hmms.bin", "graph.bin", "words.txt", "phones.txt"});
  }
  ~TemporaryBundle() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

}  // namespace

const std::string &token_bundle() {
  static const TemporaryBundle bundle;
  return bundle.path;
}

std::vector<float> token_rows(const std::string &frames) {
  std::vector<float> rows;
  for (const char frame : frames) {
    float row[kTokenColumns] = {1e-5f, 1e-5f, 1e-5f, 1e-5f, 1e-5f};
    const size_t column = frame == '.' || frame == '?' ? 0 : frame == 'l' ? 1 : frame == 'm' ? 2 : frame == 'h' ? 3 : 4;
    row[column] = 1 - 4e-5f;
    if (frame == '?') row[0] = 0.6f, row[1] = 0.4f - 3e-5f;
    for (const float value : row) rows.push_back(std::log(value));
  }
  return rows;
}

}  // namespace asr::test
