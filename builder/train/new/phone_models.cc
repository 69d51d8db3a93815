// SPDX-License-Identifier: Apache-2.0
#include "builder/train/new/phone_models.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "builder/g2p/dictionary.h"
#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr::train {
namespace {

constexpr double kFirstStay = 0.75;  // probability of staying in a state, before any alignment
constexpr double kMinStay = 0.05, kMaxStay = 0.99;
constexpr double kPriorVisits = 10;  // of each state, with kFirstStay

bool is_silence(const std::string &phone) { return phone == "SIL" || phone == "sil"; }
bool is_noise(const std::string &phone) { return phone == "SPN" || phone == "NSN" || phone == "LAU"; }

Topology left_to_right(const std::array<double, kStatesOfPhone> &stay) {
  Topology topology{kStatesOfPhone, {}};
  for (uint32_t k = 0; k < kStatesOfPhone; ++k) {
    topology.arcs.push_back({k, k, static_cast<float>(-std::log(stay[k]))});
    topology.arcs.push_back({k, k + 1, static_cast<float>(-std::log(1 - stay[k]))});
  }
  topology.arcs.push_back({kEntry, 0, 0});
  return topology;
}

}  // namespace

std::vector<std::string> phones_of_dictionary(const std::string &text, const std::string &source) {
  return parse_pronunciations(text, source).phones;
}

HmmSet make_monophones(std::vector<std::string> phones, const std::string &source) {
  if (std::none_of(phones.begin(), phones.end(), is_silence)) phones.insert(phones.begin(), "SIL");
  HmmSet set;
  for (const std::string &name : phones) {
    const auto number = static_cast<uint32_t>(set.phones.size());
    if (set.silence == kNoPhone && is_silence(name)) set.silence = number;
    set.phones.push_back({name, is_silence(name) || is_noise(name), number});
    set.topologies.push_back(left_to_right({kFirstStay, kFirstStay, kFirstStay}));
    set.hmms.push_back({number, {3 * number, 3 * number + 1, 3 * number + 2}});
  }
  const std::vector<uint16_t> one_class(set.n_neighbour_forms(), 0);
  for (uint32_t phone = 0; phone < set.phones.size(); ++phone) {
    for (uint8_t position = 0; position < 4 && !set.phones[phone].filler; ++position) {
      set.phone_contexts.push_back({phone, position, 1, one_class, one_class, {phone}});
    }
  }
  set.n_pdfs = kStatesOfPhone * static_cast<uint32_t>(set.phones.size());
  set.validate(source);
  return set;
}

std::vector<PhoneState> phone_states(const HmmSet &set) {
  std::vector<PhoneState> state_of(set.n_pdfs);
  const auto add = [&](uint32_t phone, uint32_t hmm) {
    const std::vector<uint32_t> &pdfs = set.hmms[hmm].pdfs;
    for (uint32_t k = 0; k < pdfs.size(); ++k) state_of[pdfs[k]] = {phone, k};
  };
  for (uint32_t phone = 0; phone < set.phones.size(); ++phone) add(phone, set.phones[phone].hmm);
  for (const PhoneContexts &contexts : set.phone_contexts) {
    for (const uint32_t hmm : contexts.hmms) add(contexts.base, hmm);
  }
  return state_of;
}

std::vector<PhoneSegment> phone_segments(const std::vector<PhoneState> &state_of, const AlignedRows &rows, uint64_t first,
                                         uint32_t n) {
  std::vector<PhoneSegment> segments;
  PhoneState last;
  for (uint64_t row = first; row < first + n; ++row) {
    const PhoneState now = state_of[rows.pdfs[row]];
    if (now.phone != last.phone || now.state < last.state) {
      segments.push_back({now.phone, rows.positions[row], {row, row, row, row}});
    }
    for (uint32_t k = now.state + 1; k <= kStatesOfPhone; ++k) segments.back().begin[k] = row + 1;
    last = now;
  }
  return segments;
}

void estimate_transitions(const std::vector<PhoneSegment> &segments, HmmSet *set) {
  std::vector<std::array<double, kStatesOfPhone>> frames(set->phones.size()), visits(set->phones.size());
  for (const PhoneSegment &segment : segments) {
    for (uint32_t k = 0; k < kStatesOfPhone; ++k) {
      const uint64_t n = segment.begin[k + 1] - segment.begin[k];
      frames[segment.phone][k] += static_cast<double>(n);
      visits[segment.phone][k] += n > 0 ? 1 : 0;
    }
  }
  for (size_t phone = 0; phone < set->phones.size(); ++phone) {
    std::array<double, kStatesOfPhone> stay{};
    for (uint32_t k = 0; k < kStatesOfPhone; ++k) {
      const double n_visits = visits[phone][k] + kPriorVisits;
      const double n_frames = frames[phone][k] + kPriorVisits / (1 - kFirstStay);
      stay[k] = std::clamp(1 - n_visits / n_frames, kMinStay, kMaxStay);
    }
    set->topologies[phone] = left_to_right(stay);
  }
}

}  // namespace asr::train
