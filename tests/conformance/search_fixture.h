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

class SearchFixture : public BackendTest {
 protected:
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
