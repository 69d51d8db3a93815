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

}  // namespace
}  // namespace asr::tool
