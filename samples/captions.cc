// SPDX-License-Identifier: Apache-2.0
// captions BUNDLE SOURCE vtt|srt [SPEED]: makes live captions of speech, WebVTT or SubRip. SOURCE is a recording
// (16-bit mono samples at the model's rate), or "-" for such samples on standard input. "mic" is the microphone, if the
// program was built with PortAudio. A recording is played SPEED times as fast as it was spoken (default 1; 0: as fast
// as possible).
//
//     c++ -std=c++17 captions.cc $(pkg-config --cflags --libs senone) -o captions
//     c++ -std=c++17 -DWITH_PORTAUDIO captions.cc $(pkg-config --cflags --libs senone portaudio-2.0) -o captions
//     captions my-bundle talk.raw srt > talk.srt
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <senone.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#ifdef WITH_PORTAUDIO
#include <portaudio.h>
#endif

namespace {

constexpr std::size_t kMaxCharacters = 42;  // most characters of a line; a caption is one line
constexpr double kChunkSeconds = 0.1;

// Formats 01:02:03.456, with a comma in SubRip.
std::string clock(double seconds, char point) {
  const long long ms = std::llround(1000 * seconds);
  char text[40];
  std::snprintf(text, sizeof(text), "%02lld:%02lld:%02lld%c%03lld", ms / 3600000, ms / 60000 % 60, ms / 1000 % 60, point,
                ms % 1000);
  return text;
}

// Escapes the characters that mark up text in WebVTT.
std::string escaped(const std::string &text) {
  std::string result;
  for (const char c : text) result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return result;
}

void write(const std::string &text) {
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
    throw std::runtime_error(std::string("standard output: cannot be written: ") + std::strerror(errno));
}

class Captions {
 public:
  explicit Captions(bool is_vtt) : is_vtt_(is_vtt) {
    if (is_vtt) write("WEBVTT\n\n");
  }

  // Shows the words of an utterance in as many captions as they need.
  void add(const senone::Event &final) {
    std::string line;
    double begin_s = 0, end_s = 0;
    for (const senone::Word word : final.words()) {
      if (!line.empty() && line.size() + 1 + word.text.size() > kMaxCharacters) {
        print(line, begin_s, end_s);
        line.clear();
      }
      if (line.empty()) begin_s = word.start_s;
      line += (line.empty() ? "" : " ") + std::string(word.text);
      end_s = word.end_s;
    }
    if (!line.empty()) print(line, begin_s, end_s);
  }

 private:
  void print(const std::string &line, double begin_s, double end_s) {
    const char point = is_vtt_ ? '.' : ',';
    const std::string number = is_vtt_ ? "" : std::to_string(++n_) + "\n", text = is_vtt_ ? escaped(line) : line;
    write(number + clock(begin_s, point) + " --> " + clock(end_s, point) + "\n" + text + "\n\n");
  }

  const bool is_vtt_;
  int n_ = 0;
};

// Feeds samples of a file; with a speed, not before the time of speaking.
void hear_file(const char *path, double rate_hz, double speed, senone::Stream &stream) {
  std::FILE *const file = std::strcmp(path, "-") == 0 ? stdin : std::fopen(path, "rb");
  if (file == nullptr) throw std::runtime_error(std::string(path) + ": cannot be opened");
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::int16_t> chunk(static_cast<std::size_t>(kChunkSeconds * rate_hz));
  double heard_s = 0;
  for (std::size_t n; (n = std::fread(chunk.data(), sizeof(std::int16_t), chunk.size(), file)) > 0;) {
    heard_s += static_cast<double>(n) / rate_hz;
    if (speed > 0) std::this_thread::sleep_until(begin + std::chrono::duration<double>(heard_s / speed));
    if (!stream.try_feed(chunk.data(), n)) break;  // wait() says why
  }
  if (std::ferror(file) != 0) throw std::runtime_error(std::string(path) + ": cannot be read: " + std::strerror(errno));
  if (file != stdin) std::fclose(file);
}

#ifdef WITH_PORTAUDIO
void check(PaError error) {
  if (error != paNoError) throw std::runtime_error(std::string("microphone: ") + Pa_GetErrorText(error));
}

void hear_microphone(double rate_hz, senone::Stream &stream) {
  PaStream *microphone = nullptr;
  std::vector<std::int16_t> chunk(static_cast<std::size_t>(kChunkSeconds * rate_hz));
  check(Pa_Initialize());
  check(Pa_OpenDefaultStream(&microphone, 1, 0, paInt16, rate_hz, chunk.size(), nullptr, nullptr));
  check(Pa_StartStream(microphone));
  for (;;) {  // until the user stops the program, or the stream fails
    const PaError error = Pa_ReadStream(microphone, chunk.data(), chunk.size());
    if (error != paInputOverflowed) check(error);
    if (!stream.try_feed(chunk)) return;
  }
}
#else
void hear_microphone(double, senone::Stream &) { throw std::runtime_error("mic: built without PortAudio; name a recording"); }
#endif

}  // namespace

int main(int argc, char **argv) try {
  const std::string format = argc > 3 ? argv[3] : "", speed_text = argc > 4 ? argv[4] : "1";
  char *end = nullptr;
  const double speed = std::strtod(speed_text.c_str(), &end);
  if (argc < 4 || argc > 5 || (format != "vtt" && format != "srt") || speed_text.empty() || *end != '\0' || !(speed >= 0)) {
    std::fprintf(stderr, "usage: captions BUNDLE SOURCE vtt|srt [SPEED], where SPEED is a number from 0 on\n");
    return 2;
  }
  senone::Engine engine(argv[1]);
  senone::StreamConfig config;
  config.endpoint = ASR_ENDPOINT_CAPTIONS;
  Captions captions(format == "vtt");
  senone::Stream stream = engine.open(config, [&](senone::StreamView, senone::Event event) {
    if (event.kind() == senone::EventKind::kError) throw std::runtime_error(std::string(event.text()));
    if (event.kind() == senone::EventKind::kFinal) captions.add(event);
  });
  if (std::strcmp(argv[2], "mic") == 0) {
    hear_microphone(engine.info().sample_rate_hz, stream);
  } else {
    hear_file(argv[2], engine.info().sample_rate_hz, speed, stream);
  }
  (void)stream.try_finish();  // a stream that has failed cannot be finished
  stream.wait();              // rethrows the callback's exception
} catch (const std::exception &error) {
  std::fprintf(stderr, "captions: %s\n", error.what());
  return 1;
}
