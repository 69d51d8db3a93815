// SPDX-License-Identifier: Apache-2.0
// Tests the JSON of `senone recognize`.
#include "tools/recognition.h"

#include <gtest/gtest.h>

namespace asr::tool {
namespace {

TEST(RecognitionJson, NumbersAreAsShortAsPeopleWriteThem) {
  Recognition r;
  r.id = "a", r.path = "a.wav", r.audio_s = 41 * 0.01 + 0.1;
  r.best.text = "low";
  r.best.words = {{"low", 41 * 0.01, 3 * 0.1, 0.9f}, {"mid", 0, 123456.789, 1.0f / 3}};
  const std::string json = to_json(r);
  for (const char *part : {"\"audio_s\":0.51,", "\"start_s\":0.41,", "\"end_s\":0.3,", "\"confidence\":0.9}",
                           "\"start_s\":0.0,", "\"end_s\":123456.789,", "\"confidence\":0.333333}"}) {
    EXPECT_NE(json.find(part), std::string::npos) << part << " in " << json;
  }
}

TEST(RecognitionJson, CostsKeepTheirDigits) {
  Recognition r;
  r.best.graph_cost = 12.345678901234567;
  EXPECT_NE(to_json(r).find("\"graph_cost\":12.345678901234567"), std::string::npos) << to_json(r);
}

TEST(RecognitionJson, WhatIsUnknownIsNull) {
  const std::string json = to_json(Recognition{});
  for (const char *part : {"\"out_of_grammar\":null", "\"rejected\":null", "\"lattice_beam\":null", "\"flags\":[]"}) {
    EXPECT_NE(json.find(part), std::string::npos) << part << " in " << json;
  }
}

TEST(RecognitionJson, HasFlagsByName) {
  Recognition r;
  r.flags = ASR_FLAG_NOT_FINAL_STATE | ASR_FLAG_BEAM_DIED | ASR_FLAG_NO_SPEECH | ASR_FLAG_BEAM_NARROWED | ASR_FLAG_FELL_BACK |
            ASR_FLAG_CANCELLED | ASR_FLAG_REJECTED;
  r.out_of_grammar = 0.75f;
  r.lattice_beam = 13.5;
  const std::string json = to_json(r);
  for (const char *part : {"\"out_of_grammar\":0.75", "\"rejected\":true", "\"lattice_beam\":13.5",
                           "[\"not_final_state\",\"beam_died\",\"no_speech\",\"beam_narrowed\",\"fell_back\",\"cancelled\","
                           "\"rejected\"]"}) {
    EXPECT_NE(json.find(part), std::string::npos) << part << " in " << json;
  }
  r.flags = 0;
  EXPECT_NE(to_json(r).find("\"rejected\":false"), std::string::npos);
}

TEST(Recognition, WordsThatAreLeftOutAreInJsonOnly) {
  Recognition r;
  r.id = "a", r.best.text = "low";
  r.best.words = {{"low", 0.1, 0.4, -1}};
  r.is_left_out = true;
  int n_subtitles = 0;
  EXPECT_EQ(to_text(r), "\n");
  EXPECT_EQ(to_ctm(r), "");
  EXPECT_EQ(to_srt(r, &n_subtitles), "");
  EXPECT_EQ(n_subtitles, 0);
  EXPECT_EQ(to_hyp(r), "(a)\n");
  EXPECT_NE(to_json(r).find("\"text\":\"low\""), std::string::npos);
}

}  // namespace
}  // namespace asr::tool
