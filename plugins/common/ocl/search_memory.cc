// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/ocl/search_memory.h"

#include <algorithm>
#include <iterator>

#include "core/base/error.h"

namespace asr::ocl {

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

// Appends n words, or half the present size if that is more and the device has it.
void ChannelPool::grow(uint64_t n_words) {
  uint64_t n_more = std::max(n_words, n_words_ / 2);
  DeviceArray<uint32_t> larger(context_);
  try {
    larger.reserve(n_words_ + n_more);
  } catch (const Error &error) {
    if (error.code() != ASR_OUT_OF_MEMORY || n_more == n_words) throw;
    n_more = n_words;
    larger.reserve(n_words_ + n_more);
  }
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

ChannelMemory::ChannelMemory(ChannelPool &pool, const ChannelSize &size) : pool_(&pool), size_(size), n_words_(layout().end) {
  place_ = pool.take(n_words_);
}

ChannelMemory::ChannelMemory(ChannelMemory &&other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)), size_(other.size_), place_(other.place_), n_words_(other.n_words_) {}

ChannelMemory &ChannelMemory::operator=(ChannelMemory &&other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(size_, other.size_);
  std::swap(n_words_, other.n_words_);
  std::swap(place_, other.place_);
  return *this;
}

ChannelMemory::~ChannelMemory() {
  if (pool_ != nullptr) pool_->give_back(place_, n_words_);
}

void ChannelMemory::give(SearchJob *job) const {
  job->channel = place_;
  job->max_tokens = size_.max_tokens, job->max_records = size_.max_records, job->max_settled = size_.max_settled;
  job->lattice.max_links = size_.max_links, job->lattice.max_frames = size_.max_frames;
}

ChannelLayout ChannelMemory::layout() const {
  return channel_layout(size_.max_tokens, size_.max_records, size_.max_settled, size_.max_links, size_.max_frames);
}

uint64_t ChannelMemory::tokens(uint32_t which) const {
  return place_ + uint64_t{which} * size_.max_tokens * SEARCH_WORDS(SearchToken);
}
uint64_t ChannelMemory::records() const { return place_ + layout().records; }
uint64_t ChannelMemory::settled() const { return place_ + layout().settled; }
uint64_t ChannelMemory::links() const { return place_ + layout().links; }
uint64_t ChannelMemory::extras() const { return place_ + layout().extras; }
uint64_t ChannelMemory::frames() const { return place_ + layout().frames; }

}  // namespace asr::ocl
