// SPDX-License-Identifier: Apache-2.0
// Implements `senone lattice`: the uses of lattices written to files.
#include "tools/lattice.h"

#include <map>
#include <string>
#include <vector>

#include "builder/text/text_file.h"
#include "core/base/error.h"
#include "core/lattice/kaldi_lattice.h"
#include "core/model/bundle.h"

namespace asr::tool {
namespace {

// Takes an archive's name in Kaldi's form, too.
std::string archive_path(const std::string &name) {
  if (name.rfind("scp:", 0) == 0 || name.rfind("ark,", 0) == 0) {
    throw UsageError("lattice: " + name + " is not read; give an archive of lattices, FILE or ark:FILE");
  }
  const std::string path = name.rfind("ark:", 0) == 0 ? name.substr(4) : name;
  if (path == "-" || path.empty() || path.back() == '|') {
    throw UsageError("lattice: " + name + ": archives are read from files, not from pipes; give FILE or ark:FILE");
  }
  return path;
}

// Prints and forgets the messages. The first waits until another lattice is known to follow, as one alone is the command's
// error.
void print_failures(std::vector<std::string> *failures) {
  for (const std::string &failure : *failures) print_line(stderr, "senone: %s", failure.c_str());
  failures->clear();
}

}  // namespace

void LatticesTried::check(const std::string &path) const {
  if (n_failed > 0) fail(ASR_BAD_FILE, "%s: %zu of %zu lattices failed; see the messages above", path.c_str(), n_failed, n);
}

LatticesTried LatticeInput::for_each(const std::function<void(const std::string &, const CompactLattice &)> &visit) const {
  const std::string file = archive_path(path);
  KaldiLatticeReader reader(read_unpacked(file, "an archive of lattices", {Format::kKaldiLattices}), file);
  LatticesTried tried;
  std::map<std::string, size_t> number_of;  // by key
  std::string id;
  CompactLattice lattice;
  std::vector<std::string> failures;
  const auto failed = [&](const std::string &what) {
    ++tried.n_failed;
    failures.push_back(what);
    if (tried.n_failed > 1 || tried.n > 1) print_failures(&failures);
  };
  for (bool is_there = true; is_there;) {
    id.clear();
    try {
      is_there = reader.next(&id, &lattice);
      if (is_there) ++tried.n;
    } catch (const Error &error) {  // names the file and the place
      if (error.code() != ASR_BAD_FILE) throw;
      ++tried.n;
      failed((id.empty() ? "" : id + ": ") + error.what());
      continue;
    }
    if (!is_there) break;
    if (tried.n > 1) print_failures(&failures);
    try {
      const auto [other, is_new] = number_of.emplace(id, tried.n);
      if (!is_new) {
        fail(ASR_BAD_FILE, "entries %zu and %zu both have this key; give each lattice one of its own", other->second, tried.n);
      }
      visit(id, lattice);
    } catch (const Error &error) {
      if (error.code() == ASR_OUT_OF_MEMORY || error.code() == ASR_IO) throw;
      failed(path + ", " + id + ": " + error.what());
    }
  }
  if (!failures.empty()) fail(ASR_BAD_FILE, "%s", failures[0].c_str());  // the only lattice
  if (tried.n > 0 && tried.n_failed == tried.n) tried.check(path);
  return tried;
}

void add_lattice_path(Command command, LatticeInput *input) {
  command.option("LATTICES", input->path, "Archive of lattices in Kaldi's form, binary or text: FILE or ark:FILE").required();
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

const Subcommand kLattice{"lattice", add_lattice};

}  // namespace
}  // namespace asr::tool
