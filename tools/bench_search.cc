// SPDX-License-Identifier: Apache-2.0
#include "tools/bench_search.h"

#include <numeric>
#include <random>

#include "core/model/bundle.h"

namespace asr::tool {
namespace {

// Makes a random graph. Three arcs in four are emitting. Every state has a self-loop; other arcs lead to a nearby state or
// anywhere.
GraphData random_graph(const SearchBench &bench) {
  std::mt19937_64 random(bench.seed);
  const auto below = [&](uint64_t n) { return static_cast<uint32_t>(random() % n); };
  const auto cost = [&] { return static_cast<float>(below(6000)) / 1000; };
  const auto near = [&](uint32_t s) { return below(4) != 0 ? (s + 1 + below(64)) % bench.n_states : below(bench.n_states); };
  GraphData graph;
  graph.n_pdfs = bench.n_pdfs;
  graph.n_words = 1000;
  const uint32_t extra = bench.n_arcs > bench.n_states ? bench.n_arcs - bench.n_states : 0;
  const uint32_t n_epsilon = extra / 4, n_forward = extra - n_epsilon;
  for (uint32_t s = 0; s < bench.n_states; ++s) {
    graph.emitting_begin.push_back(static_cast<uint32_t>(graph.arcs.size()));
    graph.arcs.push_back({s, 1 + below(bench.n_pdfs), 0, 0.7f});
    const auto n =
        static_cast<uint32_t>((uint64_t{n_forward} * (s + 1)) / bench.n_states - uint64_t{n_forward} * s / bench.n_states);
    for (uint32_t i = 0; i < n; ++i)
      graph.arcs.push_back({near(s), 1 + below(bench.n_pdfs), below(8) == 0 ? below(1000) : 0, cost()});
  }
  graph.emitting_begin.push_back(static_cast<uint32_t>(graph.arcs.size()));
  for (uint32_t s = 0; s < bench.n_states; ++s) {
    graph.epsilon_begin.push_back(static_cast<uint32_t>(graph.arcs.size()));
    const auto n =
        static_cast<uint32_t>((uint64_t{n_epsilon} * (s + 1)) / bench.n_states - uint64_t{n_epsilon} * s / bench.n_states);
    for (uint32_t i = 0; i < n; ++i) graph.arcs.push_back({near(s), 0, 0, cost()});
  }
  graph.epsilon_begin.push_back(static_cast<uint32_t>(graph.arcs.size()));
  graph.final_costs.assign(bench.n_states, 0.0f);
  graph.transitions.resize(bench.n_pdfs + size_t{1});
  for (uint32_t id = 1; id <= bench.n_pdfs; ++id) graph.transitions[id].pdf = id - 1;
  return graph;
}

}  // namespace

BenchGraph::BenchGraph(const SearchBench &bench) {
  if (!bench.graph.empty() || !bench.model.empty()) {
    file_ = std::make_unique<Graph>(bench.graph.empty() ? read_bundle(bench.model).file("graph.bin") : bench.graph);
    return;
  }
  random_ = random_graph(bench);
  pdf_of_.push_back(0);
  for (size_t id = 1; id < random_.transitions.size(); ++id) pdf_of_.push_back(random_.transitions[id].pdf);
  view_ = {sizeof(view_),
           random_.n_states(),
           0,
           static_cast<uint32_t>(random_.transitions.size() - 1),
           random_.n_pdfs,
           random_.arcs.size(),
           random_.emitting_begin.data(),
           random_.epsilon_begin.data(),
           random_.arcs.data(),
           random_.final_costs.data(),
           pdf_of_.data(),
           nullptr};
}

asr_backend_graph *BenchGraph::load(const Device &device) {
  asr_backend_graph *loaded = nullptr;
  uint32_t in_use = 1;
  device.require_search();
  device.check(file_ ? file_->load(*device.api(), device.has(ASR_BACKEND_PACKED_GRAPH), device.get(), &loaded)
                     : device.api()->load_graph(device.get(), &view_, &loaded, &in_use));
  return loaded;
}

BenchRows::BenchRows(const SearchBench &bench, uint32_t n_pdfs, bool scored) : n_pdfs_(n_pdfs) {
  if (!bench.loglikes.empty()) {
    file_ = LoglikeFile(bench.loglikes, n_pdfs);
    rows_ = file_.rows();
    n_frames_ = file_.n_frames();
    return;
  }
  if (!bench.features.empty()) {
    features_ = read_feature_rows(bench.model, bench.features);
    n_frames_ = features_.n_frames;
    if (!scored) return;
    made_ = score_rows(bench.common, bench.model, features_);
    if (made_.size() != n_frames() * n_pdfs) {
      fail(ASR_BAD_FILE, "%s: its model and its graph have different numbers of states; make the graph again",
           bench.model.c_str());
    }
    rows_ = made_.data();
    return;
  }
  std::mt19937_64 random(bench.seed + 1);
  std::normal_distribution<float> normal(-50, 8);
  made_.resize(size_t{bench.n_frames} * n_pdfs);
  for (float &x : made_) x = normal(random);
  rows_ = made_.data();
  n_frames_ = {bench.n_frames};
}

uint64_t BenchRows::n_frames() const { return std::accumulate(n_frames_.begin(), n_frames_.end(), uint64_t{0}); }

void SearchBench::add_to(Command app) {
  common.add_to(app);
  app.option("--graph", graph, "graph.bin to search; default: a random graph");
  app.option("--model", model, "Bundle whose graph is searched").excludes("--graph");
  app.option("--loglikes", loglikes, "Scores (docs/search.md, \"Measuring\"); default: random ones");
  app.option("--features", features, "Archive of features whose scores by the model of --model are searched")
      .needs("--model")
      .excludes("--loglikes");
  app.option("--states", n_states, "States of the random graph").range(1, 200000000).shows_default();
  app.option("--arcs", n_arcs, "Arcs of the random graph").range(1, 1000000000).shows_default();
  app.option("--pdfs", n_pdfs, "Pdfs of the random graph").range(1, 1000000).shows_default();
  app.option("--frames", n_frames, "Frames of random scores").range(1, 10000000).shows_default();
  app.option("--seed", seed, "Seed of graph and scores").shows_default();
  app.option("--window", window, "Frames of one advance").range(1, 256).shows_default();
  app.option("--beam", search.beam, "Beam").shows_default();
  app.option("--max-active", search.max_active, "Most tokens expanded in a frame").shows_default();
  app.option("--min-active", search.min_active, "Least tokens expanded in a frame").shows_default();
  app.option("--acoustic-scale", search.acoustic_scale, "Scale of the log-likelihoods").shows_default();
}

void add_options(const SearchBench &bench, const BenchGraph &graph, const BenchRows &rows, BenchReport *report) {
  report->option("graph", bench.graph.empty() && bench.model.empty() ? "random" : bench.graph + bench.model);
  if (!bench.features.empty()) report->option("features", bench.features);
  report->option("states", graph.n_states());
  report->option("arcs", graph.n_arcs());
  report->option("pdfs", graph.n_pdfs());
  report->option("frames", rows.n_frames());
  report->option("window", bench.window);
  report->option("beam", bench.search.beam);
  report->option("lattice_beam", bench.search.lattice_beam);
  report->option("max_active", bench.search.max_active);
  report->option("min_active", bench.search.min_active);
  report->option("acoustic_scale", bench.search.acoustic_scale);
  report->option("seed", bench.seed);
}

}  // namespace asr::tool
