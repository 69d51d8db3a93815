// SPDX-License-Identifier: Apache-2.0
// Kaldi's archives of lattices.
#include "core/lattice/determinise.h"
#include "core/lattice/kaldi_lattice.h"
#include "core/lattice/state_level.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/lattice/random_state_lattice.h"
#include "tests/unit/scratch.h"

namespace asr::fuzz {
namespace {

std::string archive(KaldiForm form) {
  std::mt19937 random(1);
  const test::Scratch scratch;
  const std::string path = scratch / "lattices";
  OutputFile file(path);
  for (const char *key : {"utterance-1", "utterance-2"}) {
    const CompactLattice lattice = determinise(test::random_state_lattice({}, random), {0.1, 4}).lattice;
    write_kaldi_lattice(file, key, lattice, form);
    write_kaldi_lattice(file, key, state_level(lattice), form);
  }
  file.commit();
  return test::slurp(path);
}

}  // namespace

void add_lattice_targets(std::vector<Target> &targets) {
  targets.push_back({"kaldi-lattice", {archive(KaldiForm::kBinary), archive(KaldiForm::kText)}, [](const std::string &path) {
                       KaldiLatticeReader reader(path);
                       std::string key;
                       CompactLattice lattice;
                       while (reader.next(&key, &lattice)) {
                         determinise(state_level(lattice), {0.1, 4, 10000});
                       }
                     }});
}

}  // namespace asr::fuzz
