// SPDX-License-Identifier: Apache-2.0
#include "core/lattice/word_index.h"

#include <algorithm>

#include "core/base/word_form.h"

namespace asr {
namespace {

uint64_t hash_of(const std::string &text) {  // FNV-1a
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

std::string plain_form(const std::string &word) { return without_case(without_composites(word)); }

}  // namespace

WordIndex::WordIndex(const std::vector<std::string> &words) : words_(words) {
  entries_.reserve(words.size());
  for (uint32_t id = 1; id < words.size(); ++id) entries_.emplace_back(hash_of(plain_form(words[id])), id);
  std::sort(entries_.begin(), entries_.end());
}

const std::string *WordIndex::find(const std::string &word) const {
  const std::string form = without_composites(word), plain = without_case(form);
  const uint64_t hash = hash_of(plain);
  const std::string *same_form = nullptr, *same_letters = nullptr;
  for (auto at = std::lower_bound(entries_.begin(), entries_.end(), std::pair(hash, 0u));
       at != entries_.end() && at->first == hash; ++at) {
    const std::string &text = words_[at->second];
    if (text == word) return &text;
    const std::string other = without_composites(text);
    if (same_form == nullptr && other == form) same_form = &text;
    if (same_letters == nullptr && without_case(other) == plain) same_letters = &text;
  }
  return same_form != nullptr ? same_form : same_letters;
}

}  // namespace asr
