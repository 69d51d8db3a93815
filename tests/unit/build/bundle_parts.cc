// SPDX-License-Identifier: Apache-2.0
// Tests how results of a grammar are judged, by the phones of the model.
#include "builder/graph/bundle_parts.h"

#include <gtest/gtest.h>

namespace asr {
namespace {

DecodingDefaults judged(uint32_t n_phones, const Grammar &grammar) {
  HmmSet set;
  set.phones.push_back({"SIL", true, 0});
  for (uint32_t i = 0; i < n_phones; ++i) set.phones.push_back({"P" + std::to_string(i), false, 0});
  DecodingDefaults decoding;
  note_results(grammar, set, &decoding);
  return decoding;
}

// The background of a model of few phones says what the grammar says, so that it would reject right words.
TEST(BundleParts, ModelsOfFewPhonesRejectNothing) {
  for (const uint32_t n_phones : {0u, 2u, 15u}) {
    const DecodingDefaults decoding = judged(n_phones, {});
    EXPECT_EQ(decoding.reject_threshold, 1) << n_phones;
    EXPECT_FALSE(decoding.compares()) << n_phones;
  }
  for (const uint32_t n_phones : {16u, 40u}) {
    const DecodingDefaults decoding = judged(n_phones, {});
    EXPECT_EQ(decoding.reject_threshold, 0.5) << n_phones;
    EXPECT_TRUE(decoding.compares()) << n_phones;
  }
  EXPECT_FALSE(DecodingDefaults().compares());
  Grammar keywords;
  keywords.keywords["go"] = 0.5;
  EXPECT_EQ(judged(2, keywords).reject_threshold, 0.5);  // keywords are found among garbage
}

}  // namespace
}  // namespace asr
