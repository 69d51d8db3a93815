// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu/search_trace.h"

#include <algorithm>

namespace asr::cpu {
namespace {

constexpr size_t kMinRecords = size_t{1} << 17;  // least number of records worth a compaction
constexpr uint32_t kUnreached = 0xffffffffu, kReached = 0;

}  // namespace

Trace::Trace(const SearchGraph &graph, float acoustic_scale, float word_insertion_cost)
    : graph_(graph), acoustic_scale_(acoustic_scale), word_insertion_cost_(word_insertion_cost), compact_at_(kMinRecords) {}

// Marks in new_index_ the records that tokens reach, from the newest record backwards. Returns the newest record on the
// path of every token. It is the one met when it is the only reached record whose predecessor is not yet marked.
// Returns kRoot if there is none.
uint32_t Trace::mark(const TokenList &tokens) {
  new_index_.assign(records_.size(), kUnreached);
  size_t n_open = 0;
  bool root_reached = false;
  const auto reach = [&](uint32_t record) {
    if (record == kRoot) {
      root_reached = true;
    } else if (new_index_[record] == kUnreached) {
      new_index_[record] = kReached;
      ++n_open;
    }
  };
  for (const Token &token : tokens.tokens) {
    reach(token.previous);
  }
  for (size_t i = records_.size(); i-- > 0;) {
    if (new_index_[i] == kUnreached) continue;
    if (n_open == 1 && !root_reached) return static_cast<uint32_t>(i);
    --n_open;
    reach(records_[i].previous);
  }
  return kRoot;
}

void Trace::compact(TokenList &tokens) {
  if (records_.size() < compact_at_) return;
  const uint32_t shared = mark(tokens);
  size_t first = 0;
  if (shared != kRoot) {
    chain(shared);
    arcs_.resize(settled_.n_arcs);
    for (size_t i = chain_.size(); i-- > 0;) append(records_[chain_[i]], settled_);
    new_index_[shared] = kRoot;
    first = size_t{shared} + 1;
  }
  uint32_t n = 0;
  for (size_t i = first; i < records_.size(); ++i) {
    if (new_index_[i] == kUnreached) continue;
    Record record = records_[i];
    if (record.previous != kRoot) record.previous = new_index_[record.previous];
    new_index_[i] = n;
    records_[n++] = record;
  }
  records_.resize(n);
  compact_at_ = std::max(kMinRecords, 2 * records_.size());
  for (Token &token : tokens.tokens) {
    if (token.previous != kRoot) token.previous = new_index_[token.previous];
  }
}

// Records follow the ones before them, so one pass finds the arc of every path. A frame of the settled path counts as kRoot.
std::vector<uint32_t> Trace::emitting_arcs(const PagedVector<Token> &tokens, uint32_t frame) const {
  struct Passed {
    uint32_t n_frames, arc;  // of the path up to a record; the record of the arc
  };
  std::vector<Passed> passed(records_.size());
  for (uint32_t i = 0; i < records_.size(); ++i) {
    const Record &record = records_[i];
    Passed path = record.previous == kRoot ? Passed{settled_.n_frames, kRoot} : passed[record.previous];
    if (graph_.is_emitting(record.arc) && ++path.n_frames == frame) path.arc = i;
    passed[i] = path;
  }
  std::vector<uint32_t> arcs;
  arcs.reserve(tokens.size());
  for (const Token &token : tokens) arcs.push_back(token.previous == kRoot ? kRoot : passed[token.previous].arc);
  return arcs;
}

void Trace::take_settled() {
  arcs_.resize(settled_.n_arcs);
  settled_.n_arcs = 0;
}

// Fills chain_ with the records from `last` back to the settled path.
void Trace::chain(uint32_t last) {
  chain_.clear();
  for (uint32_t i = last; i != kRoot; i = records_[i].previous) chain_.push_back(i);
}

// Returns true if a path lists the arc.
bool Trace::is_told(uint32_t arc) const {
  const asr_graph_arc found = graph_.arc(arc);
  return found.transition_id != 0 || found.word != 0;
}

size_t Trace::n_common_arcs(const TokenList &tokens) {
  const uint32_t shared = mark(tokens);
  chain(shared);
  size_t n = settled_.n_arcs;
  for (const uint32_t record : chain_) n += is_told(records_[record].arc) ? 1 : 0;
  const Token &first = tokens.tokens.front();
  if (tokens.tokens.size() == 1 && first.arc != 0 && is_told(first.arc - 1)) ++n;
  return n;
}

void Trace::append(const Record &record, End &end) {
  const asr_graph_arc arc = graph_.arc(record.arc);
  if (arc.transition_id != 0 || arc.word != 0) {
    arcs_.push_back({end.n_frames, arc.transition_id, arc.word, arc.graph_cost, record.acoustic_cost});
    ++end.n_arcs;
  }
  end.cost += double{arc.graph_cost} + (arc.word != 0 ? double{word_insertion_cost_} : 0.0) +
              double{acoustic_scale_} * double{record.acoustic_cost};
  if (arc.transition_id != 0) ++end.n_frames;
}

double Trace::path(uint32_t last, uint32_t arc, float acoustic_cost) {
  End end = settled_;
  arcs_.resize(settled_.n_arcs);
  chain(last);
  for (size_t i = chain_.size(); i-- > 0;) append(records_[chain_[i]], end);
  if (arc != 0) append({last, arc - 1, acoustic_cost}, end);
  return end.cost;
}

}  // namespace asr::cpu
