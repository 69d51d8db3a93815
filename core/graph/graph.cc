// SPDX-License-Identifier: Apache-2.0
// Writes and reads graph.bin: the packed graph behind a header with its counts (docs/graph-file.md). The reader trusts nothing:
// after it has accepted a file, no search over it can leave an array.
#include "core/graph/graph.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/limits.h"
#include "core/base/parallel.h"
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
  if (h.n_states == 0 || h.n_states > kMaxGraphStates) bad(path, "header", 0, "n_states is out of range");
  if (h.n_arcs > kMaxGraphArcs) bad(path, "header", 0, "n_arcs is out of range");
  if (h.n_transition_ids > kMaxTransitionIds) bad(path, "header", 0, "n_transition_ids is out of range");
  if (h.n_pdfs > kMaxPdfs) bad(path, "header", 0, "n_pdfs is out of range");
  if (h.n_units > kMaxGraphUnits) bad(path, "header", 0, "n_units is out of range");
}

// The sections of the file. `packed` has no pdf_of.
struct Content {
  const TransitionRecord *transitions;
  asr_packed_graph packed;
};

Content read_sections(SectionReader &reader, const Header &h) {
  Content content{};
  asr_packed_graph &packed = content.packed;
  packed.n_states = h.n_states;
  packed.start_state = h.start_state;
  packed.n_transition_ids = h.n_transition_ids;
  packed.n_pdfs = h.n_pdfs;
  packed.n_words = h.n_words;
  packed.n_arcs = h.n_arcs;
  packed.n_emitting_arcs = h.n_emitting_arcs;
  packed.n_units = h.n_units;
  packed.n_costs = h.n_costs;
  packed.n_classes = h.n_classes;
  packed.n_other_ids = h.n_other_ids;
  content.transitions = reader.section<TransitionRecord>(h.n_transition_ids + uint64_t{1}, "transitions");
  packed.costs = reader.section<float>(h.n_costs, "costs");
  packed.classes = reader.section<StateClass>(h.n_classes, "classes");
  packed.other_ids = reader.section<OtherId>(h.n_other_ids, "other_ids");
  packed.first_records = reader.section<uint8_t>(asr_packed_graph::n_blocks(h.n_units), "first_records");
  packed.records = reader.section<uint32_t>(h.n_units, "records");
  reader.finish();
  return content;
}

Header read_header(SectionReader &reader, const std::string &path) {
  const auto header = reader.header<Header>(kMagic, kVersion);
  check_header(header, path);
  return header;
}

Content read_content(const uint8_t *data, size_t size, const std::string &path) {
  SectionReader reader(data, size, path);
  const Header header = read_header(reader, path);
  return read_sections(reader, header);
}

// Compares the length of the file with its header before as much memory is allocated.
void check_length(const InputFile &file) {
  uint8_t begin[sizeof(Header)];
  SectionReader begin_reader(begin, file.read(0, begin, sizeof(begin)), file.path());
  const Header header = read_header(begin_reader, file.path());
  SectionReader sizes(nullptr, file.size(), file.path());
  sizes.section<Header>(1, "header");
  read_sections(sizes, header);
}

std::vector<uint32_t> pdfs_of(const Content &content, const std::string &path) {
  std::vector<uint32_t> pdfs(content.packed.n_transition_ids + size_t{1});
  for (uint32_t id = 1; id < pdfs.size(); ++id) {
    const TransitionRecord &r = content.transitions[id];
    if (r.pdf >= content.packed.n_pdfs) bad(path, "transitions", id, "pdf is not below n_pdfs");
    if (r.self_loop > 1) bad(path, "transitions", id, "self_loop is neither 0 nor 1");
    pdfs[id] = r.pdf;
  }
  return pdfs;
}

void check_content(const uint8_t *data, size_t size, const std::string &path) {
  Content content = read_content(data, size, path);
  const std::vector<uint32_t> pdfs = pdfs_of(content, path);
  content.packed.pdf_of = pdfs.data();
  check_packed_graph(content.packed, path);
}

SharedCopy read_checked(const std::string &path, const BundleFile *listed) {
  const InputFile file(path);
  if (listed == nullptr) {
    check_length(file);
    return SharedCopy(file, [&](const uint8_t *data, size_t size) { check_content(data, size, path); });
  }
  check_bundle_file_size(path, *listed, file.size());
  check_length(file);
  const std::string content = format("graph-%016llx", static_cast<unsigned long long>(listed->checksum));
  const auto compare_checksum = [&](const uint8_t *data, size_t size) {
    check_bundle_file(path, *listed, {size, checksum(data, size)});
  };
  const auto check_all = [&](const uint8_t *data, size_t size) {
    run_in_parallel(2, [&](size_t task) {
      if (task == 0) compare_checksum(data, size);
      if (task == 1) check_content(data, size, path);
    });
  };
  return SharedCopy(file, content, check_all, compare_checksum);
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
  if (graph.final_costs.size() > kMaxGraphStates || graph.arcs.size() > kMaxGraphArcs) {
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

void write_graph(const GraphData &graph, const FileAt &place) {
  OutputFile file(place);
  put_graph(graph, place.path(), file);
  file.commit();
}

std::string graph_bytes(const GraphData &graph) {
  MemoryOutput bytes;
  put_graph(graph, "graph", bytes);
  return bytes.bytes();
}

Graph::Graph(const std::string &path, const BundleFile *listed) : Graph(read_checked(path, listed), path) {}

Graph::Graph(FileCopy bytes, const std::string &path)
    : Graph(SharedCopy(std::move(bytes), [&](const uint8_t *data, size_t size) { check_content(data, size, path); }), path) {}

Graph::Graph(SharedCopy checked, const std::string &path) : file_(std::move(checked)) {
  const Content content = read_content(file_.data(), file_.size(), path);
  packed_ = content.packed;
  pdf_of_ = pdfs_of(content, path);
  packed_.pdf_of = pdf_of_.data();
  transitions_.resize(pdf_of_.size());
  for (uint32_t id = 1; id < pdf_of_.size(); ++id) {
    const TransitionRecord &r = content.transitions[id];
    transitions_[id] = {r.phone, r.position, r.hmm_state, r.self_loop != 0, r.pdf};
    has_word_positions_ = has_word_positions_ || r.position != kAnyPosition;
  }
}

asr_status Graph::load(const asr_backend_api &api, bool packed, asr_backend_device *device, asr_backend_graph **loaded,
                       bool again) {
  uint32_t in_use = 1;
  if (packed) {
    asr_graph_view view = counts();
    view.start_state = packed_.start_state;
    view.packed = &packed_;
    return api.load_graph(device, &view, loaded, &in_use);
  }
  unpack_arrays();
  if (!again) release_packed();
  const asr_status status = api.load_graph(device, &view_, loaded, &in_use);
  if (in_use == 0) release_arrays();
  return status;
}

// Returns the view of the graph without its arrays.
asr_graph_view Graph::counts() const {
  asr_graph_view view{};
  view.size = sizeof(view);
  view.n_states = packed_.n_states;
  view.n_transition_ids = packed_.n_transition_ids;
  view.n_pdfs = packed_.n_pdfs;
  view.n_arcs = packed_.n_arcs;
  return view;
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
  view_ = counts();
  view_.start_state = arrays_.start_state;
  view_.emitting_begin = arrays_.emitting_begin.data();
  view_.epsilon_begin = arrays_.epsilon_begin.data();
  view_.arcs = arrays_.arcs.data();
  view_.final_costs = arrays_.final_costs.data();
  view_.pdf_of = pdf_of_.data();
}

void Graph::release_arrays() {
  view_.emitting_begin = view_.epsilon_begin = nullptr;
  view_.arcs = nullptr;
  view_.final_costs = nullptr;
  arrays_ = {};
}

}  // namespace asr
