// SPDX-License-Identifier: Apache-2.0
#include "core/model/hmm_set.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr {
namespace {

void validate_topology(const Topology &topology, size_t number, const char *source) {
  if (topology.n_states == 0 || topology.n_states > kMaxHmmStates) {
    fail(ASR_BAD_FILE, "%s: topology %zu has %u states; 1 to %u are possible", source, number, topology.n_states,
         kMaxHmmStates);
  }
  bool enters = false, leaves = false;
  const TopologyArc *previous = nullptr;
  for (const TopologyArc &arc : topology.arcs) {
    if ((arc.from >= topology.n_states && arc.from != kEntry) || arc.to > topology.n_states) {
      fail(ASR_BAD_FILE, "%s: topology %zu has an arc between states it does not have", source, number);
    }
    if (!std::isfinite(arc.cost)) fail(ASR_BAD_FILE, "%s: topology %zu has a cost that is not finite", source, number);
    if (previous && (previous->from > arc.from || (previous->from == arc.from && previous->to >= arc.to))) {
      fail(ASR_BAD_FILE, "%s: the arcs of topology %zu are not in order", source, number);
    }
    enters |= arc.from == kEntry && arc.to < topology.n_states;
    leaves |= arc.from != kEntry && arc.to == topology.n_states;
    previous = &arc;
  }
  if (!enters || !leaves) fail(ASR_BAD_FILE, "%s: topology %zu cannot be entered or left", source, number);
}

void validate_phones(const HmmSet &set, const char *source) {
  if (set.phones.empty()) fail(ASR_BAD_FILE, "%s: there are no phones", source);
  if (set.phones.size() > kMaxPhones) fail(ASR_BAD_FILE, "%s: there are more than %u phones", source, kMaxPhones);
  std::unordered_set<std::string> names;
  for (size_t i = 0; i < set.phones.size(); ++i) {
    const BasePhone &phone = set.phones[i];
    if (phone.name.empty() || phone.name.find_first_of(std::string(" \t\r\n\0", 5)) != std::string::npos) {
      fail(ASR_BAD_FILE, "%s: the name of phone %zu is empty or has blanks", source, i);
    }
    if (!names.insert(phone.name).second) fail(ASR_BAD_FILE, "%s: there are two phones %s", source, phone.name.c_str());
    if (phone.hmm >= set.hmms.size()) {
      fail(ASR_BAD_FILE, "%s: phone %s uses HMM %u of %zu", source, phone.name.c_str(), phone.hmm, set.hmms.size());
    }
  }
  if (set.silence != kNoPhone && set.silence >= set.phones.size()) {
    fail(ASR_BAD_FILE, "%s: silence is phone %u of %zu", source, set.silence, set.phones.size());
  }
}

void validate_hmms(const HmmSet &set, const char *source) {
  for (size_t i = 0; i < set.hmms.size(); ++i) {
    const Hmm &hmm = set.hmms[i];
    if (hmm.topology >= set.topologies.size()) {
      fail(ASR_BAD_FILE, "%s: HMM %zu uses topology %u of %zu", source, i, hmm.topology, set.topologies.size());
    }
    if (hmm.pdfs.size() != set.topologies[hmm.topology].n_states) {
      fail(ASR_BAD_FILE, "%s: HMM %zu has %zu pdfs for the %u states of its topology", source, i, hmm.pdfs.size(),
           set.topologies[hmm.topology].n_states);
    }
    for (const uint32_t pdf : hmm.pdfs) {
      if (pdf >= set.n_pdfs) fail(ASR_BAD_FILE, "%s: HMM %zu uses pdf %u of %u", source, i, pdf, set.n_pdfs);
    }
  }
}

void validate_contexts(const HmmSet &set, const char *source) {
  const auto is_phone = [&](uint32_t phone) { return phone < set.phones.size(); };
  for (size_t i = 0; i < set.contexts.size(); ++i) {
    const ContextPhone &context = set.contexts[i];
    if (!is_phone(context.base) || (!is_phone(context.left) && context.left != kNoPhone) ||
        (!is_phone(context.right) && context.right != kNoPhone)) {
      fail(ASR_BAD_FILE, "%s: context %zu names a phone beyond the %zu there are", source, i, set.phones.size());
    }
    if (context.position > static_cast<uint8_t>(WordPosition::kSingle) && context.position != kAnyPosition) {
      fail(ASR_BAD_FILE, "%s: context %zu has the unknown word position %u", source, i, context.position);
    }
    if (context.hmm >= set.hmms.size()) {
      fail(ASR_BAD_FILE, "%s: context %zu uses HMM %u of %zu", source, i, context.hmm, set.hmms.size());
    }
  }
}

void validate_phone_contexts(const HmmSet &set, const char *source) {
  if (!set.phone_contexts.empty() && !set.contexts.empty()) {
    fail(ASR_BAD_FILE, "%s: has contexts with and without positions of the neighbours", source);
  }
  std::unordered_set<uint64_t> known;
  for (size_t i = 0; i < set.phone_contexts.size(); ++i) {
    const PhoneContexts &contexts = set.phone_contexts[i];
    const auto refuse = [&](const char *why) { fail(ASR_BAD_FILE, "%s: contexts %zu %s", source, i, why); };
    if (contexts.base >= set.phones.size()) refuse("are of a phone that does not exist");
    if (contexts.position > static_cast<uint8_t>(WordPosition::kSingle) && contexts.position != kAnyPosition) {
      refuse("are of an unknown word position");
    }
    if (!known.insert(uint64_t(contexts.base) << 8 | contexts.position).second) refuse("are those of a phone that has some");
    const size_t n_right = contexts.n_right_classes;
    if (n_right == 0 || contexts.hmms.empty() || contexts.hmms.size() % n_right != 0) refuse("have no HMM for each class");
    const auto outside = [&](const std::vector<uint16_t> &classes, size_t n_classes) {
      return classes.size() != set.n_neighbour_forms() ||
             std::any_of(classes.begin(), classes.end(), [&](uint16_t number) { return number >= n_classes; });
    };
    if (outside(contexts.left_class, contexts.hmms.size() / n_right) || outside(contexts.right_class, n_right)) {
      refuse("put a neighbour in a class that does not exist");
    }
    if (std::any_of(contexts.hmms.begin(), contexts.hmms.end(), [&](uint32_t hmm) { return hmm >= set.hmms.size(); })) {
      refuse("use an HMM that does not exist");
    }
  }
}

void validate_transitions(const HmmSet &set, const char *source) {
  for (size_t i = 1; i < set.transitions.size(); ++i) {
    const Transition &transition = set.transitions[i];
    if (transition.phone >= set.phones.size() || transition.pdf >= set.n_pdfs) {
      fail(ASR_BAD_FILE, "%s: transition-id %zu is of phone %u of %zu and pdf %u of %u", source, i, transition.phone,
           set.phones.size(), transition.pdf, set.n_pdfs);
    }
    if (transition.position > static_cast<uint8_t>(WordPosition::kSingle) && transition.position != kAnyPosition) {
      fail(ASR_BAD_FILE, "%s: transition-id %zu has the unknown word position %u", source, i, transition.position);
    }
  }
}

}  // namespace

bool HmmSet::knows_contexts() const {
  std::vector<bool> used(n_pdfs, false);
  for (const Hmm &hmm : hmms) {
    for (const uint32_t pdf : hmm.pdfs) used[pdf] = true;
  }
  for (size_t i = 1; i < transitions.size(); ++i) {
    if (!used[transitions[i].pdf]) return false;
  }
  return true;
}

bool HmmSet::has_position(uint32_t base, WordPosition position) const {
  bool has_others = false;
  for (const PhoneContexts &of_phone : phone_contexts) {
    if (of_phone.base != base) continue;
    if (of_phone.position == kAnyPosition || of_phone.position == static_cast<uint8_t>(position)) return true;
    has_others = true;
  }
  return !has_others;
}

uint64_t HmmSet::n_contexts() const {
  uint64_t n = contexts.size();
  for (const PhoneContexts &of_phone : phone_contexts) n += of_phone.hmms.size();
  return n;
}

uint32_t HmmSet::find_phone(const std::string &name) const {
  for (size_t i = 0; i < phones.size(); ++i) {
    if (phones[i].name == name) return static_cast<uint32_t>(i);
  }
  return kNoPhone;
}

void HmmSet::validate(const std::string &source) const {
  if (n_pdfs > kMaxPdfs) fail(ASR_BAD_FILE, "%s: n_pdfs is %u; up to %u are possible", source.c_str(), n_pdfs, kMaxPdfs);
  for (size_t i = 0; i < topologies.size(); ++i) validate_topology(topologies[i], i, source.c_str());
  validate_hmms(*this, source.c_str());
  validate_phones(*this, source.c_str());
  validate_contexts(*this, source.c_str());
  validate_phone_contexts(*this, source.c_str());
  validate_transitions(*this, source.c_str());
}

}  // namespace asr
