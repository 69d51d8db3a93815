// SPDX-License-Identifier: Apache-2.0
// Fuzzes the C ABI of libsenone_build. An input has a dictionary, a grammar, the phrases of a class, and calls in any
// order on a builder and its results. The engine accepts every archive that was built.
#include <cmath>
#include <memory>

#include "api/asr.h"
#include "api/asr_build.h"
#include "tests/api/tone_bundle.h"
#include "tests/build/tone_model.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/tone_engine.h"

namespace asr::fuzz {
namespace {

constexpr size_t kMaxCalls = 12;

using Builder = std::unique_ptr<asr_builder, void (*)(asr_builder *)>;
using Result = std::unique_ptr<asr_build_result, void (*)(asr_build_result *)>;

asr_engine *shared_engine() {
  static const std::unique_ptr<asr_engine, void (*)(asr_engine *)> engine(load_tone_engine(), asr_engine_close);
  return engine.get();
}

void require_message(asr_status status, const char *call) {
  if (status != ASR_OK && *asr_build_last_error() == '\0') finding("%s gave %d without a message", call, status);
}

Builder open_builder() {
  asr_builder *builder = nullptr;
  if (asr_builder_open(test::tone_model().c_str(), &builder) != ASR_OK) finding("%s", asr_build_last_error());
  return {builder, asr_builder_close};
}

asr_build_config configuration(Dice &dice) {
  asr_build_config config;
  asr_build_config_default(&config);
  const uint8_t given = dice.byte();
  if ((given & 1) != 0) config.unknown = static_cast<asr_build_unknown>(dice.below(3));
  if ((given & 2) != 0) config.letter_case = static_cast<asr_build_case>(dice.below(4));
  if ((given & 4) != 0) config.silence_prob = double(dice.pick({0, 1, 0.5f, -1, NAN, INFINITY}));
  if ((given & 8) != 0) config.filler_prob = double(dice.pick({0, 1, 1e-4f, -1, NAN, INFINITY}));
  if ((given & 16) != 0) config.transition_scale = double(dice.pick({0, 1, 100, -1, NAN, 1e30f}));
  if ((given & 32) != 0) config.self_loop_scale = double(dice.pick({0, 1, 100, -1, NAN, 1e30f}));
  if ((given & 64) != 0) config.rule = dice.below(2) == 0 ? "top" : "none";
  return config;
}

// The engine reads the archive back.
void inspect(const asr_build_result *result) {
  asr_build_info info{};
  info.size = sizeof(info);
  if (asr_build_get_info(result, &info) != ASR_OK) finding("%s", asr_build_last_error());
  for (size_t i = 0; i < info.n_unknown; ++i) {
    if (*info.unknown[i] == '\0') finding("an unknown word is empty");
  }
  const asr_status status = asr_engine_add_graph_bytes(shared_engine(), "built", info.bytes, info.n_bytes);
  if (status != ASR_OK) finding("an archive that was built is refused: %s", asr_last_error());
  if (asr_engine_remove_graph(shared_engine(), "built") != ASR_OK) finding("%s", asr_last_error());
}

struct Session {
  std::string dictionary, grammar, phrases;
  Builder builder = open_builder();
  Result result{nullptr, asr_build_free};

  void build(Dice &dice, uint8_t form) {
    const decltype(&asr_build_jsgf) functions[] = {asr_build_jsgf, asr_build_srgs, asr_build_phrases, asr_build_words};
    const asr_build_config config = configuration(dice);
    asr_build_result *made = nullptr;
    const asr_status status = functions[form](builder.get(), grammar.data(), grammar.size(), &config, &made);
    take(status, made, "a build");
  }
  void build_again() {
    asr_build_result *made = nullptr;
    const asr_status status = asr_build_again(builder.get(), result.get(), &made);
    take(status, made, "asr_build_again");
  }
  void set_class(Dice &dice, bool adds) {
    const asr_build_config config = configuration(dice);
    const char *const names[] = {"c", "d", "", "no name"};
    const char *const name = names[dice.below(4)];
    const auto function = adds ? asr_builder_add_to_class : asr_builder_set_class;
    require_message(function(builder.get(), name, phrases.data(), phrases.size(), &config), "a class");
  }
  void add_lexicon() {
    require_message(asr_builder_add_lexicon_text(builder.get(), dictionary.data(), dictionary.size(), "dictionary"),
                    "asr_builder_add_lexicon_text");
  }

 private:
  void take(asr_status status, asr_build_result *made, const char *call) {
    require_message(status, call);
    if ((status == ASR_OK) != (made != nullptr)) finding("%s gave %d and %s result", call, status, made ? "a" : "no");
    if (made == nullptr) return;
    result.reset(made);
    inspect(made);
  }
};

void call(Dice &dice, Session &session) {
  const uint8_t what = dice.byte() % 10;
  switch (what) {
    case 0:
      return session.add_lexicon();
    case 1:
    case 2:
      return session.set_class(dice, what == 2);
    case 7:
      return session.build_again();
    case 8:
      return session.result.reset();
    case 9:
      session.builder = open_builder();  // results outlive their builder
      return;
    default:
      return session.build(dice, static_cast<uint8_t>(what - 3));
  }
}

void call_all(const std::string &bytes) {
  std::vector<std::string> pieces = split(bytes, 4);
  Session session{pieces[0], pieces[1], pieces[2]};
  Dice dice(pieces[3]);
  for (size_t i = 0; i < kMaxCalls && !dice.empty(); ++i) call(dice, session);
}

}  // namespace

std::vector<std::string> seeds() {
  (void)shared_engine();
  const std::string words = test::kToneLexicon, class_list = "low\nmid high {t}\n";
  const std::string jsgf = "#JSGF V1.0;\ngrammar g;\npublic <top> = low [$c] (mid | high)+;\n";
  const std::string srgs =
      "<grammar root=\"top\"><rule id=\"top\">low<item repeat=\"0-2\">mid<tag>m</tag></item></rule></grammar>";
  return {join({words, jsgf, class_list, std::string("\x00\x01\x00\x00\x03\x00\x02\x00\x00\x07", 10)}),
          join({words, srgs, "", std::string("\x00\x04\x00\x08\x04\x00", 6)}),
          join({words, "low mid\nhigh $c\n", class_list, std::string("\x00\x01\x00\x00\x05\x00\x09\x07", 8)}),
          join({words, "low\nhigh\nnone\n", "", std::string("\x00\x06\x01\x01", 4)})};
}

}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  const fuzz::Budget budget = {1500, 1 << 16, 120, 40000};
  return fuzz::run(data, size, budget, fuzz::call_all);
}
