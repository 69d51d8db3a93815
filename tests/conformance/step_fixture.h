// SPDX-License-Identifier: Apache-2.0
// Common code of the cases of the fused step. Signals are scored by `step`, in random pieces, and by extract, the host's
// pipeline and score. The graph is a circle of states, each with an arc of its own pdf. So the costs of the only path
// are the scores of all rows. The model may have more states than the graph has pdfs.
#pragma once

#include <cstddef>
#include <deque>
#include <limits>
#include <random>

#include "core/adapt/feature_transform.h"
#include "core/backend/asr_backend_signals.h"
#include "core/feature/feature_pipeline.h"
#include "core/feature/signal_feed.h"
#include "reference/random_gmm.h"
#include "tests/conformance/search_fixture.h"
#include "tests/unit/feature/signals.h"

namespace asr::test {

// Narrow windows of a low rate, whose mean is renewed early.
inline FrontEnd small_front_end() {
  FrontEnd f = sphinx_front_end();
  f.sample_rate_hz = 2000, f.high_hz = 900, f.low_hz = 50, f.vtln_low_hz = 0, f.vtln_high_hz = 0;
  f.window_samples = 50, f.shift_samples = 20, f.fft_samples = 64, f.n_mel = 14;
  f.cmn_lookahead_frames = 0, f.cmn_window_frames = 30, f.cmn_prior_frames = 10;
  return f;
}

class StepFixture : public SearchFixture {
 protected:
  static constexpr uint32_t kPdfs = 5, kWindow = 16;

  void SetUp() override {
    SearchFixture::SetUp();
    require_features();
    if (!IsSkipped() && signals() == nullptr) GTEST_SKIP() << entry().id << ": has no fused step";
  }
  // The slots of the extension "signals", perhaps without those for speakers; NULL if the back end has none.
  const asr_backend_signals_api *signals() const {
    return extension_of<asr_backend_signals_api>(api(), ASR_BACKEND_SIGNALS, offsetof(asr_backend_signals_api, set_transform));
  }
  // Return whether signals() has the slots for speakers, and the most frames of a signal that it normalises as a whole.
  bool transforms_signals() const { return signals()->size >= offsetof(asr_backend_signals_api, most_whole_frames); }
  uint32_t most_whole_frames() const {
    return signals()->size >= sizeof(asr_backend_signals_api) ? signals()->most_whole_frames : 0;
  }

  // A front end, a model of its rows and the graph on a device.
  struct World {
    World(const StepFixture &test, const FrontEnd &f, uint32_t max_lanes = 8, uint32_t n_states = kPdfs)
        : api(test.api()),
          signals(test.signals()),
          tables(f, {1, 1.1}),
          model(model_of(f, n_states)),
          device(test.open(backend_options(max_lanes, kWindow, 2))) {
      device->check(api.load_features(device->get(), tables.view(), &features));
      const AcousticView view(model);
      device->check(api.load_acoustic(device->get(), view.get(), &acoustic));
      for (uint32_t s = 0; s < kPdfs; ++s) {
        begin[s] = s, pdf_of[s + 1] = s;
        arcs[s] = {(s + 1) % kPdfs, s + 1, 0, 0};
      }
      begin[kPdfs] = kPdfs;
      const asr_graph_view circle{sizeof(circle), kPdfs,   0,    kPdfs,       kPdfs,  kPdfs,
                                  begin,          epsilon, arcs, final_costs, pdf_of, nullptr};
      uint32_t in_use = 1;
      graph = load_graph(*device, circle, &in_use);
    }
    ~World() {
      api.free_graph(graph);
      api.free_acoustic(acoustic);
      api.free_features(features);
    }
    static AcousticModel model_of(const FrontEnd &f, uint32_t n_states) {
      reference::RandomGmm options;
      options.n_states = n_states, options.stream_dims = {f.n_dims()}, options.scale = 8;
      return random_gmm(options);
    }
    bool makes_signals() const {
      uint32_t makes_rows = 0;
      device->check(signals->prepare(device->get(), features, &makes_rows));
      return makes_rows != 0;
    }

    const asr_backend_api &api;
    const asr_backend_signals_api *const signals;  // perhaps shorter than its type
    const FeatureTables tables;
    const AcousticModel model;
    std::unique_ptr<Device> device;
    asr_backend_features *features = nullptr;
    asr_backend_acoustic *acoustic = nullptr;
    asr_backend_graph *graph = nullptr;
    asr_graph_arc arcs[kPdfs];
    uint32_t begin[kPdfs + 1], epsilon[kPdfs + 1] = {kPdfs, kPdfs, kPdfs, kPdfs, kPdfs, kPdfs}, pdf_of[kPdfs + 1] = {};
    float final_costs[kPdfs] = {};
  };

  // The transform of the rows from first_row on; empty: none.
  struct Change {
    size_t first_row;
    std::vector<float> transform;
  };

  // An utterance with its settings.
  struct Source {
    std::vector<float> samples;
    CmnKind cmn = CmnKind::kNone;
    uint32_t warp = 0;
    bool on_host = false;              // the host's pipeline makes the rows
    std::vector<Change> changes = {};  // in the order of their rows
    bool returns_rows = false;         // some jobs return rows without these transforms
  };

  // Rows that a job returns.
  struct Returned {
    size_t first_row;
    Guarded<float> rows;
  };

  // A source being fed.
  class Stream {
   public:
    Stream(const World &world, const Source &source)
        : world_(world), source_(source), feed_(world.tables, kWindow, source.cmn == CmnKind::kBatch) {
      const asr_search_options search = search_options(100);
      world.device->check(world.api.channel_begin(world.device->get(), world.graph, &search, &channel_));
      if (source.on_host) {
        rows_ = rows_of(world, source);
        return;
      }
      const asr_signal_options options{sizeof(options), source.warp, source.cmn == CmnKind::kLive,
                                       source.cmn == CmnKind::kBatch, 0};
      world.device->check(world.signals->signal_begin(world.device->get(), world.features, &options, &signal_));
    }
    ~Stream() {
      world_.signals->signal_end(signal_);
      world_.api.channel_end(channel_);
    }
    bool done() const { return source_.on_host ? n_taken_ * n_dims() == rows_.size() : feed_.done(); }

    // Describes some frames and rows; `given` owns their memory. Sets the transform of these rows.
    asr_step_job next(std::mt19937 &random, std::vector<float> *given) {
      asr_step_job job{};
      const auto some_of = [&](size_t n) { return static_cast<uint32_t>(std::min<size_t>(random() % (n + 2), n)); };
      if (source_.on_host) {
        job.n_rows = some_of(std::min<size_t>(kWindow, rows_.size() / n_dims() - n_taken_));
        given->assign(&rows_[n_taken_ * n_dims()], &rows_[(n_taken_ + job.n_rows) * n_dims()]);
        job.rows = given->data();
        n_taken_ += job.n_rows;
        return job;
      }
      const uint32_t n = some_of(std::min<size_t>(3000, source_.samples.size() - n_fed_));
      feed_.add_samples(&source_.samples[n_fed_], n);
      n_fed_ += n;
      if (n_fed_ == source_.samples.size() && !ended_ && random() % 2 == 0) {
        feed_.finish();
        ended_ = true;
      }
      job.signal = signal_;
      feed_.next_frames(&job);
      change_transform();
      job.n_rows = some_of(std::min({size_t{kWindow}, feed_.ready_rows(), n_to_change()}));
      feed_.consume(job.n_rows);
      n_taken_ += job.n_rows;
      if (job.n_frames > 0) {
        const FrontEnd &f = world_.tables.front_end();
        given->assign(job.samples - 1, job.samples + size_t{job.n_frames - 1} * f.shift_samples + f.window_samples);
        job.samples = given->data() + 1;
      }
      return job;
    }
    // Destination of the rows of the job that next() described; NULL: not wanted.
    float *returned_rows(std::mt19937 &random, const asr_step_job &job) {
      if (!source_.returns_rows || random() % 3 == 0) return nullptr;
      returned_.push_back({n_taken_ - job.n_rows, Guarded<float>(size_t{job.n_rows} * n_dims())});
      return returned_.back().rows.data();
    }
    const std::deque<Returned> &returned() const { return returned_; }
    asr_backend_channel *channel() const { return channel_; }

   private:
    void change_transform() {
      for (; n_changes_ < source_.changes.size() && source_.changes[n_changes_].first_row == n_taken_; ++n_changes_) {
        const std::vector<float> transform = source_.changes[n_changes_].transform;  // is read during the call
        const float *const values = transform.empty() ? nullptr : transform.data();
        world_.device->check(world_.signals->set_transform(world_.device->get(), signal_, values));
      }
    }
    size_t n_to_change() const {
      return n_changes_ < source_.changes.size() ? source_.changes[n_changes_].first_row - n_taken_ : SIZE_MAX;
    }
    uint32_t n_dims() const { return world_.model.n_dims; }
    const World &world_;
    const Source &source_;
    SignalFeed feed_;
    std::vector<float> rows_;
    size_t n_fed_ = 0, n_taken_ = 0, n_changes_ = 0;
    bool ended_ = false;
    std::deque<Returned> returned_;
    asr_backend_signal *signal_ = nullptr;
    asr_backend_channel *channel_ = nullptr;
  };

  // Computes rows by extract and the host's pipeline.
  static std::vector<float> rows_of(const World &world, const Source &source) {
    FeaturePipeline pipeline(world.tables, source.cmn, source.warp);
    pipeline.add_samples(source.samples.data(), source.samples.size());
    pipeline.finish();
    asr_extract_job job;
    while (pipeline.next_extract(&job, kWindow)) {
      world.device->check(world.api.extract(world.device->get(), world.features, &job, 1));
      pipeline.extracted();
    }
    std::vector<float> rows;
    for (; pipeline.ready_rows() > 0; pipeline.consume(pipeline.ready_rows())) {
      rows.insert(rows.end(), pipeline.rows(), pipeline.rows() + pipeline.ready_rows() * pipeline.n_dims());
    }
    return rows;
  }

  static std::vector<float> scores_of(const World &world, asr_backend_channel *channel) {
    const asr_path path = path_of(*world.device, channel, 0);
    std::vector<float> scores;
    for (uint64_t i = 0; i < path.n_arcs; ++i) scores.push_back(path.arcs[i].acoustic_cost);
    return scores;
  }

  // Works like rows_of(), with the transforms.
  static std::vector<float> transformed_rows_of(const World &world, const Source &source) {
    std::vector<float> rows = rows_of(world, source);
    const uint32_t n_dims = world.model.n_dims;
    const size_t n_rows = rows.size() / n_dims;
    for (size_t i = 0; i < source.changes.size(); ++i) {
      const Change &change = source.changes[i];
      if (change.transform.empty() || change.first_row >= n_rows) continue;
      const size_t end = i + 1 < source.changes.size() ? std::min(n_rows, source.changes[i + 1].first_row) : n_rows;
      const FeatureTransform transform{n_dims, change.transform};
      transform.apply(&rows[change.first_row * n_dims], end - change.first_row);
    }
    return rows;
  }

  // Scores rows of the host by `score`, which gives them to the host. Returns those of the path.
  static std::vector<float> host_scores_of_all_states(const World &world, const Source &source) {
    const std::vector<float> rows = transformed_rows_of(world, source);
    const uint32_t n_dims = world.model.n_dims, n_states = world.model.n_states;
    const auto n_rows = static_cast<uint32_t>(rows.size() / n_dims);
    std::vector<float> scores;
    for (uint32_t t = 0; t < n_rows; t += kWindow) {
      const uint32_t n = std::min(kWindow, n_rows - t);
      std::vector<float> loglikes(size_t{n} * n_states);
      const asr_score_job score{world.acoustic, &rows[size_t{t} * n_dims], n, 0, loglikes.data()};
      world.device->check(world.api.score(world.device->get(), &score, 1));
      world.device->check(world.api.wait(world.device->get(), 0));
      for (uint32_t i = 0; i < n; ++i) scores.push_back(-loglikes[size_t{i} * n_states + (t + i) % kPdfs]);
    }
    return scores;
  }

  // Scores rows of the host by `score`.
  static std::vector<float> host_scores(const World &world, const Source &source) {
    const std::vector<float> rows = transformed_rows_of(world, source);
    const uint32_t n_dims = world.model.n_dims, n_rows = static_cast<uint32_t>(rows.size() / n_dims);
    const Source none{{}, CmnKind::kNone, 0, true};
    const Stream stream(world, none);
    for (uint32_t t = 0; t < n_rows; t += kWindow) {
      const asr_advance_job job{stream.channel(), nullptr, 0, 0, std::min(kWindow, n_rows - t), 0};
      const asr_score_job score{world.acoustic, &rows[size_t{t} * n_dims], job.n_frames, 0, nullptr};
      world.device->check(world.api.score(world.device->get(), &score, 1));
      world.device->check(world.api.advance(world.device->get(), world.acoustic, &job, 1));
      world.device->check(world.api.wait(world.device->get(), 0));
    }
    return scores_of(world, stream.channel());
  }

  using Streams = std::vector<std::unique_ptr<Stream>>;  // the sources outlive them
  static Streams streams_of(const World &world, const std::vector<Source> &sources) {
    Streams streams;
    for (const Source &source : sources) streams.push_back(std::make_unique<Stream>(world, source));
    return streams;
  }

  // Runs one step, of which some jobs return rows.
  static void step(const World &world, const std::vector<asr_step_job> &jobs, const std::vector<float *> &returned,
                   uint32_t buffer) {
    asr_backend_device *const device = world.device->get();
    const bool returns = std::any_of(returned.begin(), returned.end(), [](const float *rows) { return rows != nullptr; });
    world.device->check(returns
                            ? world.signals->step_with_rows(device, world.features, world.acoustic, jobs.data(),
                                                            returned.data(), jobs.size(), buffer)
                            : world.signals->step(device, world.features, world.acoustic, jobs.data(), jobs.size(), buffer));
  }

  // Scores by `step`, all streams together, in random pieces, without waiting in between.
  static void run(const World &world, const Streams &streams, uint32_t seed) {
    std::mt19937 random(seed);
    const auto done = [](const auto &stream) { return stream->done(); };
    for (uint32_t buffer = 0; !std::all_of(streams.begin(), streams.end(), done); buffer = 1 - buffer) {
      std::vector<std::vector<float>> given(streams.size());
      std::vector<asr_step_job> jobs;
      std::vector<float *> returned;
      std::vector<asr_advance_job> advances;
      uint32_t n_rows = 0;
      for (size_t i = 0; i < streams.size(); ++i) {
        if (streams[i]->done() || random() % 4 == 0) continue;
        jobs.push_back(streams[i]->next(random, &given[i]));
        jobs.back().first_row = n_rows;
        returned.push_back(streams[i]->returned_rows(random, jobs.back()));
        advances.push_back({streams[i]->channel(), nullptr, buffer, n_rows, jobs.back().n_rows, 0});
        n_rows += jobs.back().n_rows;
      }
      step(world, jobs, returned, buffer);
      for (std::vector<float> &values : given) {  // they were read during the call
        std::fill(values.begin(), values.end(), std::numeric_limits<float>::quiet_NaN());
      }
      world.device->check(world.api.advance(world.device->get(), world.acoustic, advances.data(), advances.size()));
    }
    world.device->check(world.api.wait(world.device->get(), 0));
  }
  static std::vector<std::vector<float>> step_scores(const World &world, const std::vector<Source> &sources, uint32_t seed) {
    const Streams streams = streams_of(world, sources);
    run(world, streams, seed);
    std::vector<std::vector<float>> scores;
    for (const auto &stream : streams) scores.push_back(scores_of(world, stream->channel()));
    return scores;
  }

  // The scores of the step are those of rows that the host makes, together and in other chunks.
  void expect_host_scores(const FrontEnd &f, const std::vector<Source> &sources, uint32_t max_lanes, double tolerance) {
    f.validate("test");
    const World world(*this, f, max_lanes);
    if (!world.makes_signals()) GTEST_SKIP() << entry().id << ": rows of such features come from the host";
    const auto got = step_scores(world, sources, 1), again = step_scores(world, sources, 2);
    for (size_t i = 0; i < sources.size(); ++i) {
      SCOPED_TRACE(testing::Message() << "kind " << int(f.dynamic) << " source " << i);
      EXPECT_EQ(got[i], again[i]);
      const std::vector<float> want = host_scores(world, sources[i]);
      ASSERT_EQ(got[i].size(), want.size());
      for (size_t t = 0; t < want.size(); ++t) ASSERT_NEAR(got[i][t], want[t], tolerance) << "row " << t;
    }
  }
};

}  // namespace asr::test
