// SPDX-License-Identifier: Apache-2.0
#include "core/session/utterance.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace asr {
namespace {

std::function<bool(uint32_t transition_id)> silence_of(const std::shared_ptr<LoadedGraph> &graph) {
  return [loaded = graph.get()](uint32_t transition_id) { return loaded->is_silence(transition_id); };
}

TransitionTest garbage_of(const std::shared_ptr<LoadedGraph> &graph) {
  if (!graph->decoding().has_garbage) return {};
  return [loaded = graph.get()](uint32_t transition_id) { return loaded->is_garbage(transition_id); };
}

// In builds with tests SENONE_LATTICE_LIMITS divides the limits of lattices, so that bench/lattice_widths.sh reaches them.
#ifdef SENONE_TEST_LIMITS
void shrink_limits(DeterminiseOptions *options) {
  const char *const text = secure_getenv("SENONE_LATTICE_LIMITS");
  const int divisor = std::max(1, text == nullptr ? 1 : atoi(text));
  options->max_work /= static_cast<uint64_t>(divisor);
  options->max_bytes /= static_cast<size_t>(divisor);
}
#else
void shrink_limits(DeterminiseOptions *) {}
#endif

}  // namespace

Utterance::Utterance(const LoadedModel &model, std::shared_ptr<LoadedGraph> graph, const StreamOptions &options,
                     uint64_t first_frame, std::shared_ptr<const FrameMap> frame_map)
    : decoding_(std::move(graph), options, model, std::move(frame_map)), first_frame_(first_frame) {
  if (options.partial_interval_ms > 0) {
    const double frames = options.partial_interval_ms / (1000 * model.frame_shift_s());
    partial_frames_ = static_cast<uint32_t>(std::max(1.0, std::round(frames)));
  }
  if (options.endpoint) endpointer_.emplace(*options.endpoint, model.frame_shift_s(), options.early_endpoint_s);
  if (decoding_.lattice_beam > 0) {
    DeterminiseOptions determinise;
    determinise.acoustic_scale = static_cast<double>(decoding_.acoustic_scale);
    determinise.lattice_beam = static_cast<double>(decoding_.lattice_beam);
    shrink_limits(&determinise);
    pieces_ = std::make_shared<LatticePieces>(determinise);
  }
  begin_channels(model);
}

void Utterance::begin_channels(const LoadedModel &model) {
  asr_search_options search{};
  search.size = sizeof(search);
  search.beam = decoding_.beam;
  search.lattice_beam = decoding_.lattice_beam;
  search.acoustic_scale = decoding_.acoustic_scale;
  search.word_insertion_cost = decoding_.word_insertion_cost;
  search.max_active = decoding_.max_active;
  search.min_active = decoding_.min_active;
  channel_ = begin_channel(decoding_.graph.get(), search, model);
  if (!decoding_.background) return;
  search.lattice_beam = search.word_insertion_cost = 0;
  background_ = begin_channel(decoding_.background.get(), search, model);
}

std::shared_ptr<asr_backend_channel> Utterance::begin_channel(LoadedGraph *graph, asr_search_options search,
                                                              const LoadedModel &model) const {
  const std::shared_ptr<asr_backend_graph> loaded = graph->on(model);
  asr_backend_channel *channel = nullptr;
  const Device &device = model.searcher();
  const asr_status status = device.api()->channel_begin(device.get(), loaded.get(), &search, &channel);
  device.made(status, channel, "channel_begin");
  return model.objects().hold(BackendPointer<asr_backend_channel>(channel, device.api()->channel_end), loaded);
}

size_t Utterance::room_for(size_t n) const {
  if (partial_frames_ > 0) n = std::min<size_t>(n, partial_frames_ - n_frames_ % partial_frames_);
  if (endpointer_) n = std::min<size_t>(n, endpointer_->next_check() - n_frames_);
  return n;
}

void Utterance::take(size_t n) { n_frames_ += static_cast<uint32_t>(n); }

PathTail Utterance::tail(const asr_path &path) const { return tail_of_path(path, silence_of(decoding_.graph), settled_.tail); }

HeardPath Utterance::heard(const asr_path &path) const {
  return heard_path(path, decoding_.acoustic_scale, decoding_.word_insertion_cost, silence_of(decoding_.graph), settled_.heard,
                    garbage_of(decoding_.graph));
}

std::vector<WordSpan> Utterance::words(const asr_path &path) const {
  return words_of_path(path, transitions_of(decoding_), decoding_.acoustic_scale, settled_.spoken).words;
}

HeardPath Utterance::background_heard(const asr_path &background) const {
  return heard_path(background, decoding_.acoustic_scale, 0, silence_of(decoding_.background), settled_.background_heard);
}

std::optional<Utterance::Cut> Utterance::cut(const PathTail &tail, const std::function<asr_path()> &common) const {
  if (!endpointer_->is_cut(tail) || decoding_.lattice_beam > 0) return std::nullopt;
  const asr_path path = common();
  const bool has_positions = decoding_.graph->graph().has_word_positions();
  const size_t n = n_certain_words(path, path.n_common_arcs, transitions_of(decoding_), has_positions, settled_.spoken);
  if (n == 0) return std::nullopt;
  const uint32_t frame = words(path)[n - 1].end;
  if (frame <= settled_.spoken.n_frames()) return std::nullopt;
  return Cut{frame, n};
}

CutPath Utterance::cut(const asr_path &path, const Cut &at) const {
  return cut_path(path, at.frame, at.n_words, settled_.spoken.words().size(), decoding_.acoustic_scale,
                  decoding_.word_insertion_cost);
}

std::vector<uint32_t> Utterance::states(const asr_path &path) const {
  std::vector<uint32_t> states = settled_.states;
  add_states(path, decoding_, &states);
  return states;
}

EventPointer Utterance::result(asr_event_kind kind, const asr_path &path) const {
  return path_event(path, settled_.spoken, first_frame_, decoding_, kind);
}

bool Utterance::advanced(size_t n_frames, size_t n_left) {
  constexpr size_t kPieceFrames = 256;  // see "Pieces" in docs/search.md
  const size_t n_before = n_advanced_;
  n_given_ += n_frames;
  n_advanced_ = n_given_ - n_left;
  if (may_be_cut_here()) return false;  // the path may have to be cut
  return n_advanced_ >= 2 * kPieceFrames && n_advanced_ / kPieceFrames > n_before / kPieceFrames;
}

void Utterance::take_settled_paths(const Device &device) {
  if (!device.has(ASR_BACKEND_PATH_PIECES)) return;
  const auto piece_of = [&device](const std::shared_ptr<asr_backend_channel> &channel) {
    asr_backend_channel *const searched = channel.get();
    asr_path piece{};
    device.check(device.api()->best_paths(device.get(), &searched, 1, ASR_WANTS_PIECE, &piece));
    return piece;
  };
  const asr_path piece = piece_of(channel_);
  settled_.spoken.add(piece.arcs, piece.n_arcs, transitions_of(decoding_));
  settled_.tail.add(piece.arcs, piece.n_arcs, silence_of(decoding_.graph));
  if (keeps_states_) add_states(piece, decoding_, &settled_.states);
  if (!background_) return;
  settled_.heard.add(piece.arcs, piece.n_arcs, decoding_.acoustic_scale, silence_of(decoding_.graph),
                     garbage_of(decoding_.graph));
  const asr_path background = piece_of(background_);
  settled_.background_heard.add(background.arcs, background.n_arcs, decoding_.acoustic_scale, silence_of(decoding_.background));
}

}  // namespace asr
