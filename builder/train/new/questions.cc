// SPDX-License-Identifier: Apache-2.0
#include "builder/train/new/questions.h"

#include <cstddef>
#include <limits>

namespace asr::train {
namespace {

struct Cluster {
  Question members;
  MomentsOfPhone moments;
};

double cost_of_joining(const Cluster &a, const Cluster &b, const std::vector<double> &floor) {
  double cost = 0;
  for (size_t k = 0; k < kStatesOfPhone; ++k) cost += cost_of_merging(a.moments[k], b.moments[k], floor);
  return cost;
}

Cluster joined(const Cluster &a, const Cluster &b) {
  Cluster both = a;
  for (size_t i = 0; i < both.members.size(); ++i) both.members[i] = a.members[i] || b.members[i];
  for (size_t k = 0; k < kStatesOfPhone; ++k) both.moments[k].add(b.moments[k]);
  return both;
}

}  // namespace

std::vector<Question> make_questions(const std::vector<MomentsOfPhone> &phones, const std::vector<double> &floor) {
  const size_t n = phones.size();
  std::vector<Cluster> clusters;
  std::vector<Question> questions;
  std::vector<std::vector<double>> costs;  // [later cluster][earlier one]
  std::vector<bool> is_open;               // not yet joined with another
  const auto add = [&](Cluster cluster) {
    costs.emplace_back();
    for (size_t i = 0; i < clusters.size(); ++i) {
      costs.back().push_back(is_open[i] ? cost_of_joining(clusters[i], cluster, floor) : 0);
    }
    questions.push_back(cluster.members);
    clusters.push_back(std::move(cluster));
    is_open.push_back(true);
  };
  for (size_t i = 0; i < n; ++i) {
    Cluster cluster{Question(n), phones[i]};
    cluster.members[i] = true;
    add(std::move(cluster));
  }
  for (size_t n_open = n; n_open > 2; --n_open) {
    double least = std::numeric_limits<double>::infinity();
    size_t first = 0, second = 0;
    for (size_t b = 0; b < clusters.size(); ++b) {
      for (size_t a = 0; a < b && is_open[b]; ++a) {
        if (!is_open[a] || !(costs[b][a] < least)) continue;
        least = costs[b][a];
        first = a;
        second = b;
      }
    }
    is_open[first] = is_open[second] = false;
    add(joined(clusters[first], clusters[second]));
  }
  return questions;
}

}  // namespace asr::train
