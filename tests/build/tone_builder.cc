// SPDX-License-Identifier: Apache-2.0
#include "tests/build/tone_builder.h"

#include <cstring>

namespace asr::test {
BuilderPointer tone_builder() {
  asr_builder *builder = nullptr;
  EXPECT_BUILT(asr_builder_open(tone_model().c_str(), &builder));
  EXPECT_BUILT(asr_builder_add_lexicon_text(builder, kToneLexicon, strlen(kToneLexicon), nullptr));
  return {builder, asr_builder_close};
}

ResultPointer build(Build function, const asr_builder *builder, const std::string &text, const asr_build_config *config) {
  asr_build_result *result = nullptr;
  EXPECT_BUILT(function(builder, text.data(), text.size(), config, &result));
  return {result, asr_build_free};
}

asr_build_config default_config() {
  asr_build_config config;
  asr_build_config_default(&config);
  return config;
}

asr_build_info info_of(const asr_build_result *result) {
  asr_build_info info{};
  info.size = sizeof(info);
  EXPECT_BUILT(asr_build_get_info(result, &info));
  return info;
}

std::string archive_of(const asr_build_result *result) {
  const asr_build_info info = info_of(result);
  return {static_cast<const char *>(info.bytes), info.n_bytes};
}

std::string refusal(Build function, const asr_builder *builder, const std::string &text, asr_status status,
                    const asr_build_config *config) {
  asr_build_result *const untouched = reinterpret_cast<asr_build_result *>(1), *result = untouched;
  EXPECT_EQ(function(builder, text.data(), text.size(), config, &result), status) << text;
  EXPECT_EQ(result, untouched);
  return asr_build_last_error();
}

std::string jsgf(const std::string &rules) { return "#JSGF V1.0;\ngrammar g;\n" + rules; }

}  // namespace asr::test
