// SPDX-License-Identifier: Apache-2.0
// Fuzzes Kaldi's archives of lattices, and runs the lattice tools on them: determinised and pruned lattices, alternatives,
// posteriors, confidences, HTK's SLF.
#include "core/lattice/kaldi_lattice.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/lattice/confusion_network.h"
#include "core/lattice/determinise.h"
#include "core/lattice/nbest.h"
#include "core/lattice/prune.h"
#include "core/lattice/slf.h"
#include "core/lattice/state_level.h"
#include "tests/fuzz/target.h"
#include "tests/unit/lattice/random_state_lattice.h"
#include "tests/unit/scratch.h"

namespace asr::fuzz {
namespace {

constexpr double kScale = 0.1, kBeam = 4;

std::string archive(KaldiForm form) {
  std::mt19937 random(1);
  const std::string path = directory() + "/lattices";
  OutputFile out(path);
  for (const char *key : {"utterance-1", "utterance-2"}) {
    const CompactLattice lattice = determinise(test::random_state_lattice({}, random), {kScale, kBeam}).lattice;
    write_kaldi_lattice(out, key, lattice, form);
    write_kaldi_lattice(out, key, state_level(lattice), form);
  }
  out.commit();
  return test::slurp(path);
}

void expect_share(double share, const char *what) {
  if (!(share >= 0 && share <= 1 + 1e-6)) finding("a %s of %g", what, share);
}

// Runs the functions for a lattice with a path.
void use_words(const CompactLattice &lattice) {
  const LatticePosteriors posteriors = lattice_posteriors(lattice, kScale);
  for (const double share : posteriors.arcs) expect_share(share, "posterior");
  for (const double share : word_confidences(lattice, posteriors, best_words(lattice, kScale))) {
    expect_share(share, "confidence");
  }
  if (lattice.arcs.size() < 200) minimum_risk(lattice, kScale);
  const std::vector<LatticePath> paths = n_best_paths(lattice, kScale, 10, kBeam);
  if (paths.empty()) finding("a lattice with a path has no best path");
  for (size_t i = 1; i < paths.size(); ++i) {
    if (paths[i].cost.total(kScale) < paths[i - 1].cost.total(kScale) - 1e-6) finding("alternatives are not sorted");
  }
}

void use(const std::string &key, const CompactLattice &read) {
  const CompactLattice lattice = determinise(state_level(read), {kScale, kBeam, 100000, size_t{1} << 25}).lattice;
  if (lattice.n_states() == 0) return;
  use_words(lattice);
  const CompactLattice narrow = prune(lattice, kScale, kBeam / 2);
  const std::vector<std::string> words(1000, "word");
  OutputFile out(directory() + "/out.slf");
  write_slf(out, narrow, {key, &words, 0.01, kScale});
}

}  // namespace

void use_all(const std::string &path) {
  KaldiLatticeReader reader(path);
  std::string key;
  CompactLattice lattice;
  while (reader.next(&key, &lattice)) use(key, lattice);
}

std::vector<std::string> seeds() { return {archive(KaldiForm::kBinary), archive(KaldiForm::kText)}; }

}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  const fuzz::Budget budget = {64, 4096, 4, 500};  // for the determiniser's max_bytes and max_work
  return fuzz::run(data, size, budget, [](const std::string &bytes) { fuzz::use_all(fuzz::file("lattices", bytes)); });
}
