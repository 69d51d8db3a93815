// SPDX-License-Identifier: Apache-2.0
// Converts between a graph's arrays (asr_graph_view) and its packed form. The conversion is lossless: the arrays are restored
// in the same order.
#pragma once

#include <vector>

#include "core/graph/packed/packed_graph.h"

namespace asr {

// The arrays of an asr_packed_graph.
struct PackedArrays {
  std::vector<float> costs;
  std::vector<StateClass> classes;
  std::vector<OtherId> other_ids;
  std::vector<uint8_t> first_records;
  std::vector<uint32_t> records;
  uint32_t start_state = 0;  // offset of its record
};

// Throws ASR_UNSUPPORTED if the records would take over 8 GB. The view's indices must be in range.
PackedArrays pack_graph(const asr_graph_view &view);

// The arrays of an asr_graph_view.
struct UnpackedArrays {
  std::vector<uint32_t> emitting_begin, epsilon_begin;
  std::vector<asr_graph_arc> arcs;
  std::vector<float> final_costs;
  uint32_t start_state = 0;
};

UnpackedArrays unpack_graph(const asr_packed_graph &graph);

}  // namespace asr
