// SPDX-License-Identifier: Apache-2.0
// Packs a graph: counts costs and puts the frequent ones into a table, assigns classes to states, then offsets to records, and
// finally writes them.
#include "core/graph/packed/pack.h"

#include <algorithm>
#include <unordered_map>

#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr {
namespace {

uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// KeyTable maps 32-bit keys to consecutive numbers: open addressing, at most half full.
class KeyTable {
 public:
  uint32_t &operator[](uint32_t key) {
    if (2 * (n_ + 1) > slots_.size()) grow();
    Slot &slot = find(key);
    if (!slot.used) {
      slot = {key, 0, true};
      ++n_;
    }
    return slot.number;
  }
  template <typename Call>
  void for_each(Call call) {
    for (Slot &slot : slots_) {
      if (slot.used) call(slot.key, slot.number);
    }
  }

 private:
  struct Slot {
    uint32_t key, number;
    bool used;
  };
  std::vector<Slot> slots_ = std::vector<Slot>(1024);
  size_t n_ = 0;

  Slot &find(uint32_t key) {
    size_t at = key * 0x9e3779b97f4a7c15u >> 20 & (slots_.size() - 1);
    while (slots_[at].used && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot &slot : old) {
      if (slot.used) find(slot.key) = slot;
    }
  }
};

struct ClassHash {
  size_t operator()(const StateClass &c) const {
    return (uint64_t{c.loop_id} << 32 | c.entry_id) * 0x9e3779b97f4a7c15u ^ uint64_t { bits_of(c.cost) } << 7;
  }
};
struct SameClass {
  bool operator()(const StateClass &a, const StateClass &b) const {
    return a.pdf == b.pdf && bits_of(a.cost) == bits_of(b.cost) && a.loop_id == b.loop_id && a.entry_id == b.entry_id;
  }
};

// A table of 256 KB stays in the cache. Storing rare costs beside their arcs adds one byte in a hundred.
constexpr size_t kMaxTableCosts = 65536;
constexpr uint32_t kNoArc = 0xffffffffu;

class Packer {
 public:
  explicit Packer(const asr_graph_view &view) : view_(view) { codes_.n_pdfs = view.n_pdfs; }

  PackedArrays run() {
    find_entry_ids();
    make_cost_table();
    place_records();
    write_records();
    arrays_.start_state = places_[view_.start_state];
    return std::move(arrays_);
  }

 private:
  const asr_graph_view &view_;
  asr_packed_graph codes_{};         // only for the layout of its labels
  KeyTable code_of_;                 // key: bits of a cost
  std::vector<uint32_t> entry_ids_;  // [n_states]; 0: entered by epsilon arcs only
  std::vector<bool> entered_by_epsilon_;
  std::vector<uint32_t> places_;  // [n_states]
  std::unordered_map<StateClass, uint32_t, ClassHash, SameClass> class_numbers_;
  PackedArrays arrays_;

  uint32_t n_emitting_arcs() const { return view_.emitting_begin[view_.n_states]; }

  // Returns the emitting arc of a state that its class implies, or kNoArc.
  uint32_t implied_loop(uint32_t s) const {
    const uint32_t begin = view_.emitting_begin[s], end = view_.emitting_begin[s + size_t{1}];
    for (uint32_t a = begin; a < end && a - begin < StateRecord::kLoopMask; ++a) {
      // Only the first arc qualifies: the number of an implied loop is below those of the state's other arcs.
      if (view_.arcs[a].next_state == s) return view_.arcs[a].word == 0 ? a : kNoArc;
    }
    return kNoArc;
  }

  // Calls call(arc index) for the arcs in a state's record, in order.
  template <typename Call>
  void for_each_arc(uint32_t s, uint32_t loop, Call call) const {
    for (uint32_t a = view_.emitting_begin[s]; a < view_.emitting_begin[s + size_t{1}]; ++a) {
      if (a != loop) call(a);
    }
    for (uint32_t a = view_.epsilon_begin[s]; a < view_.epsilon_begin[s + size_t{1}]; ++a) call(a);
  }

  void find_entry_ids() {
    entry_ids_.assign(view_.n_states, 0);
    entered_by_epsilon_.assign(view_.n_states, false);
    for (uint32_t s = 0; s < view_.n_states; ++s) {
      for_each_arc(s, implied_loop(s), [&](uint32_t a) {
        const asr_graph_arc &arc = view_.arcs[a];
        if (arc.transition_id == 0) entered_by_epsilon_[arc.next_state] = true;
        if (arc.transition_id != 0 && entry_ids_[arc.next_state] == 0) entry_ids_[arc.next_state] = arc.transition_id;
      });
    }
  }

  // A cost used by one arc takes at least as much space in the table as in the record.
  void make_cost_table() {
    for (uint32_t s = 0; s < view_.n_states; ++s) {
      for_each_arc(s, implied_loop(s), [&](uint32_t a) { ++code_of_[bits_of(view_.arcs[a].graph_cost)]; });
    }
    std::vector<std::pair<uint32_t, uint32_t>> frequent;  // count, bits
    code_of_.for_each([&](uint32_t bits, uint32_t n) {
      if (n > 1) frequent.emplace_back(n, bits);
    });
    std::sort(frequent.begin(), frequent.end(),
              [](const auto &a, const auto &b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
    const uint32_t own = codes_.own_cost_code();
    frequent.resize(std::min<size_t>({frequent.size(), kMaxTableCosts, own}));
    code_of_.for_each([&](uint32_t, uint32_t &code) { code = own; });
    for (const auto &[n, bits] : frequent) {
      code_of_[bits] = static_cast<uint32_t>(arrays_.costs.size());
      float cost;
      memcpy(&cost, &bits, sizeof(cost));
      arrays_.costs.push_back(cost);
    }
  }

  uint32_t class_of(uint32_t s, uint32_t loop) {
    // Any id will do if none is required, except 0, which marks epsilon arcs.
    const uint32_t entry_id = entry_ids_[s] != 0 ? entry_ids_[s] : std::min(1u, view_.n_transition_ids);
    StateClass own{0, 0, 0, entry_id};
    if (loop != kNoArc) {
      const asr_graph_arc &arc = view_.arcs[loop];
      own = {view_.pdf_of[arc.transition_id], arc.graph_cost, arc.transition_id, entry_id};
    }
    const auto [found, added] = class_numbers_.try_emplace(own, static_cast<uint32_t>(arrays_.classes.size()));
    if (added) arrays_.classes.push_back(own);
    return found->second;
  }

  void place_records() {
    places_.resize(view_.n_states);
    uint64_t at = 0;
    for (uint32_t s = 0; s < view_.n_states; ++s) {
      if (at > kMaxGraphUnits) fail_large();
      places_[s] = static_cast<uint32_t>(at);
      const uint32_t loop = implied_loop(s);
      const uint32_t n_emitting = view_.emitting_begin[s + size_t{1}] - view_.emitting_begin[s] - (loop != kNoArc ? 1 : 0);
      const uint32_t n_epsilon = view_.epsilon_begin[s + size_t{1}] - view_.epsilon_begin[s];
      at += 1 + uint64_t{n_emitting >= StateRecord::kMoreEmitting} + uint64_t{n_epsilon >= StateRecord::kMoreEpsilon} +
            uint64_t{class_of(s, loop) >= StateRecord::kMoreClasses} + uint64_t{is_final(s)};
      for_each_arc(s, loop, [&](uint32_t a) {
        const asr_graph_arc &arc = view_.arcs[a];
        at += 2 + uint64_t{arc.word != 0} + uint64_t{code_of_[bits_of(arc.graph_cost)] == codes_.own_cost_code()};
      });
    }
    if (at > kMaxGraphUnits) fail_large();
    arrays_.records.reserve(at);
    arrays_.first_records.assign(asr_packed_graph::n_blocks(at), asr_packed_graph::kNoRecord);
  }

  [[noreturn]] void fail_large() const {
    fail(ASR_UNSUPPORTED, "graph: %u states and %llu arcs take over 8 GB; prune the language model", view_.n_states,
         static_cast<unsigned long long>(view_.n_arcs));
  }

  bool is_final(uint32_t s) const { return view_.final_costs[s] != std::numeric_limits<float>::infinity(); }

  void write_records() {
    for (uint32_t s = 0; s < view_.n_states; ++s) {
      uint8_t &first = arrays_.first_records[places_[s] / asr_packed_graph::kBlockUnits];
      if (first == asr_packed_graph::kNoRecord) first = static_cast<uint8_t>(places_[s] % asr_packed_graph::kBlockUnits);
      write_record(s);
    }
  }

  void write_record(uint32_t s) {
    std::vector<uint32_t> &out = arrays_.records;
    const uint32_t loop = implied_loop(s);
    const uint32_t begin = view_.emitting_begin[s], n_loops = loop != kNoArc ? 1 : 0;
    const uint32_t n_emitting = view_.emitting_begin[s + size_t{1}] - begin - n_loops;
    const uint32_t n_epsilon = view_.epsilon_begin[s + size_t{1}] - view_.epsilon_begin[s];
    const uint32_t number = class_of(s, loop);
    const size_t header_at = out.size();
    out.push_back(0);
    uint32_t header = n_loops == 0 ? 0 : 1 + loop - begin;
    const auto put = [&](uint32_t value, uint32_t more, unsigned bit) {
      header |= std::min(value, more) << bit;
      if (value >= more) out.push_back(value);
    };
    put(n_emitting, StateRecord::kMoreEmitting, StateRecord::kEmittingAt);
    put(n_epsilon, StateRecord::kMoreEpsilon, StateRecord::kEpsilonAt);
    put(number, StateRecord::kMoreClasses, StateRecord::kClassAt);
    if (is_final(s)) {
      header |= StateRecord::kFinal;
      out.push_back(bits_of(view_.final_costs[s]));
    }
    if (entered_by_epsilon_[s]) header |= StateRecord::kEnteredByEpsilon;
    for_each_arc(s, loop, [&](uint32_t a) {
      if (write_arc(view_.arcs[a])) header |= StateRecord::kOwnCosts;
    });
    for_each_arc(s, loop, [&](uint32_t a) {
      const uint32_t cost = bits_of(view_.arcs[a].graph_cost);
      if (code_of_[cost] == codes_.own_cost_code()) out.push_back(cost);
    });
    for_each_arc(s, loop, [&](uint32_t a) {
      if (view_.arcs[a].word != 0) out.push_back(view_.arcs[a].word);
    });
    out[header_at] = header;
  }

  // Returns true if the cost is not in the table.
  bool write_arc(const asr_graph_arc &arc) {
    const uint32_t code = code_of_[bits_of(arc.graph_cost)], to = arc.next_state;
    const uint32_t pdf = arc.transition_id != 0 ? view_.pdf_of[arc.transition_id] : view_.n_pdfs;
    uint32_t label = code << codes_.pdf_bits() | pdf;
    if (arc.word != 0) label |= PackedArc::kWord;
    if (view_.epsilon_begin[to] != view_.epsilon_begin[to + size_t{1}]) label |= PackedArc::kToEpsilons;
    if (arc.transition_id != 0 && arc.transition_id != entry_ids_[to]) {
      arrays_.other_ids.push_back({2 * static_cast<uint32_t>(arrays_.records.size()), arc.transition_id});
    }
    arrays_.records.insert(arrays_.records.end(), {places_[to], label});
    return code == codes_.own_cost_code();
  }
};

}  // namespace

PackedArrays pack_graph(const asr_graph_view &view) { return Packer(view).run(); }

}  // namespace asr
