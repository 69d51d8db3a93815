// SPDX-License-Identifier: Apache-2.0
// Archives of lattices as Kaldi's tools write and read them: entries of a key and an OpenFst "vector" graph with arcs of type
// compactlattice44 (word level) or lattice4 (state level), binary or text. Called by `senone recognize` and the lattice tools.
#pragma once

#include <memory>
#include <string>

#include "core/base/file.h"
#include "core/lattice/lattice.h"

namespace asr {

enum class KaldiForm { kBinary, kText };

// Append an entry. The key must be a word without blanks. Costs are rounded to single precision.
void write_kaldi_lattice(OutputFile &file, const std::string &key, const CompactLattice &lattice, KaldiForm form);
void write_kaldi_lattice(OutputFile &file, const std::string &key, const Lattice &lattice, KaldiForm form);

// Reads all of these; an archive may mix them. Of the file's states only those are kept that the start leads to, in an order
// that arcs ascend. An arc of the state level becomes one with an alignment of one id or none. Whatever is wrong with the
// file is an asr::Error (ASR_BAD_FILE) that names it and the byte or line.
class KaldiLatticeReader {
 public:
  explicit KaldiLatticeReader(const std::string &path);
  ~KaldiLatticeReader();

  bool next(std::string *key, CompactLattice *lattice);  // false at the end

 private:
  class Source;
  std::unique_ptr<Source> source_;
};

}  // namespace asr
