// SPDX-License-Identifier: Apache-2.0
// Fuzzes `senone recognize` with a damaged bundle. Front end, acoustic.bin, graph.bin and words.txt come from the input, listed
// with their own checksums. The bundle is loaded and recognises half a second of speech.
#include <memory>

#include "api/asr.h"
#include "core/base/error.h"
#include "core/model/bundle.h"
#include "tests/api/tone_bundle.h"
#include "tests/fuzz/target.h"
#include "tests/unit/scratch.h"

namespace asr::fuzz {
namespace {

constexpr int kMaxWait_ms = 60000;

struct Close {
  void operator()(asr_engine *engine) const { asr_engine_close(engine); }
  void operator()(asr_stream *stream) const { asr_close(stream); }
  void operator()(asr_event *event) const { asr_event_free(event); }
};

void check(asr_status status) {
  if (status != ASR_OK) throw Error(status, asr_last_error());
}

std::unique_ptr<asr_engine, Close> load(const std::string &path) {
  asr_engine_config config;
  asr_engine_config_default(&config);
  config.device = "cpu";
  config.n_threads = 1;
  asr_engine *engine = nullptr;
  check(asr_engine_load(path.c_str(), &config, &engine));
  return std::unique_ptr<asr_engine, Close>(engine);
}

void recognise(asr_engine *engine) {
  asr_stream_config config;
  asr_stream_config_default(&config);
  config.lattice_beam = 4;
  config.n_best = 3;
  asr_stream *opened = nullptr;
  check(asr_open(engine, &config, &opened));
  const std::unique_ptr<asr_stream, Close> stream(opened);
  static const std::vector<int16_t> samples = test::speak("low");
  (void)asr_feed(opened, samples.data(), samples.size() / 2);
  (void)asr_finish(opened);
  for (bool ended = false; !ended;) {
    if (asr_wait(opened, kMaxWait_ms) != ASR_OK) finding("no END within %d ms", kMaxWait_ms);
    asr_event *taken = nullptr;
    check(asr_result(opened, &taken));
    const std::unique_ptr<asr_event, Close> event(taken);
    ended = asr_event_get_kind(taken) == ASR_EVENT_END;
  }
}

}  // namespace

void run_bundle(const std::string &bytes) {
  const std::vector<std::string> pieces = split(bytes, 4);
  file("senone.json", pieces[0]);
  Bundle bundle = read_bundle(directory());
  file("words.txt", pieces[1]);
  file("graph.bin", pieces[2]);
  file("acoustic.bin", pieces[3]);
  write_bundle_index(bundle, directory(), {"acoustic.bin", "graph.bin", "words.txt"});
  recognise(load(directory()).get());
}

std::vector<std::string> seeds() {
  const std::string &tones = test::tone_bundle();
  Bundle bundle = read_bundle(tones);
  bundle.files.clear();
  write_bundle_index(bundle, directory(), {});
  return {join({test::slurp(directory() + "/senone.json"), test::slurp(tones + "/words.txt"), test::slurp(tones + "/graph.bin"),
                test::slurp(tones + "/acoustic.bin")})};
}

}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  // Half a second has 50 frames, each of which may visit all arcs of the graph.
  const fuzz::Budget budget = {900, 1 << 14, 10, 2000};
  return fuzz::run(data, size, budget, fuzz::run_bundle);
}
