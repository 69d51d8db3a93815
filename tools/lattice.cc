// SPDX-License-Identifier: Apache-2.0
// Implements `senone lattice`: the uses of lattices written to files.
#include "tools/lattice.h"

#include "builder/text/text_file.h"
#include "core/base/error.h"
#include "core/lattice/kaldi_lattice.h"
#include "core/model/bundle.h"

namespace asr::tool {

void LatticeInput::for_each(const std::function<void(const std::string &, const CompactLattice &)> &visit) const {
  KaldiLatticeReader reader(read_unpacked(path, "an archive of lattices", {Format::kKaldiLattices}), path);
  std::string id;
  CompactLattice lattice;
  while (reader.next(&id, &lattice)) {
    try {
      visit(id, lattice);
    } catch (const Error &error) {
      if (error.code() != ASR_UNSUPPORTED && error.code() != ASR_INVALID_ARGUMENT) throw;
      fail(error.code(), "%s, %s: %s", path.c_str(), id.c_str(), error.what());
    }
  }
}

void add_lattice_path(Command command, LatticeInput *input) {
  command.option("LATTICES", input->path, "Archive of lattices in Kaldi's form, binary or text").required();
}

void add_acoustic_scale(Command command, LatticeInput *input) {
  command.option("--acoustic-scale", input->acoustic_scale, "Weight of acoustic costs; the one that the search had is best")
      .range(1e-6, 1e6)
      .required();
}

void add_words_path(Command command, LatticeInput *input) {
  command.option("--words", input->words_path, "words.txt of the graph").required();
}

void add_frame_shift(Command command, double *frame_shift_ms) {
  command.option("--frame-shift-ms", *frame_shift_ms, "From one frame to the next").range(0.1, 1000.0).shows_default();
}

WordSymbols::WordSymbols(const std::string &path)
    : path_(path), symbols_(parse_symbols(read_text(path, {"a table of words and their numbers"}), path)) {
  for (uint32_t number = 0; number < symbols_.size(); ++number) numbers_.emplace(symbols_[number], number);
}

const std::string &WordSymbols::text(uint32_t word) const {
  if (word >= symbols_.size()) {
    fail(ASR_INVALID_ARGUMENT, "%s: the lattice has word %u, which is not listed; give the words.txt of the graph",
         path_.c_str(), word);
  }
  return symbols_[word];
}

std::string WordSymbols::text(const std::vector<uint32_t> &words) const {
  std::string line;
  for (const uint32_t word : words) line += (line.empty() ? "" : " ") + text(word);
  return line;
}

uint32_t WordSymbols::number(const std::string &word) const {
  const auto found = numbers_.find(word);
  return found == numbers_.end() ? static_cast<uint32_t>(symbols_.size()) : found->second;
}

namespace {

void add_lattice(Command app) {
  Command lattice = app.command("lattice", "Words, confidences, statistics and other language models from lattices");
  lattice.requires_command();
  add_lattice_stats(lattice);
  add_lattice_best(lattice);
  add_lattice_compare(lattice);
  add_lattice_prune(lattice);
  add_lattice_confidence(lattice);
  add_lattice_align(lattice);
  add_lattice_rescore(lattice);
  add_lattice_slf(lattice);
}

const Subcommand kRegistration{"lattice", add_lattice};

}  // namespace
}  // namespace asr::tool
