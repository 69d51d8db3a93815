// SPDX-License-Identifier: Apache-2.0
// Common code of the tests of the search (search.cc) and of its lattices (lattice.cc): a graph and a channel on a device.
#pragma once

#include <algorithm>
#include <random>

#include "tests/conformance/harness.h"
#include "tests/conformance/random_graph.h"

namespace asr::test {

inline asr_search_options search_options(float beam, uint32_t max_active = 1000, uint32_t min_active = 0) {
  asr_search_options options{};
  options.size = sizeof(options);
  options.beam = beam;
  options.acoustic_scale = 0.7f;
  options.max_active = max_active;
  options.min_active = min_active;
  return options;
}

inline GraphShape random_shape(std::mt19937 &random) {
  GraphShape shape;
  shape.n_states = 1 + random() % 30;
  shape.n_pdfs = 1 + random() % 6;
  shape.n_words = 1 + random() % 6;
  shape.emitting_arcs = 0.3 + 0.01 * (random() % 300);
  shape.epsilon_arcs = 0.01 * (random() % 150);
  shape.final_states = random() % 4 == 0 ? 0.0 : 0.3;
  shape.ties = random() % 2 == 0;
  return shape;
}

// A start state with an arc to each of n states, which have arcs to themselves and to each other. In all frames but the first
// they are tokens of few different costs, or of one: keys with equal bins and digits.
class FanGraph {
 public:
  FanGraph(uint32_t n, bool one_cost) {
    for (uint32_t i = 1; i <= n; ++i)
      arcs_.push_back({i, 1 + i % kPdfs, i % 5, one_cost ? 1.0f : 0.25f * static_cast<float>(i % 7)});
    for (uint32_t i = 1; i <= n; ++i) {
      begins_.push_back(static_cast<uint32_t>(arcs_.size()));
      arcs_.push_back({i, 1 + i % kPdfs, 0, 0.5f});
      arcs_.push_back({i % n + 1, 1 + i % kPdfs, i % 3, one_cost ? 0.5f : 0.125f * static_cast<float>(i % 3)});
    }
    begins_.push_back(static_cast<uint32_t>(arcs_.size()));
    ends_.assign(n + 2, static_cast<uint32_t>(arcs_.size()));
    final_costs_.assign(n + 1, 0.0f);
  }
  asr_graph_view view() const {
    return {sizeof(asr_graph_view),
            static_cast<uint32_t>(final_costs_.size()),
            0,
            kPdfs,
            kPdfs,
            arcs_.size(),
            begins_.data(),
            ends_.data(),
            arcs_.data(),
            final_costs_.data(),
            pdf_of_,
            nullptr};
  }
  // Rows of one log-likelihood, or of four.
  static std::vector<float> loglikes(uint32_t n_frames, bool one_cost) {
    std::vector<float> rows(size_t{n_frames} * kPdfs, -1.0f);
    for (size_t i = 0; !one_cost && i < rows.size(); ++i) rows[i] = -0.5f * static_cast<float>(i % 4);
    return rows;
  }
  static constexpr uint32_t kPdfs = 3;

 private:
  std::vector<asr_graph_arc> arcs_;
  std::vector<uint32_t> begins_ = {0}, ends_;
  std::vector<float> final_costs_;
  const uint32_t pdf_of_[kPdfs + 1] = {0, 0, 1, 2};
};

struct ActiveLimits {
  uint32_t max_active, min_active;
};

class SearchFixture : public BackendTest {
 protected:
  void SetUp() override {
    BackendTest::SetUp();
    require_search();
  }

  // A graph loaded on a device.
  struct Loaded {
    Loaded(const asr_backend_api &api, const Device &device, const asr_graph_view &view) : api(api) {
      graph = load_graph(device, view, &in_use);
    }
    ~Loaded() { api.free_graph(graph); }
    const asr_backend_api &api;
    asr_backend_graph *graph = nullptr;
    uint32_t in_use = 1;  // whether the arrays are
  };
  struct Channel {
    Channel(const asr_backend_api &api, const Device &device, const Loaded &loaded, const asr_search_options &options)
        : api(api) {
      device.check(api.channel_begin(device.get(), loaded.graph, &options, &channel));
    }
    ~Channel() { api.channel_end(channel); }
    const asr_backend_api &api;
    asr_backend_channel *channel = nullptr;
  };

  // Advances over rows[n_frames][n_pdfs], `chunk` frames at a time.
  void advance(const Device &device, const Channel &channel, const float *rows, uint32_t n_pdfs, uint32_t n_frames,
               uint32_t chunk) {
    for (uint32_t t = 0; t < n_frames; t += chunk) {
      const asr_advance_job job{channel.channel, rows + size_t{t} * n_pdfs, 0, 0, std::min(chunk, n_frames - t), 0};
      device.check(api().advance(device.get(), nullptr, &job, 1));
      device.check(api().wait(device.get(), 0));
    }
  }
};

}  // namespace asr::test
