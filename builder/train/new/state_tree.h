// SPDX-License-Identifier: Apache-2.0
// StateTree ties the states of phones in context: a decision tree for each state of each phone asks which sets of phones its
// neighbours are of and where in its word it is, so that it has an answer for contexts that no recording has (T11).
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "builder/train/new/questions.h"
#include "core/base/thread_pool.h"
#include "core/model/hmm_set.h"

namespace asr::train {

// A phone between two others. Silence stands for all fillers, and for the edges of an utterance.
struct PhoneInContext {
  uint32_t phone;
  uint8_t position;  // WordPosition; kAnyPosition between words
  uint32_t left, right;

  bool operator<(const PhoneInContext &other) const {
    return std::tie(phone, position, left, right) < std::tie(other.phone, other.position, other.left, other.right);
  }
};

// Moments of the states of each phone in each context that occurs; those of fillers have silence on both sides.
using ContextMoments = std::map<PhoneInContext, MomentsOfPhone>;

struct TreeOptions {
  uint32_t n_leaves = 2000;  // of all trees; no fewer than their roots
  double min_frames = 100;   // of a leaf
  double min_gain = 150;     // of log-likelihood by a split
};

class StateTree {
 public:
  // set: monophones. moments: at least of one phone.
  StateTree(const HmmSet &monophones, const ContextMoments &moments, const std::vector<double> &floor,
            const TreeOptions &options, ThreadPool *pool);

  uint32_t n_leaves() const { return static_cast<uint32_t>(leaf_moments_.size()); }
  uint32_t leaf(const PhoneInContext &context, uint32_t state) const;

  // [n_leaves]; a leaf without rows has none.
  const std::vector<RowMoments> &leaf_moments() const { return leaf_moments_; }

  // Returns the HMMs of all contexts. A pdf is a leaf.
  HmmSet hmms(const std::string &source) const;

 private:
  enum class Asked : uint8_t { kPosition, kLeft, kRight };
  struct Node {
    Asked asked = Asked::kPosition;
    uint32_t question = 0;     // about a neighbour: of questions_
    uint32_t yes = 0, no = 0;  // nodes; 0: it is a leaf
    uint32_t leaf = 0;
  };
  class Grower;

  const HmmSet monophones_;
  std::vector<Question> questions_;
  std::vector<Node> nodes_;  // the first are the roots, by kStatesOfPhone * phone + state
  std::vector<RowMoments> leaf_moments_;

  bool answer(Asked asked, uint32_t question, const PhoneInContext &context) const;
  std::vector<uint16_t> neighbour_classes(uint32_t phone, Asked asked, std::vector<uint32_t> *members) const;
  void collect_questions(uint32_t node, Asked asked, std::vector<uint32_t> *questions) const;
};

}  // namespace asr::train
