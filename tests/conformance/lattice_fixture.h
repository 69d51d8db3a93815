// SPDX-License-Identifier: Apache-2.0
// Common code of the lattice tests: lattices of a back end copied to own arrays, compared bit for bit.
#pragma once

#include "reference/lattice.h"
#include "tests/conformance/search_fixture.h"

namespace asr::test {

using reference::copy_of;
using reference::RawLattice;
using reference::same_arc;

inline void expect_same(const RawLattice &got, const RawLattice &want) {
  EXPECT_EQ(got.n_frames, want.n_frames);
  EXPECT_EQ(got.reached_final, want.reached_final);
  EXPECT_EQ(got.beam_died, want.beam_died);
  EXPECT_EQ(got.frames, want.frames);
  EXPECT_EQ(got.final_costs, want.final_costs);
  EXPECT_EQ(got.arc_begin, want.arc_begin);
  ASSERT_EQ(got.arcs.size(), want.arcs.size());
  for (size_t i = 0; i < got.arcs.size(); ++i) ASSERT_TRUE(same_arc(got.arcs[i], want.arcs[i])) << "arc " << i;
}

class LatticeTest : public SearchFixture {
 protected:
  void SetUp() override {
    SearchFixture::SetUp();
    if (needs_lattices()) require_lattices();
  }

  virtual bool needs_lattices() const { return true; }  // in every case
  void require_lattices() const { require(ASR_BACKEND_LATTICES, "makes no lattices"); }

  RawLattice lattice(const Device &device, const Channel &channel, bool use_final) {
    return copy_of(lattice_of(device, channel.channel, final_if(use_final)));
  }

  RawLattice decode(const Device &device, const asr_graph_view &view, const asr_search_options &options,
                    const std::vector<float> &rows, uint32_t n_frames, bool use_final, uint32_t chunk = 64) {
    const Loaded loaded(api(), device, view);
    const Channel channel(api(), device, loaded, options);
    advance(device, channel, rows.data(), view.n_pdfs, n_frames, chunk);
    return lattice(device, channel, use_final);
  }
};

// Returns a shape without cycles of epsilon arcs.
inline GraphShape acyclic_shape(std::mt19937 &random) {
  GraphShape shape = random_shape(random);
  shape.n_states += shape.n_states % 2;
  return shape;
}

}  // namespace asr::test
