// SPDX-License-Identifier: Apache-2.0
// ChannelPool is the memory of all channels, one array of the device: a kernel that advances many channels can be given no
// more. Every channel has a piece. The array moves when it grows, so pieces are known by their offsets. The old array and the
// new one exist together then. Where memory is too short for both, the channels are parked, and the array is made anew when the
// first of them comes back. Used by search.cc.
#pragma once

#include <map>

#include "plugins/gpu/search/channel_size.h"
#include "plugins/ocl/runtime/runtime.h"
#include "plugins/ocl/search/search_job.h"

namespace asr::gpu {

class ChannelPool {
 public:
  ChannelPool(const Context &context, Queue &queue) : context_(context), queue_(queue), memory_(context) {}

  const Array<uint32_t> &memory() const { return memory_; }
  Queue &queue() { return queue_; }
  // Returns the offset of a free piece. The memory may move, so no work with it may be under way.
  uint64_t take(uint64_t n_words);
  void give_back(uint64_t offset, uint64_t n_words) noexcept;
  // Frees the array if no channel has a piece; returns false if one has, or if there is no array.
  bool release() noexcept;

 private:
  void grow(uint64_t n_words);
  void reserve(uint64_t n_words, Array<uint32_t> *array) const;
  void add_free(uint64_t offset, uint64_t n_words);

  const Context &context_;
  Queue &queue_;
  Array<uint32_t> memory_;
  uint64_t n_words_ = 0, n_taken_ = 0;
  uint64_t n_released_ = 0;            // size of an array that was freed
  std::map<uint64_t, uint64_t> free_;  // number of free words by offset; neighbours are merged
};

// Returns the device memory of a channel.
uint64_t n_bytes_of(const ChannelSize &size);

// ChannelMemory is a channel's piece: its tokens, records, settled steps and links (SearchJob::channel).
class ChannelMemory {
 public:
  ChannelMemory() = default;  // none
  ChannelMemory(ChannelPool &pool, const ChannelSize &size);
  ChannelMemory(ChannelMemory &&other) noexcept;
  ChannelMemory &operator=(ChannelMemory &&other) noexcept;
  ~ChannelMemory();

  // Puts the offset and the sizes into a job.
  void give(SearchJob *job) const;
  bool is_none() const { return pool_ == nullptr; }

 private:
  ChannelPool *pool_ = nullptr;
  ChannelSize size_{};
  uint64_t offset_ = 0, n_words_ = 0;
};

}  // namespace asr::gpu
