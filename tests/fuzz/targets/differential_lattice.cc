// SPDX-License-Identifier: Apache-2.0
// Compares the lattice of every back end that makes lattices with the literal reference of docs/search.md, bit for bit. The
// best path of the determinised lattice must be that of the search.
#include <cmath>

#include "core/lattice/determinise.h"
#include "core/lattice/from_backend.h"
#include "core/lattice/nbest.h"
#include "reference/lattice.h"
#include "tests/fuzz/search_problem.h"

namespace asr::fuzz {
namespace {

using reference::copy_of;
using reference::RawLattice;
using reference::same_arc;

void compare(const std::string &device, const RawLattice &found, const RawLattice &expected) {
  const char *const id = device.c_str();
  if (found.n_frames != expected.n_frames || found.frames != expected.frames) finding("%s: other states", id);
  if (found.reached_final != expected.reached_final || found.beam_died != expected.beam_died) finding("%s: other flags", id);
  if (found.final_costs != expected.final_costs) finding("%s: other final costs", id);
  if (found.arc_begin != expected.arc_begin || found.arcs.size() != expected.arcs.size()) finding("%s: other arcs", id);
  for (size_t i = 0; i < found.arcs.size(); ++i) {
    if (!same_arc(found.arcs[i], expected.arcs[i])) finding("%s: arc %zu differs", id, i);
  }
}

constexpr double kRounding = 1e-5;  // float rounding over some tens of sums

void determinise_it(const asr_raw_lattice &raw, double best, const SearchProblem &problem) {
  const asr_search_options &options = problem.options();
  const double scale = double{options.acoustic_scale};
  const CompactLattice lattice =
      determinise(lattice_from_backend(raw, options.word_insertion_cost), {scale, double{options.lattice_beam}}).lattice;
  if (lattice.n_states() == 0) return;
  const double found = best_path(lattice, scale).cost.total(scale);
  if (std::abs(found - best) > kRounding * problem.largest_cost()) {
    finding("the best path costs %.9g in the lattice and %.9g in the search", found, best);
  }
}

}  // namespace

void search(const std::string &bytes) {
  Dice dice(bytes);
  const SearchProblem problem(dice, true);
  const RawLattice expected =
      reference::lattice(problem.graph(), problem.options(), problem.rows(), problem.n_frames(), problem.use_final());
  for (const auto &device : devices()) {
    if (!device->has(ASR_BACKEND_LATTICES)) continue;
    problem.solve(*device, [&](const asr_backend_api &api, asr_backend_channel *channel) {
      asr_path path{};
      device->check(api.best_paths(device->get(), &channel, 1, problem.wants(), &path));
      const double best = path.total_cost;
      asr_raw_lattice raw{};
      device->check(api.lattices(device->get(), &channel, 1, problem.wants(), &raw));
      compare(device->entry().id, copy_of(raw), expected);
      determinise_it(raw, best, problem);
    });
  }
}

std::vector<std::string> seeds() {
  if (devices().empty()) finding("no back end is usable");
  return random_inputs(6);
}

}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  const fuzz::Budget budget = {400, 1024, 60, 1000};  // PoCL compiles kernels once
  return fuzz::run(data, size, budget, fuzz::search);
}
