// SPDX-License-Identifier: Apache-2.0
// Implements `senone bench decode`: the search through the back end's `advance`, on a given graph or a random one. A lane that
// finishes an utterance takes the next one in turn. So channels begin and end at different times, as in the engine. Scores are
// given or, with --score, computed from features during the search of the preceding window. RTF assumes 100 frames per second.
// Decoder memory is the process's memory without the scores.
#include <algorithm>
#include <utility>

#include "core/base/thread_pool.h"
#include "core/lattice/from_backend.h"
#include "tools/bench_determinise.h"
#include "tools/bench_search.h"
#include "tools/device_memory.h"
#include "tools/scorer.h"

namespace asr::tool {
namespace {

struct DecodeBench : SearchBench {
  uint32_t n_lanes = 1;
  uint64_t n_utterances = 0;
  bool lattices_only = false, score = false;
};

// Totals of a run over all utterances.
struct Totals {
  uint64_t n_frames = 0, n_tokens = 0, n_arcs = 0;
  double cost = 0;
  uint32_t n_died = 0;
  uint64_t n_lattice_states = 0, n_lattice_arcs = 0;
};

// The result computed for an utterance.
enum class Result { kBestPath, kLattice, kDeterminised };
constexpr const char *kResultNames[] = {"best path", "lattice", "determinised"};

// Returns the number of utterances of a run: each equally often, and about four per lane if there are several lanes.
uint64_t default_utterances(uint32_t n_lanes, uint64_t n) {
  const uint64_t wanted = n_lanes == 1 ? 1 : uint64_t{4} * n_lanes;
  return (wanted + n - 1) / n * n;
}

// Decoder owns a graph on a device and the lanes that decode with it.
class Decoder {
 public:
  Decoder(const DeviceEntry &entry, const DecodeBench &bench, BenchGraph &graph, const BenchRows &rows)
      : bench_(bench),
        rows_(rows),
        device_(entry, backend_options(bench.common, bench.window, bench.n_lanes)),
        n_pdfs_(graph.n_pdfs()),
        pool_(bench.common.n_threads),
        determinisers_(bench.common.n_threads, determinise_options(bench)) {
    if (bench.search.lattice_beam > 0 && !device_.has(ASR_BACKEND_LATTICES)) {
      fail(ASR_UNSUPPORTED, "--lattice-beam: back end %s makes no lattices", entry.id.c_str());
    }
    if (bench.score) acoustic_ = std::make_unique<Scorer>(device_, read_bundle(bench.model));
    graph_ = graph.load(device_);
    for (uint64_t frame = 0, i = 0; i < rows.utterances().size(); frame += rows.utterances()[i++]) first_row_.push_back(frame);
  }
  ~Decoder() {
    lanes_.clear();
    api().free_graph(graph_);
  }
  Decoder(const Decoder &) = delete;
  Decoder &operator=(const Decoder &) = delete;

  // Returns the device memory in total and per channel; null if the back end does not report it.
  std::pair<nlohmann::json, nlohmann::json> memory_mb() const {
    if (!tells_memory(device_)) return {};
    const asr_backend_memory memory = memory_of(device_);
    return {1e-6 * static_cast<double>(memory.total_bytes),
            1e-6 * static_cast<double>(memory.channel_bytes) / std::max(1u, memory.n_channels)};
  }

  // Decodes n utterances, starting over after the last one.
  Totals run(uint64_t n, Result result) {
    result_ = result;
    totals_ = {};
    n_begun_ = 0;
    n_wanted_ = n;
    lanes_.clear();
    lanes_.resize(bench_.n_lanes);
    for (;;) {
      Step step = next_step();
      const bool nothing_new = step.jobs.empty();
      if (acoustic_) {
        if (!nothing_new) score(&step);
        std::swap(step, scored_);
      }
      if (step.jobs.empty() && nothing_new) break;
      if (step.jobs.empty()) continue;
      device_.check(api().advance(device_.get(), acoustic_ ? acoustic_->get() : nullptr, step.jobs.data(), step.jobs.size()));
      if (acoustic_ || !step.ended.empty()) device_.check(api().wait(device_.get(), 0));
      if (!step.ended.empty()) take_results(step.ended);
    }
    const Determinisers::Size size = determinisers_.finish();
    totals_.n_lattice_states += size.n_states;
    totals_.n_lattice_arcs += size.n_arcs;
    return totals_;
  }

 private:
  using Channel = std::unique_ptr<asr_backend_channel, void (*)(asr_backend_channel *)>;

  // A lane decodes one utterance at a time: rows at ... end - 1 are not yet advanced. It is free while it has no channel.
  struct Lane {
    Channel channel{nullptr, nullptr};
    uint64_t at = 0, end = 0;
  };

  // A step: windows of the lanes with rows left, and the lanes that end with their window.
  struct Step {
    std::vector<asr_advance_job> jobs;
    std::vector<Lane *> ended;
    std::vector<float> features;  // needed until the device has scored them
    uint32_t n_rows = 0, buffer = 0;
  };

  const asr_backend_api &api() const { return *device_.api(); }

  static DeterminiseOptions determinise_options(const DecodeBench &bench) {
    DeterminiseOptions options;
    options.acoustic_scale = bench.search.acoustic_scale;
    options.lattice_beam = bench.search.lattice_beam;
    return options;
  }

  void begin(Lane *lane) {
    asr_search_options options = bench_.search;
    if (result_ == Result::kBestPath) options.lattice_beam = 0;
    asr_backend_channel *channel = nullptr;
    device_.check(api().channel_begin(device_.get(), graph_, &options, &channel));
    lane->channel = Channel(channel, api().channel_end);
    const size_t i = n_begun_++ % first_row_.size();
    lane->at = first_row_[i];
    lane->end = lane->at + rows_.utterances()[i];
    totals_.n_frames += rows_.utterances()[i];
  }

  Step next_step() {
    Step step;
    for (Lane &lane : lanes_) {
      if (!lane.channel && n_begun_ < n_wanted_) begin(&lane);
      if (!lane.channel || lane.at == lane.end) continue;
      const auto n = static_cast<uint32_t>(std::min<uint64_t>(bench_.window, lane.end - lane.at));
      asr_advance_job job{lane.channel.get(), nullptr, 0, 0, n, 0};
      if (acoustic_) {
        const FeatureRows &features = rows_.features();
        const auto first = features.values.begin() + static_cast<std::ptrdiff_t>(lane.at * features.n_dims);
        job.first_row = step.n_rows;
        step.features.insert(step.features.end(), first, first + static_cast<std::ptrdiff_t>(uint64_t{n} * features.n_dims));
      } else {
        job.loglikes = rows_.rows() + lane.at * n_pdfs_;
      }
      step.jobs.push_back(job);
      step.n_rows += n;
      lane.at += n;
      if (lane.at == lane.end) step.ended.push_back(&lane);
    }
    return step;
  }

  // Scores into the buffer that the preceding step did not use.
  void score(Step *step) {
    buffer_ = 1 - buffer_;
    for (asr_advance_job &job : step->jobs) job.buffer = buffer_;
    const asr_score_job job{acoustic_->get(), step->features.data(), step->n_rows, buffer_, nullptr};
    device_.check(api().score(device_.get(), &job, 1));
  }

  // Fetches the results of the lanes and frees the lanes.
  void take_results(const std::vector<Lane *> &lanes) {
    const size_t n = lanes.size();
    std::vector<asr_backend_channel *> handles;
    for (const Lane *lane : lanes) handles.push_back(lane->channel.get());
    std::vector<asr_path> paths(n);
    device_.check(api().best_paths(device_.get(), handles.data(), n, ASR_WANTS_FINAL, paths.data()));
    for (const asr_path &path : paths) {
      totals_.n_tokens += path.n_tokens;
      totals_.n_arcs += path.n_arcs_expanded;
      totals_.cost += path.total_cost;
      totals_.n_died += path.beam_died;
    }
    if (result_ != Result::kBestPath) take_lattices(handles);
    for (Lane *lane : lanes) lane->channel.reset();
  }

  void take_lattices(const std::vector<asr_backend_channel *> &handles) {
    const size_t n = handles.size();
    std::vector<asr_raw_lattice> raw(n);
    device_.check(api().lattices(device_.get(), handles.data(), n, ASR_WANTS_FINAL, raw.data()));
    if (result_ == Result::kLattice) {
      for (const asr_raw_lattice &lattice : raw) {
        totals_.n_lattice_states += lattice.n_states;
        totals_.n_lattice_arcs += lattice.n_arcs;
      }
      return;
    }
    std::vector<Lattice> lattices(n);
    pool_.run(n, [&](size_t i) { lattices[i] = lattice_from_backend(raw[i], bench_.search.word_insertion_cost); });
    for (Lattice &lattice : lattices) determinisers_.add(std::move(lattice));
  }

  const DecodeBench &bench_;
  const BenchRows &rows_;
  Device device_;
  const uint32_t n_pdfs_;
  std::unique_ptr<Scorer> acoustic_;  // with --score
  asr_backend_graph *graph_ = nullptr;
  ThreadPool pool_;
  Determinisers determinisers_;
  std::vector<uint64_t> first_row_;  // [utterance]
  std::vector<Lane> lanes_;
  Step scored_;  // with --score: the step advanced while the next one is scored
  uint32_t buffer_ = 0;
  uint64_t n_begun_ = 0, n_wanted_ = 0;
  Result result_ = Result::kBestPath;
  Totals totals_;
};

void run(const DecodeBench &bench) {
  BenchGraph graph(bench);
  const BenchRows rows(bench, graph.n_pdfs(), !bench.score);
  const DeviceEntry entry = choose_device(bench.common.device);
  const uint64_t n_utterances =
      bench.n_utterances > 0 ? bench.n_utterances : default_utterances(bench.n_lanes, rows.utterances().size());
  Decoder decoder(entry, bench, graph, rows);

  BenchReport report("decode", bench.common, entry,
                     {{"result", "result", 0},
                      {"rtf", "RTF", 4},
                      {"rtf_median", "median", 4},
                      {"us_per_frame", "us/frame", 1},
                      {"tokens_per_frame", "tokens/frame", 0},
                      {"arcs_per_frame", "expanded/frame", 0},
                      {"million_arcs_per_s", "M arcs/s", 1},
                      {"cost_per_frame", "cost/frame", 4},
                      {"lattice_states_per_frame", "states/frame", 1},
                      {"lattice_arcs_per_frame", "arcs/frame", 1},
                      {"decoder_memory_mb", "decoder MB", 0},
                      {"peak_memory_mb", "peak MB", 0},
                      {"device_memory_mb", "device MB", 0},
                      {"channel_memory_mb", "channel MB", 2}});
  add_options(bench, graph, rows, &report);
  report.option("lanes", bench.n_lanes);
  report.option("utterances", n_utterances);
  report.option("scored_beside", bench.score);
  uint32_t n_died = 0;
  const auto measure = [&](Result result) {
    Totals totals;
    const Timing time = time_repeats(bench.common.n_repeats, [&] { totals = decoder.run(n_utterances, result); });
    const auto n_frames = static_cast<double>(totals.n_frames);
    const auto rtf = [&](double seconds) { return seconds * kFramesPerSecond / n_frames; };
    const auto per_frame = [&](uint64_t n) { return static_cast<double>(n) / n_frames; };
    const uint64_t peak_bytes = peak_memory_bytes();
    const auto [device_mb, channel_mb] = decoder.memory_mb();
    report.row({kResultNames[static_cast<int>(result)], rtf(time.min_s), rtf(time.median_s), 1e6 * time.min_s / n_frames,
                per_frame(totals.n_tokens), per_frame(totals.n_arcs), 1e-6 * static_cast<double>(totals.n_arcs) / time.min_s,
                totals.cost / n_frames, per_frame(totals.n_lattice_states), per_frame(totals.n_lattice_arcs),
                1e-6 * static_cast<double>(peak_bytes - rows.n_bytes()), 1e-6 * static_cast<double>(peak_bytes), device_mb,
                channel_mb});
    n_died = totals.n_died;
  };
  if (!bench.lattices_only) measure(Result::kBestPath);
  if (bench.search.lattice_beam > 0) {
    measure(Result::kLattice);
    measure(Result::kDeterminised);
  }
  if (n_died != 0) report.note(format("the beam died in %u of the decodings", n_died));
  report.print();
}

void add_decode(Command app) {
  auto bench = std::make_shared<DecodeBench>();
  Command command = app.command("decode", "The search over a graph, scores given");
  bench->common.n_repeats = 3;
  bench->add_to(command);
  command.option("--lanes", bench->n_lanes, "Channels advanced together").range(1, 4096).shows_default();
  command.option("--utterances", bench->n_utterances, "Utterances of a run; default: all, or as often as gives a lane four");
  command.flag("--score", bench->score, "Score features on the device, beside the search").needs("--features");
  command.option("--lattice-beam", bench->search.lattice_beam, "Measure with lattices of this beam too; 0: best paths only")
      .shows_default();
  command.flag("--lattices-only", bench->lattices_only, "Leave out best paths").needs("--lattice-beam");
  command.callback([bench] { run(*bench); });
}

const Benchmark kBenchDecode{"decode", add_decode};

}  // namespace
}  // namespace asr::tool
