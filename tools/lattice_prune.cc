// SPDX-License-Identifier: Apache-2.0
// Implements `senone lattice prune`: removes paths far from the best ones.
#include <memory>

#include "core/lattice/kaldi_lattice.h"
#include "core/lattice/prune.h"
#include "tools/lattice.h"

namespace asr::tool {
namespace {

struct PruneOptions {
  LatticeInput input;
  std::string out;
  double beam = 0;
  bool text = false;
};

void run(const PruneOptions &options) {
  OutputFile out(options.out);
  const KaldiForm form = options.text ? KaldiForm::kText : KaldiForm::kBinary;
  const LatticesTried tried = options.input.for_each([&](const std::string &id, const CompactLattice &lattice) {
    write_kaldi_lattice(out, id, prune(lattice, options.input.acoustic_scale, options.beam), form);
  });
  out.commit();
  tried.check(options.input.path);
}

}  // namespace

void add_lattice_prune(Command lattice) {
  Command command = lattice.command("prune", "Keep the paths that cost little more than the best");
  const auto options = std::make_shared<PruneOptions>();
  add_lattice_path(command, &options->input);
  command.option("OUT", options->out, "The archive to write").required();
  add_acoustic_scale(command, &options->input);
  command.option("--beam", options->beam, "How much more than the best path others may cost").range(0.0, 1e9).required();
  command.flag("--text", options->text, "Write text");
  command.callback([options] { run(*options); });
}

}  // namespace asr::tool
