// SPDX-License-Identifier: Apache-2.0
// Implements `senone lattice align`: the phones, or HMM states, of the best paths, as a CTM file.
#include <cstdio>
#include <memory>

#include "core/graph/graph.h"
#include "core/lattice/alignment.h"
#include "core/lattice/nbest.h"
#include "core/model/bundle.h"
#include "tools/lattice.h"

namespace asr::tool {
namespace {

struct AlignOptions {
  LatticeInput input;
  std::string model;
  bool states = false;
  double frame_shift_ms = 10;
};

const Transition &find_transition(const Graph &graph, uint32_t id, const AlignOptions &options) {
  if (id == 0 || id > graph.n_transition_ids()) {
    fail(ASR_INVALID_ARGUMENT, "transition-id %u, which the graph of %s lacks; give the bundle that made the lattices", id,
         options.model.c_str());
  }
  return graph.transition(id);
}

void print(const std::string &id, const PhoneSpan &phone, const std::string &name, const AlignOptions &options) {
  const double frame_s = options.frame_shift_ms / 1000;
  const auto line = [&](uint32_t begin, uint32_t end, const std::string &what) {
    printf("%s 1 %.3f %.3f %s\n", id.c_str(), frame_s * begin, frame_s * (end - begin), what.c_str());
  };
  if (!options.states) return line(phone.begin, phone.end, name);
  for (const StateSpan &state : phone.states) line(state.begin, state.end, format("%s.%u", name.c_str(), state.hmm_state));
}

void run(const AlignOptions &options) {
  const Bundle bundle = read_bundle(options.model);
  const Graph graph(bundle.file("graph.bin"));
  const HmmSet set = read_hmm_set(bundle.file("hmms.bin"));
  const auto transition = [&](uint32_t id) -> const Transition & { return find_transition(graph, id, options); };
  const LatticesTried tried = options.input.for_each([&](const std::string &id, const CompactLattice &lattice) {
    const std::vector<uint32_t> ids = best_path(lattice, options.input.acoustic_scale).transition_ids;
    for (const PhoneSpan &phone : align_phones(ids.data(), static_cast<uint32_t>(ids.size()), 0, transition)) {
      print(id, phone, phone.phone < set.phones.size() ? set.phones[phone.phone].name : std::to_string(phone.phone), options);
    }
  });
  tried.check(options.input.path);
}

}  // namespace

void add_lattice_align(Command lattice) {
  Command command = lattice.command("align", "The phones of the best paths: CTM lines");
  const auto options = std::make_shared<AlignOptions>();
  add_lattice_path(command, &options->input);
  command.option("--model", options->model, "The bundle that made the lattices").required();
  add_acoustic_scale(command, &options->input);
  command.flag("--states", options->states, "A line for each HMM state, \"phone.state\"");
  add_frame_shift(command, &options->frame_shift_ms);
  command.callback([options] { run(*options); });
}

}  // namespace asr::tool
