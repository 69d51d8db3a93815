// SPDX-License-Identifier: Apache-2.0
// A model of a few phones that uses every feature of the formats; for tests.
#pragma once

#include <cmath>

#include "core/model/acoustic_model.h"
#include "core/model/bundle.h"
#include "core/model/hmm_set.h"

namespace asr::test {

// A model of three dimensions in two streams (the second takes dimensions 2 and 0), and two states. Stream 0 has two
// codebooks, stream 1 has one. Two Gaussians share a covariance.
inline AcousticModel small_acoustic_model(asr_covariance covariance = ASR_COVARIANCE_DIAGONAL) {
  AcousticModel model;
  model.covariance = covariance;
  model.n_dims = 3;
  model.n_states = 2;
  model.streams = {{{1}}, {{2, 0}}};
  model.codebooks = {{0, 2, 0, 0}, {0, 1, 2, 2}, {1, 2, 3, 3}};
  model.means = {0.5f, -0.5f, 2, 1, 2, 3, 4};
  model.covariance_of = {0, 1, 1, 2, 3};
  if (covariance == ASR_COVARIANCE_DIAGONAL) {
    model.precision_at = {0, 1, 2, 4};
    model.precisions = {1, 2, 3, 4, 5, 6};
  } else {
    model.precision_at = {0, 1, 2, 5};
    model.precisions = {1, 2, 3, -0.5f, 4, 5, 0.25f, 6};
  }
  model.state_codebook = {0, 2, 1, 2};
  model.state_weight = {0, 2, 4, 5};
  model.log_weights = {-0.5f, -1, -2, -INFINITY, 0, -3, -0.1f};
  return model;
}

// Phones A, B and the filler SIL; word positions; topologies of three states with a skip, and of one; two transition-ids of the
// source.
inline HmmSet small_hmm_set() {
  HmmSet set;
  set.n_pdfs = 9;
  set.topologies = {{3, {{0, 0, 0.5f}, {0, 1, 1}, {0, 2, 2}, {1, 1, 0.5f}, {1, 2, 1}, {2, 2, 0.5f}, {2, 3, 1}, {kEntry, 0, 0}}},
                    {1, {{0, 0, 0.25f}, {0, 1, 1.5f}, {kEntry, 0, 0}}}};
  set.hmms = {{0, {0, 1, 2}}, {0, {3, 4, 5}}, {1, {8}}, {0, {0, 6, 2}}, {0, {0, 7, 2}}, {0, {3, 4, 7}}};
  set.phones = {{"A", false, 0}, {"B", false, 1}, {"SIL", true, 2}};
  set.silence = 2;
  set.contexts = {{0, 1, 1, 0, 3}, {0, 1, 1, 1, 4}, {0, 2, 1, 1, 4}, {1, 0, 2, 2, 5}};
  set.transitions = {{}, {0, 1, 0, true, 3}, {1, kAnyPosition, 2, false, 8}};
  return set;
}

// The same with contexts that tell positions of neighbours apart: B at the end of a word has another HMM after A and after A
// alone, and a third before silence; A has the same in all positions.
inline HmmSet small_placed_hmm_set() {
  HmmSet set = small_hmm_set();
  set.contexts.clear();
  set.phone_contexts = {{1, 2, 2, {0, 1, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 1, 0}, {1, 5, 3, 4}},
                        {0, kAnyPosition, 1, std::vector<uint16_t>(10), std::vector<uint16_t>(10), {3}}};
  return set;
}

inline Bundle small_bundle() {
  Bundle bundle;
  bundle.name = "small";
  bundle.source = "made for a test, \"quoted\" \xc3\xa9";
  bundle.made_by = {{"0.2.0", {"import", "sphinx", "a model", "small"}}, {"0.3.0", {"graph"}}};
  bundle.front_end = sphinx_front_end();
  bundle.decoding = {12.5, 0.07, -1.5, 1234, 0.25, true, {{"stop", 0.5}, {"turn on", 0.25}}};
  bundle.filler_words = {{"<sil>", {"SIL"}}, {"[NOISE]", {"A", "SIL"}}};
  return bundle;
}

}  // namespace asr::test
