// SPDX-License-Identifier: Apache-2.0
#include "core/feature/signal_feed.h"

#include "tests/unit/feature/signals.h"

namespace asr {
namespace {

constexpr uint32_t kWindow = 8;

FrontEnd small() {
  FrontEnd f = sphinx_front_end();
  f.sample_rate_hz = 2000, f.high_hz = 900, f.low_hz = 50;
  f.window_samples = 50, f.shift_samples = 20, f.fft_samples = 64, f.n_mel = 14;
  return f;  // its rows need 3 frames to their right
}

// Checks that all frames come once and in order, with as many rows as frames, within the limits in the contract of `step`.
TEST(SignalFeed, FramesAndRowsForAnyPieces) {
  const FeatureTables tables(small(), {1});
  const uint32_t shift = tables.view()->shift_samples, window = tables.view()->window_samples;
  std::mt19937 random(4);
  for (const size_t n : {0, 1, 49, 50, 51, 3001}) {
    const std::vector<float> signal = test::random_signal(n, 6);
    const reference::Rows want = reference::frames(small(), test::to_double(signal));
    SignalFeed feed(tables, kWindow);
    size_t n_frames = 0, n_rows = 0;
    const auto step = [&] {
      asr_step_job job{};
      feed.next_frames(&job);
      ASSERT_LE(job.n_frames, kWindow);
      ASSERT_LE(n_frames + job.n_frames - n_rows, 2 * kWindow + 3);
      for (uint32_t t = 0; t < job.n_frames; ++t) {
        for (uint32_t i = 0; i <= window; ++i) ASSERT_EQ(job.samples[int64_t{t} * shift + i - 1], want[n_frames + t][i]);
      }
      n_frames += job.n_frames;
      ASSERT_EQ(job.ends != 0, feed.done() || n_frames == want.size()) << n;
      EXPECT_EQ(feed.ready_rows(),
                job.ends != 0 ? n_frames - n_rows : n_frames - n_rows - std::min<size_t>(3, n_frames - n_rows));
      const size_t n_now = random() % (feed.ready_rows() + 1);
      feed.consume(n_now);
      n_rows += n_now;
    };
    const float *next = signal.data();
    for (const size_t piece : test::random_pieces(n, 333, random)) {
      feed.add_samples(next, piece);
      next += piece;
      if (piece % 3 != 0) step();
      EXPECT_FALSE(feed.done());
    }
    feed.finish();
    for (size_t i = 0; i < 10000 && !feed.done(); ++i) step();
    EXPECT_EQ(n_frames, want.size());
    EXPECT_EQ(n_rows, want.size());
  }
}

// A signal that is normalised as a whole gives all its frames before its first row.
TEST(SignalFeed, WholeSignals) {
  const FeatureTables tables(small(), {1});
  for (const size_t n : {0, 1, 50, 3001}) {
    const std::vector<float> signal = test::random_signal(n, 6);
    const size_t n_want = reference::frames(small(), test::to_double(signal)).size();
    SignalFeed feed(tables, kWindow, true);
    feed.add_samples(signal.data(), n);
    size_t n_frames = 0, n_rows = 0;
    const auto step = [&] {
      asr_step_job job{};
      feed.next_frames(&job);
      ASSERT_LE(job.n_frames, kWindow);
      n_frames += job.n_frames;
      EXPECT_EQ(feed.ready_rows(), job.ends != 0 ? n_want - n_rows : 0);
      const size_t n_now = std::min<size_t>(kWindow, feed.ready_rows());
      feed.consume(n_now);
      n_rows += n_now;
    };
    for (int i = 0; i < 20; ++i) step();
    EXPECT_EQ(n_rows, 0u);
    EXPECT_FALSE(feed.done());
    feed.finish();
    EXPECT_EQ(feed.n_frames(), n_want);
    for (int i = 0; i < 1000 && !feed.done(); ++i) step();
    EXPECT_EQ(n_frames, n_want);
    EXPECT_EQ(n_rows, n_want);
  }
}

}  // namespace
}  // namespace asr
