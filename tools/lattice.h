// SPDX-License-Identifier: Apache-2.0
// The common part of the subcommands of `senone lattice`. Each has a file of its own, tools/lattice_<name>.cc.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/lattice/lattice.h"
#include "tools/tool.h"

namespace asr::tool {

// What became of the lattices of an archive.
struct [[nodiscard]] LatticesTried {
  size_t n = 0, n_failed = 0;

  // Throws if one failed; a command calls it last, when the results of the others are written.
  void check(const std::string &path) const;
};

// The source of lattices: compact lattices in Kaldi's archives, binary or text. `path` may begin with "ark:".
struct LatticeInput {
  std::string path, words_path;
  double acoustic_scale = 0;

  // Calls visit for each lattice of the archive in turn. One that cannot be read, that has the key of an earlier one or at
  // which visit throws, is named on stderr, and the others are visited nevertheless.
  LatticesTried for_each(const std::function<void(const std::string &id, const CompactLattice &lattice)> &visit) const;
};

void add_lattice_path(Command command, LatticeInput *input);
void add_acoustic_scale(Command command, LatticeInput *input);
void add_words_path(Command command, LatticeInput *input);
void add_frame_shift(Command command, double *frame_shift_ms);

// WordSymbols maps the words of words.txt to numbers and back.
class WordSymbols {
 public:
  explicit WordSymbols(const std::string &path);
  const std::vector<std::string> &all() const { return symbols_; }
  const std::string &text(uint32_t word) const;  // throws if the lattice was made with another list
  std::string text(const std::vector<uint32_t> &words) const;
  uint32_t number(const std::string &word) const;  // all().size() for unlisted words

 private:
  std::string path_;
  std::vector<std::string> symbols_;
  std::unordered_map<std::string, uint32_t> numbers_;
};

void add_lattice_align(Command lattice);
void add_lattice_stats(Command lattice);
void add_lattice_best(Command lattice);
void add_lattice_compare(Command lattice);
void add_lattice_prune(Command lattice);
void add_lattice_confidence(Command lattice);
void add_lattice_rescore(Command lattice);
void add_lattice_slf(Command lattice);

}  // namespace asr::tool
