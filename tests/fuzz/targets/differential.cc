// SPDX-License-Identifier: Apache-2.0
// The search of every usable back end against the literal reference of docs/search.md (tests/reference/viterbi.h): a small
// graph, options and rows of log-likelihoods come from the input; all must find the same path, bit for bit. libFuzzer's
// build has the CPU back end alone; tests replay the kept inputs on OpenCL too, where PoCL is there.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "core/backend/registry.h"
#include "tests/fuzz/target.h"
#include "tests/reference/viterbi.h"

namespace asr::fuzz {
namespace {

using reference::SearchResult;

constexpr uint32_t kWindow = 8, kMostStates = 12, kMostFrames = 24;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Graph, options and rows made of the bytes.
class Problem {
 public:
  explicit Problem(Dice &dice) {
    n_pdfs_ = 1 + dice.below(4);
    const uint32_t n_states = 1 + dice.below(kMostStates);
    // Epsilon cycles need costs of at least 0; without them epsilon arcs lead on and may cost anything.
    cycles_ = dice.below(2) == 1;
    pdf_of_.push_back(0);
    for (uint32_t id = 1; id <= 2 * n_pdfs_; ++id) pdf_of_.push_back((id - 1) / 2);
    options_.size = sizeof(options_);
    options_.beam = dice.pick({10, 0.5f, 3, 100, 1e10f, 1e30f});
    options_.acoustic_scale = dice.pick({0.7f, 0.1f, 1, 1e10f, 1e-10f});
    options_.word_insertion_cost = cycles_ ? dice.pick({0, 0.5f, 100}) : dice.pick({0, 0.5f, -0.5f, 100, 1e10f});
    options_.max_active = 1 + dice.below(12);
    options_.min_active = dice.below(6);
    use_final_ = dice.below(2) == 0;
    add_arcs(dice, n_states, true, emitting_begin_);
    add_arcs(dice, n_states, false, epsilon_begin_);
    for (uint32_t s = 0; s < n_states; ++s) final_costs_.push_back(dice.pick({kInfinity, 0, 0.5f, -1, 1e30f}));
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
    n_frames_ = dice.below(kMostFrames);
    for (uint32_t i = 0; i < n_frames_ * n_pdfs_; ++i) {
      rows_.push_back(dice.pick({-5, -4, -4.5f, 0, 2, -20, -100, -1e4f, -1e10f, -3e38f, 1e10f, -7, -6.25f}));
    }
  }

  SearchResult expected() const { return reference::pruned_search(view_, options_, rows_.data(), n_frames_, use_final_); }
  SearchResult found(const Device &device) const;

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

SearchResult Problem::found(const Device &device) const {
  const asr_backend_api &api = *device.api();
  asr_backend_graph *graph = nullptr;
  asr_backend_channel *channel = nullptr;
  device.check(api.load_graph(device.get(), &view_, &graph));
  const std::unique_ptr<asr_backend_graph, decltype(api.free_graph)> owned_graph(graph, api.free_graph);
  device.check(api.channel_begin(device.get(), graph, &options_, &channel));
  const std::unique_ptr<asr_backend_channel, decltype(api.channel_end)> owned_channel(channel, api.channel_end);
  for (uint32_t t = 0; t < n_frames_; t += kWindow) {
    const asr_advance_job job{channel, rows_.data() + size_t{t} * n_pdfs_, 0, 0, std::min(kWindow, n_frames_ - t), 0};
    device.check(api.advance(device.get(), nullptr, &job, 1));
    device.check(api.wait(device.get()));
  }
  asr_path path{};
  device.check(api.best_path(device.get(), channel, use_final_ ? 1 : 0, &path));
  return {{path.arcs, path.arcs + path.n_arcs},
          path.n_frames,
          path.reached_final != 0,
          path.beam_died != 0,
          path.total_cost,
          path.n_tokens,
          path.n_arcs_expanded};
}

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

const std::vector<std::unique_ptr<Device>> &devices() {
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

}  // namespace

void search(const std::string &bytes) {
  Dice dice(bytes);
  const Problem problem(dice);
  const SearchResult expected = problem.expected();
  for (const auto &device : devices()) compare(device->entry().id, problem.found(*device), expected);
}

std::vector<std::string> seeds() {
  if (devices().empty()) finding("no back end is usable");
  std::vector<std::string> all;
  uint32_t state = 1;
  for (int i = 0; i < 6; ++i) {
    std::string bytes(300, '\0');
    for (char &byte : bytes) byte = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
    all.push_back(bytes);
  }
  return all;
}

}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {64, 1024, 5, 1000}, fuzz::search);
}
