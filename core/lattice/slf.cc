// SPDX-License-Identifier: Apache-2.0
#include "core/lattice/slf.h"

#include <algorithm>

#include "core/base/error.h"

namespace asr {
namespace {

// Escapes a name for HTK: puts a backslash before backslashes and before a quote at the beginning.
std::string escaped(const std::string &name) {
  std::string text;
  for (const char c : name) {
    if (c == '\\' || (text.empty() && (c == '"' || c == '\''))) text += '\\';
    text += c;
  }
  return text;
}

class SlfWriter {
 public:
  SlfWriter(OutputFile &file, const CompactLattice &lattice, const SlfOptions &options)
      : file_(file), lattice_(lattice), options_(options) {}

  void run() {
    const auto ends = [](const CompactLattice::End &end) { return is_end(end.cost); };
    const auto n_ends = static_cast<size_t>(std::count_if(lattice_.ends.begin(), lattice_.ends.end(), ends));
    if (n_ends == 0) fail(ASR_INVALID_ARGUMENT, "%s: has no path, which SLF cannot say", options_.utterance.c_str());
    file_.write("VERSION=1.0\n");
    if (!options_.utterance.empty()) file_.write("UTTERANCE=" + escaped(options_.utterance) + "\n");
    file_.write(format("lmscale=1 wdpenalty=0 acscale=%.9g\n", options_.acoustic_scale));
    file_.write(format("start=0 end=%u\n", lattice_.n_states()));
    file_.write(format("N=%u L=%zu\n", lattice_.n_states() + 1, lattice_.arcs.size() + n_ends));
    write_nodes();
    write_links();
  }

 private:
  OutputFile &file_;
  const CompactLattice &lattice_;
  const SlfOptions &options_;
  size_t n_links_ = 0;

  void write_nodes() {
    uint32_t last = 0;
    for (uint32_t s = 0; s < lattice_.n_states(); ++s) {
      write_node(s, lattice_.frames[s]);
      if (is_end(lattice_.ends[s].cost)) last = std::max(last, lattice_.frames[s] + lattice_.ends[s].alignment.size);
    }
    write_node(lattice_.n_states(), last);
  }

  void write_node(uint32_t number, uint32_t frame) {
    file_.write(format("I=%u t=%.3f\n", number, frame * options_.frame_shift_s));
  }

  void write_links() {
    for (uint32_t s = 0; s < lattice_.n_states(); ++s) {
      for (uint64_t a = lattice_.arc_begin[s]; a < lattice_.arc_begin[s + 1]; ++a) {
        const CompactArc &arc = lattice_.arcs[a];
        write_link(s, arc.next_state, word_name(arc.word), arc.cost);
      }
      if (is_end(lattice_.ends[s].cost)) write_link(s, lattice_.n_states(), "!NULL", lattice_.ends[s].cost);
    }
  }

  void write_link(uint32_t from, uint32_t to, const std::string &name, const LatticeCost &cost) {
    file_.write(format("J=%zu S=%u E=%u W=", n_links_++, from, to) + name +
                format(" a=%.9g l=%.9g\n", 0.0 - cost.acoustic, 0.0 - cost.graph));
  }

  std::string word_name(uint32_t word) const {
    if (word == 0) return "!NULL";
    if (options_.words == nullptr || word >= options_.words->size()) {
      fail(ASR_INVALID_ARGUMENT, "%s: word %u is not in the list of words; give the one of the lattice's graph",
           options_.utterance.c_str(), word);
    }
    return escaped((*options_.words)[word]);
  }
};

}  // namespace

void write_slf(OutputFile &file, const CompactLattice &lattice, const SlfOptions &options) {
  SlfWriter(file, lattice, options).run();
}

}  // namespace asr
