// SPDX-License-Identifier: Apache-2.0
#include "core/feature/framer.h"

#include "tests/unit/feature/signals.h"

namespace asr {
namespace {

struct Case {
  FrameEdges edges;
  uint32_t window, shift;
};

FrontEnd front_end_of(const Case &c) {
  FrontEnd f;
  f.edges = c.edges;
  f.window_samples = c.window;
  f.shift_samples = c.shift;
  return f;
}

const Case kCases[] = {{FrameEdges::kSnip, 400, 160}, {FrameEdges::kSnip, 7, 7},        {FrameEdges::kPadTail, 410, 160},
                       {FrameEdges::kPadTail, 5, 5},  {FrameEdges::kCentred, 400, 160}, {FrameEdges::kCentred, 401, 160},
                       {FrameEdges::kCentred, 11, 3}, {FrameEdges::kCentred, 6, 6}};

// Takes frames as they become ready, at most max_frames at once, and compares each with the reference.
class Taker {
 public:
  Taker(const FrontEnd &f, const std::vector<float> &signal) : f_(f), want_(reference::frames(f, test::to_double(signal))) {}

  void take(Framer *framer, uint64_t max_frames) {
    while (framer->ready_frames() > 0) {
      const uint64_t n = std::min(framer->ready_frames(), max_frames);
      ASSERT_EQ(framer->next_frame(), n_taken_);
      ASSERT_LE(n_taken_ + n, want_.size());
      for (uint64_t t = 0; t < n; ++t) check(framer->samples() + t * f_.shift_samples);
      framer->skip(n);
    }
  }
  void expect_all() const { EXPECT_EQ(n_taken_, want_.size()); }

 private:
  void check(const float *frame) {
    for (uint32_t i = 0; i <= f_.window_samples; ++i) {
      ASSERT_EQ(frame[static_cast<int64_t>(i) - 1], want_[n_taken_][i]) << "frame " << n_taken_ << ", sample " << i;
    }
    ++n_taken_;
  }

  const FrontEnd &f_;
  const reference::Rows want_;
  size_t n_taken_ = 0;
};

TEST(Framer, SameFramesForAnyPieces) {
  std::mt19937 random(1);
  for (const Case &c : kCases) {
    const FrontEnd f = front_end_of(c);
    for (size_t n : {size_t{0}, size_t{1}, size_t{2}, size_t{79}, size_t{80}, size_t{c.window} - 1, size_t{c.window},
                     size_t{c.window} + c.shift, size_t{1999}, size_t{30011}}) {
      SCOPED_TRACE(testing::Message() << "edges " << int(c.edges) << " window " << c.window << " samples " << n);
      const std::vector<float> signal = test::random_signal(n, 3);
      for (size_t largest : {size_t{1}, size_t{170}, size_t{40000}}) {
        if (largest == 1 && n > 2000) continue;
        Framer framer(f);
        Taker taker(f, signal);
        const float *next = signal.data();
        for (size_t piece : test::random_pieces(n, largest, random)) {
          framer.push(next, piece);
          next += piece;
          taker.take(&framer, 1 + random() % 9);
        }
        framer.finish();
        taker.take(&framer, 3);
        taker.expect_all();
      }
    }
  }
}

// Frame counts of CMU Sphinx and Kaldi.
TEST(Framer, FrameCounts) {
  const auto count = [](FrameEdges edges, uint32_t window, size_t n) {
    Framer framer(front_end_of({edges, window, 160}));
    const std::vector<float> silence(n, 0);
    framer.push(silence.data(), n);
    framer.finish();
    return framer.ready_frames();
  };
  EXPECT_EQ(count(FrameEdges::kPadTail, 410, 0), 0u);
  EXPECT_EQ(count(FrameEdges::kPadTail, 410, 1), 1u);
  EXPECT_EQ(count(FrameEdges::kPadTail, 410, 409), 1u);
  EXPECT_EQ(count(FrameEdges::kPadTail, 410, 410), 2u);
  EXPECT_EQ(count(FrameEdges::kPadTail, 410, 569), 2u);
  EXPECT_EQ(count(FrameEdges::kPadTail, 410, 570), 3u);
  EXPECT_EQ(count(FrameEdges::kSnip, 400, 399), 0u);
  EXPECT_EQ(count(FrameEdges::kSnip, 400, 400), 1u);
  EXPECT_EQ(count(FrameEdges::kCentred, 400, 79), 0u);
  EXPECT_EQ(count(FrameEdges::kCentred, 400, 80), 1u);
  EXPECT_EQ(count(FrameEdges::kCentred, 400, 240), 2u);
}

}  // namespace
}  // namespace asr
