// SPDX-License-Identifier: Apache-2.0
// graph.bin, written and read: the arrays of a graph as they are, behind a header with their counts (docs/graph-file.md).
// The reader trusts nothing: after it has accepted a file, no search over it can leave an array.
#include "core/graph/graph.h"

#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/base/limits.h"
#include "core/base/sections.h"

namespace asr {
namespace {

constexpr char kMagic[9] = "SenoneGR";
constexpr uint32_t kVersion = 1;

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t n_states, start_state, n_transition_ids, n_pdfs, n_words;
  uint64_t n_arcs;
};
static_assert(sizeof(Header) == 40);
static_assert(sizeof(asr_graph_arc) == 16);

struct TransitionRecord {
  uint32_t phone, pdf;
  uint16_t hmm_state;
  uint8_t position, self_loop;
};
static_assert(sizeof(TransitionRecord) == 12);

// Checks of a whole array run in two passes: one without branches that the compiler turns into vector code, and only if that
// found something, one that names the culprit.
class Checker {
 public:
  Checker(const Header &header, const std::string &path) : h_(header), path_(path) {}

  void header() const {
    if (h_.n_states == 0 || h_.n_states > kMostGraphStates) bad("header", 0, "n_states is out of range");
    if (h_.n_arcs > kMostGraphArcs) bad("header", 0, "n_arcs is out of range");
    if (h_.n_transition_ids > kMostTransitionIds) bad("header", 0, "n_transition_ids is out of range");
    if (h_.n_pdfs > kMostPdfs) bad("header", 0, "n_pdfs is out of range");
    if (h_.start_state >= h_.n_states) bad("header", 0, "start_state is not a state");
  }

  // begin[0] = first, begin[n_states] = last and never falling: every range lies in first..last.
  void begins(const uint32_t *begin, uint64_t first, uint64_t last, const char *name) const {
    if (begin[0] != first) bad(name, 0, "is not where these arcs begin");
    if (begin[h_.n_states] != last) bad(name, h_.n_states, "is not where these arcs end");
    uint32_t falls = 0;
    for (uint32_t s = 0; s < h_.n_states; ++s) falls |= static_cast<uint32_t>(begin[s] > begin[s + 1]);
    for (uint32_t s = 0; falls != 0 && s < h_.n_states; ++s) {
      if (begin[s] > begin[s + 1]) bad(name, s, "is greater than the one after it");
    }
  }

  // Arcs first .. last-1, whose transition-ids are lowest .. lowest + n_ids - 1.
  void arcs(const asr_graph_arc *arcs, uint64_t first, uint64_t last, uint32_t lowest, uint32_t n_ids) const {
    uint32_t wrong = 0;
    for (uint64_t i = first; i < last; ++i) {
      const asr_graph_arc &arc = arcs[i];
      wrong |= static_cast<uint32_t>(arc.next_state >= h_.n_states) | static_cast<uint32_t>(arc.word >= h_.n_words) |
               static_cast<uint32_t>(arc.transition_id - lowest >= n_ids) | static_cast<uint32_t>(!finite(arc.graph_cost));
    }
    for (uint64_t i = first; wrong != 0 && i < last; ++i) {
      const asr_graph_arc &arc = arcs[i];
      if (arc.next_state >= h_.n_states) bad("arcs", i, "next_state is not a state");
      if (arc.word >= h_.n_words) bad("arcs", i, "word is not below n_words");
      if (arc.transition_id - lowest >= n_ids) bad("arcs", i, "transition_id is out of range for its kind of arc");
      if (!finite(arc.graph_cost)) bad("arcs", i, "graph_cost is not finite");
    }
  }

  void final_costs(const float *costs) const {
    uint32_t wrong = 0;
    for (uint32_t s = 0; s < h_.n_states; ++s) wrong |= static_cast<uint32_t>(!valid_final(costs[s]));
    for (uint32_t s = 0; wrong != 0 && s < h_.n_states; ++s) {
      if (!valid_final(costs[s])) bad("final_costs", s, "is neither finite nor +infinity");
    }
  }

  void transition(const TransitionRecord &record, uint32_t id) const {
    if (record.pdf >= h_.n_pdfs) bad("transitions", id, "pdf is not below n_pdfs");
    if (record.self_loop > 1) bad("transitions", id, "self_loop is neither 0 nor 1");
  }

 private:
  static bool finite(float x) { return std::abs(x) <= std::numeric_limits<float>::max(); }
  static bool valid_final(float x) { return x >= -std::numeric_limits<float>::max(); }

  [[noreturn]] void bad(const char *field, uint64_t index, const char *what) const {
    fail(ASR_BAD_FILE, "%s: %s[%llu]: %s; the file is damaged, make the graph again", path_.c_str(), field,
         static_cast<unsigned long long>(index), what);
  }

  const Header &h_;
  const std::string &path_;
};

}  // namespace

void write_graph(const GraphData &graph, const std::string &path) {
  const size_t n_begins = graph.final_costs.size() + 1;
  if (graph.transitions.empty() || graph.emitting_begin.size() != n_begins || graph.epsilon_begin.size() != n_begins) {
    fail(ASR_INTERNAL, "%s: the arrays of the graph to be written do not fit together", path.c_str());
  }
  if (graph.final_costs.size() > kMostGraphStates || graph.arcs.size() > kMostGraphArcs) {
    fail(ASR_UNSUPPORTED, "%s: a graph of %zu states and %zu arcs is too large; prune the language model", path.c_str(),
         graph.final_costs.size(), graph.arcs.size());
  }
  std::vector<TransitionRecord> transitions;
  transitions.reserve(graph.transitions.size());
  for (const Transition &t : graph.transitions) {
    transitions.push_back({t.phone, t.pdf, t.hmm_state, t.position, static_cast<uint8_t>(t.self_loop)});
  }
  Header header{};
  memcpy(header.magic, kMagic, sizeof(header.magic));
  header.version = kVersion;
  header.n_states = graph.n_states();
  header.start_state = graph.start_state;
  header.n_transition_ids = static_cast<uint32_t>(graph.transitions.size() - 1);
  header.n_pdfs = graph.n_pdfs;
  header.n_words = graph.n_words;
  header.n_arcs = graph.arcs.size();

  OutputFile file(path);
  file.write(&header, sizeof(header));
  write_section(file, graph.emitting_begin);
  write_section(file, graph.epsilon_begin);
  write_section(file, graph.arcs);
  write_section(file, graph.final_costs);
  write_section(file, transitions);
  file.commit();
}

Graph::Graph(const std::string &path) : file_(path) {
  SectionReader reader(file_.data(), file_.size(), path);
  const auto h = reader.header<Header>(kMagic, kVersion);
  const Checker check(h, path);
  check.header();
  const auto *emitting_begin = reader.section<uint32_t>(h.n_states + uint64_t{1}, "emitting_begin");
  const auto *epsilon_begin = reader.section<uint32_t>(h.n_states + uint64_t{1}, "epsilon_begin");
  const auto *arcs = reader.section<asr_graph_arc>(h.n_arcs, "arcs");
  const auto *final_costs = reader.section<float>(h.n_states, "final_costs");
  const auto *records = reader.section<TransitionRecord>(h.n_transition_ids + uint64_t{1}, "transitions");
  reader.finish();

  const uint64_t n_emitting = emitting_begin[h.n_states];
  check.begins(emitting_begin, 0, n_emitting, "emitting_begin");
  check.begins(epsilon_begin, n_emitting, h.n_arcs, "epsilon_begin");
  check.arcs(arcs, 0, n_emitting, 1, h.n_transition_ids);
  check.arcs(arcs, n_emitting, h.n_arcs, 0, 1);
  check.final_costs(final_costs);

  n_words_ = h.n_words;
  pdf_of_.resize(h.n_transition_ids + size_t{1});
  transitions_.resize(h.n_transition_ids + size_t{1});
  for (uint32_t id = 1; id <= h.n_transition_ids; ++id) {
    const TransitionRecord &r = records[id];
    check.transition(r, id);
    pdf_of_[id] = r.pdf;
    transitions_[id] = {r.phone, r.position, r.hmm_state, r.self_loop != 0, r.pdf};
  }
  view_.size = sizeof(view_);
  view_.n_states = h.n_states;
  view_.start_state = h.start_state;
  view_.n_transition_ids = h.n_transition_ids;
  view_.n_pdfs = h.n_pdfs;
  view_.n_arcs = h.n_arcs;
  view_.emitting_begin = emitting_begin;
  view_.epsilon_begin = epsilon_begin;
  view_.arcs = arcs;
  view_.final_costs = final_costs;
  view_.pdf_of = pdf_of_.data();
  view_.arrays_in_use = arrays_in_use_.get();
}

void Graph::release_pages() {
  if (*arrays_in_use_ != 0) return;
  view_.emitting_begin = view_.epsilon_begin = nullptr;
  view_.arcs = nullptr;
  view_.final_costs = nullptr;
  file_.release();
}

}  // namespace asr
