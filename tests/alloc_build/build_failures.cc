// SPDX-License-Identifier: Apache-2.0
// Makes every allocation of libsenone_build, and of OpenFst on its behalf, fail in turn. Each call must succeed or return
// ASR_OUT_OF_MEMORY, and the builder must work afterwards. A child process tries one point after another, so that an abort
// identifies its point.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "api/asr_build.h"
#include "tests/alloc/failing_new.h"
#include "tests/api/tone_bundle.h"
#include "tests/build/tone_builder.h"

namespace asr::test {
namespace {

constexpr long kLastPoint = 1000000;  // upper bound of the number of points

const std::string kRules = "public <a> = [mid {m}] (low {l} | high) {x}; public <b> = (low | mid)+ chirp;";
const std::string kXml =
    "<grammar root='r'><rule id='r'>low<item repeat='0-1'>mid<tag>m</tag></item><one-of><item weight='2'>high</item>"
    "<item>low</item></one-of></rule></grammar>";

struct Trial {
  const char *name;
  asr_status (*run)(asr_builder *builder);
};

asr_status discard(Build function, const asr_builder *builder, const std::string &text) {
  asr_build_result *result = nullptr;
  const asr_status status = function(builder, text.data(), text.size(), nullptr, &result);
  asr_build_free(result);
  return status;
}

const std::string kJsgf = jsgf(kRules), kPhrases = "low mid\nhigh\nmid low high\n", kWords = "low\nhigh\n",
                  kWithClasses = "mid $c\n$c high\n";

asr_build_result *with_classes = nullptr;  // a result of kWithClasses
asr_aligner *aligner = nullptr;
std::vector<int16_t> low_mid;  // a recording

std::string lexicon_path;

asr_aligner *open_aligner() {
  lexicon_path = tone_model() + "/failures.dict";
  std::ofstream(lexicon_path) << kToneLexicon;
  asr_aligner *opened = nullptr;
  EXPECT_BUILT(asr_aligner_open(tone_model().c_str(), lexicon_path.c_str(), nullptr, &opened));
  return opened;
}

const Trial kTrials[] = {
    {"open",
     [](asr_builder *) {
       asr_builder *builder = nullptr;
       const asr_status status = asr_builder_open(tone_model().c_str(), &builder);
       asr_builder_close(builder);
       return status;
     }},
    {"add_lexicon", [](asr_builder *b) { return asr_builder_add_lexicon_text(b, "more LOW\n", 9, nullptr); }},
    {"jsgf", [](asr_builder *b) { return discard(asr_build_jsgf, b, kJsgf); }},
    {"srgs", [](asr_builder *b) { return discard(asr_build_srgs, b, kXml); }},
    {"phrases", [](asr_builder *b) { return discard(asr_build_phrases, b, kPhrases); }},
    {"class", [](asr_builder *b) { return asr_builder_add_to_class(b, "c", kPhrases.data(), kPhrases.size(), nullptr); }},
    {"with_classes", [](asr_builder *b) { return discard(asr_build_phrases, b, kWithClasses); }},
    {"again",
     [](asr_builder *b) {
       asr_build_result *result = nullptr;
       const asr_status status = asr_build_again(b, with_classes, &result);
       asr_build_free(result);
       return status;
     }},
    {"aligner",
     [](asr_builder *) {
       asr_aligner *opened = nullptr;
       const asr_status status = asr_aligner_open(tone_model().c_str(), lexicon_path.c_str(), nullptr, &opened);
       asr_aligner_close(opened);
       return status;
     }},
    {"align",
     [](asr_builder *) {
       asr_alignment *alignment = nullptr;
       const asr_status status = asr_align(aligner, low_mid.data(), low_mid.size(), "low mid", 7, nullptr, &alignment);
       asr_alignment_free(alignment);
       return status;
     }},
    {"words", [](asr_builder *b) { return discard(asr_build_words, b, kWords); }},
};

// Exits with 0 on success.
[[noreturn]] void try_all(const Trial &trial) {
  const BuilderPointer builder = tone_builder();
  EXPECT_BUILT(asr_builder_set_class(builder.get(), "c", kPhrases.data(), kPhrases.size(), nullptr));
  const ResultPointer result = build(asr_build_phrases, builder.get(), kWithClasses);
  with_classes = result.get();
  aligner = open_aligner();
  low_mid = speak("low mid");
  long nth = 0, n_refused = 0;
  for (;; ++nth) {
    arm(Threads::kCaller, nth);
    const asr_status status = trial.run(builder.get());
    const long n_failed = disarm();
    if (n_failed == 0) break;
    n_refused += status == ASR_OUT_OF_MEMORY;
    if ((status != ASR_OK && status != ASR_OUT_OF_MEMORY) || nth > kLastPoint) {
      fprintf(stderr, "%s: point %ld: status %d, %s\n", trial.name, nth, status, asr_build_last_error());
      _exit(1);
    }
  }
  const asr_status after = trial.run(builder.get());
  printf("%s: %ld points, %ld refused\n", trial.name, nth, n_refused);
  fflush(stdout);
  _exit(after == ASR_OK && nth > 10 && n_refused * 2 > nth ? 0 : 1);
}

}  // namespace
}  // namespace asr::test

int main(int argc, char **argv) {
  using namespace asr::test;
  mark_caller_thread();
  tone_model();
  int n_bad = 0;
  for (const Trial &trial : kTrials) {
    if (argc > 1 && strcmp(argv[1], trial.name) != 0) continue;
    const pid_t child = argc > 1 ? 0 : fork();  // a single trial stays in this process, for a debugger
    if (child == 0) try_all(trial);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    fprintf(stderr, "%s: %s %d\n", trial.name, WIFSIGNALED(status) ? "ended by signal" : "exit status",
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    ++n_bad;
  }
  return n_bad == 0 ? 0 : 1;
}
