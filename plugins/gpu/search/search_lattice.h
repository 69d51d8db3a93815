// SPDX-License-Identifier: Apache-2.0
// SearchLattice is the host's part of a channel's lattice. It keeps the frames that settled on the device, and reads the frames
// of a lattice that was written there behind them. Used by SearchChannel (search_channel.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "plugins/common/lattice_frames.h"
#include "plugins/gpu/search/search_types.h"

namespace asr {

// LatticeBuffers has the addresses of a channel's buffers: device pointers, or offsets in bytes from the start of a device
// array.
struct LatticeBuffers {
  uint64_t links, acoustic_costs, extras, frames;
};

// LatticeReader copies frames of a channel's lattice from the device to pinned memory. The copies are complete when the queue
// that start() used is, and valid until the arena begins anew.
class LatticeReader {
 public:
  // Settled frames from number `first` of the device's frames on, with extra costs; all frames of a written lattice.
  static LatticeReader of_settled(const ChannelLattice &lattice, const LatticeBuffers &buffers, uint32_t first,
                                  uint32_t n_frames);
  static LatticeReader of_written(const ChannelLattice &lattice, const LatticeBuffers &buffers, const SearchOutput &written,
                                  uint64_t tokens);

  // Starts the copies: read(address, host, n_bytes) puts one into a queue.
  template <typename Arena, typename Read>
  void start(Arena *arena, const Read &read) {
    for_each_copy([&](auto &copy) {
      using T = std::remove_reference_t<decltype(*copy.host)>;
      copy.host = arena->template give<T>(copy.n);
      if (copy.n > 0) read(copy.address, copy.host, copy.n * sizeof(T));
    });
  }
  template <typename Arena>
  size_t n_bytes() {
    size_t n = 0;
    for_each_copy([&](auto &copy) { n += Arena::template n_bytes_of<std::remove_reference_t<decltype(*copy.host)>>(copy.n); });
    return n;
  }

  // Appends the frames to the host's, with extra costs. A written lattice has the other order, and no extra costs.
  void append_settled(std::vector<LatticeFrame> *frames) const;
  void append_written(std::vector<LatticeFrame> *frames) const;
  std::vector<SearchToken> tokens() const { return {tokens_.host, tokens_.host + tokens_.n}; }  // tokens of a written lattice

 private:
  template <typename T>
  struct Copy {
    uint64_t address = 0;
    size_t n = 0;
    T *host = nullptr;
  };
  template <typename Action>
  void for_each_copy(const Action &action) {
    action(frames_), action(links_), action(acoustic_costs_), action(extras_), action(tokens_);
  }
  void set_links(const LatticeBuffers &buffers, uint32_t first_link, size_t n_links);
  std::vector<LatticeLink> links_of(uint32_t first, uint32_t n) const;
  LatticeFrame frame(size_t i) const;

  uint32_t first_link_ = 0;  // number of the first link in links_
  Copy<SearchFrame> frames_;
  Copy<SearchLink> links_;
  Copy<float> acoustic_costs_, extras_;
  Copy<SearchToken> tokens_;
};

// Pieces may be taken on any thread while the device advances the channel.
class SearchLattice {
 public:
  SearchLattice(const LatticeGraph &graph, float lattice_beam) : frames_(graph, lattice_beam) {}

  // Returns a reader of the frames that have settled since the last call, if any, and notes them as taken in `lattice`.
  std::optional<LatticeReader> settled(ChannelLattice *lattice, const LatticeBuffers &buffers);
  // Keeps the frames that such a reader has read.
  void take_settled(const LatticeReader &reader);
  // Fills the lattice with the settled frames and, behind them, the frames of a written lattice.
  void output(std::vector<LatticeFrame> written, const std::vector<float> &costs, const std::vector<float> &final_costs,
              asr_raw_lattice *lattice);
  void take_piece(asr_raw_lattice *piece);

 private:
  size_t n_known_ = 0;  // frames that were read or are being read
  std::mutex mutex_;    // guards frames_
  LatticeFrames frames_;
};

}  // namespace asr
