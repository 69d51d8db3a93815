// SPDX-License-Identifier: Apache-2.0
// Implements `senone listen`: recognises the microphone, until Ctrl-C or for --seconds. Results go to standard output, a line
// for each utterance. On a terminal the last line of standard error has a level meter and the words so far.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "builder/graph/graph_builder.h"
#include "builder/graph/jsgf.h"
#include "builder/text/text_file.h"
#include "core/base/printable.h"
#include "core/model/bundle.h"
#include "tools/handles.h"
#include "tools/installed_models.h"
#include "tools/microphone.h"
#include "tools/progress.h"
#include "tools/recognize.h"
#include "tools/tool.h"

namespace asr::tool {
namespace {

constexpr double kPiece_s = 0.05;  // of audio that is read at a time; the meter follows it
constexpr uint32_t kPartialInterval_ms = 100;
constexpr double kBehind_s = 2;  // more than the detector of speech holds back
constexpr char kGraph[] = "listen";

struct ListenOptions {
  std::string model, device, input, endpoint, jsgf, lexicon, graph;
  double seconds = 0;  // 0: until it is interrupted
  bool list = false, times = false, partials = false;
};

// LevelMeter draws the level of the last piece: a bar of kWidth cells from -60 dB to full scale.
class LevelMeter {
 public:
  void hear(const std::vector<int16_t> &samples) {
    double sum = 0;
    is_clipped_ = false;
    for (const int16_t sample : samples) {
      sum += double(sample) * sample;
      is_clipped_ |= sample == INT16_MAX || sample == INT16_MIN;
    }
    const double rms = samples.empty() ? 0 : std::sqrt(sum / double(samples.size())) / 32768;
    level_ = std::clamp(1 + 20 * std::log10(std::max(rms, 1e-6)) / 60, 0.0, 1.0);
  }
  std::string bar() const {
    constexpr int kWidth = 12;
    const int n = static_cast<int>(std::lround(level_ * kWidth));
    return '[' + std::string(size_t(n), '#') + std::string(size_t(kWidth - n), '-') + (is_clipped_ ? "!]" : "]");
  }

 private:
  double level_ = 0;
  bool is_clipped_ = false;
};

// Screen prints results, and keeps the line of meter and partial words up to date if standard error is a terminal.
class Screen {
 public:
  explicit Screen(const ListenOptions &options) : options_(options), is_terminal_(isatty(STDERR_FILENO) == 1) {}
  ~Screen() { erase(); }
  Screen(const Screen &) = delete;
  Screen &operator=(const Screen &) = delete;

  void take(const asr_event *event) {
    switch (asr_event_get_kind(event)) {
      case ASR_EVENT_SPEECH_START:
        state_ = kSpeaking;
        break;
      case ASR_EVENT_PROBABLY_FINISHED:
        state_ = kEnding;
        set_partial(event);
        break;
      case ASR_EVENT_SPEECH_RESUMED:
        state_ = kSpeaking;
        break;
      case ASR_EVENT_PARTIAL:
        set_partial(event);
        break;
      case ASR_EVENT_FINAL:
        state_ = kWaiting;
        partial_.clear();
        print(event);
        break;
      default:
        break;
    }
  }

  void draw(const LevelMeter &meter, double behind_s) {
    if (!is_terminal_) return;
    std::string line = meter.bar() + ' ' + state_;
    if (behind_s > kBehind_s) line += format(" %.0f s behind", behind_s);
    if (!partial_.empty()) line += ' ' + printable(partial_);
    fprintf(stderr, "\r\033[K%s", shortened(line).c_str());
    fflush(stderr);
    is_drawn_ = true;
  }

  void say(const std::string &text) {
    erase();
    print_line(stderr, "%s", text.c_str());
  }

 private:
  static constexpr const char *kWaiting = " ", *kSpeaking = ">", *kEnding = ".";  // the last one: an endpoint is near

  void erase() {
    if (is_drawn_) fputs("\r\033[K", stderr);
    fflush(stderr);
    is_drawn_ = false;
  }

  // Words that are not certain are in brackets.
  void set_partial(const asr_event *event) {
    const size_t n_stable = asr_event_n_stable_words(event), n = asr_event_n_words(event, 0);
    std::string text;
    for (size_t i = 0; i < n; ++i) {
      asr_word word;
      word.size = sizeof(word);
      check(asr_event_word(event, 0, i, &word));
      text += (text.empty() ? "" : " ") + std::string(i == n_stable ? "(" : "") + word.text;
    }
    if (n > n_stable) text += ')';
    if (options_.partials && !is_terminal_ && text != partial_) print_line(stderr, "... %s", text.c_str());
    partial_ = text;
  }

  void print(const asr_event *event) {
    const std::string text = asr_event_text(event);
    if ((asr_event_flags(event) & ASR_FLAG_REJECTED) != 0) {
      if (is_terminal_ || options_.partials) say("(not in the grammar; the nearest is: " + text + ")");
      return;
    }
    if (text.empty()) return;
    erase();
    const StdoutLock lock;
    if (options_.times) {
      asr_word first, last;
      first.size = last.size = sizeof(asr_word);
      check(asr_event_word(event, 0, 0, &first));
      check(asr_event_word(event, 0, asr_event_n_words(event, 0) - 1, &last));
      print_line(stdout, "%8.2f %8.2f  %s", first.start_s, last.end_s, text.c_str());
    } else {
      print_line(stdout, "%s", text.c_str());
    }
    flush_stdout();
  }

  // Cuts the beginning of the words, so that the line fits a terminal and the newest are seen.
  static std::string shortened(const std::string &line) {
    constexpr size_t kWidth = 78, kHead = 16;
    if (line.size() <= kWidth) return line;
    size_t begin = line.size() - (kWidth - kHead - 3);
    while (begin < line.size() && (static_cast<unsigned char>(line[begin]) & 0xc0u) == 0x80u) ++begin;  // within UTF-8
    return line.substr(0, kHead) + "..." + line.substr(begin);
  }

  const ListenOptions &options_;
  const bool is_terminal_;
  bool is_drawn_ = false;
  const char *state_ = kWaiting;
  std::string partial_;
};

EnginePointer load_listener(const ListenOptions &options) {
  asr_engine_config config;
  asr_engine_config_default(&config);
  config.device = options.device.c_str();
  asr_engine *engine = nullptr;
  check(asr_engine_load(options.model.c_str(), &config, &engine));
  return {engine, asr_engine_close};
}

// Adds the graph of --graph or --jsgf. Returns true if there is one.
bool add_graph(const ListenOptions &options, asr_engine *engine) {
  if (!options.graph.empty()) {
    check(asr_engine_add_graph(engine, kGraph, options.graph.c_str()));
    return true;
  }
  if (options.jsgf.empty()) return false;
  const std::string lexicon = options.lexicon.empty() ? options.model + "/lexicon.dict" : options.lexicon;
  if (options.lexicon.empty() && access(lexicon.c_str(), F_OK) != 0) {
    throw UsageError("listen: --jsgf needs the model's dictionary; give --lexicon, or put it there as " + lexicon);
  }
  GraphBuilder builder(options.model);
  builder.add_lexicon(read_text(lexicon, {"a dictionary"}), lexicon);
  BuildOptions build;
  build.name = options.jsgf;
  const BuiltGraph graph = builder.build(
      [&](const Vocabulary &vocabulary) {
        return rules_grammar(read_jsgf(options.jsgf, LetterCase::kAsIs), "", vocabulary, options.jsgf);
      },
      build, "listen");
  check(asr_engine_add_graph_bytes(engine, kGraph, graph.archive.data(), graph.archive.size()));
  return true;
}

StreamPointer open_stream(const ListenOptions &options, asr_engine *engine, bool has_grammar, uint32_t rate_hz) {
  asr_stream_config config;
  asr_stream_config_default(&config);
  config.sample_rate_hz = rate_hz;
  const bool rejects = has_grammar || read_bundle_index(options.model).decoding.reject_threshold.has_value();
  config.endpoint = !options.endpoint.empty() ? endpoint_preset(options.endpoint)
                    : rejects                 ? ASR_ENDPOINT_COMMAND
                                              : ASR_ENDPOINT_DICTATION;
  config.partial_interval_ms = kPartialInterval_ms;
  config.early_endpoint_ms = 200;
  config.max_backlog_ms = 0;  // the microphone does not wait
  if (has_grammar) config.graph = kGraph;
  asr_stream *stream = nullptr;
  check(asr_open(engine, &config, &stream));
  return {stream, asr_close};
}

// Takes an event if there is one. Returns false after END, and if there is none.
bool take(asr_stream *stream, Screen *screen, bool *has_ended) {
  asr_event *taken = nullptr;
  check(asr_result(stream, &taken));
  const EventPointer event(taken, asr_event_free);
  if (taken == nullptr) return false;
  const asr_event_kind kind = asr_event_get_kind(taken);
  if (kind == ASR_EVENT_ERROR) fail(asr_event_status(taken), "%s", asr_event_text(taken));
  *has_ended = kind == ASR_EVENT_END;
  screen->take(taken);
  return !*has_ended;
}

bool is_readable(int descriptor) {
  pollfd input{descriptor, POLLIN, 0};
  return poll(&input, 1, 0) == 1;
}

double behind_s(asr_stream *stream) {
  asr_stream_stats stats;
  stats.size = sizeof(stats);
  check(asr_stream_get_stats(stream, &stats));
  return stats.waiting_s;
}

// Feeds the microphone until it is to end. Returns the message if it fails, since what was said before is to be heard.
std::string hear(const ListenOptions &options, Microphone *microphone, asr_stream *stream, Screen *screen) {
  const InputEnd end;
  LevelMeter meter;
  std::vector<int16_t> samples(static_cast<size_t>(kPiece_s * microphone->rate_hz()));
  double heard_s = 0;
  bool has_ended = false, has_lost = false;
  while (!is_readable(end.descriptor()) && (options.seconds == 0 || heard_s < options.seconds)) {
    try {
      if (!microphone->read(samples.data(), samples.size()) && !has_lost) {
        has_lost = true;
        screen->say("senone: warning: some audio was lost, as this machine is too busy (said once)");
      }
    } catch (const Error &error) {
      return error.what();
    }
    heard_s += double(samples.size()) / microphone->rate_hz();
    check(asr_feed(stream, samples.data(), samples.size()));
    while (take(stream, screen, &has_ended)) continue;
    meter.hear(samples);
    screen->draw(meter, behind_s(stream));
  }
  return "";
}

void list_microphones() {
  for (const MicrophoneInfo &each : microphones()) {
    print_line(stdout, "%3d %s %s", each.number, each.is_default ? "*" : " ", each.name.c_str());
  }
}

void listen(ListenOptions options) {
  if (options.list) return list_microphones();
  options.model = find_model(options.model);
  const EnginePointer engine = load_listener(options);
  const bool has_grammar = add_graph(options, engine.get());
  asr_engine_info info;
  info.size = sizeof(info);
  check(asr_engine_get_info(engine.get(), &info));
  Microphone microphone(options.input, static_cast<uint32_t>(std::lround(info.sample_rate_hz)));
  const StreamPointer stream = open_stream(options, engine.get(), has_grammar, microphone.rate_hz());
  Screen screen(options);
  screen.say("listening to " + microphone.name() + (options.seconds > 0 ? "" : "; Ctrl-C ends"));
  const std::string failure = hear(options, &microphone, stream.get(), &screen);
  check(asr_finish(stream.get()));
  for (bool has_ended = false; !has_ended;) {
    check(asr_wait(stream.get(), -1));
    take(stream.get(), &screen, &has_ended);
  }
  if (!failure.empty()) fail(ASR_IO, "%s", failure.c_str());
}

void add_listen(Command app) {
  Command command = app.command("listen", "Recognise the microphone");
  const auto options = std::make_shared<ListenOptions>();
  command.option("--model", options->model, "Bundle, or the name of an installed one; default: the only installed one");
  command.option("--input", options->input, "Microphone: its number or a part of its name; default: the system's");
  command.flag("--list", options->list, "List the microphones; * is the default");
  command.option("--jsgf", options->jsgf, "Grammar in JSGF to listen for, in place of the bundle's graph");
  command.option("--lexicon", options->lexicon, "Dictionary for --jsgf; default: lexicon.dict in the bundle").needs("--jsgf");
  command.option("--graph", options->graph, "Graph to listen for: an archive, or a bundle of the same model")
      .excludes("--jsgf");
  command.option("--endpoint", options->endpoint, "When utterances end; default: command for grammars, else dictation")
      .one_of(std::vector<std::string>{"command", "dictation", "captions"});
  command.option("--seconds", options->seconds, "End after so much audio").range(0.0, 1e9);
  command.flag("--times", options->times, "Print the beginning and the end of each utterance, in seconds");
  command.flag("--partials", options->partials, "Print the words so far where standard error is no terminal");
  command.option("--device", options->device, "Device to compute on, such as cpu or cuda:0; default: the best");
  command.callback([options] { listen(*options); });
}

const Subcommand kListen{"listen", add_listen};

}  // namespace
}  // namespace asr::tool
