// SPDX-License-Identifier: Apache-2.0
// Tree is Kaldi's decision tree: it maps an HMM state in the context of other phones to a pdf. Called by kaldi.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "builder/import/kaldi_io.h"

namespace asr::kaldi {

class Tree {
 public:
  explicit Tree(const std::string &path);

  uint32_t width() const { return width_; }      // phones in the window: 1 for monophones, 3 for triphones
  uint32_t central() const { return central_; }  // index of the phone whose HMM has the state

  // window[width]: numbers of phones, 0 for none. Returns -1 if the tree has no answer.
  int32_t pdf(const std::vector<uint32_t> &window, int32_t pdf_class) const;

  // Returns a number for each phone as window[index]. Those of two phones are equal if the tree never tells them apart there
  // for this central phone.
  // Adds to *n_steps the questions, and the phones times the questions asked about them.
  std::vector<uint32_t> classes(uint32_t central_phone, uint32_t index, const std::vector<uint32_t> &phones,
                                uint64_t *n_steps) const;

 private:
  enum class Kind { kNone, kLeaf, kTable, kSplit };
  static constexpr int32_t kPdfClass = -1;  // a key that is not an index in the window
  struct Node {
    Kind kind = Kind::kNone;
    int32_t pdf = -1;                // leaf
    int32_t key = 0;                 // table, split: an index in the window, or kPdfClass
    std::vector<int32_t> yes;        // split: sorted values that lead to the first child
    std::vector<uint32_t> children;  // table: [value]
  };
  uint32_t width_ = 0, central_ = 0;
  std::vector<Node> nodes_;  // [0] is the root

  size_t child_of(const Node &node, int32_t value) const;  // may be beyond the children
  uint32_t read_node(ObjectReader &reader, uint32_t depth);
};

}  // namespace asr::kaldi
