// SPDX-License-Identifier: Apache-2.0
// Implements `senone bench recording`: one recording of any length in one channel, and its memory over time. The scores of
// --loglikes are repeated as one utterance. With a lattice beam, settled pieces of the lattice are determinised as they come,
// like in the engine.
#include <algorithm>
#include <fstream>
#include <optional>

#include "core/lattice/determinise.h"
#include "core/lattice/from_backend.h"
#include "tools/bench_search.h"
#include "tools/progress.h"

namespace asr::tool {
namespace {

struct RecordingBench : SearchBench {
  double minutes = 60;
  uint32_t n_marks = 12;
  bool whole = false;
};

// Returns anonymous memory: the scores and the graph's file do not count.
double own_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string name; status >> name; status.ignore(256, '\n')) {
    double kilobytes = 0;
    if (name == "RssAnon:" && status >> kilobytes) return 1.024e-3 * kilobytes;
  }
  return 0;
}

double megabytes_of(const CompactLattice &lattice) {
  return 1e-6 *
         static_cast<double>(lattice.arcs.size() * sizeof(CompactArc) + lattice.transition_ids.size() * sizeof(uint32_t) +
                             lattice.n_states() * (sizeof(CompactLattice::End) + sizeof(uint32_t) + sizeof(uint64_t)));
}

class Recording {
 public:
  Recording(const DeviceEntry &entry, const RecordingBench &bench, BenchGraph &graph, const BenchRows &rows)
      : bench_(bench),
        rows_(rows),
        n_pdfs_(graph.n_pdfs()),
        device_(entry, backend_options(bench.common, bench.window)),
        graph_(nullptr, device_.api()->free_graph),
        channel_(nullptr, device_.api()->channel_end),
        pieces_({bench.search.acoustic_scale, bench.search.lattice_beam}) {
    if (makes_lattice() && !device_.has(ASR_BACKEND_LATTICES)) {
      fail(ASR_UNSUPPORTED, "--lattice-beam: back end %s makes no lattices; give 0", entry.id.c_str());
    }
    graph_.reset(graph.load(device_));
    asr_backend_channel *channel = nullptr;
    device_.check(api().channel_begin(device_.get(), graph_.get(), &bench.search, &channel));
    channel_.reset(channel);
  }

  void advance_to(uint64_t n_frames, Progress *progress) {
    const double n_all = bench_.minutes * 60 * kFramesPerSecond;
    while (n_done_ < n_frames) {
      const uint64_t first = n_done_ % rows_.n_frames();
      const uint64_t n = std::min({uint64_t{bench_.window}, n_frames - n_done_, rows_.n_frames() - first});
      const asr_advance_job job{channel_.get(), rows_.rows() + first * n_pdfs_, 0, 0, static_cast<uint32_t>(n), 0};
      device_.check(api().advance(device_.get(), nullptr, &job, 1));
      device_.check(api().wait(device_.get(), 0));
      n_done_ += n;
      const auto done = static_cast<double>(n_done_);
      if (progress->is_shown()) {
        progress->update(done / n_all, clock_time(done / kFramesPerSecond) + " of " + clock_time(60 * bench_.minutes));
      }
      if (makes_lattice() && !bench_.whole) take_pieces();
    }
  }

  uint64_t n_done() const { return n_done_; }
  bool makes_lattice() const { return bench_.search.lattice_beam > 0; }

  // Ends the channel and returns its lattice.
  CompactLattice finish() {
    asr_raw_lattice raw{};
    take(ASR_WANTS_FINAL, &raw);
    Lattice last = lattice_from_backend(raw, bench_.search.word_insertion_cost);
    channel_.reset();
    return pieces_.finish(std::move(last)).lattice;
  }

 private:
  const asr_backend_api &api() const { return *device_.api(); }

  void take(uint32_t wants, asr_raw_lattice *lattice) const {
    asr_backend_channel *const channel = channel_.get();
    device_.check(api().lattices(device_.get(), &channel, 1, wants, lattice));
  }

  void take_pieces() {
    if (!device_.has(ASR_BACKEND_PIECES)) return;
    const auto take_piece = [&](asr_raw_lattice *piece) { take(ASR_WANTS_PIECE, piece); };
    add_settled_pieces(take_piece, bench_.search.word_insertion_cost, &pieces_);
  }

  const RecordingBench &bench_;
  const BenchRows &rows_;
  const uint32_t n_pdfs_;
  Device device_;
  std::unique_ptr<asr_backend_graph, void (*)(asr_backend_graph *)> graph_;
  std::unique_ptr<asr_backend_channel, void (*)(asr_backend_channel *)> channel_;
  PieceDeterminiser pieces_;
  uint64_t n_done_ = 0;
};

void run(const RecordingBench &bench) {
  BenchGraph graph(bench);
  const BenchRows rows(bench, graph.n_pdfs());
  const DeviceEntry entry = choose_device(bench.common.device);
  BenchReport report(
      "recording", bench.common, entry,
      {{"minutes", "minutes", 1}, {"rtf", "RTF", 4}, {"own_memory_mb", "own MB", 1}, {"growth_mb", "since loading", 1}});
  add_options(bench, graph, rows, &report);
  report.option("minutes", bench.minutes);
  report.option("whole", bench.whole);
  Recording recording(entry, bench, graph, rows);
  const double loaded = own_megabytes();
  const auto add_row = [&](double seconds) {
    const auto n_frames = static_cast<double>(recording.n_done());
    report.row({n_frames / (60 * kFramesPerSecond),
                n_frames > 0 ? nlohmann::json(seconds * kFramesPerSecond / n_frames) : nullptr, own_megabytes(),
                own_megabytes() - loaded});
  };
  const double begin = wall_seconds();
  std::optional<Progress> progress(std::in_place, "searching");
  for (uint32_t mark = 1; mark <= bench.n_marks; ++mark) {
    recording.advance_to(static_cast<uint64_t>(bench.minutes * 60 * kFramesPerSecond * mark / bench.n_marks), &*progress);
    add_row(wall_seconds() - begin);
  }
  progress.reset();
  if (recording.makes_lattice()) {
    const double end = wall_seconds();
    const CompactLattice lattice = recording.finish();
    report.note(format("the lattice: %u states, %zu arcs, %.1f MB, after another %.2f s", lattice.n_states(),
                       lattice.arcs.size(), megabytes_of(lattice), wall_seconds() - end));
    report.note(format("%.1f MB with the lattice and without its channel", own_megabytes()));
  }
  report.print();
}

void add_recording(Command app) {
  auto bench = std::make_shared<RecordingBench>();
  Command command = app.command("recording", "Memory of the search over one long recording, scores given");
  bench->search.lattice_beam = 8;
  bench->add_to(command);
  command.option("--minutes", bench->minutes, "Length of the recording").range(0.01, 10000.0).shows_default();
  command.option("--marks", bench->n_marks, "How often memory is looked at").range(1, 1000).shows_default();
  command.option("--lattice-beam", bench->search.lattice_beam, "0: the best path only").shows_default();
  command.flag("--whole", bench->whole, "Take the lattice at the end in one piece");
  command.callback([bench] { run(*bench); });
}

const Benchmark kBenchRecording{"recording", add_recording};

}  // namespace
}  // namespace asr::tool
