// SPDX-License-Identifier: Apache-2.0
// RowSource converts a stream's input to rows and adds them to windows. The rows are fed or made here (host_rows.h), are
// given in memory of the device (given_rows.h), or the device makes them in the fused step (device_rows.h). A stream has one
// source for its whole life, unless that asks to be replaced. Only the engine's thread uses it.
#pragma once

#include <memory>

#include "core/engine/loaded_model.h"
#include "core/feature/mean_state.h"
#include "core/rows/window_rows.h"
#include "core/stream/given_rows.h"
#include "core/stream/stream_options.h"

namespace asr {

class FrameMap;
class SpeakerTrack;

class RowSource {
 public:
  // frame_values: input values per frame, as by StreamOptions::values_per_frame().
  RowSource(size_t frame_values, size_t window_frames) : frame_values_(frame_values), window_frames_(window_frames) {}
  virtual ~RowSource() = default;
  RowSource(const RowSource &) = delete;
  RowSource &operator=(const RowSource &) = delete;

  // Input: samples, or whole rows if the stream is fed rows.
  size_t n_wanted() const;  // values to add before the next window; 0 = enough are waiting
  virtual void add(const float *values, size_t n) = 0;
  virtual void add_given(std::vector<GivenSpan> /*spans*/) {}  // instead of add(), if the rows are in memory of the device
  void end();
  bool has_ended() const { return ended_; }

  // Returns the source to use from now on, with all input so far, if this one cannot go on; else nullptr. Call it before
  // next_extract(), where the device may be called.
  virtual std::unique_ptr<RowSource> replacement() { return nullptr; }

  // Says which frames the rows are, if some frames have none; nullptr: all have one.
  virtual std::shared_ptr<const FrameMap> frame_map() const { return nullptr; }

  // Describes frames whose cepstra the device can compute now, at most a window, for a front end of the stream's
  // models. Returns false if there are none. Call extracted() after it did.
  virtual bool next_extract(size_t /*front_end*/, asr_extract_job *) { return false; }
  virtual void extracted(size_t /*front_end*/) {}
  // Copies the state of the normalisation, as Normaliser. It changes with extracted() and end(). Returns false if none is kept.
  virtual bool get_state(MeanState *) const { return false; }

  // The speaker has the transform of an utterance, to which the next rows belong.
  virtual void begin_utterance() {}

  // Selects the frames of which the device makes rows in its next fused step, and returns their number. take() or drop()
  // follows.
  virtual size_t next_frames() { return 0; }

  // The next rows, at most a window's. take() moves n of them to the window, as WindowRows does. drop() drops n of them; it
  // returns true if the device makes and scores them nevertheless, in the window's fused step.
  size_t n_ready() const;
  virtual WindowRows::Place take(size_t n, WindowRows *window) = 0;
  virtual bool drop(size_t n, WindowRows *window) = 0;
  virtual const float *rows(size_t front_end) const = 0;  // on the host; not of a device that makes them

  // Keeps the rows that are taken from now on until an utterance begins; rewind() makes the last n of them the next ones again.
  // n_kept() is their number: 0 if the source keeps none.
  virtual void keep_taken() {}
  virtual size_t n_kept() const { return 0; }
  virtual void rewind(size_t /*n*/) {}

  virtual void release_waiting() {}  // makes rows of frames that wait for their mean, as far as features need no later ones
  bool is_dry() const { return n_waiting() == 0 && !has_pending_frames(); }  // no row will come before more is added
  bool all_taken() const { return ended_ && is_done(); }                     // ended, and no row is left or will come

 private:
  virtual void finish() {}                                   // the input has ended
  virtual size_t n_waiting() const = 0;                      // rows that could be taken
  virtual bool has_pending_frames() const { return false; }  // rows will come of frames whose input was added
  virtual bool is_done() const = 0;                          // after finish(): no row is left or will come

  const size_t frame_values_, window_frames_;
  bool ended_ = false;
};

// `options` and `speaker` must outlive the source. `warp`: of the frequency axis. `start`: initial state of normalisation, or
// nullptr. `speaker`: takes the rows of utterances, or nullptr.
std::unique_ptr<RowSource> make_row_source(const LoadedModel &model, const StreamOptions &options, float warp,
                                           const MeanState *start, SpeakerTrack *speaker);

}  // namespace asr
