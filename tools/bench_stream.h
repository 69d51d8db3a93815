// SPDX-License-Identifier: Apache-2.0
// Options of `senone bench stream` and its two variants: recordings (bench_stream.cc), or the utterances of an archive of
// features (bench_stream_features.cc).
#pragma once

#include <string>
#include <vector>

#include "tools/bench.h"
#include "tools/recognize.h"

namespace asr::tool {

struct StreamBench {
  BenchOptions common;
  std::string model, features, loglikes, search_device;
  bool device_rows = false;  // the log-likelihoods are in memory of the device
  std::vector<std::string> files;
  std::vector<uint32_t> n_streams = {1, 64, 512};
  uint32_t n_lanes = 0, window = 32, chunk_ms = 100, partial_ms = 200, max_active = 0;
  uint32_t n_warps = 0;  // that a speaker of each stream tries, in a measurement of its own; 0: none
  uint64_t n_utterances = 0;
  double seconds = 10;
  float beam = 0, acoustic_scale = 0, lattice_beam = 0;
};

// Declares the options of streams that are fed as spoken: --streams, --lanes, --window and so on.
void add_stream_options(Command app, StreamBench *bench);

// Loads an engine with capacity for n_streams in a step, unless --lanes overrides it.
EnginePointer load_engine(const StreamBench &bench, uint32_t n_streams);

// Returns the benchmark's search options, with defaults for the others.
asr_stream_config stream_config(const StreamBench &bench);

// Prints the report of --features or --loglikes. Throws if a stream failed.
void stream_features(const StreamBench &bench);

}  // namespace asr::tool
