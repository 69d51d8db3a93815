// SPDX-License-Identifier: Apache-2.0
// Fuzzes speakers and several acoustic models through the C ABI. The bytes of an input are calls in any order on two
// speakers and the utterances of their streams, which may fuse models. Every utterance reaches its END.
#include <cmath>
#include <memory>

#include "api/asr.h"
#include "tests/api/tone_bundle.h"
#include "tests/fuzz/inspect_event.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/tone_engine.h"

namespace asr::fuzz {
namespace {

constexpr int kMaxWait_ms = 300000;  // allows for a heavily loaded machine
constexpr size_t kMaxCalls = 64;

void require(asr_status status, const char *call) {
  if (status != ASR_OK) finding("%s gave %d: %s", call, status, asr_last_error());
}

void require_message(asr_status status, const char *call) {
  if (status != ASR_OK && *asr_last_error() == '\0') finding("%s gave %d without a message", call, status);
}

asr_engine *load() {
  asr_engine *const engine = load_tone_engine();
  const std::pair<const char *, test::ToneModel> models[] = {{"wide", test::ToneModel::kWide},
                                                             {"full", test::ToneModel::kFull},
                                                             {"other", test::ToneModel::kOtherFeatures},
                                                             {"deaf", test::ToneModel::kDeaf}};
  for (const auto &[name, model] : models) {
    require(asr_engine_add_model(engine, name, test::tone_model_bundle(model).c_str()), "asr_engine_add_model");
  }
  return engine;
}

asr_engine *shared_engine() {
  static const std::unique_ptr<asr_engine, void (*)(asr_engine *)> engine(load(), asr_engine_close);
  return engine.get();
}

const std::vector<int16_t> &speech() {
  static const std::vector<int16_t> samples = test::speak("low high mid low mid high");
  return samples;
}

class Speaker {
 public:
  Speaker() { require(asr_speaker_new(shared_engine(), &speaker_), "asr_speaker_new"); }
  ~Speaker() { asr_speaker_free(speaker_); }
  Speaker(const Speaker &) = delete;
  Speaker &operator=(const Speaker &) = delete;
  asr_speaker *get() const { return speaker_; }

  void set_methods(Dice &dice) {
    const uint32_t n_warps[] = {0, 1, 5, 11, 21};
    const uint32_t methods = dice.below(9);
    require_message(asr_speaker_set_methods(speaker_, methods, n_warps[dice.below(5)]), "asr_speaker_set_methods");
  }
  void set_warp(Dice &dice) {
    require_message(asr_speaker_set_warp(speaker_, dice.pick({1, 0.8f, 1.25f, 0.9f, 0, -1, NAN, INFINITY})),
                    "asr_speaker_set_warp");
  }
  // Sets a transform of rows or of means, close to none, with some values changed.
  void set_transform(Dice &dice) {
    const bool is_of_means = dice.below(2) == 1;
    asr_engine_info info{};
    info.size = sizeof(info);
    require(asr_engine_get_info(shared_engine(), &info), "asr_engine_get_info");
    const size_t n_dims = info.n_feature_dims;
    std::vector<float> values(n_dims * (n_dims + 1));
    for (size_t i = 0; i < n_dims; ++i) values[i * (n_dims + 1) + i] = 1;
    for (uint32_t n = dice.below(4); n > 0; --n) {
      values[dice.below(65536) % values.size()] = dice.pick({0, 1, -1, 2, 1e30f, -1e30f, 1e-30f, NAN, INFINITY});
    }
    const size_t n_values = dice.below(8) == 0 ? dice.byte() % (values.size() + 1) : values.size();
    if (is_of_means) {
      require_message(asr_speaker_set_mean_transform(speaker_, values.data(), n_values), "asr_speaker_set_mean_transform");
    } else {
      require_message(asr_speaker_set_transform(speaker_, values.data(), n_values), "asr_speaker_set_transform");
    }
  }
  void adapt() {
    const asr_status status = asr_adapt(speaker_);
    require_message(status, "asr_adapt");
  }
  // Estimates are finite and in range.
  void inspect_estimates() const {
    for (const auto get : {asr_speaker_get_transform, asr_speaker_get_mean_transform}) {
      size_t n = 0, n_again = 0;
      require(get(speaker_, nullptr, 0, &n), "asr_speaker_get_transform");
      std::vector<float> values(n);
      require(get(speaker_, values.data(), n, &n_again), "asr_speaker_get_transform");
      if (n_again != n) finding("a transform of %zu values has %zu", n, n_again);
      for (const float value : values) {
        if (!std::isfinite(value)) finding("a transform has the value %g", double(value));
      }
    }
    float warp = 0;
    require(asr_speaker_get_warp(speaker_, &warp), "asr_speaker_get_warp");
    if (!(warp >= 0.8f && warp <= 1.25f)) finding("a warp of %g", double(warp));
  }

 private:
  asr_speaker *speaker_ = nullptr;
};

// A stream's fused models, and the arrays to which its configuration points.
struct Models {
  const char *names[4];
  float weights[4];
  asr_fusion fusion;

  explicit Models(Dice &dice) {
    const char *const known[] = {"", "wide", "full", "other", "deaf", "none"};
    asr_fusion_default(&fusion);
    for (const char *&name : names) name = known[dice.below(6)];
    for (float &weight : weights) weight = dice.pick({1, 0.5f, 0, 1e6f, 1e-6f, -1, NAN, 1e30f});
    fusion.rule = static_cast<asr_fusion_rule>(dice.below(6));
    fusion.n_models = dice.below(5);
    fusion.models = names;
    if (dice.below(2) == 0) fusion.weights = weights;
    fusion.follow_ms = dice.below(3) * 100;
    fusion.select_ms = dice.below(3) * 100;
  }
};

void run_to_end(asr_stream *stream) {
  for (bool ended = false; !ended;) {
    require(asr_wait(stream, kMaxWait_ms), "asr_wait");
    asr_event *event = nullptr;
    require(asr_result(stream, &event), "asr_result");
    if (event == nullptr) continue;
    inspect(event);
    ended = asr_event_get_kind(event) == ASR_EVENT_END;
    asr_event_free(event);
  }
}

// One utterance of a speaker, or of none, with the engine's model or several.
void speak(Dice &dice, const Speaker *speaker) {
  asr_stream_config config;
  asr_stream_config_default(&config);
  const uint8_t given = dice.byte();
  const Models models(dice);
  if ((given & 1) != 0 && speaker != nullptr) config.speaker = speaker->get();
  if ((given & 2) != 0) config.fusion = &models.fusion;
  if ((given & 4) != 0) config.lattice_beam = 1;  // wider lattices of flat scores take seconds to determinise
  if ((given & 8) != 0) config.endpoint = static_cast<asr_endpoint>(dice.below(4));
  if ((given & 16) != 0) config.adaptation = static_cast<asr_adaptation>(dice.below(4));
  if ((given & 32) != 0) config.cmn = static_cast<asr_cmn>(dice.below(4));
  if ((given & 64) != 0) config.vtln_warp = dice.pick({0.8f, 1.25f, 1, 0.9f});
  asr_stream *opened = nullptr;
  require_message(asr_open(shared_engine(), &config, &opened), "asr_open");
  if (opened == nullptr) return;
  const std::unique_ptr<asr_stream, void (*)(asr_stream *)> stream(opened, asr_close);
  const size_t n = (dice.below(8) + 1) * speech().size() / 8;
  require(asr_feed(opened, speech().data(), n), "asr_feed");
  if ((given & 128) != 0) {
    require(asr_cancel(opened), "asr_cancel");
  } else {
    require(asr_finish(opened), "asr_finish");
  }
  run_to_end(opened);
}

void call(Dice &dice, std::unique_ptr<Speaker> (&speakers)[2]) {
  const uint8_t what = dice.byte();
  std::unique_ptr<Speaker> &speaker = speakers[what / 8 % 2];
  if (what % 8 >= 6) return speak(dice, speaker.get());
  if (!speaker) {
    speaker = std::make_unique<Speaker>();
    return;
  }
  switch (what % 8) {
    case 0:
      return speaker.reset();
    case 1:
      return speaker->set_methods(dice);
    case 2:
      return speaker->set_warp(dice);
    case 3:
      return speaker->set_transform(dice);
    case 4:
      return speaker->adapt();
    default:
      return speaker->inspect_estimates();
  }
}

void call_all(const std::string &bytes) {
  Dice dice(bytes);
  std::unique_ptr<Speaker> speakers[2];
  for (size_t i = 0; i < kMaxCalls && !dice.empty(); ++i) call(dice, speakers);
  for (const std::unique_ptr<Speaker> &speaker : speakers) {
    if (speaker) speaker->inspect_estimates();
  }
}

}  // namespace

std::vector<std::string> seeds() {
  (void)shared_engine();
  (void)speech();
  const std::string no_models(13, '\0');
  const std::string heard = "\x06\x01" + no_models + "\x07", fused = "\x06\x02" + std::string("\x00\x01\x02\x03", 4) +
                                                                     std::string("\x00\x01\x00\x01\x00\x03\x00\x00\x00", 9) +
                                                                     "\x07";
  const std::string transformed = std::string("\x00\x04", 2) + heard + heard + "\x04\x05" + heard;
  const std::string warped = std::string("\x00\x01\x03\x03", 4) + heard + heard + "\x04\x05" + heard;
  const std::string means = std::string("\x00\x01\x04\x00", 4) + heard + heard + "\x04\x05" + heard;
  return {transformed, warped, means, fused,
          std::string("\x00\x03\x00\x01", 4) + heard + "\x02\x01\x08\x0e\x09" + no_models + "\x07"};
}

}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  // A call of 15 bytes decodes three seconds with up to four models, or estimates from all that was heard.
  const fuzz::Budget budget = {512, 1 << 17, 20, 50000};
  return fuzz::run(data, size, budget, fuzz::call_all);
}
