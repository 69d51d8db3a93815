// SPDX-License-Identifier: Apache-2.0
// Card is another process that takes the memory of an NVIDIA GPU, as a program for training does. Used by neighbour.cc.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace asr::neighbour {

class Card {
 public:
  // Starts the process. To be called before this one has used CUDA, or has other threads.
  explicit Card(uint32_t index);
  ~Card();  // the process ends
  Card(const Card &) = delete;
  Card &operator=(const Card &) = delete;

  const std::string &obstacle() const { return obstacle_; }  // why it cannot be done; "" if it can
  uint64_t free_bytes() const { return ask('?', 0); }
  // Takes memory until at most n_bytes are free, or gives all back. Returns what is free then.
  uint64_t leave(uint64_t n_bytes) const { return ask('l', n_bytes); }
  uint64_t give_back() const { return ask('g', 0); }

 private:
  uint64_t ask(char what, uint64_t n_bytes) const;

  pid_t process_ = -1;
  int to_ = -1, from_ = -1;
  std::string obstacle_;
};

}  // namespace asr::neighbour
