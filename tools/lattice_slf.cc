// SPDX-License-Identifier: Apache-2.0
// Implements `senone lattice slf`: writes lattices in HTK's format, one per file.
#include <cstdio>
#include <memory>

#include "core/lattice/slf.h"
#include "tools/lattice.h"

namespace asr::tool {
namespace {

struct SlfCommand {
  LatticeInput input;
  std::string directory;
  double frame_shift_ms = 10;
};

FileAt file_of(const FileAt::Held &held, const std::string &directory, const std::string &id) {
  if (id.empty() || id.find('/') != std::string::npos) {
    fail(ASR_INVALID_ARGUMENT, "%s: \"%s\" cannot be the name of a file; rename the utterance", directory.c_str(), id.c_str());
  }
  return {held, id + ".slf", directory + "/" + id + ".slf"};
}

void run(const SlfCommand &options) {
  const WordSymbols symbols(options.input.words_path);
  const FileAt::Held held = hold_output_directory(options.directory);
  size_t n_written = 0, n_empty = 0;
  const LatticesTried tried = options.input.for_each([&](const std::string &id, const CompactLattice &lattice) {
    const FileAt place = file_of(held, options.directory, id);
    if (lattice.n_states() == 0) {  // the format requires a path
      ++n_empty;
      return;
    }
    OutputFile file(place);
    write_slf(file, lattice, {id, &symbols.all(), options.frame_shift_ms / 1000, options.input.acoustic_scale});
    file.commit();
    ++n_written;
  });
  printf("%zu lattices written", n_written);
  if (n_empty > 0) printf(", %zu left out: they have no path", n_empty);
  printf("\n");
  tried.check(options.input.path);
}

}  // namespace

void add_lattice_slf(Command lattice) {
  Command command = lattice.command("slf", "Write lattices in HTK's Standard Lattice Format: DIRECTORY/<utterance>.slf");
  const auto options = std::make_shared<SlfCommand>();
  add_lattice_path(command, &options->input);
  command.option("DIRECTORY", options->directory, "Where to; made if it does not exist").required();
  add_words_path(command, &options->input);
  add_acoustic_scale(command, &options->input);
  add_frame_shift(command, &options->frame_shift_ms);
  command.callback([options] { run(*options); });
}

}  // namespace asr::tool
