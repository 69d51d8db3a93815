// SPDX-License-Identifier: Apache-2.0
// The files of a bundle.
#include <unistd.h>

#include <filesystem>

#include "core/graph/graph.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/model/small_model.h"
#include "tests/unit/scratch.h"

namespace asr::fuzz {
namespace {

GraphData small_graph() {
  GraphData graph;
  graph.start_state = 1;
  graph.arcs = {{1, 1, 0, 0.5f}, {2, 2, 1, 0.25f}, {0, 1, 2, 1}, {2, 0, 1, 0}, {0, 0, 0, 0.75f}};
  graph.emitting_begin = {0, 1, 2, 3};
  graph.epsilon_begin = {3, 4, 4, 5};
  graph.final_costs = {INFINITY, INFINITY, 0.5f};
  graph.transitions = {{}, {0, 0, 0, true, 0}, {1, kAnyPosition, 1, false, 1}};
  graph.n_pdfs = 2;
  graph.n_words = 3;
  return graph;
}

// Walks over everything a loaded graph hands out, as a search does.
void visit_graph(const std::string &path) {
  const Graph graph(path);
  const asr_graph_view &view = *graph.view();
  uint64_t sum = view.start_state;
  for (uint32_t s = 0; s < view.n_states; ++s) {
    for (uint32_t i = view.emitting_begin[s]; i < view.emitting_begin[s + 1]; ++i) {
      const asr_graph_arc &arc = view.arcs[i];
      sum += view.final_costs[arc.next_state] > 0 ? view.pdf_of[arc.transition_id] : graph.transition(arc.transition_id).phone;
    }
    for (uint32_t i = view.epsilon_begin[s]; i < view.epsilon_begin[s + 1]; ++i) sum += view.arcs[i].next_state;
  }
  static volatile uint64_t sink;
  sink = sum;
  (void)sink;
}

// An index that lists no files: those are read by targets of their own.
std::string small_index(const test::Scratch &scratch) {
  write_bundle_index(test::small_bundle(), scratch.path(), {});
  return test::slurp(scratch / "senone.json");
}

void read_index(const std::string &path) {
  const std::string folder = path + ".bundle";
  std::filesystem::create_directory(folder);
  std::filesystem::copy_file(path, folder + "/senone.json", std::filesystem::copy_options::overwrite_existing);
  struct Remove {
    std::string folder;
    ~Remove() { std::filesystem::remove_all(folder); }
  } remove{folder};
  read_bundle(folder);
}

}  // namespace

void add_bundle_targets(std::vector<Target> &targets) {
  const test::Scratch scratch;
  const std::string path = scratch / "f";
  std::vector<std::string> acoustic, hmms, graph;
  for (const asr_covariance covariance : {ASR_COVARIANCE_DIAGONAL, ASR_COVARIANCE_FULL}) {
    write_acoustic_model(test::small_acoustic_model(covariance), path);
    acoustic.push_back(test::slurp(path));
  }
  write_hmm_set(test::small_hmm_set(), path);
  hmms.push_back(test::slurp(path));
  write_graph(small_graph(), path);
  graph.push_back(test::slurp(path));

  targets.push_back({"senone.json", {small_index(scratch)}, read_index});
  targets.push_back({"acoustic.bin", acoustic, [](const std::string &p) { read_acoustic_model(p).validate(p); }});
  targets.push_back({"hmms.bin", hmms, [](const std::string &p) {
                       const HmmSet set = read_hmm_set(p);
                       ContextTable(set).find(0, 0, 0, WordPosition::kBegin);
                     }});
  targets.push_back({"graph.bin", graph, visit_graph});
  targets.push_back({"words.txt", {"<eps> 0\na 1\nb(2) 2\n"}, [](const std::string &p) { read_symbols(p); }});
}

}  // namespace asr::fuzz
