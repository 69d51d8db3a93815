// SPDX-License-Identifier: Apache-2.0
#include "builder/train/forced_aligner.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "core/base/error.h"

namespace asr::train {
namespace {

constexpr uint32_t kWindowFrames = 64;
constexpr uint32_t kMinActive = 200;

asr_search_options search_options(double beam, double lattice_beam) {
  asr_search_options options{};
  options.size = sizeof(options);
  options.beam = static_cast<float>(beam);
  options.lattice_beam = static_cast<float>(lattice_beam);
  options.acoustic_scale = 1;
  options.max_active = std::numeric_limits<int32_t>::max();
  options.min_active = kMinActive;
  return options;
}

}  // namespace

// The search of one utterance.
class ForcedAligner::Search {
 public:
  Search(const Device &device, asr_search_options options, AlignmentJob *job) : device_(device), job_(job) {
    options.beam *= job->beam_share;
    const GraphData &graph = job->graph;
    for (const Transition &transition : graph.transitions) pdf_of_.push_back(transition.pdf);
    view_ = {sizeof(view_),
             graph.n_states(),
             graph.start_state,
             static_cast<uint32_t>(graph.transitions.size() - 1),
             graph.n_pdfs,
             graph.arcs.size(),
             graph.emitting_begin.data(),
             graph.epsilon_begin.data(),
             graph.arcs.data(),
             graph.final_costs.data(),
             pdf_of_.data(),
             nullptr};
    asr_backend_graph *loaded = nullptr;
    uint32_t in_use = 1;
    device.check(device.api()->load_graph(device.get(), &view_, &loaded, &in_use));
    graph_ = {loaded, device.api()->free_graph};
    asr_backend_channel *channel = nullptr;
    device.check(device.api()->channel_begin(device.get(), loaded, &options, &channel));
    channel_ = {channel, device.api()->channel_end};
  }

  bool has_rows_of(const Search &other) const { return job_->rows == other.job_->rows && job_->n_rows == other.job_->n_rows; }

  // Adds the next rows to the rows to score, unless the search before this one has the same and has added them, and an advance
  // over them. Adds nothing at the end.
  void add(uint32_t n_dims, bool are_added, std::vector<float> *rows, std::vector<asr_advance_job> *advances) {
    const uint32_t n = std::min(kWindowFrames, job_->n_rows - n_done_);
    if (n == 0) return;
    const float *const first = job_->rows + size_t{n_done_} * n_dims;
    if (!are_added) rows->insert(rows->end(), first, first + size_t{n} * n_dims);
    asr_advance_job advance{};
    advance.channel = channel_.get();
    advance.first_row = static_cast<uint32_t>(rows->size() / n_dims) - n;
    advance.n_frames = n;
    advances->push_back(advance);
    n_done_ += n;
  }

  void take_states() {
    asr_path path{};
    asr_backend_channel *const channel = channel_.get();
    device_.check(device_.api()->best_paths(device_.get(), &channel, 1, ASR_WANTS_FINAL, &path));
    if (path.beam_died != 0 || path.reached_final == 0) {
      job_->problem =
          format("no path within --beam says its words in its %u frames; check recording and transcript, or raise --beam",
                 job_->n_rows);
      return;
    }
    for (uint64_t i = 0; i < path.n_arcs; ++i) {
      const asr_path_arc &arc = path.arcs[i];
      if (arc.word != 0) job_->words.push_back(arc.word);
      if (arc.transition_id == 0) continue;
      job_->states.push_back(pdf_of_[arc.transition_id]);
      job_->transition_ids.push_back(arc.transition_id);
      job_->costs.push_back(arc.acoustic_cost);
    }
    if (job_->states.size() != job_->n_rows) fail(ASR_INTERNAL, "a path has no state for each frame");
  }

  // After take_states().
  void take_shares() {
    if (!job_->problem.empty()) return;
    asr_raw_lattice lattice{};
    asr_backend_channel *const channel = channel_.get();
    device_.check(device_.api()->lattices(device_.get(), &channel, 1, ASR_WANTS_FINAL, &lattice));
    job_->shares = state_shares(lattice, pdf_of_);
  }

 private:
  const Device &device_;
  AlignmentJob *const job_;
  asr_graph_view view_{};
  std::vector<uint32_t> pdf_of_;
  std::unique_ptr<asr_backend_graph, void (*)(asr_backend_graph *)> graph_{nullptr, nullptr};
  std::unique_ptr<asr_backend_channel, void (*)(asr_backend_channel *)> channel_{nullptr, nullptr};
  uint32_t n_done_ = 0;
};

asr_backend_options ForcedAligner::options(uint32_t n_threads, uint32_t n_jobs) {
  asr_backend_options options{};
  options.size = sizeof(options);
  options.max_lanes = n_jobs;
  options.window_frames = kWindowFrames;
  options.n_threads = n_threads;
  return options;
}

ForcedAligner::ForcedAligner(const Device &device, const AcousticModel &model, double beam, double lattice_beam)
    : device_(device), n_dims_(model.n_dims), n_states_(model.n_states), search_(search_options(beam, lattice_beam)) {
  device.require_search();
  device.check(device.api()->load_acoustic(device.get(), AcousticView(model).get(), &acoustic_));
}

ForcedAligner::~ForcedAligner() { device_.api()->free_acoustic(acoustic_); }

void ForcedAligner::align(std::vector<AlignmentJob> *jobs, double widening) const {
  asr_search_options options = search_;
  options.beam *= static_cast<float>(widening);
  std::vector<Search> searches;
  searches.reserve(jobs->size());
  for (AlignmentJob &job : *jobs) searches.emplace_back(device_, options, &job);
  std::vector<float> rows;
  std::vector<asr_advance_job> advances;
  for (;;) {
    rows.clear();
    advances.clear();
    for (size_t i = 0; i < searches.size(); ++i) {
      searches[i].add(n_dims_, i > 0 && searches[i].has_rows_of(searches[i - 1]), &rows, &advances);
    }
    if (advances.empty()) break;
    const auto n_rows = static_cast<uint32_t>(rows.size() / n_dims_);
    const asr_score_job score{acoustic_, rows.data(), n_rows, 0, nullptr};
    device_.check(device_.api()->score(device_.get(), &score, 1));
    device_.check(device_.api()->advance(device_.get(), acoustic_, advances.data(), advances.size()));
    device_.check(device_.api()->wait(device_.get(), 0));
  }
  for (Search &search : searches) {
    search.take_states();
    if (search_.lattice_beam > 0) search.take_shares();
  }
}

std::vector<float> ForcedAligner::log_likelihoods(const std::vector<const float *> &rows,
                                                  const std::vector<uint32_t> &states) const {
  std::vector<float> found, features, loglikes(size_t{kWindowFrames} * n_states_);
  for (size_t first = 0, i = 0; first < rows.size(); first = i) {
    features.clear();
    std::vector<size_t> place;  // of each row in this window
    for (uint32_t n = 0; i < rows.size(); ++i) {
      const bool is_new = place.empty() || rows[i] != rows[i - 1];
      if (is_new && n++ == kWindowFrames) break;
      if (is_new) features.insert(features.end(), rows[i], rows[i] + n_dims_);
      place.push_back(n - 1);
    }
    const auto n_rows = static_cast<uint32_t>(features.size() / n_dims_);
    const asr_score_job score{acoustic_, features.data(), n_rows, 0, loglikes.data()};
    device_.check(device_.api()->score(device_.get(), &score, 1));
    device_.check(device_.api()->wait(device_.get(), 0));
    for (size_t k = 0; k < place.size(); ++k) found.push_back(loglikes[place[k] * n_states_ + states[first + k]]);
  }
  return found;
}

}  // namespace asr::train
