// SPDX-License-Identifier: Apache-2.0
// The files that `senone recognize --lattice` writes.
#pragma once

#include <optional>
#include <string>

#include "api/asr.h"
#include "core/base/file.h"
#include "core/lattice/lattice.h"

namespace asr::tool {

// A copy of the event's lattice in the form of core/lattice.
CompactLattice copy_lattice(const asr_event *event, double frame_shift_s);

// An archive of Kaldi, in text if its name ends in .txt, else binary.
class LatticeOutput {
 public:
  explicit LatticeOutput(const std::string &path);
  void write(const std::string &id, const CompactLattice &lattice);
  void commit();

 private:
  std::optional<OutputFile> archive_;
  bool text_ = false;
};

}  // namespace asr::tool
