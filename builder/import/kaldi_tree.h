// SPDX-License-Identifier: Apache-2.0
// Kaldi's decision tree: which pdf an HMM state has in the context of other phones. Called by kaldi.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "builder/import/kaldi_io.h"

namespace asr::kaldi {

class Tree {
 public:
  explicit Tree(const std::string &path);

  uint32_t width() const { return width_; }      // phones that matter: 1 for monophones, 3 for triphones
  uint32_t central() const { return central_; }  // which of them has the state

  // window[width]: numbers of phones, 0 where there is none. -1 if the tree does not say.
  int32_t pdf(const std::vector<uint32_t> &window, int32_t pdf_class) const;

 private:
  enum class Kind { kNone, kLeaf, kTable, kSplit };
  static constexpr int32_t kPdfClass = -1;  // a key that is no place in the window
  struct Node {
    Kind kind = Kind::kNone;
    int32_t pdf = -1;                // leaf
    int32_t key = 0;                 // table, split: a place in the window, or kPdfClass
    std::vector<int32_t> yes;        // split: values, sorted, that lead to the first child
    std::vector<uint32_t> children;  // table: by value
  };
  uint32_t width_ = 0, central_ = 0;
  std::vector<Node> nodes_;  // [0] is the root

  uint32_t read_node(ObjectReader &reader, uint32_t depth);
};

}  // namespace asr::kaldi
