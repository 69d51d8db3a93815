// SPDX-License-Identifier: Apache-2.0
#include "builder/train/new/state_tree.h"

#include <algorithm>
#include <optional>
#include <queue>

#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr::train {
namespace {

constexpr uint32_t bit_of(WordPosition position) { return 1u << static_cast<uint32_t>(position); }

// Questions about the position in the word: is it its first phone, its last one, or both?
constexpr uint32_t kPositionsOfQuestion[] = {bit_of(WordPosition::kBegin) | bit_of(WordPosition::kSingle),
                                             bit_of(WordPosition::kEnd) | bit_of(WordPosition::kSingle),
                                             bit_of(WordPosition::kSingle)};
constexpr uint32_t kPositionQuestions = 3;

std::vector<MomentsOfPhone> moments_of_phones(const ContextMoments &moments, size_t n_phones) {
  std::vector<MomentsOfPhone> phones(n_phones);
  for (const auto &[context, of_states] : moments) {
    for (uint32_t k = 0; k < kStatesOfPhone; ++k) phones[context.phone][k].add(of_states[k]);
  }
  return phones;
}

}  // namespace

// The split with the highest gain comes first; of equal ones that of the older leaf.
class StateTree::Grower {
 public:
  Grower(StateTree *tree, const ContextMoments &moments, const std::vector<double> &floor, const TreeOptions &options)
      : tree_(*tree), floor_(floor), options_(options), members_(tree->nodes_.size()) {
    for (const auto &context : moments) {
      for (uint32_t k = 0; k < kStatesOfPhone; ++k) members_[kStatesOfPhone * context.first.phone + k].push_back(&context);
    }
    for (uint32_t root = 0; root < members_.size(); ++root) state_of_.push_back(root % kStatesOfPhone);
  }

  void grow(ThreadPool *pool) {
    std::vector<std::optional<Split>> first(members_.size());
    pool->run(first.size(), [&](size_t root) { first[root] = best_split(static_cast<uint32_t>(root)); });
    for (const std::optional<Split> &split : first) push(split);
    for (size_t n_leaves = members_.size(); n_leaves < options_.n_leaves && !splits_.empty(); ++n_leaves) {
      const Split split = splits_.top();
      splits_.pop();
      apply(split);
      const uint32_t children[] = {tree_.nodes_[split.node].yes, tree_.nodes_[split.node].no};
      std::optional<Split> next[2];
      pool->run(2, [&](size_t i) { next[i] = best_split(children[i]); });
      for (const std::optional<Split> &child : next) push(child);
    }
  }

  void number_leaves() {
    for (uint32_t i = 0; i < tree_.nodes_.size(); ++i) {
      if (tree_.nodes_[i].yes != 0) continue;
      tree_.nodes_[i].leaf = tree_.n_leaves();
      tree_.leaf_moments_.emplace_back();
      for (const Member *member : members_[i]) tree_.leaf_moments_.back().add(member->second[state_of_[i]]);
    }
  }

 private:
  using Member = ContextMoments::value_type;
  struct Split {
    double gain;
    uint32_t node;
    Asked asked;
    uint32_t question;

    bool operator<(const Split &other) const { return gain != other.gain ? gain < other.gain : node > other.node; }
  };

  StateTree &tree_;
  const std::vector<double> &floor_;
  const TreeOptions &options_;
  std::vector<std::vector<const Member *>> members_;  // [nodes]
  std::vector<uint32_t> state_of_;                    // [nodes]
  std::priority_queue<Split> splits_;

  void push(const std::optional<Split> &split) {
    if (split) splits_.push(*split);
  }

  // Fillers are the same in any context.
  std::optional<Split> best_split(uint32_t node) const {
    std::optional<Split> best;
    const std::vector<const Member *> &members = members_[node];
    if (members.empty() || tree_.monophones_.phones[members.front()->first.phone].filler) return best;
    RowMoments all;
    for (const Member *member : members) all.add(member->second[state_of_[node]]);
    if (all.frames < 2 * options_.min_frames) return best;
    const double cost = all.cost(floor_);
    const auto consider = [&](Asked asked, uint32_t question, const RowMoments &yes, const RowMoments &no) {
      if (std::min(yes.frames, no.frames) < options_.min_frames) return;
      const double gain = cost - yes.cost(floor_) - no.cost(floor_);
      if (gain >= options_.min_gain && (!best || gain > best->gain)) best = Split{gain, node, asked, question};
    };
    for (uint32_t q = 0; q < kPositionQuestions; ++q) {
      RowMoments sides[2];
      for (const Member *member : members) {
        sides[tree_.answer(Asked::kPosition, q, member->first)].add(member->second[state_of_[node]]);
      }
      consider(Asked::kPosition, q, sides[1], sides[0]);
    }
    for (const Asked asked : {Asked::kLeft, Asked::kRight}) {
      std::vector<RowMoments> of_neighbour(tree_.monophones_.phones.size());
      for (const Member *member : members) {
        of_neighbour[asked == Asked::kLeft ? member->first.left : member->first.right].add(member->second[state_of_[node]]);
      }
      for (uint32_t q = 0; q < tree_.questions_.size(); ++q) {
        RowMoments sides[2];
        for (size_t i = 0; i < of_neighbour.size(); ++i) sides[tree_.questions_[q][i]].add(of_neighbour[i]);
        consider(asked, q, sides[1], sides[0]);
      }
    }
    return best;
  }

  void apply(const Split &split) {
    std::vector<const Member *> yes, no;
    for (const Member *member : members_[split.node]) {
      (tree_.answer(split.asked, split.question, member->first) ? yes : no).push_back(member);
    }
    Node &node = tree_.nodes_[split.node];
    node.asked = split.asked;
    node.question = split.question;
    node.yes = static_cast<uint32_t>(members_.size());
    node.no = node.yes + 1;
    members_[split.node].clear();
    for (std::vector<const Member *> *child : {&yes, &no}) {
      members_.push_back(std::move(*child));
      state_of_.push_back(state_of_[split.node]);
      tree_.nodes_.emplace_back();
    }
  }
};

StateTree::StateTree(const HmmSet &monophones, const ContextMoments &moments, const std::vector<double> &floor,
                     const TreeOptions &options, ThreadPool *pool)
    : monophones_(monophones),
      questions_(make_questions(moments_of_phones(moments, monophones.phones.size()), floor)),
      nodes_(kStatesOfPhone * monophones.phones.size()) {
  Grower grower(this, moments, floor, options);
  grower.grow(pool);
  grower.number_leaves();
}

bool StateTree::answer(Asked asked, uint32_t question, const PhoneInContext &context) const {
  if (asked == Asked::kPosition) return (kPositionsOfQuestion[question] >> context.position & 1) != 0;
  return questions_[question][asked == Asked::kLeft ? context.left : context.right];
}

uint32_t StateTree::leaf(const PhoneInContext &context, uint32_t state) const {
  uint32_t at = kStatesOfPhone * context.phone + state;
  while (nodes_[at].yes != 0) {
    const Node &node = nodes_[at];
    at = answer(node.asked, node.question, context) ? node.yes : node.no;
  }
  return nodes_[at].leaf;
}

void StateTree::collect_questions(uint32_t node, Asked asked, std::vector<uint32_t> *questions) const {
  if (nodes_[node].yes == 0) return;
  if (nodes_[node].asked == asked) questions->push_back(nodes_[node].question);
  collect_questions(nodes_[node].yes, asked, questions);
  collect_questions(nodes_[node].no, asked, questions);
}

// Returns the class of each form of a neighbour (HmmSet::n_neighbour_forms): those that no question of the phone tells apart
// have the same. *members: a phone of each class.
std::vector<uint16_t> StateTree::neighbour_classes(uint32_t phone, Asked asked, std::vector<uint32_t> *members) const {
  std::vector<uint32_t> questions;
  for (uint32_t k = 0; k < kStatesOfPhone; ++k) collect_questions(kStatesOfPhone * phone + k, asked, &questions);
  std::map<std::vector<bool>, uint16_t> class_of;  // key: answers
  std::vector<uint16_t> of_phone, classes;
  for (uint32_t neighbour = 0; neighbour < monophones_.phones.size(); ++neighbour) {
    const uint32_t heard = monophones_.phones[neighbour].filler ? monophones_.silence : neighbour;
    std::vector<bool> answers;
    for (const uint32_t question : questions) answers.push_back(questions_[question][heard]);
    const auto [found, is_new] = class_of.emplace(answers, static_cast<uint16_t>(class_of.size()));
    if (is_new) members->push_back(heard);
    of_phone.push_back(found->second);
  }
  for (const uint16_t number : of_phone) classes.insert(classes.end(), 3, number);
  classes.push_back(of_phone[monophones_.silence]);
  return classes;
}

HmmSet StateTree::hmms(const std::string &source) const {
  HmmSet set = monophones_;
  set.n_pdfs = n_leaves();
  set.hmms.clear();
  set.phone_contexts.clear();
  std::map<std::vector<uint32_t>, uint32_t> hmm_of;  // key: pdfs; phones share none
  const auto hmm = [&](const PhoneInContext &context) {
    std::vector<uint32_t> pdfs;
    for (uint32_t k = 0; k < kStatesOfPhone; ++k) pdfs.push_back(leaf(context, k));
    const auto [found, is_new] = hmm_of.emplace(pdfs, static_cast<uint32_t>(set.hmms.size()));
    if (is_new) set.hmms.push_back({context.phone, pdfs});
    return found->second;
  };
  for (uint32_t phone = 0; phone < set.phones.size(); ++phone) {
    const auto alone = static_cast<uint8_t>(WordPosition::kSingle);
    set.phones[phone].hmm = hmm({phone, alone, set.silence, set.silence});
    if (set.phones[phone].filler) continue;
    std::vector<uint32_t> lefts, rights;
    PhoneContexts contexts{phone, 0, 0, {}, {}, {}};
    contexts.left_class = neighbour_classes(phone, Asked::kLeft, &lefts);
    contexts.right_class = neighbour_classes(phone, Asked::kRight, &rights);
    contexts.n_right_classes = static_cast<uint32_t>(rights.size());
    for (; contexts.position < 4; ++contexts.position) {
      contexts.hmms.clear();
      for (const uint32_t left : lefts) {
        for (const uint32_t right : rights) contexts.hmms.push_back(hmm({phone, contexts.position, left, right}));
      }
      set.phone_contexts.push_back(contexts);
    }
    if (set.n_contexts() > kMaxContexts) {
      fail(ASR_UNSUPPORTED, "%s: its phones have more than %llu contexts; give fewer --leaves", source.c_str(),
           static_cast<unsigned long long>(kMaxContexts));
    }
  }
  set.validate(source);
  return set;
}

}  // namespace asr::train
