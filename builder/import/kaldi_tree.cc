// SPDX-License-Identifier: Apache-2.0
#include "builder/import/kaldi_tree.h"

#include <algorithm>
#include <map>

#include "builder/text/text_file.h"
#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr::kaldi {

Tree::Tree(const std::string &path) {
  const std::string bytes = read_unpacked(path, "a decision tree of Kaldi", {Format::kKaldiTree});
  ObjectReader reader(bytes, path);
  reader.begin_object();
  reader.expect("ContextDependency");
  width_ = reader.count("number of phones in a context");
  central_ = reader.count("place of the central phone");
  if (width_ == 0 || width_ > kMaxTreePhones || central_ >= width_) {
    reader.fail_here("the context has no phones, too many, or no central one; the file is damaged");
  }
  if (reader.skip("ToLength")) {  // older format: number of states of each phone
    read_node(reader, 0);
    nodes_.clear();
  }
  reader.expect("ToPdf");
  read_node(reader, 0);
  reader.expect("EndContextDependency");
}

uint32_t Tree::read_node(ObjectReader &reader, uint32_t depth) {
  if (depth > kMaxTreeDepth) reader.fail_here("the tree is too deep; the file is damaged");
  const auto number = static_cast<uint32_t>(nodes_.size());
  nodes_.emplace_back();
  const std::string kind = reader.token("node of the tree");
  if (kind == "NULL") return number;
  Node node;
  if (kind == "CE") {
    node.kind = Kind::kLeaf;
    node.pdf = reader.integer("pdf of a leaf");
  } else if (kind == "TE" || kind == "SE") {
    node.kind = kind == "TE" ? Kind::kTable : Kind::kSplit;
    node.key = reader.integer("key of the tree");
    if (node.key < kPdfClass || node.key >= static_cast<int32_t>(width_)) {
      reader.fail_here("the tree asks for a phone outside its window; the file is damaged");
    }
    uint32_t n_children = 2;
    if (node.kind == Kind::kTable) {
      n_children = reader.count("size of a table");
    } else {
      node.yes = reader.integers("values of a question");
      std::sort(node.yes.begin(), node.yes.end());
    }
    reader.expect(node.kind == Kind::kTable ? "(" : "{");
    for (uint32_t i = 0; i < n_children; ++i) node.children.push_back(read_node(reader, depth + 1));
    reader.expect(node.kind == Kind::kTable ? ")" : "}");
  } else {
    reader.fail_here(format("the tree has a node of an unknown kind %s", kind.c_str()));
  }
  nodes_[number] = std::move(node);
  return number;
}

size_t Tree::child_of(const Node &node, int32_t value) const {
  if (node.kind == Kind::kTable) return static_cast<size_t>(value);
  return std::binary_search(node.yes.begin(), node.yes.end(), value) ? 0 : 1;
}

int32_t Tree::pdf(const std::vector<uint32_t> &window, int32_t pdf_class) const {
  for (const Node *node = &nodes_[0];;) {
    if (node->kind == Kind::kNone || node->kind == Kind::kLeaf) return node->pdf;
    const int32_t value = node->key == kPdfClass ? pdf_class : static_cast<int32_t>(window[static_cast<size_t>(node->key)]);
    const size_t child = child_of(*node, value);
    if (child >= node->children.size()) return -1;
    node = &nodes_[node->children[child]];
  }
}

std::vector<uint32_t> Tree::classes(uint32_t central_phone, uint32_t index, const std::vector<uint32_t> &phones,
                                    uint64_t *n_steps) const {
  std::vector<uint32_t> class_of(phones.size(), 0);
  std::vector<uint32_t> todo = {0};
  while (!todo.empty()) {
    const Node &node = nodes_[todo.back()];
    todo.pop_back();
    ++*n_steps;
    if (node.key == static_cast<int32_t>(central_)) {
      const size_t child = child_of(node, static_cast<int32_t>(central_phone));
      if (child < node.children.size()) todo.push_back(node.children[child]);
      continue;
    }
    todo.insert(todo.end(), node.children.begin(), node.children.end());
    if (node.children.empty() || node.key != static_cast<int32_t>(index)) continue;
    *n_steps += phones.size();
    std::map<std::pair<uint32_t, size_t>, uint32_t> refined;  // key: class so far, child
    for (size_t i = 0; i < phones.size(); ++i) {
      const size_t child = std::min(child_of(node, static_cast<int32_t>(phones[i])), node.children.size());
      class_of[i] = refined.emplace(std::pair(class_of[i], child), static_cast<uint32_t>(refined.size())).first->second;
    }
  }
  return class_of;
}

}  // namespace asr::kaldi
