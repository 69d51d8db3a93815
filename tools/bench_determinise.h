// SPDX-License-Identifier: Apache-2.0
// Determinisers determinises lattices on its own threads while the benchmark goes on with its search. bench_decode.cc uses it.
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

  Determinisers(uint32_t n_threads, const DeterminiseOptions &options);  // 0 threads: one per core
  ~Determinisers();                                                      // drops waiting lattices
  Determinisers(const Determinisers &) = delete;
  Determinisers &operator=(const Determinisers &) = delete;

  // Blocks while many lattices are waiting, so that their memory is bounded.
  void add(Lattice lattice);

  // Waits for all lattices and returns the sum of their sizes since the last call. Throws the exception of a failed
  // determinisation.
  Size finish();

 private:
  void work();

  const DeterminiseOptions options_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::deque<Lattice> waiting_;
  size_t n_working_ = 0;
  bool stopping_ = false;
  Size done_;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

}  // namespace asr::tool
