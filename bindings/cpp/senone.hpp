// SPDX-License-Identifier: Apache-2.0
// senone.hpp - the Senone speech recogniser for C++17: a header over asr.h. asr.h remains the manual.
//
//   senone::Engine engine("bundle");                    senone::Stream stream = engine.open();
//   stream.feed(samples);  stream.finish();             std::cout << stream.final_event().text() << '\n';
//
// HANDLES   Engine, Speaker, Stream, Event and DeviceList own their objects and can be moved, not copied. A moved-from or
//           default-constructed handle is empty: it converts to false, and may only be assigned to and destroyed.
// RANGES    Events of a stream, devices, alternatives, words, arcs and states of a lattice are ranges for `for`.
// TEXT      Text is never copied: a std::string_view belongs to the event, engine or list that returned it. Words,
//           alternatives and lattices are views of their event, and must not be used after it.
// ERRORS    A call that fails throws senone::Error: the status, and asr_last_error's message as what(). Each function
//           try_NAME does the same without throwing and returns an Expected: a value, or an Error. Iterating over events
//           does not throw for an ERROR event; final_event throws it.
// CALLBACKS A callback is a std::function that takes events, on threads of the library. Its exceptions do not reach the
//           library: the stream is cancelled, its callback is called no more, and wait() throws the exception.
// THREADS   The rules of asr.h apply: any threads may use an engine, a speaker, a stream and an event. Destroying, moving or
//           closing one must not happen at the same time as another use of it.
#ifndef SENONE_HPP
#define SENONE_HPP

#include <asr.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace senone {

// ---- errors ---------------------------------------------------------------------------------------------------------

class Error : public std::runtime_error {
 public:
  Error(asr_status status, const std::string &message) : std::runtime_error(message), status_(status) {}

  asr_status status() const noexcept { return status_; }
  std::string_view status_text() const noexcept { return asr_status_text(status_); }

 private:
  asr_status status_;
};

// The result of a try_ function: a value, or an Error.
template <typename Value>
class [[nodiscard]] Expected {
 public:
  Expected(Value value) : content_(std::in_place_index<0>, std::move(value)) {}
  Expected(Error error) : content_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const noexcept { return content_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  // Returns the value; throws the Error if there is none.
  Value &value() & { return has_value() ? std::get<0>(content_) : throw error(); }
  const Value &value() const & { return has_value() ? std::get<0>(content_) : throw error(); }
  Value &&value() && { return has_value() ? std::get<0>(std::move(content_)) : throw error(); }
  Value *operator->() { return &value(); }
  Value &operator*() & { return value(); }
  Value &&operator*() && { return std::move(*this).value(); }

  // Returns the Error; call only without a value.
  const Error &error() const { return std::get<1>(content_); }

 private:
  std::variant<Value, Error> content_;
};

template <>
class [[nodiscard]] Expected<void> {
 public:
  Expected() = default;
  Expected(Error error) : error_(std::move(error)) {}

  bool has_value() const noexcept { return !error_; }
  explicit operator bool() const noexcept { return has_value(); }
  void value() const {
    if (error_) throw *error_;
  }
  const Error &error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

namespace detail {

// Returns the Error of this thread's last call, which failed.
inline Error last_error(asr_status status) { return Error(status, asr_last_error()); }

inline Expected<void> outcome(asr_status status) {
  return status == ASR_OK ? Expected<void>() : Expected<void>(last_error(status));
}

inline void check(asr_status status) {
  if (status != ASR_OK) throw last_error(status);
}

// A zeroed struct of asr.h for the library to fill.
template <typename Struct>
Struct sized() {
  Struct value{};
  value.size = sizeof(value);
  return value;
}

// A read-only range of `size()` items, created on access by `Container::operator[]`.
template <typename Container>
class IndexIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = decltype(std::declval<const Container &>()[0]);
  using difference_type = std::ptrdiff_t;
  using pointer = const value_type *;
  using reference = value_type;

  IndexIterator(const Container *container, std::size_t index) : container_(container), index_(index) {}
  reference operator*() const { return (*container_)[index_]; }
  IndexIterator &operator++() { return ++index_, *this; }
  IndexIterator operator++(int) { return IndexIterator(container_, index_++); }
  bool operator==(const IndexIterator &other) const { return index_ == other.index_; }
  bool operator!=(const IndexIterator &other) const { return index_ != other.index_; }

 private:
  const Container *container_;
  std::size_t index_;
};

template <typename Container>
class Range {
 public:
  auto begin() const { return IndexIterator<Container>(self(), 0); }
  auto end() const { return IndexIterator<Container>(self(), self()->size()); }
  bool empty() const { return self()->size() == 0; }

 private:
  const Container *self() const { return static_cast<const Container *>(this); }
};

}  // namespace detail

// Returns the version of the loaded library, such as "0.2.0".
inline std::string_view version() noexcept { return asr_version(); }

// ---- log ------------------------------------------------------------------------------------------------------------

using LogFunction = std::function<void(asr_log_level level, std::string_view message)>;

// Sends messages of the whole library up to `level` to `log`, from any thread, several at once; an empty function discards
// them. Exceptions of `log` are dropped. Two threads must not call set_log at once, and `log` must not call it.
inline void set_log(LogFunction log, asr_log_level level = ASR_LOG_INFO) {
  static std::unique_ptr<LogFunction> current;
  std::unique_ptr<LogFunction> next = log ? std::make_unique<LogFunction>(std::move(log)) : nullptr;
  const asr_log_fn receive = [](asr_log_level message_level, const char *message, void *function) {
    try {
      (*static_cast<LogFunction *>(function))(message_level, message);
    } catch (...) {  // no caller could catch it
    }
  };
  asr_set_log(next ? receive : nullptr, level, next.get());
  current = std::move(next);  // no call of the old function is running any more
}

// ---- devices --------------------------------------------------------------------------------------------------------

struct Device {
  std::string_view id, name, reason;  // as in asr_device
  std::uint64_t memory_bytes;
  std::int32_t score;
  std::uint32_t n_cores;

  bool usable() const noexcept { return reason.empty(); }
};

// The devices of every back end, best first, then rejected plugins with their reasons.
class DeviceList : public detail::Range<DeviceList> {
 public:
  DeviceList() : DeviceList(std::move(try_probe()).value()) {}
  static Expected<DeviceList> try_probe() {
    asr_device_list *list = nullptr;
    const asr_status status = asr_devices(&list);
    if (status != ASR_OK) return detail::last_error(status);
    return DeviceList(list);
  }

  std::size_t size() const noexcept { return asr_device_list_count(handle_.get()); }
  Device operator[](std::size_t index) const {
    auto device = detail::sized<asr_device>();
    detail::check(asr_device_list_get(handle_.get(), index, &device));
    return {device.id, device.name, device.reason, device.memory_bytes, device.score, device.n_cores};
  }
  const asr_device_list *get() const noexcept { return handle_.get(); }

 private:
  struct Free {
    void operator()(asr_device_list *list) const noexcept { asr_device_list_free(list); }
  };
  explicit DeviceList(asr_device_list *list) : handle_(list) {}

  std::unique_ptr<asr_device_list, Free> handle_;
};

// ---- events ---------------------------------------------------------------------------------------------------------

struct Word {
  std::string_view text;
  double start_s, end_s;  // in seconds from the first sample fed
  float confidence;       // 0..1; -1 without a lattice and in partial events
  std::uint32_t id;       // number in words.txt
  std::string_view rule;  // labels of the grammar: the public rule of the sentence; the word's tags, joined by '\n'
  std::string_view tags;
};

class Words : public detail::Range<Words> {
 public:
  Words(const asr_event *event, std::size_t alternative) : event_(event), alternative_(alternative) {}

  std::size_t size() const noexcept { return asr_event_n_words(event_, alternative_); }
  Word operator[](std::size_t index) const {
    auto word = detail::sized<asr_word>();
    detail::check(asr_event_word(event_, alternative_, index, &word));
    return {word.text, word.start_s, word.end_s, word.confidence, word.word_id, word.rule, word.tags};
  }

 private:
  const asr_event *event_;
  std::size_t alternative_;
};

// One hypothesis: its words and natural-log costs.
class Alternative {
 public:
  Alternative(const asr_event *event, std::size_t index) : event_(event), index_(index) {}

  std::string_view text() const noexcept { return asr_event_alternative_text(event_, index_); }
  Words words() const noexcept { return Words(event_, index_); }
  std::string_view rule() const noexcept { return asr_event_rule(event_, index_); }  // public rule of the grammar
  std::string_view tags() const noexcept { return asr_event_tags(event_, index_); }  // tags of the words, joined by '\n'
  double graph_cost() const { return costs().first; }
  double acoustic_cost() const { return costs().second; }  // unscaled

 private:
  std::pair<double, double> costs() const {
    std::pair<double, double> costs;
    detail::check(asr_event_alternative_costs(event_, index_, &costs.first, &costs.second));
    return costs;
  }

  const asr_event *event_;
  std::size_t index_;
};

// The alternatives of an event, best first.
class Alternatives : public detail::Range<Alternatives> {
 public:
  explicit Alternatives(const asr_event *event) : event_(event) {}

  std::size_t size() const noexcept { return asr_event_n_alternatives(event_); }
  Alternative operator[](std::size_t index) const noexcept { return Alternative(event_, index); }

 private:
  const asr_event *event_;
};

// The transition-ids of an arc or an end of a lattice, one per frame.
class TransitionIds {
 public:
  TransitionIds(const std::uint32_t *begin, const std::uint32_t *end) : begin_(begin), end_(end) {}

  const std::uint32_t *begin() const noexcept { return begin_; }
  const std::uint32_t *end() const noexcept { return end_; }
  std::size_t size() const noexcept { return static_cast<std::size_t>(end_ - begin_); }
  std::uint32_t operator[](std::size_t index) const noexcept { return begin_[index]; }

 private:
  const std::uint32_t *begin_, *end_;
};

// An arc of a lattice: one word between two states.
struct Arc {
  std::uint32_t from, to, word_id;
  std::string_view word;
  double graph_cost, acoustic_cost;  // natural logarithms, negated; acoustic_cost is unscaled
  double posterior, start_s, end_s;
  TransitionIds transition_ids;
};

struct LatticeState {
  double time_s;
  double end_graph_cost, end_acoustic_cost, end_posterior;  // the graph cost is INFINITY if no path ends here
  TransitionIds end_transition_ids;
};

class Arcs : public detail::Range<Arcs> {
 public:
  explicit Arcs(const asr_lattice &lattice) : lattice_(lattice) {}

  std::size_t size() const noexcept { return static_cast<std::size_t>(lattice_.n_arcs); }
  Arc operator[](std::size_t index) const noexcept {
    const asr_lattice &l = lattice_;
    const std::uint32_t *ids = l.transition_id;
    return {l.arc_from[index],       l.arc_to[index],
            l.arc_word_id[index],    l.arc_word[index],
            l.arc_graph_cost[index], l.arc_acoustic_cost[index],
            l.arc_posterior[index],  l.arc_start_s[index],
            l.arc_end_s[index],      TransitionIds(ids + l.alignment_begin[index], ids + l.alignment_begin[index + 1])};
  }

 private:
  asr_lattice lattice_;
};

class LatticeStates : public detail::Range<LatticeStates> {
 public:
  explicit LatticeStates(const asr_lattice &lattice) : lattice_(lattice) {}

  std::size_t size() const noexcept { return lattice_.n_states; }
  LatticeState operator[](std::size_t index) const noexcept {
    const asr_lattice &l = lattice_;
    const std::uint64_t *begin = l.alignment_begin + l.n_arcs + index;
    return {l.state_time_s[index], l.end_graph_cost[index], l.end_acoustic_cost[index], l.end_posterior[index],
            TransitionIds(l.transition_id + begin[0], l.transition_id + begin[1])};
  }

 private:
  asr_lattice lattice_;
};

// The alternatives of an utterance as a graph: see asr_lattice.
class Lattice {
 public:
  explicit Lattice(const asr_lattice &lattice) : lattice_(lattice) {}

  std::uint32_t n_frames() const noexcept { return lattice_.n_frames; }
  double beam() const noexcept { return lattice_.beam; }
  double acoustic_scale() const noexcept { return lattice_.acoustic_scale; }
  Arcs arcs() const noexcept { return Arcs(lattice_); }                      // grouped by state, in the order of the states
  LatticeStates states() const noexcept { return LatticeStates(lattice_); }  // paths begin in state 0
  const asr_lattice &arrays() const noexcept { return lattice_; }

 private:
  asr_lattice lattice_;
};

enum class EventKind {
  kNone = 0,  // an empty Event
  kReady = ASR_EVENT_READY,
  kSpeechStart = ASR_EVENT_SPEECH_START,
  kPartial = ASR_EVENT_PARTIAL,
  kEndpoint = ASR_EVENT_ENDPOINT,
  kFinal = ASR_EVENT_FINAL,
  kError = ASR_EVENT_ERROR,
  kEnd = ASR_EVENT_END,
  kProbablyFinished = ASR_EVENT_PROBABLY_FINISHED,
  kNoInput = ASR_EVENT_NO_INPUT,
  kSpeechResumed = ASR_EVENT_SPEECH_RESUMED,
  kRows = ASR_EVENT_ROWS
};

// An event of a stream; it may outlive its stream and engine. An empty one has kind kNone and no words.
class Event {
 public:
  Event() = default;
  explicit Event(asr_event *event) noexcept : handle_(event) {}  // takes ownership

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  EventKind kind() const noexcept { return static_cast<EventKind>(asr_event_get_kind(get())); }
  asr_status status() const noexcept { return asr_event_status(get()); }   // ASR_OK except for kError
  std::uint32_t flags() const noexcept { return asr_event_flags(get()); }  // ASR_FLAG_*
  double time_s() const noexcept { return asr_event_time_s(get()); }
  std::string_view text() const noexcept { return asr_event_text(get()); }  // for kError: the error message
  Alternatives alternatives() const noexcept { return Alternatives(get()); }
  Words words() const noexcept { return Words(get(), 0); }  // words of the best alternative
  // Probability that the speech is not in the grammar, 0..1; -1 if unknown.
  float out_of_grammar() const noexcept { return asr_event_out_of_grammar(get()); }
  // Number of first words that are certain: every later event of the utterance begins with them.
  std::size_t n_stable_words() const noexcept { return asr_event_n_stable_words(get()); }

  // Returns the lattice of a kFinal event of a stream with a lattice_beam; throws ASR_NOT_FOUND otherwise.
  Lattice lattice() const { return try_lattice().value(); }
  Expected<Lattice> try_lattice() const {
    auto lattice = detail::sized<asr_lattice>();
    const asr_status status = asr_event_lattice(get(), &lattice);
    if (status != ASR_OK) return detail::last_error(status);
    return Lattice(lattice);
  }

  // Returns the rows of a kRows event, valid as long as the event; throws ASR_NOT_FOUND for other kinds.
  asr_rows rows() const { return try_rows().value(); }
  Expected<asr_rows> try_rows() const {
    auto rows = detail::sized<asr_rows>();
    const asr_status status = asr_event_rows(get(), &rows);
    if (status != ASR_OK) return detail::last_error(status);
    return rows;
  }

  const asr_event *get() const noexcept { return handle_.get(); }
  asr_event *release() noexcept { return handle_.release(); }  // the caller frees the result with asr_event_free

 private:
  struct Free {
    void operator()(asr_event *event) const noexcept { asr_event_free(event); }
  };
  std::unique_ptr<asr_event, Free> handle_;
};

// ---- streams --------------------------------------------------------------------------------------------------------

// The fields of asr_stream_config with their defaults. `callback` and `user_data` are unused: Engine::open takes a function.
struct StreamConfig : asr_stream_config {
  StreamConfig() noexcept : asr_stream_config() { asr_stream_config_default(this); }
};

// Rows of log-likelihoods for StreamView::feed_device, with the defaults of asr_device_rows_default.
struct DeviceRows : asr_device_rows {
  DeviceRows() noexcept : asr_device_rows() { asr_device_rows_default(this); }
};

// Several acoustic models of an engine, by name, for StreamConfig.fusion: `config.fusion = fusion.get()`. It must live until
// Engine::open has returned.
class Fusion {
 public:
  explicit Fusion(asr_fusion_rule rule = ASR_FUSION_SUM) {
    asr_fusion_default(&fusion_);
    fusion_.rule = rule;
  }

  // "" is the engine's own model. Returns this, so that calls can follow each other.
  Fusion &add(std::string model, float weight = 1) {
    models_.push_back(std::move(model));
    weights_.push_back(weight);
    return *this;
  }
  // Time constant of ASR_FUSION_FOLLOW, and the speech that ASR_FUSION_SELECT decides after.
  Fusion &set_follow(std::chrono::milliseconds time) { return fusion_.follow_ms = in_ms(time), *this; }
  Fusion &set_select(std::chrono::milliseconds time) { return fusion_.select_ms = in_ms(time), *this; }

  // Valid until the next call.
  const asr_fusion *get() {
    names_.clear();
    for (const std::string &model : models_) names_.push_back(model.c_str());
    fusion_.n_models = static_cast<std::uint32_t>(names_.size());
    fusion_.models = names_.data();
    fusion_.weights = weights_.data();
    return &fusion_;
  }

 private:
  // Values out of range become UINT32_MAX, which Engine::open refuses.
  static std::uint32_t in_ms(std::chrono::milliseconds time) {
    return time.count() > 0 && time.count() < UINT32_MAX ? static_cast<std::uint32_t>(time.count()) : UINT32_MAX;
  }

  std::vector<std::string> models_;
  std::vector<float> weights_;
  std::vector<const char *> names_;
  asr_fusion fusion_;
};

class StreamView;
using Callback = std::function<void(StreamView stream, Event event)>;

namespace detail {

// Receiver gets the library's calls for events. The stream owns it and is closed first.
struct Receiver {
  Callback callback;
  asr_input input;
  std::size_t unit;
  std::exception_ptr failure;  // exception of the callback; written before END is delivered, read after

  void receive(asr_stream *stream, Event event) noexcept;
};

// The receiver whose callback is running on this thread.
inline thread_local const Receiver *running = nullptr;

}  // namespace detail

// A stream owned elsewhere: the argument of callbacks, and the base of Stream.
class StreamView {
 public:
  StreamView() = default;

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  asr_stream *get() const noexcept { return handle_; }

  // Appends n samples of each channel, or n rows of features or log-likelihoods. Blocks while the backlog is too long. The type
  // must match the stream's input: std::int16_t for ASR_INPUT_INT16, std::uint8_t for G.711, else float.
  template <typename Value>
  void feed(const Value *values, std::size_t n) {
    try_feed(values, n).value();
  }
  template <typename Value>
  Expected<void> try_feed(const Value *values, std::size_t n) {
    return feed_with(asr_feed, values, n);
  }

  // Feeds all values of a container with data() and size(): whole samples of all channels, or whole rows.
  template <typename Container>
  void feed(const Container &values) {
    try_feed(values).value();
  }
  template <typename Container>
  Expected<void> try_feed(const Container &values) {
    return feed_all_with(asr_feed, values);
  }

  // Appends n rows in memory of the engine's device, with a StreamConfig.rows_memory (Engine::memory): asr_feed_device.
  void feed_device(const asr_device_rows &rows, std::size_t n) { try_feed_device(rows, n).value(); }
  Expected<void> try_feed_device(const asr_device_rows &rows, std::size_t n) {
    return detail::outcome(asr_feed_device(handle_, &rows, n));
  }

  // Feeds without blocking: all values, or none (false) if feed would block.
  template <typename Container>
  bool feed_now(const Container &values) {
    return try_feed_now(values).value();
  }
  template <typename Container>
  Expected<bool> try_feed_now(const Container &values) {
    const Expected<void> outcome = feed_all_with(asr_try_feed, values);
    if (outcome) return true;
    if (outcome.error().status() == ASR_BUSY) return false;
    return outcome.error();
  }

  // Returns the learned state of the normalisation as bytes, for a later stream of the same speaker and microphone. After kEnd
  // it covers all audio.
  std::string state() const { return try_state().value(); }
  Expected<std::string> try_state() const {
    std::size_t n = 0;
    asr_status status = asr_stream_get_state(handle_, nullptr, 0, &n);
    std::string bytes(status == ASR_OK ? n : 0, 0);
    if (status == ASR_OK) status = asr_stream_get_state(handle_, bytes.data(), bytes.size(), &n);
    if (status != ASR_OK) return detail::last_error(status);
    return bytes;
  }

  // Starts the stream from a state, before the first feed.
  void set_state(std::string_view bytes) { try_set_state(bytes).value(); }
  Expected<void> try_set_state(std::string_view bytes) {
    return detail::outcome(asr_stream_set_state(handle_, bytes.empty() ? "" : bytes.data(), bytes.size()));
  }

  // How far the stream is behind its input: asr_stream_stats.
  asr_stream_stats stats() const { return try_stats().value(); }
  Expected<asr_stream_stats> try_stats() const {
    auto stats = detail::sized<asr_stream_stats>();
    const asr_status status = asr_stream_get_stats(handle_, &stats);
    if (status != ASR_OK) return detail::last_error(status);
    return stats;
  }

  // Ends the current utterance, or drops it with all audio fed before. Only for streams with asr_stream_config.endpoint.
  void end_utterance() { try_end_utterance().value(); }
  Expected<void> try_end_utterance() { return detail::outcome(asr_end_utterance(handle_)); }
  void cancel_utterance() { try_cancel_utterance().value(); }
  Expected<void> try_cancel_utterance() { return detail::outcome(asr_cancel_utterance(handle_)); }

  // Selects the graph of the next utterance, by its name in the engine; "" is the bundle's own.
  void set_graph(const std::string &name) { try_set_graph(name).value(); }
  Expected<void> try_set_graph(const std::string &name) { return detail::outcome(asr_set_graph(handle_, name.c_str())); }

  // Boosts phrases, one per line, for the current utterance or else the next; needs a lattice_beam. Calls add up.
  void boost(std::string_view phrases, float bonus) { try_boost(phrases, bonus).value(); }
  Expected<void> try_boost(std::string_view phrases, float bonus) {
    return detail::outcome(asr_boost(handle_, phrases.empty() ? "" : phrases.data(), phrases.size(), bonus));
  }
  void forget_boosts() { try_forget_boosts().value(); }
  Expected<void> try_forget_boosts() { return detail::outcome(asr_boost(handle_, nullptr, 0, 0)); }

  // Resets the stream to its state when opened; pending events are dropped. A callback that threw gets no more events.
  void reset() { try_reset().value(); }
  Expected<void> try_reset() { return detail::outcome(asr_reset(handle_)); }

  // Declares the audio complete. Does not block.
  void finish() { try_finish().value(); }
  Expected<void> try_finish() { return detail::outcome(asr_finish(handle_)); }

  // Stops the work: an error event with ASR_CANCELLED and END follow. Does not block.
  void cancel() { detail::check(asr_cancel(handle_)); }

  // Returns the next event if one is available, else an empty one. Not for streams with a callback.
  Event poll() { return try_poll().value(); }
  Expected<Event> try_poll() {
    asr_event *event = nullptr;
    const asr_status status = asr_result(handle_, &event);
    if (status != ASR_OK) return detail::last_error(status);
    return Event(event);
  }

  // Waits for the next event and takes it; empty if `timeout` passes first. A negative timeout means none. After kEnd it throws
  // ASR_INVALID_STATE. Not for streams with a callback.
  Event next(std::chrono::milliseconds timeout = std::chrono::milliseconds(-1)) { return try_next(timeout).value(); }
  Expected<Event> try_next(std::chrono::milliseconds timeout = std::chrono::milliseconds(-1)) {
    const asr_status status = asr_wait(handle_, clipped(timeout));
    if (status == ASR_TIMEOUT) return Event();
    if (status != ASR_OK) return detail::last_error(status);
    return try_poll();
  }

  // Waits until next() has an event. With a callback it waits until END was delivered, and throws the callback's exception.
  // False if `timeout` passes first.
  bool wait(std::chrono::milliseconds timeout = std::chrono::milliseconds(-1)) {
    const bool ready = try_wait(timeout).value();
    if (ready && receiver_ != nullptr && receiver_->failure) std::rethrow_exception(receiver_->failure);
    return ready;
  }
  Expected<bool> try_wait(std::chrono::milliseconds timeout = std::chrono::milliseconds(-1)) {
    const asr_status status = asr_wait(handle_, clipped(timeout));
    if (status != ASR_OK && status != ASR_TIMEOUT) return detail::last_error(status);
    return status == ASR_OK;
  }

  // The callback's exception, if any; valid after wait().
  std::exception_ptr callback_failure() const noexcept { return receiver_ != nullptr ? receiver_->failure : nullptr; }

  // Range for `for (senone::Event &event : stream.events())`: waits for each event, up to and including kEnd.
  class Events;
  Events events();

  // Takes events up to kEnd and returns the kFinal one; throws the Error of a kError event.
  Event final_event() { return try_final_event().value(); }
  Expected<Event> try_final_event() {
    Event final;
    for (;;) {
      Expected<Event> next = try_next();
      if (!next) return next;
      const EventKind kind = next->kind();
      if (kind == EventKind::kError) return Error(next->status(), std::string(next->text()));
      if (kind == EventKind::kFinal) final = std::move(*next);
      if (kind == EventKind::kEnd) return final;
    }
  }

 protected:
  friend struct detail::Receiver;
  StreamView(asr_stream *handle, detail::Receiver *receiver) : handle_(handle), receiver_(receiver) {}

  template <typename Value>
  static bool takes(asr_input input) noexcept {
    if (input == ASR_INPUT_INT16) return std::is_same_v<Value, std::int16_t>;
    if (input == ASR_INPUT_ULAW || input == ASR_INPUT_ALAW) return std::is_same_v<Value, std::uint8_t>;
    return std::is_same_v<Value, float>;
  }

  using FeedFunction = asr_status (*)(asr_stream *, const void *, std::size_t);

  template <typename Value>
  Expected<void> feed_with(FeedFunction function, const Value *values, std::size_t n) {
    static_assert(std::is_same_v<Value, std::int16_t> || std::is_same_v<Value, std::uint8_t> || std::is_same_v<Value, float>,
                  "feed int16_t, uint8_t or float values");
    if (receiver_ != nullptr && !takes<Value>(receiver_->input)) {
      return Error(ASR_INVALID_ARGUMENT, std::string("feed: the stream takes ") +
                                             (takes<float>(receiver_->input)          ? "float"
                                              : takes<std::int16_t>(receiver_->input) ? "int16_t"
                                                                                      : "uint8_t, G.711") +
                                             "; set StreamConfig.input for other values");
    }
    return detail::outcome(function(handle_, values, n));
  }

  template <typename Container>
  Expected<void> feed_all_with(FeedFunction function, const Container &values) {
    const std::size_t unit = receiver_ != nullptr ? receiver_->unit : 1;
    if (values.size() % unit != 0) {
      return Error(ASR_INVALID_ARGUMENT, "feed: " + std::to_string(values.size()) + " values are no whole number of " +
                                             std::to_string(unit) + ", the values of a sample of all channels or of a row");
    }
    return feed_with(function, values.data(), values.size() / unit);
  }

  static std::int32_t clipped(std::chrono::milliseconds timeout) noexcept {
    return timeout.count() < 0 ? -1 : static_cast<std::int32_t>(timeout.count() < INT32_MAX ? timeout.count() : INT32_MAX);
  }

  asr_stream *handle_ = nullptr;
  detail::Receiver *receiver_ = nullptr;
};

class StreamView::Events {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Event;
    using difference_type = std::ptrdiff_t;
    using pointer = Event *;
    using reference = Event &;

    Event &operator*() const { return *event_; }
    Event *operator->() const { return event_; }
    Iterator &operator++() {
      if (last_) {
        event_ = nullptr;
      } else {
        read();
      }
      return *this;
    }
    bool operator==(const Iterator &other) const { return event_ == other.event_; }
    bool operator!=(const Iterator &other) const { return event_ != other.event_; }

   private:
    friend class Events;
    Iterator() = default;
    explicit Iterator(Events *events) : stream_(events->stream_), event_(&events->event_) { read(); }
    void read() {
      *event_ = stream_.next();
      last_ = event_->kind() == EventKind::kEnd;
    }

    StreamView stream_;
    Event *event_ = nullptr;
    bool last_ = false;  // kEnd was read; the loop's body may have moved the event away
  };

  explicit Events(StreamView stream) : stream_(stream) {}
  Iterator begin() { return Iterator(this); }
  Iterator end() { return Iterator(); }

 private:
  StreamView stream_;
  Event event_;
};

inline StreamView::Events StreamView::events() { return Events(*this); }

inline void detail::Receiver::receive(asr_stream *stream, Event event) noexcept {
  if (failure) return;
  running = this;
  try {
    callback(StreamView(stream, this), std::move(event));
  } catch (...) {
    failure = std::current_exception();
    asr_cancel(stream);
  }
  running = nullptr;
}

// Stream owns one source of audio. Engine::open makes it; destroying it ends it, finished or not.
class Stream : public StreamView {
 public:
  Stream() = default;
  Stream(Stream &&other) noexcept
      : StreamView(std::exchange(other.handle_, nullptr), std::exchange(other.receiver_, nullptr)),
        owned_receiver_(std::move(other.owned_receiver_)) {}
  Stream &operator=(Stream &&other) noexcept {
    if (this == &other) return *this;
    close();
    handle_ = std::exchange(other.handle_, nullptr);
    receiver_ = std::exchange(other.receiver_, nullptr);
    owned_receiver_ = std::move(other.owned_receiver_);
    return *this;
  }
  ~Stream() { close(); }

  // Waits for a running callback, discards pending events, frees everything. Called in the stream's own callback, it cannot
  // wait: it cancels the stream, and another thread closes it.
  void close() noexcept {
    asr_stream *handle = std::exchange(handle_, nullptr);
    detail::Receiver *receiver = std::exchange(receiver_, nullptr);
    if (receiver == nullptr || receiver != detail::running) {
      asr_close(handle);
      owned_receiver_.reset();
      return;
    }
    (void)owned_receiver_.release();
    receiver->failure = std::make_exception_ptr(Error(ASR_INVALID_STATE, "the stream was closed in its own callback"));
    asr_cancel(handle);
    try {
      std::thread([handle, receiver] {
        asr_close(handle);
        delete receiver;
      }).detach();
    } catch (...) {  // no thread: stream and receiver stay until the process ends
    }
  }

 private:
  friend class Engine;
  Stream(asr_stream *handle, std::unique_ptr<detail::Receiver> receiver)
      : StreamView(handle, receiver.get()), owned_receiver_(std::move(receiver)) {}

  std::unique_ptr<detail::Receiver> owned_receiver_;
};

// ---- speakers -------------------------------------------------------------------------------------------------------

// A speaker shared by streams: `config.speaker = speaker.get()`. Engine::new_speaker makes it. It may outlive the engine, and
// its streams may outlive it.
class Speaker {
 public:
  Speaker() = default;

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  asr_speaker *get() const noexcept { return handle_.get(); }

  // Selects the estimates of adapt(): a transform of rows, the likeliest of n_warps warps, and a transform of the
  // model's means. n_warps is 11 or 21; 0: no warps. See asr_speaker_set_methods.
  void set_methods(bool fmllr, std::uint32_t n_warps = 0, bool mllr = false) { try_set_methods(fmllr, n_warps, mllr).value(); }
  Expected<void> try_set_methods(bool fmllr, std::uint32_t n_warps = 0, bool mllr = false) {
    std::uint32_t methods = 0;
    if (fmllr) methods |= ASR_SPEAKER_FMLLR;
    if (mllr) methods |= ASR_SPEAKER_MLLR;
    if (n_warps > 0) methods |= ASR_SPEAKER_VTLN;
    return detail::outcome(asr_speaker_set_methods(get(), methods, n_warps));
  }

  // Initial warp of the speaker's streams; setting another one discards the transforms.
  float warp() const { return try_warp().value(); }
  Expected<float> try_warp() const {
    float warp = 1;
    const asr_status status = asr_speaker_get_warp(get(), &warp);
    if (status != ASR_OK) return detail::last_error(status);
    return warp;
  }
  void set_warp(float warp) { try_set_warp(warp).value(); }
  Expected<void> try_set_warp(float warp) { return detail::outcome(asr_speaker_set_warp(get(), warp)); }

  // Chooses the warp; if it stays the same, re-estimates the transforms from all speech up to a kFinal of the speaker's
  // streams. The result is for utterances that begin later. Takes up to some seconds. Throws ASR_INVALID_STATE with less than 1
  // s of words.
  void adapt() { try_adapt().value(); }
  Expected<void> try_adapt() { return detail::outcome(asr_adapt(get())); }

  // Returns the transform y = A x + b by rows: [n_feature_dims][n_feature_dims + 1], with b last in each row. Empty without a
  // transform.
  std::vector<float> transform() const { return try_transform().value(); }
  Expected<std::vector<float>> try_transform() const { return values_of(asr_speaker_get_transform); }

  // Returns the transform m' = A m + b of the model's means in the same form.
  std::vector<float> mean_transform() const { return try_mean_transform().value(); }
  Expected<std::vector<float>> try_mean_transform() const { return values_of(asr_speaker_get_mean_transform); }

  // Replaces the transform, for utterances that begin later; without values removes it. Discards that of the means.
  void set_transform(const std::vector<float> &values) { try_set_transform(values).value(); }
  Expected<void> try_set_transform(const std::vector<float> &values) {
    return detail::outcome(asr_speaker_set_transform(get(), values.data(), values.size()));
  }
  void set_mean_transform(const std::vector<float> &values) { try_set_mean_transform(values).value(); }
  Expected<void> try_set_mean_transform(const std::vector<float> &values) {
    return detail::outcome(asr_speaker_set_mean_transform(get(), values.data(), values.size()));
  }

 private:
  friend class Engine;
  struct Free {
    void operator()(asr_speaker *speaker) const noexcept { asr_speaker_free(speaker); }
  };
  explicit Speaker(asr_speaker *speaker) : handle_(speaker) {}

  // Returns the values of a transform; `read` is the function of the C ABI that gets it.
  Expected<std::vector<float>> values_of(decltype(&asr_speaker_get_transform) read) const {
    std::size_t n = 0;
    asr_status status = read(get(), nullptr, 0, &n);
    std::vector<float> values(status == ASR_OK ? n : 0);
    if (n > 0) status = read(get(), values.data(), values.size(), &n);
    if (status != ASR_OK) return detail::last_error(status);
    values.resize(n);  // 0 if another thread has just removed the transform
    return values;
  }

  std::unique_ptr<asr_speaker, Free> handle_;
};

// ---- engine ---------------------------------------------------------------------------------------------------------

// The fields of asr_engine_config with their defaults.
struct EngineConfig : asr_engine_config {
  EngineConfig() noexcept : asr_engine_config() { asr_engine_config_default(this); }
};

struct EngineInfo {
  std::string_view device_id, device_name;  // as in asr_engine_info
  double sample_rate_hz, frame_shift_ms;
  std::uint32_t n_feature_dims, n_states, n_words, n_graph_states;
  std::uint64_t n_graph_arcs;
  std::string_view search_device_id, search_device_name;
  bool is_batch;
  std::uint32_t n_measurements;
};

// Engine is a bundle on a device. Streams keep the parts that they need, so the engine may be destroyed first.
class Engine {
 public:
  Engine() = default;
  explicit Engine(const std::string &bundle, const EngineConfig &config = EngineConfig())
      : Engine(try_load(bundle, config).value()) {}
  static Expected<Engine> try_load(const std::string &bundle, const EngineConfig &config = EngineConfig()) {
    asr_engine *engine = nullptr;
    const asr_status status = asr_engine_load(bundle.c_str(), &config, &engine);
    if (status != ASR_OK) return detail::last_error(status);
    return Engine(engine);
  }

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  asr_engine *get() const noexcept { return handle_.get(); }

  EngineInfo info() const {
    auto info = detail::sized<asr_engine_info>();
    detail::check(asr_engine_get_info(get(), &info));
    return {info.device_id,          info.device_name,   info.sample_rate_hz, info.frame_shift_ms, info.n_feature_dims,
            info.n_states,           info.n_words,       info.n_graph_states, info.n_graph_arcs,   info.search_device_id,
            info.search_device_name, info.is_batch != 0, info.n_measurements};
  }

  // The device whose memory rows may be in: asr_engine_memory.
  asr_engine_memory memory() const {
    auto memory = detail::sized<asr_engine_memory>();
    detail::check(asr_engine_get_memory(get(), &memory));
    return memory;
  }

  // What the engine has done so far, for monitoring: asr_engine_stats.
  asr_engine_stats stats() const { return try_stats().value(); }
  Expected<asr_engine_stats> try_stats() const {
    auto stats = detail::sized<asr_engine_stats>();
    const asr_status status = asr_engine_get_stats(get(), &stats);
    if (status != ASR_OK) return detail::last_error(status);
    return stats;
  }

  // Loads the graph of a bundle or of an archive made for the engine's model. A graph with the same name is replaced.
  void add_graph(const std::string &name, const std::string &path) { try_add_graph(name, path).value(); }
  Expected<void> try_add_graph(const std::string &name, const std::string &path) {
    return detail::outcome(asr_engine_add_graph(get(), name.c_str(), path.c_str()));
  }

  // Does the same with the bytes of an archive.
  void add_graph_bytes(const std::string &name, std::string_view bytes) { try_add_graph_bytes(name, bytes).value(); }
  Expected<void> try_add_graph_bytes(const std::string &name, std::string_view bytes) {
    const char *const data = bytes.empty() ? "" : bytes.data();
    return detail::outcome(asr_engine_add_graph_bytes(get(), name.c_str(), data, bytes.size()));
  }

  // Removes a graph; streams that have chosen it keep it.
  void remove_graph(const std::string &name) { try_remove_graph(name).value(); }
  Expected<void> try_remove_graph(const std::string &name) {
    return detail::outcome(asr_engine_remove_graph(get(), name.c_str()));
  }

  // Boosts phrases, one per line, in all later utterances of a graph; graph nullptr: of every graph. Calls add up.
  void boost(const char *graph, std::string_view phrases, float bonus, bool allow_unknown = false) {
    try_boost(graph, phrases, bonus, allow_unknown).value();
  }
  Expected<void> try_boost(const char *graph, std::string_view phrases, float bonus, bool allow_unknown = false) {
    const char *const text = phrases.empty() ? "" : phrases.data();
    return detail::outcome(asr_engine_boost(get(), graph, text, phrases.size(), bonus, allow_unknown ? 1 : 0));
  }
  void forget_boosts(const char *graph) { try_forget_boosts(graph).value(); }
  Expected<void> try_forget_boosts(const char *graph) {
    return detail::outcome(asr_engine_boost(get(), graph, nullptr, 0, 0, 0));
  }

  // Loads the acoustic model of a bundle, for the states of the engine's own, and gives it the name, also that of another.
  void add_model(const std::string &name, const std::string &path) { try_add_model(name, path).value(); }
  Expected<void> try_add_model(const std::string &name, const std::string &path) {
    return detail::outcome(asr_engine_add_model(get(), name.c_str(), path.c_str()));
  }

  // Streams that have it keep it.
  void remove_model(const std::string &name) { try_remove_model(name).value(); }
  Expected<void> try_remove_model(const std::string &name) {
    return detail::outcome(asr_engine_remove_model(get(), name.c_str()));
  }

  // A speaker of whom nothing is known, for StreamConfig.speaker. Reads the acoustic model again, unless another one has it.
  Speaker new_speaker() { return try_new_speaker().value(); }
  Expected<Speaker> try_new_speaker() {
    asr_speaker *speaker = nullptr;
    const asr_status status = asr_speaker_new(get(), &speaker);
    if (status != ASR_OK) return detail::last_error(status);
    return Speaker(speaker);
  }

  // Opens a stream. Events go to the callback; without one, next(), events() or final_event() take them.
  Stream open(const StreamConfig &config = StreamConfig(), Callback callback = nullptr) {
    return try_open(config, std::move(callback)).value();
  }
  Expected<Stream> try_open(const StreamConfig &config = StreamConfig(), Callback callback = nullptr) {
    if (config.callback != nullptr) {
      return Error(ASR_INVALID_ARGUMENT, "config.callback: C++ streams take the callback as the second argument of open()");
    }
    auto receiver = std::make_unique<detail::Receiver>();
    receiver->callback = std::move(callback);
    receiver->input = config.input;
    receiver->unit = values_of_unit(config);
    asr_stream_config c_config = config;
    c_config.callback = nullptr;
    if (receiver->callback) {
      c_config.callback = [](asr_stream *stream, asr_event *event, void *user_data) {
        static_cast<detail::Receiver *>(user_data)->receive(stream, Event(event));
      };
    }
    c_config.user_data = receiver.get();
    asr_stream *stream = nullptr;
    const asr_status status = asr_open(get(), &c_config, &stream);
    if (status != ASR_OK) return detail::last_error(status);
    return Stream(stream, std::move(receiver));
  }

 private:
  struct Close {
    void operator()(asr_engine *engine) const noexcept { asr_engine_close(engine); }
  };
  explicit Engine(asr_engine *engine) : handle_(engine) {}

  // Returns the number of values in a sample of all channels, or in a row.
  std::size_t values_of_unit(const StreamConfig &config) const {
    if (config.input != ASR_INPUT_FEATURES && config.input != ASR_INPUT_LOGLIKES) {
      return config.n_channels > 0 ? config.n_channels : 1;
    }
    auto info = detail::sized<asr_engine_info>();
    if (asr_engine_get_info(get(), &info) != ASR_OK) return 1;
    return config.input == ASR_INPUT_FEATURES ? info.n_feature_dims : info.n_states;
  }

  std::unique_ptr<asr_engine, Close> handle_;
};

// ---- recordings -----------------------------------------------------------------------------------------------------

// The fields of asr_audio_config with their defaults.
struct AudioConfig : asr_audio_config {
  AudioConfig() noexcept : asr_audio_config() { asr_audio_config_default(this); }
};

// Decodes the bytes of a recording, as they come, into samples for a stream of ASR_INPUT_FLOAT. See asr_audio.
class Audio {
 public:
  explicit Audio(const AudioConfig &config = AudioConfig()) : Audio(try_open(config).value()) {}
  static Expected<Audio> try_open(const AudioConfig &config = AudioConfig()) {
    asr_audio *audio = nullptr;
    const asr_status status = asr_audio_open(&config, &audio);
    if (status != ASR_OK) return detail::last_error(status);
    return Audio(audio);
  }

  asr_audio *get() const noexcept { return handle_.get(); }

  void push(const void *bytes, std::size_t n_bytes) { try_push(bytes, n_bytes).value(); }
  Expected<void> try_push(const void *bytes, std::size_t n_bytes) {
    return detail::outcome(asr_audio_push(get(), bytes, n_bytes));
  }
  void finish() { try_finish().value(); }
  Expected<void> try_finish() { return detail::outcome(asr_audio_finish(get())); }

  // Returns the number of samples that were written to samples[n][n_out_channels].
  std::size_t read(float *samples, std::size_t n) { return try_read(samples, n).value(); }
  Expected<std::size_t> try_read(float *samples, std::size_t n) {
    std::size_t n_read = 0;
    const asr_status status = asr_audio_read(get(), samples, n, &n_read);
    if (status != ASR_OK) return detail::last_error(status);
    return n_read;
  }

  asr_audio_info info() const { return try_info().value(); }
  Expected<asr_audio_info> try_info() const {
    auto info = detail::sized<asr_audio_info>();
    const asr_status status = asr_audio_get_info(get(), &info);
    if (status != ASR_OK) return detail::last_error(status);
    return info;
  }

  // The next warning, a message whose subject is the recording; "" if there is none.
  std::string next_warning() {
    const char *const warning = asr_audio_warning(get());
    return warning == nullptr ? "" : warning;
  }

 private:
  explicit Audio(asr_audio *handle) : handle_(handle) {}

  struct Close {
    void operator()(asr_audio *audio) const noexcept { asr_audio_close(audio); }
  };
  std::unique_ptr<asr_audio, Close> handle_;
};

}  // namespace senone
#endif  // SENONE_HPP
