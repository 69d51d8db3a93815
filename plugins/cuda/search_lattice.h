// SPDX-License-Identifier: Apache-2.0
// The host's part of a channel's lattice: the frames that have settled on the device are kept here, and for the lattice those
// that have not are read behind them. Used by Search (search.h) and SearchLanes (search_lanes.h).
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

#include "plugins/common/lattice_frames.h"
#include "plugins/cuda/kernels/search.h"
#include "plugins/cuda/search_graph.h"

namespace asr::cuda {

// Pinned memory that copies of many lattices share, given out from the front.
class PinnedArena {
 public:
  // Takes back what was given out, and has room for so many bytes.
  void begin(size_t n_bytes) {
    if (n_bytes > memory_.size()) memory_.reserve(2 * n_bytes);
    n_given_ = 0;
  }
  template <typename T>
  T *give(size_t n) {
    T *const part = reinterpret_cast<T *>(memory_.data() + n_given_);
    n_given_ += n_bytes_of<T>(n);
    return part;
  }
  template <typename T>
  static size_t n_bytes_of(size_t n) {
    return (n * sizeof(T) + 15) / 16 * 16;
  }

 private:
  PinnedArray<std::byte> memory_;
  size_t n_given_ = 0;
};

// Frames of a channel's lattice on the device, and their copies in pinned memory, which are there when the stream that start()
// was given has done them, until the arena is begun anew.
class LatticeReader {
 public:
  // Settled frames from number `first` of the channel's table on, with extra costs; all of a written lattice.
  static LatticeReader of_settled(const SearchLinks &lattice, uint32_t first, uint32_t n_frames);
  static LatticeReader of_written(const SearchLinks &lattice, const SearchOutput &written, const SearchToken *tokens);

  size_t n_bytes() const;
  void start(PinnedArena *arena, cudaStream_t stream);

  // Appends the frames to those of the host, with extra costs; of a written lattice in the other order and without.
  void append_settled(std::vector<LatticeFrame> *frames) const;
  void append_written(std::vector<LatticeFrame> *frames) const;
  std::vector<SearchToken> tokens() const { return {tokens_.host, tokens_.host + tokens_.n}; }  // of a written lattice

 private:
  template <typename T>
  struct Copy {
    const T *device = nullptr;
    size_t n = 0;
    T *host = nullptr;
  };
  template <typename T>
  static void start(Copy<T> *copy, PinnedArena *arena, cudaStream_t stream);
  std::vector<LatticeLink> links_of(uint32_t first, uint32_t n) const;
  LatticeFrame frame(size_t i) const;

  uint32_t first_link_ = 0;  // that links_ has
  Copy<SearchFrame> frames_;
  Copy<SearchLink> links_;
  Copy<float> acoustic_costs_, extras_;
  Copy<SearchToken> tokens_;
};

// Pieces are taken on any thread while the device advances the channel.
class SearchLattice {
 public:
  SearchLattice(const SearchGraph &graph, float lattice_beam) : frames_(graph, lattice_beam) {}

  // What has settled since the last time, if anything, which `lattice` then notes as taken; and what was read of it.
  std::optional<LatticeReader> settled(SearchLinks *lattice);
  void take_settled(const LatticeReader &reader);
  // The lattice with the frames of a written one behind what has settled.
  void output(std::vector<LatticeFrame> written, const std::vector<float> &costs, const std::vector<float> &final_costs,
              asr_raw_lattice *lattice);
  void take_piece(asr_raw_lattice *piece);

 private:
  size_t n_known_ = 0;  // frames that were read or are being read
  std::mutex mutex_;    // of what follows
  LatticeFrames frames_;
};

}  // namespace asr::cuda
