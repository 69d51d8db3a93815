// SPDX-License-Identifier: Apache-2.0
// Hears all results of a stream, and checks the guarantees of stable words: they stay in all later results of the utterance.
// Their times stay, too, except in FINALs with lattices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/api/recognizer.h"

namespace asr::test {

struct HeardWord {
  std::string text;
  double start_s, end_s;
  bool operator==(const HeardWord &other) const {
    return text == other.text && start_s == other.start_s && end_s == other.end_s;
  }
};

struct Result {
  asr_event_kind kind;
  double time_s;
  size_t n_stable;
  std::vector<HeardWord> words;
};

// Returns all events, including partial results that a later one would replace if they were not read.
std::vector<Result> hear(asr_engine *engine, asr_stream_config config, const std::vector<int16_t> &samples, uint32_t seed);

// Checks the guarantees of stable words; returns the number of words stable before FINAL. A lattice has its own word times.
size_t check_promises(const std::vector<Result> &results, bool with_lattice);

asr_stream_config with_partials(float lattice_beam = 0, asr_endpoint endpoint = ASR_ENDPOINT_OFF);

}  // namespace asr::test
