// SPDX-License-Identifier: Apache-2.0
// Tests the transforms of signals in the fused step, and the rows that it returns without them. The references are the
// host's pipeline, FeatureTransform and score on the same device. Scores and rows must have the same bits.
#include "reference/gmm.h"
#include "tests/conformance/step_fixture.h"

namespace asr::test {
namespace {

// Returns a random transform near the identity.
std::vector<float> some_transform(uint32_t n_dims, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> value(-0.1f, 0.1f);
  std::vector<float> transform;
  for (uint32_t d = 0; d < n_dims; ++d) {
    for (uint32_t i = 0; i < n_dims; ++i) transform.push_back((i == d ? 1.0f : 0.0f) + value(random));
    transform.push_back(10 * value(random));
  }
  return transform;
}

// Front ends whose rows are values, or a transform of values with or without offsets.
std::vector<FrontEnd> front_ends() {
  std::vector<FrontEnd> all = {small_front_end()};
  for (const uint32_t offset : {0u, 1u}) {
    FrontEnd f = small_front_end();
    f.dynamic = DynamicKind::kSplice;
    f.splice_left = 3, f.splice_right = 2;
    f.transform_rows = 11 + 60 * offset, f.transform_cols = f.n_dims() + offset;  // more and fewer than threads of a block
    for (uint32_t i = 0; i < f.transform_rows * f.transform_cols; ++i) {
      f.transform.push_back(static_cast<float>(i * 7 % 23) / 40 - 0.25f);
    }
    all.push_back(f);
  }
  return all;
}

class StepSpeakersTest : public StepFixture {
 protected:
  void SetUp() override {
    StepFixture::SetUp();
    if (!IsSkipped() && !transforms_signals()) GTEST_SKIP() << entry().id << ": serves no speakers";
  }

  // Returns signals with and without transforms and returned rows, and rows of the host between them.
  static std::vector<Source> sources_of(const FrontEnd &f, uint32_t n) {
    std::vector<Source> sources;
    for (uint32_t i = 0; i < n; ++i) {
      Source source{random_signal(97 * (i * 5 % n), i), i % 2 == 0 ? CmnKind::kLive : CmnKind::kNone, i % 2, i % 7 == 6};
      if (i % 3 != 0 && !source.on_host) source.changes.push_back({0, some_transform(f.n_dims(), i)});
      source.returns_rows = i % 4 < 2 && !source.on_host;
      sources.push_back(std::move(source));
    }
    return sources;
  }

  static void expect_rows_of_the_host(const World &world, const Source &source, const std::deque<Returned> &returned) {
    const std::vector<float> want = rows_of(world, source);
    for (const Returned &part : returned) {
      EXPECT_TRUE(part.rows.bands_intact());
      const size_t first = part.first_row * world.model.n_dims;
      ASSERT_LE(first + part.rows.size(), want.size());
      for (size_t i = 0; i < part.rows.size(); ++i) ASSERT_EQ(part.rows[i], want[first + i]) << "row " << part.first_row;
    }
  }

  static void expect_as_on_the_host(const World &world, const std::vector<Source> &sources, uint32_t seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Streams streams = streams_of(world, sources);
    run(world, streams, seed);
    for (size_t i = 0; i < sources.size(); ++i) {
      SCOPED_TRACE("source " + std::to_string(i));
      EXPECT_EQ(scores_of(world, streams[i]->channel()), host_scores(world, sources[i]));
      expect_rows_of_the_host(world, sources[i], streams[i]->returned());
      EXPECT_TRUE(sources[i].returns_rows || streams[i]->returned().empty());
    }
    const auto has_returned = [](const auto &stream) { return stream->returned().size() > 1; };
    EXPECT_TRUE(std::any_of(streams.begin(), streams.end(), has_returned));
  }
};

TEST_P(StepSpeakersTest, ManyTransformsAtOnce) {
  for (const FrontEnd &f : front_ends()) {
    f.validate("test");
    const World world(*this, f, 24);
    if (!world.makes_signals()) GTEST_SKIP() << entry().id << ": rows of such features come from the host";
    const std::vector<Source> sources = sources_of(f, 24);
    const std::vector<float> with = host_scores(world, sources[4]);
    Source plain = sources[4];
    plain.changes.clear();
    ASSERT_NE(with, host_scores(world, plain));  // the transforms matter
    for (const uint32_t seed : {1u, 2u}) expect_as_on_the_host(world, sources, seed);
  }
}

// A stream's later utterances have other transforms, or none.
TEST_P(StepSpeakersTest, TransformsChange) {
  const FrontEnd f = small_front_end();
  const World world(*this, f, 8);
  if (!world.makes_signals()) GTEST_SKIP() << entry().id << ": rows of such features come from the host";
  std::vector<Source> sources;
  for (uint32_t i = 0; i < 8; ++i) {
    Source source{random_signal(2500 + 13 * i, i), CmnKind::kLive, 0, false};
    const uint32_t n_dims = f.n_dims();
    source.changes = {{i % 2, some_transform(n_dims, i)},
                      {20 + i, some_transform(n_dims, i + 10)},
                      {20 + i, some_transform(n_dims, i + 20)},  // the last one counts
                      {40 + 2 * i, {}},
                      {71, some_transform(n_dims, i)},
                      {90, some_transform(n_dims, i + 30)},
                      {90, {}}};
    source.returns_rows = i % 3 != 0;
    sources.push_back(std::move(source));
  }
  for (const uint32_t seed : {3u, 4u, 5u}) expect_as_on_the_host(world, sources, seed);
}

// More signals than allocated memory, while one with a transform is running; then others in the memory of those that ended.
TEST_P(StepSpeakersTest, MemoryOfTransforms) {
  const FrontEnd f = small_front_end();
  const World world(*this, f, 100);
  if (!world.makes_signals()) GTEST_SKIP() << entry().id << ": rows of such features come from the host";
  std::vector<Source> sources;
  for (uint32_t i = 0; i < 100; ++i) {
    sources.push_back({random_signal(700, i), CmnKind::kLive, 0, false, {{0, some_transform(f.n_dims(), i)}}, i % 9 == 0});
  }
  const std::vector<Source> early = {
      {random_signal(1500, 8), CmnKind::kLive, 0, false, {{0, some_transform(f.n_dims(), 200)}}, true}};
  const Streams first = streams_of(world, early);
  std::mt19937 random(1);
  std::vector<float> given;
  for (int i = 0; i < 3; ++i) {  // so that the transform is on the device
    const asr_step_job job = first[0]->next(random, &given);
    step(world, {job}, {first[0]->returned_rows(random, job)}, 0);
    const asr_advance_job advance{first[0]->channel(), nullptr, 0, 0, job.n_rows, 0};
    world.device->check(world.api.advance(world.device->get(), world.acoustic, &advance, 1));
  }
  expect_as_on_the_host(world, sources, 1);
  for (size_t i = 0; i < sources.size(); i += 2) sources[i].changes.clear();
  expect_as_on_the_host(world, sources, 2);
  run(world, first, 3);
  EXPECT_EQ(scores_of(world, first[0]->channel()), host_scores(world, early[0]));
  expect_rows_of_the_host(world, early[0], first[0]->returned());
}

// Compares scores with G3 of A1 of the returned rows, in double.
TEST_P(StepSpeakersTest, ScoresOfTheReference) {
  const FrontEnd f = small_front_end();
  const World world(*this, f, 2);
  if (!world.makes_signals()) GTEST_SKIP() << entry().id << ": rows of such features come from the host";
  const uint32_t n_dims = f.n_dims();
  const std::vector<float> a = some_transform(n_dims, 5);
  const std::vector<Source> sources = {{random_signal(1200, 3), CmnKind::kLive, 1, false, {{0, a}}, true}};
  const Streams streams = streams_of(world, sources);
  run(world, streams, 6);
  const std::vector<float> scores = scores_of(world, streams[0]->channel());
  const AcousticView view(world.model);
  size_t n_compared = 0;
  for (const Returned &part : streams[0]->returned()) {
    for (size_t r = 0; r < part.rows.size() / n_dims; ++r, ++n_compared) {
      std::vector<float> y;
      for (uint32_t d = 0; d < n_dims; ++d) {
        double sum = a[d * (n_dims + 1) + n_dims];
        for (uint32_t i = 0; i < n_dims; ++i) sum += double{a[d * (n_dims + 1) + i]} * double{part.rows[r * n_dims + i]};
        y.push_back(static_cast<float>(sum));
      }
      const size_t t = part.first_row + r;
      EXPECT_NEAR(-scores.at(t), reference::log_likelihood(*view.get(), t % kPdfs, y.data()), 2e-3) << "row " << t;
    }
  }
  EXPECT_GT(n_compared, 10u);
}

// The advance after a step ends the step, too, so that no wait for all work is needed.
TEST_P(StepSpeakersTest, RowsComeWithTheAdvance) {
  require(ASR_BACKEND_OVERLAPS, "advances do not overlap");
  if (IsSkipped()) return;
  const FrontEnd f = small_front_end();
  const World world(*this, f, 2);
  if (!world.makes_signals()) GTEST_SKIP() << entry().id << ": rows of such features come from the host";
  std::vector<Source> sources;
  for (uint32_t i = 0; i < 2; ++i) {
    sources.push_back({random_signal(5000, i), CmnKind::kLive, 0, false, {{0, some_transform(f.n_dims(), i)}}, true});
  }
  const Streams streams = streams_of(world, sources);
  std::mt19937 random(9);
  for (uint32_t n = 0; !streams[0]->done() || !streams[1]->done(); ++n) {
    Stream &stream = *streams[n % 2];
    std::vector<float> given;
    asr_step_job job = stream.next(random, &given);
    step(world, {job}, {stream.returned_rows(random, job)}, n % 2);
    const asr_advance_job advance{stream.channel(), nullptr, n % 2, 0, job.n_rows, 0};
    world.device->check(world.api.advance(world.device->get(), world.acoustic, &advance, 1));
    world.device->check(world.api.wait(world.device->get(), 1));
    const uint32_t other = (n + 1) % 2;  // its advance has been awaited
    expect_rows_of_the_host(world, sources[other], streams[other]->returned());
    if (HasFailure()) break;
  }
  world.device->check(world.api.wait(world.device->get(), 0));
  for (size_t i = 0; i < 2; ++i) expect_rows_of_the_host(world, sources[i], streams[i]->returned());
}

TEST_P(StepSpeakersTest, RowsOfTheHostAreNotReturned) {
  const World world(*this, small_front_end(), 2);
  if (!world.makes_signals()) GTEST_SKIP() << entry().id << ": rows of such features come from the host";
  const std::vector<float> rows(size_t{4} * world.model.n_dims, 1.0f);
  const asr_step_job job{nullptr, nullptr, 0, 0, rows.data(), 0, 4};
  Guarded<float> returned(rows.size());
  float *const to = returned.data();
  EXPECT_EQ(signals()->step_with_rows(world.device->get(), world.features, world.acoustic, &job, &to, 1, 0),
            ASR_INVALID_ARGUMENT);
  EXPECT_STRNE(api().last_error(), "");
  float *const none = nullptr;
  check(signals()->step_with_rows(world.device->get(), world.features, world.acoustic, &job, &none, 1, 0));
  check(api().wait(world.device->get(), 0));
  EXPECT_EQ(returned.n_unwritten(), rows.size());
}

SENONE_INSTANTIATE(StepSpeakersTest);

}  // namespace
}  // namespace asr::test
