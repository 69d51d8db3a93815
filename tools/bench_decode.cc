// SPDX-License-Identifier: Apache-2.0
// `senone bench decode`: the search through the back end's `advance`, on a graph of the user's or a random one. Scores are
// given, so that nothing but the search is timed, and a window's are handed over while the one before it is searched; RTF
// counts 100 frames a second. Decoder memory is that of the process less the scores. Lattices are determinised by as many
// threads as the back end may use, while the next utterance is searched.
#include <algorithm>
#include <future>

#include "core/lattice/determinise.h"
#include "core/lattice/from_backend.h"
#include "plugins/common/thread_pool.h"
#include "tools/bench_search.h"
#include "tools/device_memory.h"

namespace asr::tool {
namespace {

struct DecodeBench : SearchBench {
  uint32_t n_lanes = 1;
  bool lattices_only = false;
};

// What a run over all utterances did.
struct Totals {
  uint64_t n_tokens = 0, n_arcs = 0;
  double cost = 0;
  uint32_t n_died = 0;
  uint64_t n_lattice_states = 0, n_lattice_arcs = 0;
};

// What is made of an utterance.
enum class Result { kBestPath, kLattice, kDeterminised };
constexpr const char *kResultNames[] = {"best path", "lattice", "determinised"};

// A graph on a device.
class Decoder {
 public:
  Decoder(const DeviceEntry &entry, const DecodeBench &bench, const asr_graph_view &view)
      : bench_(bench),
        device_(entry, backend_options(bench.common, bench.window, bench.n_lanes)),
        n_pdfs_(view.n_pdfs),
        pool_(bench.common.n_threads) {
    if (bench.search.lattice_beam > 0 && api().lattice == nullptr) {
      fail(ASR_UNSUPPORTED, "--lattice-beam: back end %s makes no lattices", entry.id.c_str());
    }
    device_.check(api().load_graph(device_.get(), &view, &graph_));
  }
  ~Decoder() { api().free_graph(graph_); }
  Decoder(const Decoder &) = delete;
  Decoder &operator=(const Decoder &) = delete;

  // Of the device's own memory: in all, and of each channel; null where the back end has none.
  std::pair<nlohmann::json, nlohmann::json> memory_mb() const {
    if (api().memory == nullptr) return {};
    const asr_backend_memory memory = memory_of(device_);
    return {1e-6 * static_cast<double>(memory.total_bytes),
            1e-6 * static_cast<double>(memory.channel_bytes) / std::max(1u, memory.n_channels)};
  }

  // Every lane decodes every utterance.
  Totals run(const BenchRows &rows, Result result) {
    Totals totals;
    const float *first = rows.rows();
    for (const uint32_t n_frames : rows.utterances()) {
      decode(first, n_frames, result, totals);
      first += size_t{n_frames} * n_pdfs_;
    }
    wait_for_determinised(totals);
    return totals;
  }

 private:
  const asr_backend_api &api() const { return *device_.api(); }

  using Channel = std::unique_ptr<asr_backend_channel, void (*)(asr_backend_channel *)>;

  void decode(const float *rows, uint32_t n_frames, Result result, Totals &totals) {
    asr_search_options options = bench_.search;
    if (result == Result::kBestPath) options.lattice_beam = 0;
    std::vector<Channel> channels;
    for (uint32_t lane = 0; lane < bench_.n_lanes; ++lane) {
      asr_backend_channel *channel = nullptr;
      device_.check(api().channel_begin(device_.get(), graph_, &options, &channel));
      channels.emplace_back(channel, api().channel_end);
    }
    for (uint32_t t = 0; t < n_frames; t += bench_.window) {
      std::vector<asr_advance_job> jobs;
      for (const Channel &channel : channels) {
        jobs.push_back({channel.get(), rows + size_t{t} * n_pdfs_, 0, 0, std::min(bench_.window, n_frames - t), 0});
      }
      device_.check(api().advance(device_.get(), nullptr, jobs.data(), jobs.size()));
    }
    device_.check(api().wait(device_.get()));
    std::vector<asr_backend_channel *> handles;
    for (const Channel &channel : channels) handles.push_back(channel.get());
    std::vector<asr_path> paths(channels.size());
    if (api().best_paths != nullptr) {
      device_.check(api().best_paths(device_.get(), handles.data(), handles.size(), 1, paths.data()));
    } else {
      for (size_t i = 0; i < paths.size(); ++i) device_.check(api().best_path(device_.get(), handles[i], 1, &paths[i]));
    }
    for (const asr_path &path : paths) {
      totals.n_tokens += path.n_tokens;
      totals.n_arcs += path.n_arcs_expanded;
      totals.cost += path.total_cost;
      totals.n_died += path.beam_died;
    }
    if (result != Result::kBestPath) add_lattices(handles, result, totals);
  }

  // Of channels that live until this returns.
  void add_lattices(const std::vector<asr_backend_channel *> &handles, Result result, Totals &totals) {
    const size_t n = handles.size();
    std::vector<asr_raw_lattice> raw(n);
    if (api().lattices != nullptr) {
      device_.check(api().lattices(device_.get(), handles.data(), n, 1, raw.data()));
    } else {
      for (size_t i = 0; i < n; ++i) device_.check(api().lattice(device_.get(), handles[i], 1, &raw[i]));
    }
    if (result == Result::kLattice) {
      for (const asr_raw_lattice &lattice : raw) {
        totals.n_lattice_states += lattice.n_states;
        totals.n_lattice_arcs += lattice.n_arcs;
      }
      return;
    }
    std::vector<Lattice> lattices(n);
    pool_.run(n, [&](size_t i) { lattices[i] = lattice_from_backend(raw[i], bench_.search.word_insertion_cost); });
    wait_for_determinised(totals);
    determinised_ = std::async(
        std::launch::async, [this, lattices = std::move(lattices)]() mutable { return determinise_all(std::move(lattices)); });
  }

  // How large they become.
  using Size = std::pair<uint64_t, uint64_t>;
  Size determinise_all(std::vector<Lattice> lattices) {
    DeterminiseOptions options;
    options.acoustic_scale = bench_.search.acoustic_scale;
    options.lattice_beam = bench_.search.lattice_beam;
    std::vector<Size> sizes(lattices.size());
    pool_.run(lattices.size(), [&](size_t i) {
      const CompactLattice compact = determinise(std::move(lattices[i]), options).lattice;
      sizes[i] = {compact.n_states(), compact.arcs.size()};
    });
    Size total{0, 0};
    for (const Size &size : sizes) total = {total.first + size.first, total.second + size.second};
    return total;
  }

  void wait_for_determinised(Totals &totals) {
    if (!determinised_.valid()) return;
    const Size size = determinised_.get();
    totals.n_lattice_states += size.first;
    totals.n_lattice_arcs += size.second;
  }

  const DecodeBench &bench_;
  Device device_;
  const uint32_t n_pdfs_;
  asr_backend_graph *graph_ = nullptr;
  ThreadPool pool_;
  std::future<Size> determinised_;
};

void run(const DecodeBench &bench) {
  const BenchGraph graph(bench);
  const BenchRows rows(bench, graph.view().n_pdfs);
  const DeviceEntry entry = choose_device(bench.common.device);
  Decoder decoder(entry, bench, graph.view());
  graph.release_pages();

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
  const double n_frames = static_cast<double>(rows.n_frames()) * bench.n_lanes;
  const auto rtf = [&](double seconds) { return seconds * kFramesPerSecond / n_frames; };
  const auto per_frame = [&](uint64_t n) { return static_cast<double>(n) / n_frames; };
  uint32_t n_died = 0;
  const auto measure = [&](Result result) {
    Totals totals;
    const Timing time = time_repeats(bench.common.n_repeats, [&] { totals = decoder.run(rows, result); });
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
  command.option("--lattice-beam", bench->search.lattice_beam, "Measure with lattices of this beam too; 0: best paths only")
      .shows_default();
  command.flag("--lattices-only", bench->lattices_only, "Leave out best paths").needs("--lattice-beam");
  command.callback([bench] { run(*bench); });
}

const Benchmark kRegistration{"decode", add_decode};

}  // namespace
}  // namespace asr::tool
