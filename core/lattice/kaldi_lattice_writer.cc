// SPDX-License-Identifier: Apache-2.0
// The layout is in docs/lattices.md.
#include <cstring>

#include "core/base/error.h"
#include "core/lattice/kaldi_lattice.h"

namespace asr {
namespace {

class BinaryEntry {
 public:
  BinaryEntry(const char *arc_type, uint64_t n_states) {
    put<int32_t>(2125659606);  // OpenFst's magic number
    put_string("vector");
    put_string(arc_type);
    put<int32_t>(2);                       // version
    put<int32_t>(0);                       // flags: no symbol tables
    put<uint64_t>(3);                      // properties: expanded and mutable; the others are unknown
    put<int64_t>(n_states == 0 ? -1 : 0);  // start
    put<int64_t>(static_cast<int64_t>(n_states));
    put<int64_t>(0);  // number of arcs: not stored for this type
  }

  template <typename T>
  void put(T value) {
    bytes_.append(reinterpret_cast<const char *>(&value), sizeof value);
  }
  void put(const LatticeCost &cost) {
    put(static_cast<float>(cost.graph));
    put(static_cast<float>(is_end(cost) ? cost.acoustic : cost.graph));
  }
  void put_ids(const uint32_t *ids, uint32_t n) {
    put(n);
    bytes_.append(reinterpret_cast<const char *>(ids), size_t{4} * n);
  }
  void put_string(const char *text) {
    put(static_cast<int32_t>(strlen(text)));
    bytes_ += text;
  }
  const std::string &bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

std::string text_of(const LatticeCost &cost) { return format("%.9g,%.9g", cost.graph, cost.acoustic); }

std::string text_of(const LatticeCost &cost, const uint32_t *ids, uint32_t n) {
  std::string text = text_of(cost) + ",";
  for (uint32_t i = 0; i < n; ++i) text += (i == 0 ? "" : "_") + std::to_string(ids[i]);
  return text;
}

void write_entry(OutputFile &file, const std::string &key, KaldiForm form, const std::string &entry) {
  if (key.empty() || key.find_first_of(" \t\r\n\f\v") != std::string::npos) {
    fail(ASR_INVALID_ARGUMENT, "key \"%s\": is empty or has blanks, which an archive cannot hold; give another", key.c_str());
  }
  file.write(key + (form == KaldiForm::kText ? " \n" : " "));
  file.write(entry);
  if (form == KaldiForm::kText) file.write("\n");
}

std::string binary_entry(const CompactLattice &lattice) {
  BinaryEntry entry("compactlattice44", lattice.n_states());
  for (uint32_t s = 0; s < lattice.n_states(); ++s) {
    const CompactLattice::End &end = lattice.ends[s];
    entry.put(end.cost);
    entry.put_ids(lattice.begin(end.alignment), end.alignment.size);
    entry.put(static_cast<int64_t>(lattice.arc_begin[s + 1] - lattice.arc_begin[s]));
    for (uint64_t a = lattice.arc_begin[s]; a < lattice.arc_begin[s + 1]; ++a) {
      const CompactArc &arc = lattice.arcs[a];
      entry.put(arc.word);
      entry.put(arc.word);
      entry.put(arc.cost);
      entry.put_ids(lattice.begin(arc.alignment), arc.alignment.size);
      entry.put(arc.next_state);
    }
  }
  return entry.bytes();
}

std::string binary_entry(const Lattice &lattice) {
  BinaryEntry entry("lattice4", lattice.n_states());
  for (uint32_t s = 0; s < lattice.n_states(); ++s) {
    entry.put(lattice.final_costs[s]);
    entry.put(static_cast<int64_t>(lattice.arc_begin[s + 1] - lattice.arc_begin[s]));
    for (uint64_t a = lattice.arc_begin[s]; a < lattice.arc_begin[s + 1]; ++a) {
      const LatticeArc &arc = lattice.arcs[a];
      entry.put(arc.transition_id);
      entry.put(arc.word);
      entry.put(arc.cost);
      entry.put(arc.next_state);
    }
  }
  return entry.bytes();
}

std::string text_entry(const CompactLattice &lattice) {
  std::string text;
  for (uint32_t s = 0; s < lattice.n_states(); ++s) {
    for (uint64_t a = lattice.arc_begin[s]; a < lattice.arc_begin[s + 1]; ++a) {
      const CompactArc &arc = lattice.arcs[a];
      text += format("%u\t%u\t%u\t", s, arc.next_state, arc.word);
      text += text_of(arc.cost, lattice.begin(arc.alignment), arc.alignment.size) + "\n";
    }
    const CompactLattice::End &end = lattice.ends[s];
    if (is_end(end.cost)) {
      text += format("%u\t", s) + text_of(end.cost, lattice.begin(end.alignment), end.alignment.size) + "\n";
    }
  }
  return text;
}

std::string text_entry(const Lattice &lattice) {
  std::string text;
  for (uint32_t s = 0; s < lattice.n_states(); ++s) {
    for (uint64_t a = lattice.arc_begin[s]; a < lattice.arc_begin[s + 1]; ++a) {
      const LatticeArc &arc = lattice.arcs[a];
      text += format("%u\t%u\t%u\t%u\t", s, arc.next_state, arc.transition_id, arc.word) + text_of(arc.cost) + "\n";
    }
    if (is_end(lattice.final_costs[s])) text += format("%u\t", s) + text_of(lattice.final_costs[s]) + "\n";
  }
  return text;
}

}  // namespace

void write_kaldi_lattice(OutputFile &file, const std::string &key, const CompactLattice &lattice, KaldiForm form) {
  write_entry(file, key, form, form == KaldiForm::kText ? text_entry(lattice) : binary_entry(lattice));
}

void write_kaldi_lattice(OutputFile &file, const std::string &key, const Lattice &lattice, KaldiForm form) {
  write_entry(file, key, form, form == KaldiForm::kText ? text_entry(lattice) : binary_entry(lattice));
}

}  // namespace asr
