// SPDX-License-Identifier: Apache-2.0
// Determinises lattices on threads of its own, while the benchmark that hands them over goes on with its search. Used by
// bench_decode.cc.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "core/lattice/determinise.h"

namespace asr::tool {

class Determinisers {
 public:
  struct Size {
    uint64_t n_states = 0, n_arcs = 0;
  };

  Determinisers(uint32_t n_threads, const DeterminiseOptions &options);  // 0 threads: one for each core
  ~Determinisers();                                                      // drops what waits
  Determinisers(const Determinisers &) = delete;
  Determinisers &operator=(const Determinisers &) = delete;

  // Waits while there are many lattices to do, so that their memory is bounded.
  void add(Lattice lattice);

  // Waits for all; the sum of their sizes since the last call. Throws what determinising one has thrown.
  Size finish();

 private:
  void work();

  const DeterminiseOptions options_;
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<Lattice> waiting_;
  size_t n_working_ = 0;
  bool stopping_ = false;
  Size done_;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

}  // namespace asr::tool
