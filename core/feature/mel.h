// SPDX-License-Identifier: Apache-2.0
// The mel scale, the VTLN warp and the triangles of a filter bank (F4, F5 of docs/equations.md), and the loudness of PLP, in
// double. FeatureTables uses them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/feature/front_end.h"

namespace asr {

double hz_to_mel(double hz);
double mel_to_hz(double mel);

// Returns true if the bends of the warp with this factor lie inside the filter bank, in order.
bool warp_bends_fit(const FrontEnd &front_end, double warp);

// Returns the frequency to which the warp moves hz; hz itself for factor 1 and outside the filter bank.
double warp_hz(const FrontEnd &front_end, double hz, double warp);

// Non-zero weights of the spectrum bins first_bin ... in band number `band` of a bank warped by `warp`.
struct MelTriangle {
  uint32_t first_bin = 0;
  std::vector<double> weights;
};
MelTriangle mel_triangle(const FrontEnd &front_end, uint32_t band, double warp);

// The parts of the triangles of all bands. Edge i of a bank's n_mel + 2, and a bin of the spectrum, on the scale on which
// triangles are linear; the weight of a band's top.
double mel_edge(const FrontEnd &front_end, uint32_t edge, double warp);
double bin_position(const FrontEnd &front_end, uint32_t bin);
double mel_top(const FrontEnd &front_end, uint32_t band, double warp);

// Returns the equal-loudness weight q of a band for PLP, at its warped centre (F11).
double equal_loudness(const FrontEnd &front_end, uint32_t band, double warp);

}  // namespace asr
