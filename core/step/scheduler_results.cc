// SPDX-License-Identifier: Apache-2.0
// Reads results from the device after a window: partial results, endpoints, final results and lattices.
#include <limits>

#include "core/step/scheduler.h"

namespace asr {

// Posts the events of the streams in an advanced window. Ends streams whose audio has all been advanced.
void Scheduler::complete(Window *window) {
  for (const Part &part : window->parts) {
    if (!part.stream->is_decoding()) continue;
    if (const float *const rows = window->rows.returned_rows(part.place)) {
      for_stream(part.stream, [&] { part.stream->speaker_->keep(rows, part.n_rows); });
    }
    if (part.partial) partial_.push_back(part.stream);
    if (part.check) checked_.push_back(part.stream);
    if (part.last) (part.stream->options_.lattice_beam > 0 ? last_with_lattice_ : last_).push_back(part.stream);
    if (part.stream->utterance_->advanced(part.n_rows)) for_stream(part.stream, [&] { part.stream->submit_pieces(model_); });
  }
  for_best_paths(partial_, wants_common(), [](const StreamPointer &stream, const asr_path &path) {
    if (stream->options_.endpoint) stream->post_speech_start(stream->tail(path));
    if (!stream->is_heard()) return;
    stream->post_partial(stream->utterance_->result(ASR_EVENT_PARTIAL, path), path.n_frames);
  });
  for_best_paths(checked_, 0, [this](const StreamPointer &stream, const asr_path &path) { look_at_path(stream, path); });
  for_best_paths(last_, ASR_WANTS_FINAL, [this](const StreamPointer &stream, const asr_path &path) {
    EventPointer final = stream->utterance_->result(ASR_EVENT_FINAL, path);
    if (const auto background = background_of(*stream)) {
      compare(path, *background, stream->utterance_->decoding(), final.get());
    }
    if (stream->speaker_) {  // learning takes time
      stream->submit_result(this, [self = stream.get(), made = std::make_shared<EventPointer>(std::move(final)),
                                   states = states_of(path, stream->utterance_->decoding())] {
        self->learn(**made, states);
        return std::move(*made);
      });
    } else {
      stream->post_result(std::move(final));
      stream->resume_ = stream->goes_on_;
    }
    end(stream);
  });
  if (model_.overlaps()) {
    for (const StreamPointer &stream : last_with_lattice_) for_stream(stream, [&] { finish_later(stream); });
  } else {
    finish_with_lattices(last_with_lattice_);
  }
  for (Streams *streams : {&partial_, &checked_, &last_, &last_with_lattice_}) streams->clear();
}

// Returns the path of the background's channel through a completely advanced utterance, and the utterance's sound.
std::optional<Background> Scheduler::background_of(const Stream &stream) {
  asr_backend_channel *const channel = stream.utterance_->background().get();
  if (channel == nullptr) return std::nullopt;
  const asr_path path = best_path(channel, 0);
  return Background{background_path(path, stream.utterance_->decoding()), stream.sound()};
}

asr_path Scheduler::best_path(asr_backend_channel *channel, uint32_t wants) {
  asr_path path{};
  const Device &device = model_.searcher();
  device.check(device.api()->best_paths(device.get(), &channel, 1, wants, &path));
  return path;
}

// Returns the bit that asks for the arcs which no later path changes, if the device can find them.
uint32_t Scheduler::wants_common() const { return model_.searcher().has(ASR_BACKEND_COMMON_PATH) ? ASR_WANTS_COMMON : 0; }

EventPointer Scheduler::pause_event(Stream *stream, const asr_path &path, bool is_pause) {
  if (is_pause) {
    const uint32_t wants = wants_common();
    const asr_path whole = wants != 0 ? best_path(stream->utterance_->channel().get(), wants) : path;
    return stream->utterance_->result(ASR_EVENT_PROBABLY_FINISHED, whole);
  }
  EventPointer event = new_event(ASR_EVENT_SPEECH_RESUMED);
  event->time_s = stream->frame_s(stream->utterance_->end_frame());
  return event;
}

void Scheduler::look_at_path(const StreamPointer &stream, const asr_path &path) {
  stream->awaits_check_ = false;
  const PathTail tail = stream->tail(path);
  stream->post_speech_start(tail);
  if (std::exchange(stream->choosing_, false)) {
    stream->restarting_ = !stream->is_heard();
  } else {
    look_for_endpoint(stream.get(), tail, path);
  }
  enqueue(stream);
}

void Scheduler::look_for_endpoint(Stream *stream, const PathTail &tail, const asr_path &path) {
  const double cost = path.total_cost;
  const uint32_t n_frames = path.n_frames;
  const auto cost_to_end = [&] {
    const asr_path final = best_path(stream->utterance_->channel().get(), ASR_WANTS_FINAL);
    return final.reached_final != 0 ? final.total_cost - cost : std::numeric_limits<double>::infinity();
  };
  const bool is_pause = stream->utterance_->has_probably_ended(tail);
  EventPointer event = is_pause == stream->is_pause_ ? nullptr : pause_event(stream, path, is_pause);
  stream->closing_ = path.beam_died != 0 || stream->utterance_->ends_at(tail, cost_to_end);  // the path is no longer valid
  if (!stream->closing_) stream->post_pause(std::move(event), is_pause, n_frames);
}

// The pool makes the lattice from the device's output, since the engine's thread has no time for that.
void Scheduler::finish_later(const StreamPointer &stream) {
  if (!stream->is_decoding()) return;
  const auto channel = stream->utterance_->channel();
  const auto pieces = stream->utterance_->pieces();
  const uint64_t first_frame = stream->utterance_->first_frame();
  const Decoding &decoding = stream->utterance_->decoding();
  stream->post_endpoint();
  stream->submit_result(this, [channel, pieces, first_frame, &device = model_.searcher(), decoding,
                               background = background_of(*stream), boosts = stream->take_boosts(), speaking = stream.get()] {
    asr_backend_channel *const searched = channel.get();
    asr_raw_lattice raw{};
    device.check(device.api()->lattices(device.get(), &searched, 1, ASR_WANTS_FINAL, &raw));
    return speaking->lattice_result(search_lattice(background, boosts, pieces, raw, first_frame, decoding), decoding);
  });
  end(stream);
}

void Scheduler::list_channels(const Streams &streams) {
  channels_.clear();
  for (const StreamPointer &stream : streams) channels_.push_back(stream->utterance_->channel().get());
}

// Calls read(first, n) for the channels of all streams together and, if that fails, of each stream. Then runs an action for
// each stream and its number.
template <typename Read, typename Action>
void Scheduler::read_channels(const Streams &streams, Read read, Action action) {
  if (streams.empty()) return;
  list_channels(streams);
  const asr_status status = read(0, streams.size());
  const bool apart = streams.size() > 1 && may_be_one_stream(status);
  for (size_t i = 0; i < streams.size(); ++i) {
    if (!streams[i]->is_decoding()) continue;
    for_stream(streams[i], [&] {
      model_.searcher().check(apart ? read(i, 1) : status);
      action(streams[i], i);
    });
  }
}

template <typename Action>
void Scheduler::for_best_paths(const Streams &streams, uint32_t wants, Action action) {
  paths_.assign(streams.size(), {});
  const auto read = [&](size_t first, size_t n) {
    const Device &device = model_.searcher();
    return device.api()->best_paths(device.get(), &channels_[first], n, wants, &paths_[first]);
  };
  read_channels(streams, read, [&](const StreamPointer &stream, size_t i) { action(stream, paths_[i]); });
}

// Takes lattices from the device. The pool does the further work on them and then posts the remaining events.
void Scheduler::finish_with_lattices(const Streams &streams) {
  lattices_.assign(streams.size(), {});
  const auto read = [&](size_t first, size_t n) {
    const Device &device = model_.searcher();
    return device.api()->lattices(device.get(), &channels_[first], n, ASR_WANTS_FINAL, &lattices_[first]);
  };
  read_channels(streams, read, [&](const StreamPointer &stream, size_t i) {
    const Decoding &decoding = stream->utterance_->decoding();
    const auto found = std::make_shared<SearchLattice>(search_lattice(background_of(*stream), stream->take_boosts(),
                                                                      stream->utterance_->pieces(), lattices_[i],
                                                                      stream->utterance_->first_frame(), decoding));
    stream->post_endpoint();
    stream->submit_result(
        this, [found, decoding, speaking = stream.get()] { return speaking->lattice_result(std::move(*found), decoding); });
    end(stream);
  });
}

}  // namespace asr
