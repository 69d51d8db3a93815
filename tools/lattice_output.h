// SPDX-License-Identifier: Apache-2.0
// Writes the files of `senone recognize --lattice`.
#pragma once

#include <string>
#include <vector>

#include "api/asr.h"
#include "core/base/file.h"
#include "core/lattice/lattice.h"

namespace asr::tool {

// Converts the event's lattice to the types of core/lattice.
CompactLattice copy_lattice(const asr_event *event, double frame_shift_s);

// A name that ends in .slf selects HTK's format, for one lattice only. Other names select a Kaldi archive, in text format if
// the name ends in .txt.
class LatticeOutput {
 public:
  // words: by word id, for HTK's format.
  LatticeOutput(const std::string &path, std::vector<std::string> words, double frame_shift_s);
  void write(const std::string &id, const CompactLattice &lattice, double acoustic_scale);
  void commit() { file_.commit(); }

 private:
  const std::string extension_;
  const std::vector<std::string> words_;
  const double frame_shift_s_;
  OutputFile file_;
};

}  // namespace asr::tool
