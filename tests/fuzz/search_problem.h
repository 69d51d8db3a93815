// SPDX-License-Identifier: Apache-2.0
// Small problems for the differential targets: a graph, options of a search and rows of log-likelihoods, derived from
// the bytes of an input. Every usable back end solves them. libFuzzer's build has only the CPU back end; tests replay
// the kept inputs on OpenCL, too, if PoCL is installed.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "core/backend/registry.h"
#include "tests/fuzz/target.h"

namespace asr::fuzz {

constexpr uint32_t kWindow = 8;  // frames per advance of a device

// Graph, options and rows derived from the bytes.
class SearchProblem {
 public:
  static constexpr uint32_t kMaxStates = 12, kMaxFrames = 24;

  explicit SearchProblem(Dice &dice, bool with_lattice) {
    n_pdfs_ = 1 + dice.below(4);
    const uint32_t n_states = 1 + dice.below(kMaxStates);
    // Epsilon cycles need costs of at least 0 and exclude lattices; without cycles epsilon arcs lead forward and may have any
    // cost.
    cycles_ = dice.below(2) == 1 && !with_lattice;
    pdf_of_.push_back(0);
    for (uint32_t id = 1; id <= 2 * n_pdfs_; ++id) pdf_of_.push_back((id - 1) / 2);
    options_.size = sizeof(options_);
    options_.beam = dice.pick({10, 0.5f, 3, 100, 1e10f, 1e30f});
    options_.acoustic_scale = dice.pick({0.7f, 0.1f, 1, 1e10f, 1e-10f});
    options_.word_insertion_cost = cycles_ ? dice.pick({0, 0.5f, 100}) : dice.pick({0, 0.5f, -0.5f, 100, 1e10f});
    options_.max_active = 1 + dice.below(12);
    options_.min_active = dice.below(6);
    if (with_lattice) options_.lattice_beam = dice.pick({4, 0.25f, 1, 8, 100, 1e10f});
    use_final_ = dice.below(2) == 0;
    add_arcs(dice, n_states, true, emitting_begin_);
    add_arcs(dice, n_states, false, epsilon_begin_);
    for (uint32_t s = 0; s < n_states; ++s)
      final_costs_.push_back(dice.pick({std::numeric_limits<float>::infinity(), 0, 0.5f, -1, 1e30f}));
    view_.size = sizeof(view_);
    view_.n_states = n_states;
    view_.start_state = dice.below(n_states);
    view_.n_transition_ids = 2 * n_pdfs_;
    view_.n_pdfs = n_pdfs_;
    view_.n_arcs = arcs_.size();
    view_.emitting_begin = emitting_begin_.data();
    view_.epsilon_begin = epsilon_begin_.data();
    view_.arcs = arcs_.data();
    view_.final_costs = final_costs_.data();
    view_.pdf_of = pdf_of_.data();
    n_frames_ = dice.below(kMaxFrames);
    for (uint32_t i = 0; i < n_frames_ * n_pdfs_; ++i) {
      rows_.push_back(dice.pick({-5, -4, -4.5f, 0, 2, -20, -100, -1e4f, -1e10f, -3e38f, 1e10f, -7, -6.25f}));
    }
  }

  SearchProblem(const SearchProblem &) = delete;
  SearchProblem &operator=(const SearchProblem &) = delete;

  const asr_graph_view &graph() const { return view_; }
  const asr_search_options &options() const { return options_; }
  const float *rows() const { return rows_.data(); }
  uint32_t n_frames() const { return n_frames_; }
  uint32_t wants() const { return use_final_ ? ASR_WANTS_FINAL : 0; }  // wants of the path and of the lattice
  bool use_final() const { return use_final_; }

  // Returns the greatest finite value that a path's cost may contain.
  double largest_cost() const {
    double largest = std::max(1.0, std::abs(double{options_.word_insertion_cost}));
    const auto see = [&](double cost) {
      if (std::isfinite(cost)) largest = std::max(largest, std::abs(cost));
    };
    for (const float score : rows_) see(double{options_.acoustic_scale} * double{score});
    for (const asr_graph_arc &arc : arcs_) see(double{arc.graph_cost});
    for (const float cost : final_costs_) see(double{cost});
    return largest;
  }

  // Calls look(api, channel) with a channel of the device that has consumed all rows.
  template <typename Look>
  void solve(const Device &device, Look look) const {
    const asr_backend_api &api = *device.api();
    asr_backend_graph *graph = nullptr;
    asr_backend_channel *channel = nullptr;
    uint32_t in_use = 1;
    device.check(api.load_graph(device.get(), &view_, &graph, &in_use));
    const std::unique_ptr<asr_backend_graph, decltype(api.free_graph)> owned_graph(graph, api.free_graph);
    device.check(api.channel_begin(device.get(), graph, &options_, &channel));
    const std::unique_ptr<asr_backend_channel, decltype(api.channel_end)> owned_channel(channel, api.channel_end);
    for (uint32_t t = 0; t < n_frames_; t += kWindow) {
      const asr_advance_job job{channel, rows_.data() + size_t{t} * n_pdfs_, 0, 0, std::min(kWindow, n_frames_ - t), 0};
      device.check(api.advance(device.get(), nullptr, &job, 1));
      device.check(api.wait(device.get(), 0));
    }
    look(api, channel);
  }

 private:
  bool cycles_, use_final_;
  uint32_t n_pdfs_, n_frames_;
  asr_search_options options_{};
  asr_graph_view view_{};
  std::vector<uint32_t> emitting_begin_, epsilon_begin_, pdf_of_;
  std::vector<asr_graph_arc> arcs_;
  std::vector<float> final_costs_, rows_;

  void add_arcs(Dice &dice, uint32_t n_states, bool emitting, std::vector<uint32_t> &begin) {
    for (uint32_t s = 0; s < n_states; ++s) {
      begin.push_back(static_cast<uint32_t>(arcs_.size()));
      for (uint32_t i = dice.below(4); i > 0; --i) {
        const bool onward = !emitting && !cycles_;
        if (onward && s + 1 == n_states) break;
        const uint32_t next = onward ? s + 1 + dice.below(n_states - s - 1) : dice.below(n_states);
        const float cost =
            emitting || !cycles_ ? dice.pick({0, 1, 0.5f, 0.25f, -1, 3, 1e10f, -1e10f}) : dice.pick({0, 1, 0.5f, 1e10f});
        const uint32_t id = emitting ? 1 + dice.below(2 * n_pdfs_) : 0;
        arcs_.push_back({next, id, dice.below(3), cost});
      }
    }
    begin.push_back(static_cast<uint32_t>(arcs_.size()));
  }
};

inline const std::vector<std::unique_ptr<Device>> &devices() {
  static const std::vector<std::unique_ptr<Device>> all = [] {
    asr_backend_options options{};
    options.size = sizeof(options);
    options.max_lanes = 1;
    options.window_frames = kWindow;
    options.n_threads = 1;
    std::vector<std::unique_ptr<Device>> usable;
    for (const DeviceEntry &entry : list_devices()) {
      if (entry.reason.empty()) usable.push_back(std::make_unique<Device>(entry, options));
    }
    return usable;
  }();
  return all;
}

// Random bytes.
inline std::vector<std::string> random_inputs(int n_inputs) {
  std::vector<std::string> all;
  uint32_t state = 1;
  for (int i = 0; i < n_inputs; ++i) {
    std::string bytes(300, '\0');
    for (char &byte : bytes) byte = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
    all.push_back(bytes);
  }
  return all;
}

}  // namespace asr::fuzz
