// SPDX-License-Identifier: Apache-2.0
// Reads and writes hmms.bin: an HmmSet as flat arrays behind a header with their counts (docs/bundle.md).
#include "core/base/error.h"
#include "core/base/sections.h"
#include "core/model/hmm_set.h"

namespace asr {
namespace {

constexpr char kMagic[9] = "SenoneHM";
// Sets without phone contexts are written as version 1, which every release reads.
constexpr uint32_t kVersion = 1, kPhoneContextsVersion = 2;

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t n_pdfs, n_phones, silence, n_name_bytes;
  uint32_t n_topologies, n_topology_arcs, n_hmms, n_hmm_pdfs, n_contexts, n_transitions;
};
static_assert(sizeof(Header) == 52);

struct PhoneContextsHeader {  // of version 2
  Header common;
  uint32_t n_phone_contexts, n_phone_context_hmms;
};
static_assert(sizeof(PhoneContextsHeader) == 60);

struct PhoneContextsRecord {
  uint32_t base, position, n_left_classes, n_right_classes;
};

struct PhoneRecord {
  uint32_t name_end;  // offset in the names section where the next name begins
  uint32_t hmm;
  uint32_t filler;
};

struct TopologyRecord {
  uint32_t n_states, n_arcs;
};
static_assert(sizeof(TopologyArc) == 12);

struct HmmRecord {
  uint32_t topology, n_pdfs;
};

struct ContextRecord {
  uint32_t base, left, right, position, hmm;
};

struct TransitionRecord {
  uint32_t phone, pdf;
  uint16_t hmm_state;
  uint8_t position, self_loop;
};
static_assert(sizeof(TransitionRecord) == 12);

// Cuts the next `count` values off a flat array, or fails.
template <typename T>
class Cutter {
 public:
  Cutter(const std::vector<T> &values, const std::string &source, const char *name)
      : values_(values), source_(source), name_(name) {}

  std::vector<T> next(size_t count) {
    if (count > values_.size() - at_) fail(ASR_BAD_FILE, "%s: has too few %s", source_.c_str(), name_);
    const auto first = values_.begin() + static_cast<std::ptrdiff_t>(at_);
    at_ += count;
    return std::vector<T>(first, first + static_cast<std::ptrdiff_t>(count));
  }

 private:
  const std::vector<T> &values_;
  const std::string &source_;
  const char *name_;
  size_t at_ = 0;
};

std::vector<BasePhone> unpack_phones(const std::vector<char> &names, const std::vector<PhoneRecord> &records,
                                     const std::string &path) {
  std::vector<BasePhone> phones;
  uint32_t begin = 0;
  for (const PhoneRecord &record : records) {
    if (record.name_end < begin || record.name_end > names.size()) {
      fail(ASR_BAD_FILE, "%s: the name of phone %zu lies outside the names", path.c_str(), phones.size());
    }
    phones.push_back({std::string(names.data() + begin, record.name_end - begin), record.filler != 0, record.hmm});
    begin = record.name_end;
  }
  return phones;
}

PhoneContextsHeader read_header(SectionReader *reader, const FileCopy &file) {
  uint32_t version = kVersion;
  if (file.size() >= sizeof(Header)) memcpy(&version, file.data() + sizeof(Header::magic), sizeof(version));
  if (version != kVersion) return reader->header<PhoneContextsHeader>(kMagic, kPhoneContextsVersion);
  return {reader->header<Header>(kMagic, kVersion), 0, 0};
}

void read_phone_contexts(SectionReader *reader, const PhoneContextsHeader &header, const std::string &path, HmmSet *set) {
  const size_t n_forms = set->n_neighbour_forms();
  const auto records = reader->copy<PhoneContextsRecord>(header.n_phone_contexts, "phones in positions");
  const auto classes = reader->copy<uint16_t>(2 * uint64_t{header.n_phone_contexts} * n_forms, "classes of neighbours");
  const auto hmms = reader->copy<uint32_t>(header.n_phone_context_hmms, "HMMs of classes");
  Cutter<uint16_t> next_classes(classes, path, "classes of neighbours");
  Cutter<uint32_t> next_hmms(hmms, path, "HMMs of classes");
  for (const PhoneContextsRecord &record : records) {
    if (record.position > 0xff) fail(ASR_BAD_FILE, "%s: a phone has no valid word position", path.c_str());
    PhoneContexts contexts{record.base, static_cast<uint8_t>(record.position), record.n_right_classes, {}, {}, {}};
    contexts.left_class = next_classes.next(n_forms);
    contexts.right_class = next_classes.next(n_forms);
    const uint64_t n_hmms = uint64_t{record.n_left_classes} * record.n_right_classes;
    contexts.hmms = next_hmms.next(n_hmms);
    set->phone_contexts.push_back(std::move(contexts));
  }
}

}  // namespace

void write_hmm_set(const HmmSet &set, const FileAt &place) {
  set.validate(place.path());
  std::vector<char> names;
  std::vector<PhoneRecord> phones;
  for (const BasePhone &phone : set.phones) {
    names.insert(names.end(), phone.name.begin(), phone.name.end());
    phones.push_back({static_cast<uint32_t>(names.size()), phone.hmm, phone.filler ? 1u : 0u});
  }
  std::vector<TopologyRecord> topologies;
  std::vector<TopologyArc> arcs;
  for (const Topology &topology : set.topologies) {
    topologies.push_back({topology.n_states, static_cast<uint32_t>(topology.arcs.size())});
    arcs.insert(arcs.end(), topology.arcs.begin(), topology.arcs.end());
  }
  std::vector<HmmRecord> hmms;
  std::vector<uint32_t> pdfs;
  for (const Hmm &hmm : set.hmms) {
    hmms.push_back({hmm.topology, static_cast<uint32_t>(hmm.pdfs.size())});
    pdfs.insert(pdfs.end(), hmm.pdfs.begin(), hmm.pdfs.end());
  }
  std::vector<ContextRecord> contexts;
  for (const ContextPhone &c : set.contexts) contexts.push_back({c.base, c.left, c.right, c.position, c.hmm});
  std::vector<TransitionRecord> transitions;
  for (const Transition &t : set.transitions) {
    transitions.push_back({t.phone, t.pdf, t.hmm_state, t.position, static_cast<uint8_t>(t.self_loop)});
  }

  std::vector<PhoneContextsRecord> phone_contexts;
  std::vector<uint16_t> classes;
  std::vector<uint32_t> class_hmms;
  for (const PhoneContexts &c : set.phone_contexts) {
    const auto n_left_classes = static_cast<uint32_t>(c.hmms.size() / c.n_right_classes);
    phone_contexts.push_back({c.base, c.position, n_left_classes, c.n_right_classes});
    classes.insert(classes.end(), c.left_class.begin(), c.left_class.end());
    classes.insert(classes.end(), c.right_class.begin(), c.right_class.end());
    class_hmms.insert(class_hmms.end(), c.hmms.begin(), c.hmms.end());
  }

  PhoneContextsHeader whole{};
  Header &header = whole.common;
  memcpy(header.magic, kMagic, sizeof(header.magic));
  header.version = phone_contexts.empty() ? kVersion : kPhoneContextsVersion;
  header.n_pdfs = set.n_pdfs;
  header.n_phones = static_cast<uint32_t>(phones.size());
  header.silence = set.silence;
  header.n_name_bytes = static_cast<uint32_t>(names.size());
  header.n_topologies = static_cast<uint32_t>(topologies.size());
  header.n_topology_arcs = static_cast<uint32_t>(arcs.size());
  header.n_hmms = static_cast<uint32_t>(hmms.size());
  header.n_hmm_pdfs = static_cast<uint32_t>(pdfs.size());
  header.n_contexts = static_cast<uint32_t>(contexts.size());
  header.n_transitions = static_cast<uint32_t>(transitions.size());
  whole.n_phone_contexts = static_cast<uint32_t>(phone_contexts.size());
  whole.n_phone_context_hmms = static_cast<uint32_t>(class_hmms.size());

  OutputFile file(place);
  file.write(&whole, phone_contexts.empty() ? sizeof(header) : sizeof(whole));
  write_section(file, names);
  write_section(file, phones);
  write_section(file, topologies);
  write_section(file, arcs);
  write_section(file, hmms);
  write_section(file, pdfs);
  write_section(file, contexts);
  write_section(file, transitions);
  if (!phone_contexts.empty()) {
    write_section(file, phone_contexts);
    write_section(file, classes);
    write_section(file, class_hmms);
  }
  file.commit();
}

HmmSet read_hmm_set(const std::string &path) {
  const FileCopy file(path);
  SectionReader reader(file.data(), file.size(), path);
  const PhoneContextsHeader whole = read_header(&reader, file);
  const Header &header = whole.common;
  const auto names = reader.copy<char>(header.n_name_bytes, "phone names");
  const auto phones = reader.copy<PhoneRecord>(header.n_phones, "phones");
  const auto topologies = reader.copy<TopologyRecord>(header.n_topologies, "topologies");
  const auto arcs = reader.copy<TopologyArc>(header.n_topology_arcs, "topology arcs");
  const auto hmms = reader.copy<HmmRecord>(header.n_hmms, "HMMs");
  const auto pdfs = reader.copy<uint32_t>(header.n_hmm_pdfs, "pdfs of HMMs");
  const auto contexts = reader.copy<ContextRecord>(header.n_contexts, "contexts");
  const auto transitions = reader.copy<TransitionRecord>(header.n_transitions, "transitions");
  HmmSet set;
  set.n_pdfs = header.n_pdfs;
  set.silence = header.silence;
  set.phones = unpack_phones(names, phones, path);
  if (whole.n_phone_contexts > 0) read_phone_contexts(&reader, whole, path, &set);
  reader.finish();

  Cutter<TopologyArc> next_arcs(arcs, path, "topology arcs");
  for (const TopologyRecord &record : topologies) set.topologies.push_back({record.n_states, next_arcs.next(record.n_arcs)});
  Cutter<uint32_t> next_pdfs(pdfs, path, "pdfs");
  for (const HmmRecord &record : hmms) set.hmms.push_back({record.topology, next_pdfs.next(record.n_pdfs)});
  set.contexts.reserve(contexts.size());
  for (const ContextRecord &record : contexts) {
    if (record.position > 0xff) fail(ASR_BAD_FILE, "%s: a context has no valid word position", path.c_str());
    set.contexts.push_back({record.base, record.left, record.right, static_cast<uint8_t>(record.position), record.hmm});
  }
  set.transitions.reserve(transitions.size());
  for (const TransitionRecord &r : transitions) {
    set.transitions.push_back({r.phone, r.position, r.hmm_state, r.self_loop != 0, r.pdf});
  }
  set.validate(path);
  return set;
}

}  // namespace asr
