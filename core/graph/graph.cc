// SPDX-License-Identifier: Apache-2.0
// graph.bin, written and read: the packed graph behind a header with its counts (docs/graph-file.md). The reader trusts
// nothing: after it has accepted a file, no search over it can leave an array.
#include "core/graph/graph.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/limits.h"
#include "core/base/sections.h"
#include "core/graph/packed/check.h"

namespace asr {
namespace {

constexpr char kMagic[9] = "SenoneGR";
constexpr uint32_t kVersion = 2;

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t n_states, start_state, n_transition_ids, n_pdfs, n_words;
  uint64_t n_arcs, n_emitting_arcs;
  uint32_t n_units, n_costs, n_classes, n_other_ids;
};
static_assert(sizeof(Header) == 64);

struct TransitionRecord {
  uint32_t phone, pdf;
  uint16_t hmm_state;
  uint8_t position, self_loop;
};
static_assert(sizeof(TransitionRecord) == 12);

[[noreturn]] void bad(const std::string &path, const char *field, uint64_t index, const char *what) {
  fail(ASR_BAD_FILE, "%s: %s[%llu]: %s; the file is damaged, make the graph again", path.c_str(), field,
       static_cast<unsigned long long>(index), what);
}

void check_header(const Header &h, const std::string &path) {
  if (h.n_states == 0 || h.n_states > kMostGraphStates) bad(path, "header", 0, "n_states is out of range");
  if (h.n_arcs > kMostGraphArcs) bad(path, "header", 0, "n_arcs is out of range");
  if (h.n_transition_ids > kMostTransitionIds) bad(path, "header", 0, "n_transition_ids is out of range");
  if (h.n_pdfs > kMostPdfs) bad(path, "header", 0, "n_pdfs is out of range");
  if (h.n_units > kMostGraphUnits) bad(path, "header", 0, "n_units is out of range");
}

asr_graph_view view_of(const GraphData &graph, const std::vector<uint32_t> &pdf_of) {
  asr_graph_view view{};
  view.size = sizeof(view);
  view.n_states = graph.n_states();
  view.start_state = graph.start_state;
  view.n_transition_ids = static_cast<uint32_t>(graph.transitions.size() - 1);
  view.n_pdfs = graph.n_pdfs;
  view.n_arcs = graph.arcs.size();
  view.emitting_begin = graph.emitting_begin.data();
  view.epsilon_begin = graph.epsilon_begin.data();
  view.arcs = graph.arcs.data();
  view.final_costs = graph.final_costs.data();
  view.pdf_of = pdf_of.data();
  return view;
}

// `name` names the graph in errors.
template <typename Output>
void put_graph(const GraphData &graph, const std::string &name, Output &file) {
  const size_t n_begins = graph.final_costs.size() + 1;
  if (graph.transitions.empty() || graph.emitting_begin.size() != n_begins || graph.epsilon_begin.size() != n_begins) {
    fail(ASR_INTERNAL, "%s: the arrays of the graph to be written do not fit together", name.c_str());
  }
  if (graph.final_costs.size() > kMostGraphStates || graph.arcs.size() > kMostGraphArcs) {
    fail(ASR_UNSUPPORTED, "%s: a graph of %zu states and %zu arcs is too large; prune the language model", name.c_str(),
         graph.final_costs.size(), graph.arcs.size());
  }
  std::vector<TransitionRecord> transitions;
  std::vector<uint32_t> pdf_of;
  for (const Transition &t : graph.transitions) {
    transitions.push_back({t.phone, t.pdf, t.hmm_state, t.position, static_cast<uint8_t>(t.self_loop)});
    pdf_of.push_back(t.pdf);
  }
  const PackedArrays packed = pack_graph(view_of(graph, pdf_of));
  Header header{};
  memcpy(header.magic, kMagic, sizeof(header.magic));
  header.version = kVersion;
  header.n_states = graph.n_states();
  header.start_state = packed.start_state;
  header.n_transition_ids = static_cast<uint32_t>(graph.transitions.size() - 1);
  header.n_pdfs = graph.n_pdfs;
  header.n_words = graph.n_words;
  header.n_arcs = graph.arcs.size();
  header.n_emitting_arcs = graph.emitting_begin.back();
  header.n_units = static_cast<uint32_t>(packed.records.size());
  header.n_costs = static_cast<uint32_t>(packed.costs.size());
  header.n_classes = static_cast<uint32_t>(packed.classes.size());
  header.n_other_ids = static_cast<uint32_t>(packed.other_ids.size());

  file.write(&header, sizeof(header));
  write_section(file, transitions);
  write_section(file, packed.costs);
  write_section(file, packed.classes);
  write_section(file, packed.other_ids);
  write_section(file, packed.first_records);
  write_section(file, packed.records);
}

}  // namespace

void write_graph(const GraphData &graph, const std::string &path) {
  OutputFile file(path);
  put_graph(graph, path, file);
  file.commit();
}

std::string graph_bytes(const GraphData &graph) {
  MemoryOutput bytes;
  put_graph(graph, "graph", bytes);
  return bytes.bytes();
}

Graph::Graph(const std::string &path, const BundleFile *listed) : Graph(SharedCopy(path), path, listed) {}

Graph::Graph(SharedCopy file, const std::string &path, const BundleFile *listed) : file_(std::move(file)) {
  if (listed != nullptr) check_bundle_file(path, *listed, {file_.size(), checksum(file_.data(), file_.size())});
  SectionReader reader(file_.data(), file_.size(), path);
  const auto h = reader.header<Header>(kMagic, kVersion);
  check_header(h, path);
  const auto *transitions = reader.section<TransitionRecord>(h.n_transition_ids + uint64_t{1}, "transitions");
  packed_.costs = reader.section<float>(h.n_costs, "costs");
  packed_.classes = reader.section<StateClass>(h.n_classes, "classes");
  packed_.other_ids = reader.section<OtherId>(h.n_other_ids, "other_ids");
  packed_.first_records = reader.section<uint8_t>(asr_packed_graph::n_blocks(h.n_units), "first_records");
  packed_.records = reader.section<uint32_t>(h.n_units, "records");
  reader.finish();

  pdf_of_.resize(h.n_transition_ids + size_t{1});
  transitions_.resize(h.n_transition_ids + size_t{1});
  for (uint32_t id = 1; id <= h.n_transition_ids; ++id) {
    const TransitionRecord &r = transitions[id];
    if (r.pdf >= h.n_pdfs) bad(path, "transitions", id, "pdf is not below n_pdfs");
    if (r.self_loop > 1) bad(path, "transitions", id, "self_loop is neither 0 nor 1");
    pdf_of_[id] = r.pdf;
    transitions_[id] = {r.phone, r.position, r.hmm_state, r.self_loop != 0, r.pdf};
  }
  packed_.n_states = h.n_states;
  packed_.start_state = h.start_state;
  packed_.n_transition_ids = h.n_transition_ids;
  packed_.n_pdfs = h.n_pdfs;
  packed_.n_words = h.n_words;
  packed_.n_arcs = h.n_arcs;
  packed_.n_emitting_arcs = h.n_emitting_arcs;
  packed_.n_units = h.n_units;
  packed_.n_costs = h.n_costs;
  packed_.n_classes = h.n_classes;
  packed_.n_other_ids = h.n_other_ids;
  packed_.pdf_of = pdf_of_.data();
  if (!file_.is_checked()) check_packed_graph(packed_, path);
  file_.set_checked();
}

asr_status Graph::load(const asr_backend_api &api, asr_backend_device *device, asr_backend_graph **loaded, bool again) {
  if (api.load_packed_graph != nullptr) return api.load_packed_graph(device, &packed_, loaded);
  unpack_arrays();
  if (!again) release_packed();
  const asr_status status = api.load_graph(device, &view_, loaded);
  if (*arrays_in_use_ == 0) release_arrays();
  return status;
}

const asr_graph_view &Graph::unpack() {
  unpack_arrays();
  release_packed();
  return view_;
}

void Graph::release_packed() {
  file_.release();
  packed_.records = nullptr;
}

void Graph::unpack_arrays() {
  arrays_ = unpack_graph(packed_);
  view_.size = sizeof(view_);
  view_.n_states = packed_.n_states;
  view_.start_state = arrays_.start_state;
  view_.n_transition_ids = packed_.n_transition_ids;
  view_.n_pdfs = packed_.n_pdfs;
  view_.n_arcs = packed_.n_arcs;
  view_.emitting_begin = arrays_.emitting_begin.data();
  view_.epsilon_begin = arrays_.epsilon_begin.data();
  view_.arcs = arrays_.arcs.data();
  view_.final_costs = arrays_.final_costs.data();
  view_.pdf_of = pdf_of_.data();
  view_.arrays_in_use = arrays_in_use_.get();
}

void Graph::release_arrays() {
  view_.emitting_begin = view_.epsilon_begin = nullptr;
  view_.arcs = nullptr;
  view_.final_costs = nullptr;
  arrays_ = {};
}

}  // namespace asr
