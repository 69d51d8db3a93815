// SPDX-License-Identifier: Apache-2.0
// Tests the pipeline with the double reference in place of the device: the same rows for any pieces and any job sizes.
#include "core/feature/feature_pipeline.h"

#include "core/base/error.h"
#include "tests/unit/feature/signals.h"

namespace asr {
namespace {

FrontEnd small(FrontEnd f) {
  f.sample_rate_hz = 2000, f.high_hz = 900, f.low_hz = 50, f.vtln_low_hz = 0, f.vtln_high_hz = 0;
  f.window_samples = 50, f.shift_samples = 20, f.fft_samples = 64, f.n_mel = 14;
  return f;
}

void run_job(const FrontEnd &f, const asr_extract_job &job) {
  for (uint32_t t = 0; t < job.n_frames; ++t) {
    const float *start = job.samples + size_t{t} * f.shift_samples;
    double energy = 0;
    const reference::Row y = reference::windowed(f, reference::Row(start - 1, start + f.window_samples), &energy);
    const reference::Row log_mel = reference::logarithm(f, reference::mel(f, reference::spectrum(f, y), 1));
    const reference::Row c = f.noise_removal ? log_mel : reference::cepstra(f, log_mel, energy);
    std::copy(c.begin(), c.end(), job.cepstra + t * c.size());
  }
}

std::vector<float> rows_of(const FeatureTables &tables, CmnKind cmn, const std::vector<float> &signal, size_t largest_piece,
                           uint32_t max_frames) {
  FeaturePipeline pipeline(tables, cmn, 0);
  std::mt19937 random(8);
  std::vector<float> rows;
  asr_extract_job job;
  const auto work = [&](bool last) {
    while (pipeline.next_extract(&job, max_frames)) {
      run_job(tables.front_end(), job);
      pipeline.extracted();
      if (cmn == CmnKind::kBatch && !last) {
        EXPECT_EQ(pipeline.ready_rows(), 0u);
      }
      const size_t n = random() % (pipeline.ready_rows() + 1);
      rows.insert(rows.end(), pipeline.rows(), pipeline.rows() + n * pipeline.n_dims());
      pipeline.consume(n);
    }
  };
  const float *next = signal.data();
  for (size_t piece : test::random_pieces(signal.size(), largest_piece, random)) {
    pipeline.add_samples(next, piece);
    next += piece;
    work(false);
  }
  pipeline.finish();
  work(true);
  while (const size_t n = pipeline.ready_rows()) {
    EXPECT_FALSE(pipeline.done());
    rows.insert(rows.end(), pipeline.rows(), pipeline.rows() + n * pipeline.n_dims());
    pipeline.consume(n);
  }
  EXPECT_TRUE(pipeline.done());
  return rows;
}

TEST(FeaturePipeline, RowsDoNotDependOnPieces) {
  FrontEnd denoised = small(sphinx_front_end());
  denoised.noise_removal = true;
  for (const FrontEnd &f : {small(sphinx_front_end()), small(kaldi_front_end()), small(htk_front_end()), denoised}) {
    const FeatureTables tables(f, {1});
    for (size_t n : {0, 1, 49, 50, 3001}) {
      const std::vector<float> signal = test::random_signal(n, 4);
      const reference::Rows cepstra = reference::mfcc(f, test::to_double(signal));
      for (CmnKind cmn : {CmnKind::kNone, CmnKind::kBatch, CmnKind::kLive}) {
        SCOPED_TRACE(testing::Message() << "samples " << n << " cmn " << int(cmn));
        const std::vector<float> whole = rows_of(tables, cmn, signal, n + 1, 1000);
        EXPECT_EQ(rows_of(tables, cmn, signal, 33, 1), whole);
        EXPECT_EQ(rows_of(tables, cmn, signal, 170, 7), whole);
        const reference::Rows normalised = cmn == CmnKind::kNone        ? cepstra
                                           : cmn == CmnKind::kBatch     ? reference::batch_normalised(f, cepstra)
                                           : f.cmn_lookahead_frames > 0 ? reference::live_normalised(f, cepstra)
                                                                        : reference::running_normalised(f, cepstra);
        test::expect_rows_near(whole.data(), whole.size() / f.n_dims(), reference::dynamic(f, normalised), 1e-4);
      }
    }
  }
}

TEST(FeaturePipeline, MisuseIsRefused) {
  const FeatureTables tables(small(sphinx_front_end()), {1, 1.1});
  EXPECT_THROW(FeaturePipeline(tables, CmnKind::kNone, 2), Error);
  FeaturePipeline pipeline(tables, CmnKind::kNone, 1);
  const float sample = 0;
  pipeline.add_samples(&sample, 1);
  pipeline.finish();
  EXPECT_THROW(pipeline.add_samples(&sample, 1), Error);
  EXPECT_THROW(pipeline.finish(), Error);
  asr_extract_job job;
  ASSERT_TRUE(pipeline.next_extract(&job, 9));
  EXPECT_EQ(job.warp, 1u);
  EXPECT_EQ(job.n_frames, 1u);
}

}  // namespace
}  // namespace asr
