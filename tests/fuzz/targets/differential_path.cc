// SPDX-License-Identifier: Apache-2.0
// Compares the best path of every usable back end with the literal reference of docs/search.md: the same arcs, bit for bit.
#include "reference/viterbi.h"
#include "tests/fuzz/search_problem.h"

namespace asr::fuzz {
namespace {

using reference::SearchResult;

void compare(const std::string &device, const SearchResult &found, const SearchResult &expected) {
  const char *const id = device.c_str();
  if (found.beam_died != expected.beam_died) finding("%s: beam_died is %d", id, found.beam_died);
  if (found.reached_final != expected.reached_final) finding("%s: reached_final is %d", id, found.reached_final);
  if (found.n_frames != expected.n_frames) finding("%s: %u frames, not %u", id, found.n_frames, expected.n_frames);
  if (found.n_tokens != expected.n_tokens || found.n_arcs_expanded != expected.n_arcs_expanded) {
    finding("%s: %llu tokens and %llu arcs, not %llu and %llu", id, static_cast<unsigned long long>(found.n_tokens),
            static_cast<unsigned long long>(found.n_arcs_expanded), static_cast<unsigned long long>(expected.n_tokens),
            static_cast<unsigned long long>(expected.n_arcs_expanded));
  }
  if (found.arcs.size() != expected.arcs.size())
    finding("%s: a path of %zu arcs, not %zu", id, found.arcs.size(), expected.arcs.size());
  for (size_t i = 0; i < found.arcs.size(); ++i) {
    const asr_path_arc &a = found.arcs[i], &b = expected.arcs[i];
    if (a.frame != b.frame || a.transition_id != b.transition_id || a.word != b.word || a.graph_cost != b.graph_cost ||
        a.acoustic_cost != b.acoustic_cost) {
      finding("%s: arc %zu of the path is %u %u %u %.9g %.9g, not %u %u %u %.9g %.9g", id, i, a.frame, a.transition_id, a.word,
              double(a.graph_cost), double(a.acoustic_cost), b.frame, b.transition_id, b.word, double(b.graph_cost),
              double(b.acoustic_cost));
    }
  }
}

SearchResult path_of(const Device &device, const SearchProblem &problem) {
  SearchResult result;
  problem.solve(device, [&](const asr_backend_api &api, asr_backend_channel *channel) {
    asr_path path{};
    device.check(api.best_paths(device.get(), &channel, 1, problem.wants(), &path));
    result = {{path.arcs, path.arcs + path.n_arcs},
              path.n_frames,
              path.reached_final != 0,
              path.beam_died != 0,
              path.total_cost,
              path.n_tokens,
              path.n_arcs_expanded};
  });
  return result;
}

}  // namespace

void search(const std::string &bytes) {
  Dice dice(bytes);
  const SearchProblem problem(dice, false);
  const SearchResult expected =
      reference::pruned_search(problem.graph(), problem.options(), problem.rows(), problem.n_frames(), problem.use_final());
  for (const auto &device : devices()) compare(device->entry().id, path_of(*device, problem), expected);
}

std::vector<std::string> seeds() {
  if (devices().empty()) finding("no back end is usable");
  return random_inputs(6);
}

}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  const fuzz::Budget budget = {64, 1024, 60, 1000};  // PoCL compiles kernels once
  return fuzz::run(data, size, budget, fuzz::search);
}
