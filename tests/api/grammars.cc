// SPDX-License-Identifier: Apache-2.0
#include "tests/api/grammars.h"

#include "core/base/error.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {

EnginePointer load_with_grammars() {
  EnginePointer engine = load_engine();
  EXPECT_OK(asr_engine_add_graph(engine.get(), "ends", tone_grammar_bundle(kEnds).c_str()));
  const std::string mids = tone_grammar_archive(kMids);
  EXPECT_OK(asr_engine_add_graph_bytes(engine.get(), "mids", mids.data(), mids.size()));
  return engine;
}

asr_stream_config on_graph(const char *name) {
  asr_stream_config config = default_stream();
  config.graph = name;
  return config;
}

asr_stream_config with_endpoints(asr_vad vad) {
  asr_stream_config config = default_stream();
  config.endpoint = ASR_ENDPOINT_COMMAND;
  config.vad = vad;
  return config;
}

Samples silence(double seconds) {
  Samples samples;
  const Samples pause = speak("");
  while (samples.size() < 16000 * seconds) samples.insert(samples.end(), pause.begin(), pause.end());
  samples.resize(static_cast<size_t>(16000 * seconds));
  return samples;
}

Events finals(asr_stream *stream) {
  Events texts;
  for (asr_event_kind kind = ASR_EVENT_READY; kind != ASR_EVENT_END;) {
    if (asr_wait(stream, 60000) != ASR_OK) return {"no END"};
    asr_event *event = nullptr;
    EXPECT_OK(asr_result(stream, &event));
    kind = asr_event_get_kind(event);
    EXPECT_NE(kind, ASR_EVENT_ERROR) << asr_event_text(event);
    if (kind == ASR_EVENT_FINAL) texts.emplace_back();
    for (size_t i = 0; kind == ASR_EVENT_FINAL && i < asr_event_n_words(event, 0); ++i) {
      asr_word word;
      word.size = sizeof(word);
      EXPECT_OK(asr_event_word(event, 0, i, &word));
      texts.back() += (i > 0 ? " " : "") + format("%s#%u", word.text, word.word_id);
    }
    asr_event_free(event);
  }
  return texts;
}

Events hear(asr_engine *engine, const asr_stream_config &config, const Samples &samples) {
  const StreamPointer stream = open_stream(engine, config);
  feed(stream.get(), samples, 1600);
  EXPECT_OK(asr_finish(stream.get()));
  return finals(stream.get());
}

}  // namespace asr::test
