// SPDX-License-Identifier: Apache-2.0
// AskedUnits groups states whose scores are made together when a search asks for one of them (docs/cpu.md, "Scores on demand").
// A unit has up to L states, one a lane, that share their codebooks, or have their own, in each feature stream. Units of few
// states have copies of their parameters, so that their lanes are full of states that somebody asks for.
#pragma once

#include <cstdint>
#include <list>
#include <vector>

#include "plugins/common/state_set.h"
#include "plugins/cpu/gmm_scorer.h"

namespace asr::cpu {

struct AskedUnit {
  // The parameters in one feature stream: of own codebooks, or for the mixing of a shared one.
  struct Part {
    const SharedCodebook *codebook = nullptr;
    uint32_t number = 0;  // of the codebook in GmmStream::shared
    const MixingBlock *mixing = nullptr;
    const char *own = nullptr;
    size_t n_gaussians = 0;
    size_t block = 0;  // in GmmStream::own, if frames choose clusters
  };
  std::vector<uint32_t> states;  // rising
  std::vector<Part> parts;       // [n_streams]
};

// Returns the units of all states, in the order of the blocks: one for each block of the first feature stream. Returns none if
// another stream has other blocks. They refer to the model.
std::vector<AskedUnit> units_of_all(const Gmm::Packed &model);

class AskedUnits {
 public:
  // Takes units_of_all(), or groups the states of a set if they are fewer than half of all and no frame chooses clusters.
  // Refers to the model.
  AskedUnits(const Gmm::Packed &model, const std::vector<AskedUnit> &all, const StateSet &states);
  AskedUnits(const AskedUnits &) = delete;
  AskedUnits &operator=(const AskedUnits &) = delete;

  const Gmm::Packed &model() const { return model_; }
  size_t size() const { return units_.size(); }
  const AskedUnit &operator[](size_t unit) const { return units_[unit]; }
  uint32_t unit_of(uint32_t state) const { return unit_of_[state]; }
  size_t n_of_model() const { return n_of_model_; }  // units that all states would have

 private:
  struct Lane {
    const AskedUnit *unit;
    size_t lane;
    uint32_t state() const { return unit->states[lane]; }
  };
  void pick(const std::vector<AskedUnit> &all, const StateSet &states);
  AskedUnit copy(const Lane *lanes, size_t n);
  AskedUnit::Part copy_own(const Lane *lanes, size_t n, size_t stream);
  AskedUnit::Part copy_mixing(const Lane *lanes, size_t n, size_t stream);

  const Gmm::Packed &model_;
  std::vector<AskedUnit> units_;
  std::vector<uint32_t> unit_of_;  // [n_states]
  size_t n_of_model_;
  std::list<AlignedFloats> own_;  // copied parameters
  std::list<MixingBlock> mixing_;
};

}  // namespace asr::cpu
