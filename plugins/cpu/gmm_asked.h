// SPDX-License-Identifier: Apache-2.0
// AskedRows scores rows of an acoustic model only for the states that a search asks for (docs/cpu.md, "Scores on demand"). Rows
// are taken in tiles of kAskedFrames. A state that a row asks for is scored in the whole tile, with the other states of its
// unit, because to read their parameters takes as long as to score many frames. The scores have the bits that Gmm::score gives
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "plugins/cpu/demand.h"
#include "plugins/cpu/gmm_chosen.h"
#include "plugins/cpu/gmm_scorer.h"
#include "plugins/cpu/gmm_units.h"

namespace asr::cpu {

class AskedRows {
 public:
  explicit AskedRows(const AskedUnits &units);
  AskedRows(const AskedRows &) = delete;
  AskedRows &operator=(const AskedRows &) = delete;

  // Takes features[n_rows][n_dims], and forgets earlier ones. next_tile() begins the first tile; false: there is none left.
  void begin(const float *features, size_t n_rows);
  bool next_tile();
  uint32_t n_frames() const { return n_frames_; }  // of the tile

  // States and their log-likelihoods in one frame of the tile; valid until the next tile.
  struct Scores {
    const std::vector<uint32_t> &states;
    const float *loglikes;  // [states]
  };
  // Returns the scores of a state's unit. The unit has not been asked for in this tile.
  Scores ask(uint32_t state, uint32_t frame);
  // The units that have been asked for in this tile.
  size_t n_asked() const { return asked_.size(); }
  Scores asked(size_t i, uint32_t frame) const { return scores_of(asked_[i], frame); }

  // Returns what was asked for since begin().
  const Asked &sum() const { return sum_; }

 private:
  // The Gaussians of a shared codebook, scored once a unit of the tile needs them.
  struct TileOf {
    CodebookTile gaussians;
    bool is_scored = false;
  };

  size_t first_score(uint32_t unit) const { return size_t{unit} * kAskedFrames * model_.gaussians.n_lanes; }
  Scores scores_of(uint32_t unit, uint32_t frame) const;
  void score(const AskedUnit &unit, size_t j, float *out);
  ChosenStates &choose(size_t j);

  const AskedUnits &units_;
  const Gmm::Packed &model_;
  std::vector<AlignedFloats> x_;  // [n_streams], see pack_rows()
  size_t n_rows_ = 0, first_row_ = 0;
  uint32_t n_frames_ = 0;
  std::vector<uint32_t> asked_;
  AlignedFloats scores_;                    // [n_units][kAskedFrames][L]
  std::vector<std::vector<TileOf>> tiles_;  // [n_streams][shared codebooks]
  std::vector<ChosenStates> chosen_;        // [n_streams]
  std::vector<bool> has_chosen_;            // [n_streams], in this tile
  Asked sum_;
};

// Demanded has the units of a model that graphs may ask for, and the AskedRows of the threads that advance channels.
class Demanded {
 public:
  explicit Demanded(const Gmm &gmm);
  // Returns true if the model's states can be grouped.
  bool is_possible() const { return !all_.empty(); }
  // Makes units for further states. No AskedRows may be taken.
  void include(const StateSet &pdfs);

  // The units have been made.
  std::unique_ptr<AskedRows> take();
  void give(std::unique_ptr<AskedRows> rows);

 private:
  const Gmm::Packed &model_;
  const std::vector<AskedUnit> all_;  // units of all states; empty: feature streams group them differently
  StateSet states_;
  std::unique_ptr<const AskedUnits> units_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<AskedRows>> rows_;
  size_t n_made_ = 0;
};

}  // namespace asr::cpu
