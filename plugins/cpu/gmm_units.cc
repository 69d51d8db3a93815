// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu/gmm_units.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace asr::cpu {

std::vector<AskedUnit> units_of_all(const Gmm::Packed &model) {
  std::vector<AskedUnit> units;
  for (const GmmStream &stream : model.streams) {
    const bool first = &stream == model.streams.data();
    size_t n_units = 0;
    bool same = true;
    const auto add = [&](const std::vector<uint32_t> &states, const AskedUnit::Part &part) {
      if (first) units.push_back({states, {}});
      same = same && n_units < units.size() && units[n_units].states == states;
      if (same) units[n_units++].parts.push_back(part);
    };
    for (const OwnBlock &block : stream.own) {
      const auto number = static_cast<size_t>(&block - stream.own.data());
      add(block.states, {nullptr, 0, nullptr, stream.gaussians_of(block), block.n_gaussians, number});
    }
    for (uint32_t c = 0; c < stream.shared.size(); ++c) {
      const SharedCodebook &codebook = stream.shared[c];
      for (const MixingBlock &block : codebook.blocks)
        add(block.states, {&codebook, c, &block, nullptr, codebook.n_gaussians, 0});
    }
    if (!same || n_units != units.size()) return {};
  }
  return units;
}

AskedUnits::AskedUnits(const Gmm::Packed &model, const std::vector<AskedUnit> &all, const StateSet &states)
    : model_(model), unit_of_(model.n_states), n_of_model_(all.size()) {
  const bool chooses =
      std::any_of(model.streams.begin(), model.streams.end(), [](const GmmStream &stream) { return stream.clusters.n > 0; });
  if (2 * states.count() < model.n_states && !chooses) {
    pick(all, states);
  } else {
    units_ = all;
  }
  for (size_t u = 0; u < units_.size(); ++u) {
    for (const uint32_t state : units_[u].states) unit_of_[state] = uint32_t(u);
  }
}

// Makes new units of states from units that have the same codebooks.
void AskedUnits::pick(const std::vector<AskedUnit> &all, const StateSet &states) {
  std::map<std::vector<const SharedCodebook *>, std::vector<Lane>> lanes_of;
  for (const AskedUnit &unit : all) {
    std::vector<const SharedCodebook *> codebooks;
    for (const AskedUnit::Part &part : unit.parts) codebooks.push_back(part.codebook);
    for (size_t lane = 0; lane < unit.states.size(); ++lane) {
      if (states.contains(unit.states[lane])) lanes_of[codebooks].push_back({&unit, lane});
    }
  }
  const size_t n_lanes = model_.gaussians.n_lanes;
  for (const auto &[codebooks, lanes] : lanes_of) {
    for (size_t i = 0; i < lanes.size(); i += n_lanes) units_.push_back(copy(&lanes[i], std::min(n_lanes, lanes.size() - i)));
  }
}

AskedUnit AskedUnits::copy(const Lane *first, size_t n) {
  std::vector<Lane> lanes(first, first + n);
  std::sort(lanes.begin(), lanes.end(), [](const Lane &a, const Lane &b) { return a.state() < b.state(); });
  AskedUnit unit;
  for (const Lane &lane : lanes) unit.states.push_back(lane.state());
  for (size_t j = 0; j < model_.streams.size(); ++j) {
    const bool own = lanes.front().unit->parts[j].codebook == nullptr;
    unit.parts.push_back(own ? copy_own(lanes.data(), n, j) : copy_mixing(lanes.data(), n, j));
  }
  return unit;
}

AskedUnit::Part AskedUnits::copy_own(const Lane *lanes, size_t n, size_t j) {
  const size_t n_lanes = model_.gaussians.n_lanes;
  const VectorLayout &layout = model_.streams[j].layout;
  AskedUnit::Part part;
  for (size_t i = 0; i < n; ++i) part.n_gaussians = std::max(part.n_gaussians, lanes[i].unit->parts[j].n_gaussians);
  AlignedFloats &gaussians = own_.emplace_back(unlikely_gaussians(layout, n_lanes, part.n_gaussians));
  for (size_t i = 0; i < n; ++i) {
    const AskedUnit::Part &from = lanes[i].unit->parts[j];
    copy_lane(layout, n_lanes, from.n_gaussians, from.own, lanes[i].lane, gaussians.bytes(), i);
  }
  part.own = gaussians.bytes();
  return part;
}

AskedUnit::Part AskedUnits::copy_mixing(const Lane *lanes, size_t n, size_t j) {
  const size_t n_lanes = model_.gaussians.n_lanes;
  AskedUnit::Part part = lanes[0].unit->parts[j];
  MixingBlock &block = mixing_.emplace_back(part.n_gaussians, n_lanes);
  for (size_t i = 0; i < n; ++i) {
    const MixingBlock &from = *lanes[i].unit->parts[j].mixing;
    const size_t lane = lanes[i].lane;
    block.states.push_back(lanes[i].state());
    block.weight_shift.data()[i] = from.weight_shift.data()[lane];
    for (size_t k = 0; k < part.n_gaussians; ++k) {
      block.weights.data()[k * n_lanes + i] = from.weights.data()[k * n_lanes + lane];
    }
    const float *const log_weights = from.log_weights.data() + lane * part.n_gaussians;
    block.log_weights.insert(block.log_weights.end(), log_weights, log_weights + part.n_gaussians);
  }
  part.mixing = &block;
  return part;
}

}  // namespace asr::cpu
