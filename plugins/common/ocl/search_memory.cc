// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/ocl/search_memory.h"

#include <algorithm>
#include <iterator>

namespace asr::ocl {
namespace {

constexpr uint64_t words_of(size_t n_bytes) { return n_bytes / sizeof(uint32_t); }

}  // namespace

uint64_t ChannelPool::take(uint64_t n_words) {
  const auto fits = [&](const auto &piece) { return piece.second >= n_words; };
  auto found = std::find_if(free_.begin(), free_.end(), fits);
  if (found == free_.end()) {
    grow(n_words);
    found = std::find_if(free_.begin(), free_.end(), fits);
  }
  const auto [place, n_free] = *found;
  free_.erase(found);
  if (n_free > n_words) free_.emplace(place + n_words, n_free - n_words);
  return place;
}

void ChannelPool::give_back(uint64_t place, uint64_t n_words) noexcept {
  try {
    add_free(place, n_words);
  } catch (...) {  // then it stays unused
  }
}

// Room for n more words at its end, and at least as much as there was.
void ChannelPool::grow(uint64_t n_words) {
  const uint64_t n_more = std::max(n_words, n_words_);
  DeviceArray<uint32_t> larger(context_, n_words_ + n_more);
  queue_.copy(memory_.get(), 0, larger.get(), 0, n_words_ * sizeof(uint32_t));
  queue_.finish();
  memory_ = std::move(larger);
  n_words_ += n_more;
  add_free(n_words_ - n_more, n_more);
}

void ChannelPool::add_free(uint64_t place, uint64_t n_words) {
  const auto added = free_.emplace(place, n_words).first;
  const auto next = std::next(added);
  if (next != free_.end() && place + n_words == next->first) {
    added->second += next->second;
    free_.erase(next);
  }
  if (added == free_.begin()) return;
  const auto before = std::prev(added);
  if (before->first + before->second != place) return;
  before->second += added->second;
  free_.erase(added);
}

ChannelMemory::ChannelMemory(ChannelPool &pool, uint32_t max_tokens, uint32_t max_records, uint32_t max_settled)
    : pool_(&pool),
      max_tokens_(max_tokens),
      max_records_(max_records),
      max_settled_(max_settled),
      place_(pool.take(n_words())) {}

ChannelMemory::ChannelMemory(ChannelMemory &&other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)),
      max_tokens_(other.max_tokens_),
      max_records_(other.max_records_),
      max_settled_(other.max_settled_),
      place_(other.place_) {}

ChannelMemory &ChannelMemory::operator=(ChannelMemory &&other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(max_tokens_, other.max_tokens_);
  std::swap(max_records_, other.max_records_);
  std::swap(max_settled_, other.max_settled_);
  std::swap(place_, other.place_);
  return *this;
}

ChannelMemory::~ChannelMemory() {
  if (pool_ != nullptr) pool_->give_back(place_, n_words());
}

void ChannelMemory::give(SearchJob *job) const {
  job->channel = place_;
  job->max_tokens = max_tokens_, job->max_records = max_records_, job->max_settled = max_settled_;
}

uint64_t ChannelMemory::tokens(uint32_t which) const {
  return place_ + uint64_t{which} * max_tokens_ * words_of(sizeof(SearchToken));
}
uint64_t ChannelMemory::records() const { return tokens(2); }
uint64_t ChannelMemory::settled() const { return records() + max_records_ * words_of(sizeof(SearchRecord)); }
uint64_t ChannelMemory::n_words() const {
  return uint64_t{2} * max_tokens_ * words_of(sizeof(SearchToken)) + max_records_ * words_of(sizeof(SearchRecord)) +
         max_settled_ * words_of(sizeof(SearchStep));
}

}  // namespace asr::ocl
