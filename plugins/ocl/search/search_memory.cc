// SPDX-License-Identifier: Apache-2.0
#include "plugins/ocl/search/search_memory.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/error.h"

namespace asr::gpu {
namespace {

ChannelLayout layout_of(const ChannelSize &size) {
  return channel_layout(size.max_tokens, size.max_records, size.max_settled, size.max_links, size.max_frames);
}

}  // namespace

uint64_t ChannelPool::take(uint64_t n_words) {
  const auto fits = [&](const auto &piece) { return piece.second >= n_words; };
  auto found = std::find_if(free_.begin(), free_.end(), fits);
  if (found == free_.end()) {
    grow(n_words);
    found = std::find_if(free_.begin(), free_.end(), fits);
  }
  const auto [offset, n_free] = *found;
  free_.erase(found);
  if (n_free > n_words) free_.emplace(offset + n_words, n_free - n_words);
  n_taken_ += n_words;
  return offset;
}

void ChannelPool::give_back(uint64_t offset, uint64_t n_words) noexcept {
  n_taken_ -= n_words;
  try {
    add_free(offset, n_words);
  } catch (...) {  // then it stays unused
  }
}

bool ChannelPool::release() noexcept {
  if (n_taken_ > 0 || n_words_ == 0) return false;
  memory_.release();
  free_.clear();
  n_released_ = std::exchange(n_words_, 0);
  return true;
}

// Appends n words, or half the present size if that is more and the device has it. An array that is made anew has the size of
// the one before it, or a half or a quarter of that: what the device has.
void ChannelPool::grow(uint64_t n_words) {
  const auto whole_links = [](uint64_t n) { return n / SEARCH_WORDS(SearchLink) * SEARCH_WORDS(SearchLink); };
  uint64_t n_more = std::max(n_words, whole_links(n_words_ > 0 ? n_words_ / 2 : n_released_));
  Array<uint32_t> larger(context_);
  for (;; n_more = std::max(n_words, whole_links(n_words_ > 0 ? 0 : n_more / 2))) {
    try {
      reserve(n_words_ + n_more, &larger);
      break;
    } catch (const Error &error) {
      if (error.code() != ASR_OUT_OF_MEMORY || n_more == n_words) throw;
    }
  }
  if (n_words_ > 0) queue_.copy(memory_.get(), 0, larger.get(), 0, n_words_ * sizeof(uint32_t));
  queue_.finish();
  memory_ = std::move(larger);
  n_words_ += n_more;
  add_free(n_words_ - n_more, n_more);
}

// SearchLanes makes room if this fails.
void ChannelPool::reserve(uint64_t n_words, Array<uint32_t> *array) const {
  const MemoryAccount::Modest modest(context_.account());
  array->reserve(n_words);
}

void ChannelPool::add_free(uint64_t offset, uint64_t n_words) {
  const auto added = free_.emplace(offset, n_words).first;
  const auto next = std::next(added);
  if (next != free_.end() && offset + n_words == next->first) {
    added->second += next->second;
    free_.erase(next);
  }
  if (added == free_.begin()) return;
  const auto before = std::prev(added);
  if (before->first + before->second != offset) return;
  before->second += added->second;
  free_.erase(added);
}

uint64_t n_bytes_of(const ChannelSize &size) { return layout_of(size).end * sizeof(uint32_t); }

ChannelMemory::ChannelMemory(ChannelPool &pool, const ChannelSize &size)
    : pool_(&pool), size_(size), n_words_(layout_of(size).end) {
  offset_ = pool.take(n_words_);
}

ChannelMemory::ChannelMemory(ChannelMemory &&other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)), size_(other.size_), offset_(other.offset_), n_words_(other.n_words_) {}

ChannelMemory &ChannelMemory::operator=(ChannelMemory &&other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(size_, other.size_);
  std::swap(n_words_, other.n_words_);
  std::swap(offset_, other.offset_);
  return *this;
}

ChannelMemory::~ChannelMemory() {
  if (pool_ != nullptr) pool_->give_back(offset_, n_words_);
}

void ChannelMemory::give(SearchJob *job) const {
  job->channel = offset_;
  set_size(size_, job);
}

ChannelOffsets channel_offsets(const SearchJob &job) {
  const ChannelLayout at =
      layout_of({job.max_tokens, job.max_records, job.max_settled, job.lattice.max_links, job.lattice.max_frames});
  const auto bytes = [&](uint64_t word) { return (job.channel + word) * sizeof(uint32_t); };
  return {{bytes(0), bytes(at.acoustic_costs), bytes(at.extras), bytes(at.frames)},
          {bytes(at.tokens), bytes(at.tokens) + job.max_tokens * sizeof(SearchToken)},
          bytes(at.records),
          bytes(at.settled)};
}

}  // namespace asr::gpu
