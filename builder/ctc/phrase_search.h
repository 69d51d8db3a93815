// SPDX-License-Identifier: Apache-2.0
// PhraseSearch finds the cheapest phrase of a PhraseGraph by CTC scores, frame by frame, and the cost of the second best one.
// It keeps the two best of each place in the graph, so that without a beam no path is lost.
#pragma once

#include <memory>

#include "builder/ctc/phrase_graph.h"

namespace asr {

// What makes a second phrase another one.
enum class Distinct {
  kTimes,  // its ids, or the frames in which those begin that others could have taken the place of
  kIds,    // its ids
};

struct PhraseOptions {
  double beam = 0;  // of a frame: tokens whose log probabilities are further below the best one's are not searched; 0: all
  double token_bonus = 0;  // subtracted for each id when phrases are compared, but not in their costs
  Distinct distinct = Distinct::kTimes;
};

struct PhraseResult {
  bool has_best = false, has_second = false;
  double best_cost = 0, second_cost = 0;  // -ln of the probabilities along the best path of either
  std::vector<int32_t> ids;
};

class PhraseSearch {
 public:
  PhraseSearch(std::shared_ptr<const PhraseGraph> graph, const PhraseOptions &options);

  // Searches log probabilities [n_rows][row_length]; -inf closes a token. Throws asr::Error on NaN and +inf, and nothing of the
  // call is searched then.
  void feed(const float *rows, size_t n_rows, size_t row_length);
  // Returns what is best if the rows end here. More may follow.
  PhraseResult result() const;
  void reset();

 private:
  struct Hypothesis {
    double cost;    // less the bonuses
    uint64_t hash;  // of what makes it distinct
    uint32_t last;  // in nodes_
    uint32_t n_ids;
  };
  struct Pair {
    Hypothesis first, second;
  };
  struct Node {
    uint32_t before;
    int32_t id;
  };
  struct Entry {
    Hypothesis hypothesis;
    int32_t id;  // that it gets in this frame; negative for none
  };

  const std::shared_ptr<const PhraseGraph> graph_;
  const PhraseOptions options_;
  std::vector<Pair> blanks_, cells_, next_cells_;  // the best that end in a blank, by state, and in a token, by cell
  std::vector<Pair> best_;                         // of blanks_ and cells_, by state
  std::vector<Node> nodes_;                        // the ids before; 0 is the beginning
  size_t n_kept_ = 0;                              // nodes after the last collection
  uint64_t n_rows_ = 0;

  void step(const float *row);
  Pair enter(const PhraseGraph::Arc &arc) const;
  uint32_t add_node(uint32_t before, int32_t id);
  void collect();
};

}  // namespace asr
