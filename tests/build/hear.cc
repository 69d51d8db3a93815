// SPDX-License-Identifier: Apache-2.0
#include "tests/build/hear.h"

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {

Heard hear(const std::string &archive, const std::string &words) {
  const EnginePointer engine = load_engine();
  EXPECT_OK(asr_engine_add_graph_bytes(engine.get(), "g", archive.data(), archive.size()));
  asr_stream_config config = default_stream();
  config.graph = "g";
  const StreamPointer stream = open_stream(engine.get(), config);
  const std::vector<int16_t> samples = speak(words);
  EXPECT_OK(asr_feed(stream.get(), samples.data(), samples.size()));
  EXPECT_OK(asr_finish(stream.get()));
  Heard heard;
  for (asr_event_kind kind = ASR_EVENT_READY; kind != ASR_EVENT_END;) {
    EXPECT_OK(asr_wait(stream.get(), 60000));
    asr_event *event = nullptr;
    EXPECT_OK(asr_result(stream.get(), &event));
    kind = asr_event_get_kind(event);
    if (kind == ASR_EVENT_ERROR) ADD_FAILURE() << asr_event_text(event);
    if (kind == ASR_EVENT_FINAL) {
      heard = {asr_event_text(event), asr_event_rule(event, 0), asr_event_tags(event, 0), {}};
      for (size_t i = 0; i < asr_event_n_words(event, 0); ++i) {
        asr_word word;
        word.size = sizeof(word);
        EXPECT_OK(asr_event_word(event, 0, i, &word));
        heard.words.push_back(std::string(word.text) + "[" + word.rule + "|" + word.tags + "]");
      }
    }
    asr_event_free(event);
  }
  return heard;
}

}  // namespace asr::test
