// SPDX-License-Identifier: Apache-2.0
// Archives of lattices in Kaldi's format: entries of a key and an OpenFst "vector" graph, binary or text. Arcs have type
// compactlattice44 (word level) or lattice4 (state level). Called by `senone recognize` and the lattice tools.
#pragma once

#include <memory>
#include <string>

#include "core/base/file.h"
#include "core/lattice/lattice.h"

namespace asr {

enum class KaldiForm { kBinary, kText };

// These functions append an entry. The key must be a word without blanks. Costs are rounded to single precision.
void write_kaldi_lattice(OutputFile &file, const std::string &key, const CompactLattice &lattice, KaldiForm form);
void write_kaldi_lattice(OutputFile &file, const std::string &key, const Lattice &lattice, KaldiForm form);

// KaldiLatticeReader reads all of these types; an archive may mix them. It keeps only states reachable from the start, in an
// order in which arcs ascend. A state-level arc becomes an arc whose alignment has one id or none. Errors in the file are
// asr::Error (ASR_BAD_FILE) and name the file and the byte or line.
class KaldiLatticeReader {
 public:
  explicit KaldiLatticeReader(const std::string &path);
  KaldiLatticeReader(std::string bytes, const std::string &source);  // of a file read before; `source` names it in errors
  ~KaldiLatticeReader();

  // Returns false at the end. After an error it goes on with the next entry, or returns false if damage hides where that
  // begins: that of a binary entry does, while an entry in text ends at an empty line.
  bool next(std::string *key, CompactLattice *lattice);

 private:
  class Source;
  std::unique_ptr<Source> source_;
};

}  // namespace asr
