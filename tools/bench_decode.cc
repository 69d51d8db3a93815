// SPDX-License-Identifier: Apache-2.0
// `senone bench decode`: the search through the back end's `advance`, on a graph of the user's or a random one. Scores are
// given, so that nothing but the search is timed; RTF counts 100 frames a second. Decoder memory is that of the process less
// the scores.
//
// A file for --loglikes: header "SenoneLL", u32 version 1, u32 n_pdfs, u64 n_utterances, u64 n_rows; then, each at a multiple
// of 64 bytes, u32 n_frames[n_utterances] and f32 loglike[n_rows][n_pdfs], the rows of all utterances one after another.
#include <algorithm>
#include <memory>
#include <numeric>
#include <random>

#include "core/base/file.h"
#include "core/base/sections.h"
#include "core/graph/graph.h"
#include "core/lattice/determinise.h"
#include "core/lattice/from_backend.h"
#include "core/model/bundle.h"
#include "tools/bench.h"

namespace asr::tool {
namespace {

constexpr double kFramesPerSecond = 100;

struct DecodeBench {
  BenchOptions common;
  std::string graph, model, loglikes;
  uint32_t n_states = 200000, n_arcs = 500000, n_pdfs = 2000, n_frames = 1000;
  uint64_t seed = 1;
  uint32_t n_lanes = 1, window = 32;
  asr_search_options search{sizeof(asr_search_options), 13, 0, 0.1f, 0, 7000, 200};
};

// Three arcs in four are emitting; one of them at every state is a self-loop, the others lead a short way on or anywhere.
GraphData random_graph(const DecodeBench &bench) {
  std::mt19937_64 random(bench.seed);
  const auto below = [&](uint64_t n) { return static_cast<uint32_t>(random() % n); };
  const auto cost = [&] { return static_cast<float>(below(6000)) / 1000; };
  const auto near = [&](uint32_t s) { return below(4) != 0 ? (s + 1 + below(64)) % bench.n_states : below(bench.n_states); };
  GraphData graph;
  graph.n_pdfs = bench.n_pdfs;
  graph.n_words = 1000;
  const uint32_t extra = bench.n_arcs > bench.n_states ? bench.n_arcs - bench.n_states : 0;
  const uint32_t n_epsilon = extra / 4, n_forward = extra - n_epsilon;
  for (uint32_t s = 0; s < bench.n_states; ++s) {
    graph.emitting_begin.push_back(static_cast<uint32_t>(graph.arcs.size()));
    graph.arcs.push_back({s, 1 + below(bench.n_pdfs), 0, 0.7f});
    const auto n =
        static_cast<uint32_t>((uint64_t{n_forward} * (s + 1)) / bench.n_states - uint64_t{n_forward} * s / bench.n_states);
    for (uint32_t i = 0; i < n; ++i)
      graph.arcs.push_back({near(s), 1 + below(bench.n_pdfs), below(8) == 0 ? below(1000) : 0, cost()});
  }
  graph.emitting_begin.push_back(static_cast<uint32_t>(graph.arcs.size()));
  for (uint32_t s = 0; s < bench.n_states; ++s) {
    graph.epsilon_begin.push_back(static_cast<uint32_t>(graph.arcs.size()));
    const auto n =
        static_cast<uint32_t>((uint64_t{n_epsilon} * (s + 1)) / bench.n_states - uint64_t{n_epsilon} * s / bench.n_states);
    for (uint32_t i = 0; i < n; ++i) graph.arcs.push_back({near(s), 0, 0, cost()});
  }
  graph.epsilon_begin.push_back(static_cast<uint32_t>(graph.arcs.size()));
  graph.final_costs.assign(bench.n_states, 0.0f);
  graph.transitions.resize(bench.n_pdfs + size_t{1});
  for (uint32_t id = 1; id <= bench.n_pdfs; ++id) graph.transitions[id].pdf = id - 1;
  return graph;
}

// The graph of a file or a random one.
class BenchGraph {
 public:
  explicit BenchGraph(const DecodeBench &bench) {
    if (!bench.graph.empty() || !bench.model.empty()) {
      file_ = std::make_unique<Graph>(bench.graph.empty() ? read_bundle(bench.model).file("graph.bin") : bench.graph);
      view_ = *file_->view();
      return;
    }
    random_ = random_graph(bench);
    pdf_of_.push_back(0);
    for (size_t id = 1; id < random_.transitions.size(); ++id) pdf_of_.push_back(random_.transitions[id].pdf);
    view_ = {sizeof(view_),
             random_.n_states(),
             0,
             static_cast<uint32_t>(random_.transitions.size() - 1),
             random_.n_pdfs,
             random_.arcs.size(),
             random_.emitting_begin.data(),
             random_.epsilon_begin.data(),
             random_.arcs.data(),
             random_.final_costs.data(),
             pdf_of_.data()};
  }
  const asr_graph_view &view() const { return view_; }
  void release_pages() const {
    if (file_) file_->release_pages();
  }

 private:
  std::unique_ptr<Graph> file_;
  GraphData random_;
  std::vector<uint32_t> pdf_of_;
  asr_graph_view view_{};
};

// Rows of log-likelihoods, cut into utterances.
class BenchRows {
 public:
  BenchRows(const DecodeBench &bench, uint32_t n_pdfs) : n_pdfs_(n_pdfs) {
    if (!bench.loglikes.empty()) {
      read(bench.loglikes);
      return;
    }
    std::mt19937_64 random(bench.seed + 1);
    std::normal_distribution<float> normal(-50, 8);
    random_.resize(size_t{bench.n_frames} * n_pdfs);
    for (float &x : random_) x = normal(random);
    rows_ = random_.data();
    n_frames_ = {bench.n_frames};
  }
  const float *rows() const { return rows_; }
  const std::vector<uint32_t> &utterances() const { return n_frames_; }
  uint64_t n_frames() const { return std::accumulate(n_frames_.begin(), n_frames_.end(), uint64_t{0}); }
  uint64_t n_bytes() const { return n_frames() * n_pdfs_ * sizeof(float); }

 private:
  struct Header {
    char magic[8];
    uint32_t version, n_pdfs;
    uint64_t n_utterances, n_rows;
  };

  void read(const std::string &path) {
    file_ = MappedFile(path);
    SectionReader reader(file_.data(), file_.size(), path);
    const auto header = reader.header<Header>("SenoneLL", 1);
    if (header.n_pdfs != n_pdfs_) {
      fail(ASR_BAD_FILE, "%s: has %u columns but the graph %u pdfs; give scores of the graph's model", path.c_str(),
           header.n_pdfs, n_pdfs_);
    }
    n_frames_ = reader.copy<uint32_t>(header.n_utterances, "lengths");
    if (n_frames() != header.n_rows || header.n_rows == 0 || header.n_rows > file_.size()) {
      fail(ASR_BAD_FILE, "%s: the lengths do not add up to the number of rows", path.c_str());
    }
    rows_ = reader.section<float>(header.n_rows * n_pdfs_, "rows");
    reader.finish();
  }

  const uint32_t n_pdfs_;
  MappedFile file_;
  std::vector<float> random_;
  const float *rows_ = nullptr;
  std::vector<uint32_t> n_frames_;
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
      : bench_(bench), device_(entry, backend_options(bench.common, bench.window, bench.n_lanes)), n_pdfs_(view.n_pdfs) {
    if (bench.search.lattice_beam > 0 && api().lattice == nullptr) {
      fail(ASR_UNSUPPORTED, "--lattice-beam: back end %s makes no lattices", entry.id.c_str());
    }
    device_.check(api().load_graph(device_.get(), &view, &graph_));
  }
  ~Decoder() { api().free_graph(graph_); }
  Decoder(const Decoder &) = delete;
  Decoder &operator=(const Decoder &) = delete;

  // Every lane decodes every utterance.
  Totals run(const BenchRows &rows, Result result) {
    Totals totals;
    const float *first = rows.rows();
    for (const uint32_t n_frames : rows.utterances()) {
      decode(first, n_frames, result, totals);
      first += size_t{n_frames} * n_pdfs_;
    }
    return totals;
  }

 private:
  const asr_backend_api &api() const { return *device_.api(); }

  void decode(const float *rows, uint32_t n_frames, Result result, Totals &totals) {
    using Channel = std::unique_ptr<asr_backend_channel, void (*)(asr_backend_channel *)>;
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
        jobs.push_back({channel.get(), rows + size_t{t} * n_pdfs_, 0, 0, std::min(bench_.window, n_frames - t)});
      }
      device_.check(api().advance(device_.get(), nullptr, jobs.data(), jobs.size()));
      device_.check(api().wait(device_.get()));
    }
    for (const Channel &channel : channels) {
      asr_path path{};
      device_.check(api().best_path(device_.get(), channel.get(), 1, &path));
      totals.n_tokens += path.n_tokens;
      totals.n_arcs += path.n_arcs_expanded;
      totals.cost += path.total_cost;
      totals.n_died += path.beam_died;
      if (result != Result::kBestPath) add_lattice(channel.get(), result, totals);
    }
  }

  void add_lattice(asr_backend_channel *channel, Result result, Totals &totals) {
    asr_raw_lattice lattice{};
    device_.check(api().lattice(device_.get(), channel, 1, &lattice));
    if (result == Result::kLattice) {
      totals.n_lattice_states += lattice.n_states;
      totals.n_lattice_arcs += lattice.n_arcs;
      return;
    }
    DeterminiseOptions options;
    options.acoustic_scale = bench_.search.acoustic_scale;
    options.lattice_beam = bench_.search.lattice_beam;
    const CompactLattice compact =
        determinise(lattice_from_backend(lattice, bench_.search.word_insertion_cost), options).lattice;
    totals.n_lattice_states += compact.n_states();
    totals.n_lattice_arcs += compact.arcs.size();
  }

  const DecodeBench &bench_;
  Device device_;
  const uint32_t n_pdfs_;
  asr_backend_graph *graph_ = nullptr;
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
                      {"peak_memory_mb", "peak MB", 0}});
  report.option("graph", bench.graph.empty() && bench.model.empty() ? "random" : bench.graph + bench.model);
  report.option("states", graph.view().n_states);
  report.option("arcs", graph.view().n_arcs);
  report.option("pdfs", graph.view().n_pdfs);
  report.option("frames", rows.n_frames());
  report.option("lanes", bench.n_lanes);
  report.option("window", bench.window);
  report.option("beam", bench.search.beam);
  report.option("lattice_beam", bench.search.lattice_beam);
  report.option("max_active", bench.search.max_active);
  report.option("min_active", bench.search.min_active);
  report.option("acoustic_scale", bench.search.acoustic_scale);
  report.option("seed", bench.seed);
  const double n_frames = static_cast<double>(rows.n_frames()) * bench.n_lanes;
  const auto rtf = [&](double seconds) { return seconds * kFramesPerSecond / n_frames; };
  const auto per_frame = [&](uint64_t n) { return static_cast<double>(n) / n_frames; };
  uint32_t n_died = 0;
  const auto measure = [&](Result result) {
    Totals totals;
    const Timing time = time_repeats(bench.common.n_repeats, [&] { totals = decoder.run(rows, result); });
    const uint64_t peak_bytes = peak_memory_bytes();
    report.row({kResultNames[static_cast<int>(result)], rtf(time.min_s), rtf(time.median_s), 1e6 * time.min_s / n_frames,
                per_frame(totals.n_tokens), per_frame(totals.n_arcs), 1e-6 * static_cast<double>(totals.n_arcs) / time.min_s,
                totals.cost / n_frames, per_frame(totals.n_lattice_states), per_frame(totals.n_lattice_arcs),
                1e-6 * static_cast<double>(peak_bytes - rows.n_bytes()), 1e-6 * static_cast<double>(peak_bytes)});
    n_died = totals.n_died;
  };
  measure(Result::kBestPath);
  if (bench.search.lattice_beam > 0) {
    measure(Result::kLattice);
    measure(Result::kDeterminised);
  }
  if (n_died != 0) report.note(format("the beam died in %u of the decodings", n_died));
  report.print();
}

void add_decode(CLI::App &app) {
  auto bench = std::make_shared<DecodeBench>();
  CLI::App *command = app.add_subcommand("decode", "The search over a graph, scores given");
  bench->common.n_repeats = 3;
  bench->common.add_to(*command);
  CLI::Option *graph = command->add_option("--graph", bench->graph, "graph.bin to search; default: a random graph");
  command->add_option("--model", bench->model, "Bundle whose graph is searched")->excludes(graph);
  command->add_option("--loglikes", bench->loglikes, "Scores (docs/search.md, \"Measuring\"); default: random ones");
  command->add_option("--states", bench->n_states, "States of the random graph")
      ->check(CLI::Range(1, 200000000))
      ->capture_default_str();
  command->add_option("--arcs", bench->n_arcs, "Arcs of the random graph")
      ->check(CLI::Range(1, 1000000000))
      ->capture_default_str();
  command->add_option("--pdfs", bench->n_pdfs, "Pdfs of the random graph")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--frames", bench->n_frames, "Frames of random scores")
      ->check(CLI::Range(1, 10000000))
      ->capture_default_str();
  command->add_option("--seed", bench->seed, "Seed of graph and scores")->capture_default_str();
  command->add_option("--lanes", bench->n_lanes, "Channels advanced together")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("--window", bench->window, "Frames of one advance")->check(CLI::Range(1, 256))->capture_default_str();
  command->add_option("--beam", bench->search.beam, "Beam")->capture_default_str();
  command
      ->add_option("--lattice-beam", bench->search.lattice_beam, "Measure with lattices of this beam too; 0: best paths only")
      ->capture_default_str();
  command->add_option("--max-active", bench->search.max_active, "Most tokens expanded in a frame")->capture_default_str();
  command->add_option("--min-active", bench->search.min_active, "Least tokens expanded in a frame")->capture_default_str();
  command->add_option("--acoustic-scale", bench->search.acoustic_scale, "Scale of the log-likelihoods")->capture_default_str();
  command->callback([bench] { run(*bench); });
}

const Benchmark kRegistration{"decode", add_decode};

}  // namespace
}  // namespace asr::tool
