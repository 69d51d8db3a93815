// SPDX-License-Identifier: Apache-2.0
// many_streams BUNDLE SPEED STREAMS FILE.raw...: recognises hundreds of sources at once, like a telephone exchange. Some
// threads feed them 100 ms at a time, SPEED times as fast as people speak (1: real time). Results come by callback. Prints the
// delay from the end of each source's audio to its words.
//
//     c++ -std=c++17 many_streams.cc $(pkg-config --cflags --libs senone) -pthread -o many_streams
//     many_streams my-bundle 1 400 *.raw
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <senone.hpp>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;
constexpr unsigned kFeeders = 4;
constexpr double kPiece_s = 0.1;

struct Recording {
  std::string path;
  std::vector<std::int16_t> samples;
};

// One caller. The feeding thread writes `finished`; the callback then writes the members after it, once.
struct Source {
  const Recording *recording;
  std::size_t n_fed = 0;
  senone::Stream stream;
  Clock::time_point finished;
  double latency_s = 0;
  std::string words, error;
};

Recording read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + ": cannot be opened");
  Recording recording{path, std::vector<std::int16_t>(std::filesystem::file_size(path) / 2)};  // throws for a directory
  file.read(reinterpret_cast<char *>(recording.samples.data()), static_cast<std::streamsize>(2 * recording.samples.size()));
  return recording;
}

void open(senone::Engine *engine, Source *source) {
  senone::StreamConfig config;
  config.cmn = ASR_CMN_LIVE;
  source->stream = engine->open(config, [source](senone::StreamView, senone::Event event) {
    if (event.kind() == senone::EventKind::kError) source->error = event.text();
    if (event.kind() != senone::EventKind::kFinal) return;
    source->latency_s = Seconds(Clock::now() - source->finished).count();
    source->words = event.text();
  });
}

// Feeds the next piece of a source; false when its audio has ended.
bool feed(Source *source, std::size_t n_piece) {
  const std::vector<std::int16_t> &samples = source->recording->samples;
  const std::size_t n = std::min(n_piece, samples.size() - source->n_fed);
  source->stream.feed(samples.data() + source->n_fed, n);
  source->n_fed += n;
  if (source->n_fed < samples.size()) return true;
  source->finished = Clock::now();
  source->stream.finish();
  return false;
}

// Feeds sources in turn, a piece each, at the pace of speech times `speed`.
void feed_all(std::vector<Source *> sources, std::size_t n_piece, double speed) {
  Clock::time_point next = Clock::now();
  while (!sources.empty()) {
    sources.erase(std::remove_if(sources.begin(), sources.end(), [&](Source *source) { return !feed(source, n_piece); }),
                  sources.end());
    next += std::chrono::duration_cast<Clock::duration>(Seconds(kPiece_s / speed));
    std::this_thread::sleep_until(next);
  }
}

// Returns the number of sources that failed.
int report(const std::vector<std::unique_ptr<Source>> &sources, double seconds, const senone::EngineInfo &info) {
  std::map<std::string, std::map<std::string, int>> heard;  // recording -> words -> count
  std::vector<double> latencies_s;
  double audio_s = 0;
  int n_failed = 0;
  for (const auto &source : sources) {
    if (!source->error.empty() && ++n_failed == 1) std::fprintf(stderr, "many_streams: %s\n", source->error.c_str());
    ++heard[source->recording->path][source->words];
    latencies_s.push_back(source->latency_s);
    audio_s += static_cast<double>(source->recording->samples.size()) / info.sample_rate_hz;
  }
  for (const auto &[path, texts] : heard) {
    for (const auto &[words, n] : texts) std::printf("%s\t%d times\t%s\n", path.c_str(), n, words.c_str());
  }
  std::sort(latencies_s.begin(), latencies_s.end());
  const auto share = [&](double p) {
    return 1000 * latencies_s[static_cast<std::size_t>(p * static_cast<double>(latencies_s.size() - 1))];
  };
  std::printf("%zu streams on %.*s, %.1f times real time in all\n", sources.size(), int(info.device_id.size()),
              info.device_id.data(), audio_s / seconds);
  std::printf("words after the end of speech: median %.0f ms, 95 %% within %.0f ms, all within %.0f ms\n", share(0.5),
              share(0.95), share(1));
  return n_failed;
}

int run(int argc, char **argv) {
  const double speed = argc > 4 ? std::atof(argv[2]) : 0;
  const int n_streams = argc > 4 ? static_cast<int>(std::clamp(std::atol(argv[3]), 0L, 1000000L)) : 0;
  if (!(speed > 0) || n_streams == 0) {
    std::fprintf(stderr, "usage: many_streams BUNDLE SPEED STREAMS FILE.raw...\n");
    return 2;
  }
  std::vector<Recording> recordings;
  for (int i = 4; i < argc; ++i) recordings.push_back(read(argv[i]));
  senone::EngineConfig config;
  config.max_lanes = static_cast<std::uint32_t>(std::min(n_streams, 512));
  senone::Engine engine(argv[1], config);

  std::vector<std::unique_ptr<Source>> sources;
  std::vector<std::vector<Source *>> shares(kFeeders);
  for (int i = 0; i < n_streams; ++i) {
    sources.push_back(std::make_unique<Source>());
    sources.back()->recording = &recordings[static_cast<std::size_t>(i) % recordings.size()];
    open(&engine, sources.back().get());
    shares[static_cast<std::size_t>(i) % kFeeders].push_back(sources.back().get());
  }
  const auto n_piece = static_cast<std::size_t>(kPiece_s * engine.info().sample_rate_hz);
  const Clock::time_point begin = Clock::now();
  std::vector<std::thread> feeders;
  for (auto &share : shares) feeders.emplace_back(feed_all, std::move(share), n_piece, speed);
  for (std::thread &feeder : feeders) feeder.join();
  for (auto &source : sources) source->stream.wait();
  return report(sources, Seconds(Clock::now() - begin).count(), engine.info()) == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char **argv) try { return run(argc, argv); } catch (const std::exception &error) {
  std::fprintf(stderr, "many_streams: %s\n", error.what());
  return 1;
}
