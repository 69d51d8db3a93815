// SPDX-License-Identifier: Apache-2.0
// Partition refinement in two parts. Rounds over the whole graph need little memory, and suffice for most graphs: a round
// separates states whose paths differ one arc further. Long chains need a round for each arc. So later rounds hash only states
// with an arc to a state whose class has changed. Of the parts of a split class the largest keeps its number, so a state is
// renumbered log2 n times at most.
#include "builder/graph/state_classes.h"

#include <algorithm>
#include <utility>

#include "builder/graph/hash.h"
#include "core/base/limits.h"
#include "core/base/parallel.h"

namespace asr {
namespace {

constexpr uint32_t kNone = 0xffffffffu;

// StateHash hashes what the states of a class have in common: the outgoing arcs in any order, and the final cost. Its seed
// comes from the whole graph, so that no grammar can be written whose states have equal hashes.
class StateHash {
 public:
  StateHash(const StateGraph &graph, const std::vector<uint32_t> &order) : graph_(graph) {
    for (const uint32_t state : order) {
      seed_ = mix_hash(seed_, float_bits(graph.final_costs[state]));
      for (const StateArc *arc = graph.first_arc(state); arc != graph.last_arc(state); ++arc) {
        seed_ = mix_hash(seed_, arc->transition_id, arc->word, float_bits(arc->cost), arc->next);
      }
    }
  }
  uint64_t operator()(uint32_t state, const std::vector<uint32_t> &class_of) const {
    uint64_t sum = 0;
    for (const StateArc *arc = graph_.first_arc(state); arc != graph_.last_arc(state); ++arc) {
      sum += mix_hash(seed_, arc->transition_id, arc->word, float_bits(arc->cost), class_of[arc->next]);
    }
    return mix_hash(float_bits(graph_.final_costs[state]), sum);
  }

 private:
  const StateGraph &graph_;
  uint64_t seed_ = 0x51ed;
};

// Partition is a partition of the states that refine() splits by hashes. A state that is alone in its class has its final
// class, so a round hashes the others only. Threads share a round; no result depends on how many they are.
class Partition {
 public:
  Partition(const StateGraph &graph, const std::vector<uint32_t> &order, uint32_t n_threads)
      : n_threads_(n_threads), class_of_(graph.n_states()), together_(order) {
    std::sort(together_.begin(), together_.end());  // in storage order
  }

  // Splits classes by the hashes of their states. Returns whether there are more now.
  bool refine(const StateHash &hash_of) {
    hash_.resize(together_.size());
    number_.resize(together_.size());
    for_parts([&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        const uint32_t state = together_[i];
        hash_[i] = mix_hash(hash_of(state, class_of_), class_of_[state]) >> 1;  // FlatMap has no place for ~0
      }
    });
    std::vector<Shard> shards(kShards);
    run_in_parallel(
        kShards, [&](size_t i) { number(&shards[i], i); }, threads());
    const uint32_t n_before = n_classes_;
    renumber(&shards);
    for_parts([&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        number_[i] = shards[shard_of(hash_[i])].number_of[number_[i]];
        class_of_[together_[i]] = number_[i];
      }
    });
    size_t n_left = 0;
    for (size_t i = 0; i < together_.size(); ++i) {
      if (number_[i] >= n_alone_) together_[n_left++] = together_[i];
    }
    together_.resize(n_left);
    return n_classes_ != n_before;
  }

  uint32_t n_classes() const { return n_classes_; }
  uint32_t n_alone() const { return n_alone_; }                          // classes below are of one state
  const std::vector<uint32_t> &together() const { return together_; }    // states of the other classes
  std::vector<uint32_t> take_classes() { return std::move(class_of_); }  // [state]; those not in `order` have no meaning
  void free_work() {
    std::vector<uint64_t>().swap(hash_);  // assigning {} would keep the memory
    std::vector<uint32_t>().swap(number_);
    together_.shrink_to_fit();
  }

 private:
  static constexpr size_t kShards = 16, kParts = 64, kMany = 65536;  // fewer states are no work for several threads
  struct Shard {                                                     // hashes with the same upper bits
    std::vector<uint32_t> number_of;  // how many states have the hash; then the number of their class
    uint32_t n_alone = 0;             // hashes that one state has
  };

  const uint32_t n_threads_;
  uint32_t n_classes_ = 0, n_alone_ = 0;
  std::vector<uint32_t> class_of_, together_;
  std::vector<uint64_t> hash_;    // [together_]
  std::vector<uint32_t> number_;  // [together_]: of the hash in its shard

  static size_t shard_of(uint64_t hash) { return hash >> 59; }

  uint32_t threads() const { return together_.size() < kMany ? 1 : n_threads_; }

  template <typename Call>
  void for_parts(const Call &call) {
    const size_t n = together_.size();
    run_in_parallel(
        kParts, [&](size_t part) { call(n * part / kParts, n * (part + 1) / kParts); }, threads());
  }

  void number(Shard *shard, size_t which) {
    FlatMap<uint32_t> number_of_hash;
    for (size_t i = 0; i < hash_.size(); ++i) {
      if (shard_of(hash_[i]) != which) continue;
      const auto [number, is_new] = number_of_hash.try_emplace(hash_[i]);
      if (is_new) {
        *number = static_cast<uint32_t>(shard->number_of.size());
        shard->number_of.push_back(0);
      }
      number_[i] = *number;
      if (++shard->number_of[*number] == 1)
        ++shard->n_alone;
      else if (shard->number_of[*number] == 2)
        --shard->n_alone;
    }
  }

  // Classes of one state come first, behind those of earlier rounds.
  void renumber(std::vector<Shard> *shards) {
    uint32_t alone = n_alone_;
    for (const Shard &shard : *shards) n_alone_ += shard.n_alone;
    n_classes_ = n_alone_;
    for (Shard &shard : *shards) {
      for (uint32_t &number : shard.number_of) number = number == 1 ? alone++ : n_classes_++;
    }
  }
};

// Numbers classes by their first states.
std::vector<uint32_t> numbered(std::vector<uint32_t> class_of, const std::vector<uint32_t> &order, uint32_t n_classes) {
  std::vector<uint32_t> number_of(n_classes, kNone);
  uint32_t n = 0;
  for (const uint32_t state : order) {
    uint32_t &number = number_of[class_of[state]];
    if (number == kNone) number = n++;
    class_of[state] = number;
  }
  return class_of;
}

// StateSplitter goes on with a partition. Classes keep their numbers where they can, so that few states change theirs. It
// knows only the states that are not alone in their class.
class StateSplitter {
 public:
  StateSplitter(const StateGraph &graph, const StateHash &hash_of, const Partition &partition, std::vector<uint32_t> *class_of);

  // Splits classes by the hashes of states that may have another one than their class. Returns whether a class was split.
  bool split();
  uint32_t n_classes() const { return n_alone_ + static_cast<uint32_t>(size_.size()); }
  uint64_t n_steps() const { return n_steps_; }

 private:
  struct Hashed {
    uint32_t of_class, state;
    uint64_t hash;
    bool operator<(const Hashed &other) const {
      if (of_class != other.of_class) return of_class < other.of_class;
      return hash != other.hash ? hash < other.hash : state < other.state;
    }
    bool same(const Hashed &other) const { return of_class == other.of_class && hash == other.hash; }
  };
  using Group = std::vector<Hashed>::const_iterator;

  void split_class(Group begin, Group end);
  uint32_t move_to_end(Group begin, Group end);
  void split_off(uint32_t number, uint32_t begin, uint32_t n, uint64_t hash);
  void find_states_to_hash();

  const StateGraph &graph_;
  const StateHash &hash_of_;
  const uint32_t n_alone_;  // classes that are not known here; class_of_ counts them, `number` and the arrays of classes do not
  std::vector<uint32_t> &class_of_;
  std::vector<uint32_t> begin_, from_;  // of each state, the states with arcs to it are from_[begin_[s] ... begin_[s + 1] - 1]
  std::vector<uint32_t> members_, place_;  // the states of class c are members_[first_[c] ... + size_[c] - 1], in any order
  std::vector<uint32_t> first_, size_;     // of each class
  std::vector<uint64_t> hash_;             // of each class, as its states had it when they were last hashed
  std::vector<bool> waits_;                // of each state: is one of to_hash_
  std::vector<uint32_t> to_hash_, changed_;
  std::vector<Hashed> hashed_;
  uint64_t n_steps_ = 0;
};

StateSplitter::StateSplitter(const StateGraph &graph, const StateHash &hash_of, const Partition &partition,
                             std::vector<uint32_t> *class_of)
    : graph_(graph),
      hash_of_(hash_of),
      n_alone_(partition.n_alone()),
      class_of_(*class_of),
      begin_(size_t{graph.n_states()} + 1),
      members_(partition.together().size()),
      place_(graph.n_states()),
      first_(partition.n_classes() - n_alone_),
      size_(first_.size()),
      hash_(first_.size()),
      waits_(graph.n_states()) {
  const auto each_arc = [&](const auto &visit) {
    for (const uint32_t state : partition.together()) {
      for (const StateArc *arc = graph.first_arc(state); arc != graph.last_arc(state); ++arc) visit(state, arc->next);
    }
  };
  each_arc([&](uint32_t, uint32_t next) { ++begin_[next]; });
  uint32_t sum = 0;
  for (uint32_t &begin : begin_) sum += begin, begin = sum;  // the ends, which become begins below
  from_.resize(sum);
  each_arc([&](uint32_t state, uint32_t next) { from_[--begin_[next]] = state; });
  for (const uint32_t state : partition.together()) {
    const uint32_t number = class_of_[state] - n_alone_;
    const uint64_t hash = hash_of(state, class_of_);
    if (size_[number]++ == 0) hash_[number] = hash;
    if (hash != hash_[number]) to_hash_.push_back(state);
  }
  sum = 0;
  for (size_t c = 0; c < size_.size(); ++c) sum += size_[c], first_[c] = sum;  // the ends, as above
  for (const uint32_t state : partition.together()) {
    place_[state] = --first_[class_of_[state] - n_alone_];
    members_[place_[state]] = state;
  }
}

bool StateSplitter::split() {
  hashed_.clear();
  changed_.clear();
  for (const uint32_t state : to_hash_) {
    hashed_.push_back({class_of_[state] - n_alone_, state, hash_of_(state, class_of_)});
    n_steps_ += 1 + graph_.n_arcs[state];
  }
  std::sort(hashed_.begin(), hashed_.end());
  for (Group begin = hashed_.begin(), end = begin; begin != hashed_.end(); begin = end) {
    while (end != hashed_.end() && end->of_class == begin->of_class) ++end;
    split_class(begin, end);
  }
  find_states_to_hash();
  return !changed_.empty();
}

// [begin, end): the hashed states of a class. Its others, if there are any, have its hash still.
void StateSplitter::split_class(Group begin, Group end) {
  const uint32_t number = begin->of_class;
  const auto end_of_group = [&](Group group) {
    return std::find_if(group, end, [&](const Hashed &hashed) { return !hashed.same(*group); });
  };
  auto n_max = std::ptrdiff_t{size_[number]} - (end - begin);
  Group most = end, end_of_most = end;  // the largest group of equal hashes, if it is larger than the others
  for (Group group = begin, next = begin; group != end; group = next) {
    next = end_of_group(group);
    if (next - group > n_max) n_max = next - group, most = group, end_of_most = next;
  }
  const uint64_t of_others = hash_[number];
  const bool has_others = size_[number] > static_cast<uint32_t>(end - begin);
  for (Group group = begin, next = begin; group != end; group = next) {
    next = end_of_group(group);
    if (group == most || (has_others && group->hash == of_others)) continue;
    split_off(number, move_to_end(group, next), static_cast<uint32_t>(next - group), group->hash);
  }
  if (most == end || (has_others && most->hash == of_others)) return;
  const uint32_t n_others = move_to_end(most, end_of_most) - first_[number];
  if (n_others > 0) split_off(number, first_[number], n_others, of_others);
  hash_[number] = most->hash;
}

// Makes a class of n members of another, its last ones or its first ones, from members_[begin] on.
void StateSplitter::split_off(uint32_t number, uint32_t begin, uint32_t n, uint64_t hash) {
  for (uint32_t i = begin; i < begin + n; ++i) {
    class_of_[members_[i]] = n_classes();
    changed_.push_back(members_[i]);
  }
  if (begin == first_[number]) first_[number] += n;
  size_[number] -= n;
  first_.push_back(begin);
  size_.push_back(n);
  hash_.push_back(hash);
}

// Moves states to the end of their class' members. Returns where the first of them is.
uint32_t StateSplitter::move_to_end(Group begin, Group end) {
  uint32_t last = first_[begin->of_class] + size_[begin->of_class];
  for (Group hashed = begin; hashed != end; ++hashed) {
    const uint32_t state = hashed->state, other = members_[--last];
    std::swap(members_[place_[state]], members_[last]);
    std::swap(place_[state], place_[other]);
  }
  return last;
}

void StateSplitter::find_states_to_hash() {
  for (const uint32_t state : to_hash_) waits_[state] = false;
  to_hash_.clear();
  for (const uint32_t state : changed_) {
    n_steps_ += 1 + begin_[state + 1] - begin_[state];
    for (uint32_t i = begin_[state]; i < begin_[state + 1]; ++i) {
      if (waits_[from_[i]]) continue;
      waits_[from_[i]] = true;
      to_hash_.push_back(from_[i]);
    }
  }
}

}  // namespace

std::vector<uint32_t> find_state_classes(const StateGraph &graph, const std::vector<uint32_t> &order,
                                         const BuildProgress &progress, uint64_t max_steps, uint32_t n_threads) {
  const auto n = static_cast<uint32_t>(order.size());
  const StateHash hash_of(graph, order);
  Partition partition(graph, order, n_threads);
  const auto report = [&](uint32_t n_classes) {
    progress(double(n_classes) / n, format("minimising: %u of %u states differ", n_classes, n));
  };
  bool is_final = false;
  for (uint32_t round = 0; round < kBaseMinimisingRounds && !is_final; ++round) {
    is_final = !partition.refine(hash_of);
    report(partition.n_classes());
  }
  partition.free_work();
  std::vector<uint32_t> class_of = partition.take_classes();
  if (is_final) return numbered(std::move(class_of), order, partition.n_classes());
  StateSplitter splitter(graph, hash_of, partition, &class_of);
  while (splitter.split()) {
    if (splitter.n_steps() > max_steps) return {};
    report(splitter.n_classes());
  }
  return numbered(std::move(class_of), order, splitter.n_classes());
}

}  // namespace asr
