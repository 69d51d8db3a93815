// SPDX-License-Identifier: Apache-2.0
// The files that `senone recognize --lattice` writes.
#pragma once

#include <string>
#include <vector>

#include "api/asr.h"
#include "core/base/file.h"
#include "core/lattice/lattice.h"

namespace asr::tool {

// A copy of the event's lattice in the form of core/lattice.
CompactLattice copy_lattice(const asr_event *event, double frame_shift_s);

// A name that ends in .slf: HTK's form, of one lattice only. Else an archive of Kaldi, in text if the name ends in .txt.
class LatticeOutput {
 public:
  // words: by word id, for HTK's form.
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
