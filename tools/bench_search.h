// SPDX-License-Identifier: Apache-2.0
// Inputs of the search benchmarks: a graph and rows of log-likelihoods, read, random, or computed from features before any
// timing. bench_decode.cc and bench_recording.cc use them.
#pragma once

#include <memory>
#include <vector>

#include "core/graph/graph.h"
#include "tools/bench.h"
#include "tools/bench_features.h"
#include "tools/loglike_file.h"

namespace asr::tool {

constexpr double kFramesPerSecond = 100;

// Options of these benchmarks.
struct SearchBench {
  BenchOptions common;
  std::string graph, model, loglikes, features;
  uint32_t n_states = 200000, n_arcs = 500000, n_pdfs = 2000, n_frames = 1000;
  uint64_t seed = 1;
  uint32_t window = 32;
  asr_search_options search{sizeof(asr_search_options), 13, 0, 0.1f, 0, 7000, 200};

  void add_to(Command app);
};

// BenchGraph is the graph of a file or a random one.
class BenchGraph {
 public:
  explicit BenchGraph(const SearchBench &bench);
  uint32_t n_states() const { return file_ ? file_->n_states() : view_.n_states; }
  uint64_t n_arcs() const { return file_ ? file_->n_arcs() : view_.n_arcs; }
  uint32_t n_pdfs() const { return file_ ? file_->n_pdfs() : view_.n_pdfs; }
  // Call once; the graph stays as long as this object.
  asr_backend_graph *load(const Device &device);

 private:
  std::unique_ptr<Graph> file_;
  GraphData random_;
  std::vector<uint32_t> pdf_of_;
  asr_graph_view view_{};
};

// BenchRows holds rows of log-likelihoods, cut into utterances.
class BenchRows {
 public:
  // scored: false leaves the rows of --features unscored, for benchmarks that score them themselves.
  BenchRows(const SearchBench &bench, uint32_t n_pdfs, bool scored = true);
  const float *rows() const { return rows_; }
  const FeatureRows &features() const { return features_; }  // rows of --features
  const std::vector<uint32_t> &utterances() const { return n_frames_; }
  uint64_t n_frames() const;
  uint64_t n_bytes() const { return rows_ == nullptr ? 0 : n_frames() * n_pdfs_ * sizeof(float); }

 private:
  const uint32_t n_pdfs_;
  LoglikeFile file_;
  FeatureRows features_;
  std::vector<float> made_;
  const float *rows_ = nullptr;
  std::vector<uint32_t> n_frames_;
};

// Adds the properties of both to a report.
void add_options(const SearchBench &bench, const BenchGraph &graph, const BenchRows &rows, BenchReport *report);

}  // namespace asr::tool
