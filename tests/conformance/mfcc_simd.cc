// SPDX-License-Identifier: Apache-2.0
// Tests the CPU back end's MFCC and PLP, compiled for each instruction set of this processor, against the double reference.
#include <gtest/gtest.h>

#include <cmath>

#include "core/feature/mfcc_tables.h"
#include "hwy/highway.h"
#include "plugins/cpu/mfcc.h"
#include "reference/mfcc.h"

namespace asr::test {
namespace {

void compare_on_every_target(const FrontEnd &f) {
  const FeatureTables tables(f, {1});
  const uint32_t n_frames = 35;
  std::vector<float> signal;
  for (uint32_t n = 0; n < n_frames * f.shift_samples + f.window_samples; ++n) {
    signal.push_back(std::round(4000 * std::sin(0.001f * static_cast<float>(n * n % 5003))));
  }
  const reference::Rows want = reference::mfcc(f, {signal.begin(), signal.end()});
  signal.insert(signal.begin(), 0);

  const int64_t supported = hwy::SupportedTargets();
  ThreadPool pool(1);
  int n_targets = 0;
  for (int64_t left = supported; left != 0; left &= left - 1, ++n_targets) {
    hwy::SetSupportedTargetsForTest((left & -left) | HWY_STATIC_TARGET);
    std::vector<float> cepstra(size_t{n_frames} * f.n_ceps, NAN);
    const asr_extract_job job = {signal.data() + 1, 0, n_frames, 0, cepstra.data()};
    const cpu::Mfcc mfcc(*tables.view());
    mfcc.extract(&job, 1, pool);
    for (size_t i = 0; i < cepstra.size(); ++i) {
      EXPECT_NEAR(cepstra[i], want[i / f.n_ceps][i % f.n_ceps], 1e-3) << hwy::TargetName(left & -left);
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  EXPECT_GT(n_targets, 0);
}

TEST(MfccSimd, EveryInstructionSetOfThisProcessor) {
  compare_on_every_target(kaldi_front_end());
  compare_on_every_target(kaldi_plp_front_end());
}

}  // namespace
}  // namespace asr::test
