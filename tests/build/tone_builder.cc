// SPDX-License-Identifier: Apache-2.0
#include "tests/build/tone_builder.h"

#include <filesystem>

#include "core/model/bundle.h"
#include "core/model/hmm_set.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

// Three states of one pdf a phone.
HmmSet tone_hmms() {
  HmmSet set;
  set.n_pdfs = 4;
  set.topologies = {{3, {{0, 0, .7f}, {0, 1, .7f}, {1, 1, .7f}, {1, 2, .7f}, {2, 2, .7f}, {2, 3, .7f}, {kEntry, 0, 0}}}};
  set.phones = {{"SIL", true, 0}, {"LOW", false, 1}, {"MID", false, 2}, {"HIGH", false, 3}};
  for (uint32_t pdf = 0; pdf < set.n_pdfs; ++pdf) set.hmms.push_back({0, {pdf, pdf, pdf}});
  set.silence = 0;
  return set;
}

}  // namespace

const char kToneLexicon[] = "low LOW\nmid MID\nhigh HIGH\ndeep LOW\nchirp LOW HIGH\n";

// Inside the tone bundle's directory, which goes with it.
const std::string &tone_model() {
  static const std::string path = [] {
    const std::string folder = tone_bundle() + "/model";
    std::filesystem::create_directories(folder);
    std::filesystem::copy_file(tone_bundle() + "/acoustic.bin", folder + "/acoustic.bin");
    write_hmm_set(tone_hmms(), folder + "/hmms.bin");
    write_bundle_index(read_bundle_index(tone_bundle()), folder, {"acoustic.bin", "hmms.bin"});
    return folder;
  }();
  return path;
}

BuilderPointer tone_builder() {
  asr_builder *builder = nullptr;
  EXPECT_BUILT(asr_builder_open(tone_model().c_str(), &builder));
  EXPECT_BUILT(asr_builder_add_lexicon_text(builder, kToneLexicon, sizeof(kToneLexicon) - 1, nullptr));
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
