// SPDX-License-Identifier: Apache-2.0
// Fuzzes words with confidences, CTM and JSON lines, and transcripts, as `senone wer` reads them.
#include "tools/ctm.h"
#include "tests/fuzz/target.h"
#include "tools/word_errors.h"

namespace asr::fuzz {

std::vector<std::string> seeds() {
  return {"u1 1 0.00 0.30 low 0.9\nu1 1 0.50 0.30 mid(2) 0.5\n;; comment\nu2 1 0 1 <sil> 1\n",
          "{\"id\":\"u1\",\"words\":[{\"word\":\"low\",\"confidence\":0.5}]}\n{\"id\":\"u2\",\"error\":\"none\"}\n",
          "hello world (u1)\n<s> THE(2) end </s> (u2)\n"};
}
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {32, 4096, 1, 100}, [](const std::string &bytes) {
    const tool::TranscriptOptions options;
    if (bytes.find('(') < bytes.find('\n')) {
      const tool::Transcripts transcripts = tool::parse_transcripts(bytes, "words", options);
      for (const auto &[id, words] : transcripts) {
        if (words.size() < 100) tool::count_errors(tool::align(words, transcripts.begin()->second));
      }
    } else {
      tool::parse_confident_words(bytes, "words.ctm", options);
    }
  });
}
