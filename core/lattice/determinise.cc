// SPDX-License-Identifier: Apache-2.0
#include "core/lattice/determinise.h"

#include <algorithm>

#include "core/lattice/determiniser.h"
#include "core/lattice/lattice_window.h"

namespace asr {
namespace {

// Word sequences may wait for so many frames of the pieces. Then they commit to the state in which the best path enters the
// frame kCommitFrames before the last: a search has cut all paths to other states by then (docs/search.md).
constexpr uint32_t kMaxWaitingFrames = 5632, kCommitFrames = 5120;

}  // namespace

Determinised determinise(Lattice lattice, const DeterminiseOptions &options, const StopToken &stop) {
  PreparedLattice prepared = prepare(std::move(lattice), options.acoustic_scale, options.lattice_beam);
  Determiniser determiniser(options);
  if (!prepared.empty())
    determiniser.advance(prepared, prepared.lattice.n_states(), {options.max_bytes, 1, options.max_work}, stop);
  return determiniser.finish();
}

// The window gets a quarter of max_bytes, the determiniser the rest. A piece may use a quarter of the determiniser's remaining
// memory, so that later pieces have some, too, and a 16th of max_work; the last piece may use all of the memory, and twice the
// work.
struct PieceDeterminiser::State {
  explicit State(const DeterminiseOptions &options)
      : window_bytes(options.max_bytes / 4),
        result_bytes(options.max_bytes - window_bytes),
        piece_work(options.max_work / 16),
        window(options.acoustic_scale),
        determiniser(options) {}

  // Waiting subsets are followed again from their beginning, so advances are made only when the lattice has doubled.
  void add(Lattice piece, bool is_last, const StopToken &stop) {
    stop.check();
    window.add(std::move(piece), is_last);
    if (!is_last && window.bytes() <= window_bytes && window.n_states() < 2 * n_kept) return;
    window.prepare(determiniser.beam());
    if (window.has_paths()) {
      if (window.bytes() > window_bytes && !narrow()) {
        determiniser.keep_best_path(window.prepared(), window.open_begin());
      } else {
        const Determiniser::Room room = is_last ? Determiniser::Room{result_bytes, 1, 2 * piece_work} : piece_room();
        determiniser.advance(window.prepared(), window.open_begin(), room, stop);
      }
    }
    window.drop(determiniser.forget(window.open_begin()));
    if (!is_last && window.has_paths() && window.last_frame() - window.first_frame() > kMaxWaitingFrames) commit(stop);
    n_kept = window.n_states();
  }

  void commit(const StopToken &stop) {
    const uint32_t gate = window.commit(window.last_frame() - kCommitFrames, determiniser.beam());
    determiniser.commit(window.prepared(), gate, window.open_begin(), piece_room(), stop);
    window.drop(determiniser.forget(window.open_begin()));
  }

  // Narrows the beam until the window has room. Returns false if none is narrow enough.
  bool narrow() {
    const auto first_needed = [this](double limit) { return determiniser.first_needed(window.prepared(), limit); };
    const double width = window.width_within(window_bytes, determiniser.beam(), first_needed);
    if (width == 0) return false;
    determiniser.narrow_to(width, window.prepared(), window.limit_of(width));
    window.drop(determiniser.forget(window.open_begin()));
    determiniser.renumber(window.narrow(width));
    return true;
  }

  Determiniser::Room piece_room() const { return {result_bytes, 4, piece_work}; }

  const size_t window_bytes, result_bytes;
  const uint64_t piece_work;
  LatticeWindow window;
  Determiniser determiniser;
  uint64_t n_kept = 0;  // states of the window that were still needed
};

PieceDeterminiser::PieceDeterminiser(const DeterminiseOptions &options) : options_(options) {
  check_beam(options.acoustic_scale, options.lattice_beam);
}
PieceDeterminiser::~PieceDeterminiser() = default;

void PieceDeterminiser::add(Lattice piece, const StopToken &stop) {
  if (!state_) state_ = std::make_unique<State>(options_);
  state_->add(std::move(piece), false, stop);
}

Determinised PieceDeterminiser::finish(Lattice last, const StopToken &stop) {
  if (!state_) return determinise(std::move(last), options_, stop);
  state_->add(std::move(last), true, stop);
  return state_->determiniser.finish();
}

}  // namespace asr
