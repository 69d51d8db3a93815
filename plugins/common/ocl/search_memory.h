// SPDX-License-Identifier: Apache-2.0
// Memory of channels: one array of the device, because a kernel that advances many channels can be given no more, from which
// every channel has a piece. It moves when it grows, so that pieces are known by their places in it. Used by search.cc.
#pragma once

#include <map>

#include "plugins/common/ocl/kernels/search_types.h"
#include "plugins/common/ocl/runtime.h"

namespace asr::ocl {

class ChannelPool {
 public:
  ChannelPool(const Context &context, Queue &queue) : context_(context), queue_(queue), memory_(context) {}

  const DeviceArray<uint32_t> &memory() const { return memory_; }
  Queue &queue() { return queue_; }
  // The place of a free piece. No work with the memory may be under way, for it may move.
  uint64_t take(uint64_t n_words);
  void give_back(uint64_t place, uint64_t n_words) noexcept;

 private:
  void grow(uint64_t n_words);
  void add_free(uint64_t place, uint64_t n_words);

  const Context &context_;
  Queue &queue_;
  DeviceArray<uint32_t> memory_;
  uint64_t n_words_ = 0;
  std::map<uint64_t, uint64_t> free_;  // words from a place on; no two touch each other
};

// How many of each a channel has room for; links and frames are 0 in channels without lattices.
struct ChannelSize {
  uint32_t max_tokens, max_records, max_settled, max_links, max_frames;
};

// A channel's piece: its tokens, records, settled steps and links, as SearchJob::channel says.
class ChannelMemory {
 public:
  ChannelMemory(ChannelPool &pool, const ChannelSize &size);
  ChannelMemory(ChannelMemory &&other) noexcept;
  ChannelMemory &operator=(ChannelMemory &&other) noexcept;
  ~ChannelMemory();

  // Puts place and sizes into a job.
  void give(SearchJob *job) const;
  const ChannelSize &size() const { return size_; }

  // Places in the pool.
  uint64_t tokens(uint32_t which) const;
  uint64_t records() const;
  uint64_t settled() const;
  uint64_t links() const;
  uint64_t extras() const;
  uint64_t frames() const;

 private:
  ChannelLayout layout() const;
  ChannelPool *pool_;
  ChannelSize size_;
  uint64_t place_ = 0, n_words_;
};

}  // namespace asr::ocl
