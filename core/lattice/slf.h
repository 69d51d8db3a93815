// SPDX-License-Identifier: Apache-2.0
// Writes lattices in HTK's Standard Lattice Format, for HTK, SRILM and other tools. Called by `senone recognize` and the
// lattice tools.
#pragma once

#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/lattice/lattice.h"

namespace asr {

struct SlfOptions {
  std::string utterance;                            // name of the utterance; may be empty
  const std::vector<std::string> *words = nullptr;  // [n_words]: UTF-8, by word id
  double frame_shift_s = 0.01;
  double acoustic_scale = 1;
};

// Nodes are states with their times, and one additional node where every path ends. Links are arcs with word, acoustic and
// language log-likelihood (natural logarithms, acoustic ones unscaled). A word id outside `words` is ASR_INVALID_ARGUMENT; so
// is a lattice without a path, which the format cannot express.
void write_slf(OutputFile &file, const CompactLattice &lattice, const SlfOptions &options);

}  // namespace asr
