// SPDX-License-Identifier: Apache-2.0
// Writes and maps graph.bin. The reader trusts nothing: after it has accepted a file, no search over it can leave an array.
#include "core/graph/graph.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/error.h"
#include "core/graph/graph_file.h"

namespace asr {
namespace {

using namespace graph_file;

struct Sizes {
  uint64_t bytes[kNumSections];
};

Sizes section_sizes(uint64_t n_states, uint64_t n_arcs, uint64_t n_transition_ids) {
  return {{(n_states + 1) * sizeof(uint32_t), (n_states + 1) * sizeof(uint32_t), n_arcs * sizeof(asr_graph_arc),
           n_states * sizeof(float), (n_transition_ids + 1) * sizeof(TransitionRecord)}};
}

uint64_t aligned(uint64_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; }

// Fills the offsets and the file size from the counts.
void lay_out(Header &header) {
  const Sizes sizes = section_sizes(header.n_states, header.n_arcs, header.n_transition_ids);
  uint64_t offset = sizeof(Header);
  for (int s = 0; s < kNumSections; ++s) {
    header.offsets[s] = aligned(offset);
    offset = header.offsets[s] + sizes.bytes[s];
  }
  header.file_size = offset;
}

[[noreturn]] void bad(const std::string &path, const std::string &what) {
  fail(ASR_BAD_FILE, "%s: %s; build or import the graph again", path.c_str(), what.c_str());
}

Header read_header(const MappedFile &file, const std::string &path) {
  Header header;
  if (file.size() < sizeof(header)) bad(path, format("%zu bytes are too few for a graph's header", file.size()));
  memcpy(&header, file.data(), sizeof(header));
  if (memcmp(header.magic, kMagic, sizeof(kMagic)) != 0) bad(path, "magic: not a graph file");
  if (header.version != kVersion) bad(path, format("version is %u, this library reads %u", header.version, kVersion));
  if (header.header_size != sizeof(Header)) bad(path, format("header_size is %u, not %zu", header.header_size, sizeof(Header)));
  if (header.reserved != 0) bad(path, "reserved is not 0");
  if (header.n_states == 0 || header.n_states == std::numeric_limits<uint32_t>::max()) {
    bad(path, format("n_states is %u", header.n_states));
  }
  if (header.n_transition_ids == std::numeric_limits<uint32_t>::max()) bad(path, "n_transition_ids is 2^32 - 1");
  if (header.n_arcs > std::numeric_limits<uint32_t>::max() - 1) bad(path, "n_arcs is over 2^32 - 2");
  Header expected = header;
  lay_out(expected);
  if (header.file_size != expected.file_size) bad(path, "file_size does not follow from the counts");
  if (file.size() != header.file_size) {
    bad(path,
        format("file_size says %llu bytes but there are %zu", static_cast<unsigned long long>(header.file_size), file.size()));
  }
  for (int s = 0; s < kNumSections; ++s) {
    if (header.offsets[s] != expected.offsets[s]) bad(path, format("the offset of %s is wrong", kSectionNames[s]));
  }
  return header;
}

// begin[0] = first, begin[n_states] = last and never falling, so every range lies in first..last. The loop has no branch in
// it and becomes vector code; only a bad file is looked at a second time.
void check_begins(const uint32_t *begin, uint32_t n_states, uint64_t first, uint64_t last, Section section,
                  const std::string &path) {
  uint32_t falls = 0;
  for (uint32_t s = 0; s < n_states; ++s) falls |= begin[s] > begin[s + 1] ? 1u : 0u;
  if (begin[0] != first) bad(path, format("%s[0] is wrong", kSectionNames[section]));
  if (falls != 0) bad(path, format("%s falls from one state to the next", kSectionNames[section]));
  if (begin[n_states] != last) bad(path, format("the last %s is wrong", kSectionNames[section]));
}

bool finite(float x) { return std::abs(x) <= std::numeric_limits<float>::max(); }

void check_arc(const asr_graph_arc &arc, uint64_t i, bool emitting, const Header &h, const std::string &path) {
  const auto at = static_cast<unsigned long long>(i);
  if (arc.next_state >= h.n_states) bad(path, format("arcs[%llu].next_state %u is not a state", at, arc.next_state));
  if (arc.word >= h.n_words) bad(path, format("arcs[%llu].word %u is not below n_words", at, arc.word));
  if (!finite(arc.graph_cost)) bad(path, format("arcs[%llu].graph_cost is not finite", at));
  if (emitting && (arc.transition_id == 0 || arc.transition_id > h.n_transition_ids)) {
    bad(path, format("arcs[%llu].transition_id %u is not in 1..n_transition_ids", at, arc.transition_id));
  }
  if (!emitting && arc.transition_id != 0) bad(path, format("arcs[%llu].transition_id of an epsilon arc is not 0", at));
}

// Arcs first .. last-1: transition-ids are lowest .. lowest + n_ids - 1. As above: a quick pass, then the culprit.
void check_arcs(const asr_graph_arc *arcs, uint64_t first, uint64_t last, bool emitting, const Header &h,
                const std::string &path) {
  const uint32_t lowest = emitting ? 1 : 0, n_ids = emitting ? h.n_transition_ids : 1;
  uint32_t wrong = 0;
  for (uint64_t i = first; i < last; ++i) {
    const asr_graph_arc &arc = arcs[i];
    wrong |= static_cast<uint32_t>(arc.next_state >= h.n_states) | static_cast<uint32_t>(arc.word >= h.n_words) |
             static_cast<uint32_t>(arc.transition_id - lowest >= n_ids) | static_cast<uint32_t>(!finite(arc.graph_cost));
  }
  if (wrong == 0) return;
  for (uint64_t i = first; i < last; ++i) check_arc(arcs[i], i, emitting, h, path);
}

void check_final_costs(const float *costs, uint32_t n_states, const std::string &path) {
  uint32_t wrong = 0;
  for (uint32_t s = 0; s < n_states; ++s) wrong |= static_cast<uint32_t>(!(costs[s] >= -std::numeric_limits<float>::max()));
  if (wrong != 0) bad(path, "final_costs has a value that is neither finite nor +infinity");
}

}  // namespace

void write_graph(const GraphData &graph, const std::string &path) {
  Header header{};
  memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version = kVersion;
  header.header_size = sizeof(Header);
  header.n_states = graph.n_states();
  header.start_state = graph.start_state;
  header.n_transition_ids = graph.transitions.empty() ? 0 : static_cast<uint32_t>(graph.transitions.size() - 1);
  header.n_pdfs = graph.n_pdfs;
  header.n_words = graph.n_words;
  header.n_arcs = graph.arcs.size();
  lay_out(header);

  std::vector<TransitionRecord> transitions(header.n_transition_ids + size_t{1});
  for (size_t i = 1; i < transitions.size(); ++i) {
    const Transition &t = graph.transitions[i];
    transitions[i] = {t.phone, t.pdf, t.hmm_state, t.position, static_cast<uint8_t>(t.self_loop ? 1 : 0)};
  }
  const void *const data[kNumSections] = {graph.emitting_begin.data(), graph.epsilon_begin.data(), graph.arcs.data(),
                                          graph.final_costs.data(), transitions.data()};
  const Sizes sizes = section_sizes(header.n_states, header.n_arcs, header.n_transition_ids);
  if (graph.emitting_begin.size() != header.n_states + size_t{1} || graph.epsilon_begin.size() != header.n_states + size_t{1}) {
    fail(ASR_INTERNAL, "%s: the graph's arc tables do not have one entry a state and one more", path.c_str());
  }
  OutputFile file(path);
  file.write(&header, sizeof(header));
  for (int s = 0; s < kNumSections; ++s) {
    file.pad_to(kAlignment);
    file.write(data[s], sizes.bytes[s]);
  }
  file.commit();
}

Graph::Graph(const std::string &path) : file_(path) {
  const Header h = read_header(file_, path);
  if (h.start_state >= h.n_states) bad(path, format("start_state %u is not a state", h.start_state));
  const auto section = [&](Section s) { return file_.data() + h.offsets[s]; };
  const auto *emitting_begin = reinterpret_cast<const uint32_t *>(section(kEmittingBegin));
  const auto *epsilon_begin = reinterpret_cast<const uint32_t *>(section(kEpsilonBegin));
  const auto *arcs = reinterpret_cast<const asr_graph_arc *>(section(kArcs));
  const auto *final_costs = reinterpret_cast<const float *>(section(kFinalCosts));
  const auto *records = reinterpret_cast<const TransitionRecord *>(section(kTransitions));

  const uint64_t n_emitting = epsilon_begin[0];
  if (n_emitting > h.n_arcs) bad(path, "epsilon_begin[0] is over n_arcs");
  check_begins(emitting_begin, h.n_states, 0, n_emitting, kEmittingBegin, path);
  check_begins(epsilon_begin, h.n_states, n_emitting, h.n_arcs, kEpsilonBegin, path);
  check_arcs(arcs, 0, n_emitting, true, h, path);
  check_arcs(arcs, n_emitting, h.n_arcs, false, h, path);
  check_final_costs(final_costs, h.n_states, path);

  n_words_ = h.n_words;
  pdf_of_.assign(h.n_transition_ids + size_t{1}, 0);
  transitions_.assign(h.n_transition_ids + size_t{1}, Transition{});
  for (uint32_t id = 1; id <= h.n_transition_ids; ++id) {
    const TransitionRecord &r = records[id];
    if (r.pdf >= h.n_pdfs) bad(path, format("transitions[%u].pdf %u is not below n_pdfs", id, r.pdf));
    if (r.self_loop > 1) bad(path, format("transitions[%u].self_loop is neither 0 nor 1", id));
    pdf_of_[id] = r.pdf;
    transitions_[id] = Transition{r.phone, r.position, r.hmm_state, r.self_loop != 0, r.pdf};
  }
  view_ = {sizeof(asr_graph_view), h.n_states,    h.start_state, h.n_transition_ids, h.n_pdfs,      h.n_arcs,
           emitting_begin,         epsilon_begin, arcs,          final_costs,        pdf_of_.data()};
}

}  // namespace asr
