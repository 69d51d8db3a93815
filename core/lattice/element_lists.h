// SPDX-License-Identifier: Apache-2.0
// ElementLists stores lists of subset elements and finds them by content. Part of determinise().
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/lattice/word_step.h"

namespace asr {

class ElementLists {
 public:
  std::vector<SubsetElement> elements;
  std::vector<uint32_t> pool;  // alignment ids of the elements

  struct List {
    size_t begin, end;  // indices of elements
    uint32_t frame;     // frames consumed before the elements, without their own ids
  };
  using Index = std::unordered_multimap<uint64_t, std::pair<List, uint32_t>>;

  static constexpr uint32_t kNone = 0xffffffffu;

  // Copies a list from another ElementLists.
  List append(const ElementLists &from, const List &list) {
    const size_t begin = elements.size();
    for (size_t e = list.begin; e < list.end; ++e) {
      SubsetElement element = from.elements[e];
      const uint32_t *const ids = from.pool.data() + element.ids.begin;
      element.ids.begin = pool.size();
      pool.insert(pool.end(), ids, ids + element.ids.size);
      elements.push_back(element);
    }
    return {begin, elements.size(), list.frame};
  }

  // Returns the number of an equal list, or kNone; then this list is added with number `next`.
  uint32_t find_or_add(Index &index, const List &list, uint32_t next) const {
    const uint64_t hash = hash_of(list);
    const auto [begin, end] = index.equal_range(hash);
    for (auto found = begin; found != end; ++found) {
      if (same(found->second.first, list)) return found->second.second;
    }
    index.emplace(hash, std::pair(list, next));
    return kNone;
  }

 private:
  static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 29;
  }

  uint64_t hash_of(const List &list) const {
    uint64_t hash = list.frame;
    for (size_t e = list.begin; e < list.end; ++e) {
      const SubsetElement &element = elements[e];
      hash = mix(mix(hash, element.state), std::hash<double>()(element.cost.graph));
      hash = mix(hash, std::hash<double>()(element.cost.acoustic));
      for (uint32_t i = 0; i < element.ids.size; ++i) hash = mix(hash, pool[element.ids.begin + i]);
    }
    return hash;
  }

  bool same(const List &a, const List &b) const {
    if (a.frame != b.frame || a.end - a.begin != b.end - b.begin) return false;
    const SubsetElement *const first = elements.data();
    return std::equal(first + a.begin, first + a.end, first + b.begin, [this](const SubsetElement &x, const SubsetElement &y) {
      const uint32_t *const ids_x = pool.data() + x.ids.begin, *const ids_y = pool.data() + y.ids.begin;
      return x.state == y.state && x.cost == y.cost && x.ids.size == y.ids.size && std::equal(ids_x, ids_x + x.ids.size, ids_y);
    });
  }
};

}  // namespace asr
