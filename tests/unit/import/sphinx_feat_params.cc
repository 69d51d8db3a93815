// SPDX-License-Identifier: Apache-2.0
// Tests feat.params and noisedict.
#include "builder/import/sphinx_feat_params.h"

#include <gtest/gtest.h>

#include "builder/import/sphinx_dictionary.h"
#include "tests/unit/scratch.h"

namespace asr::sphinx {
namespace {

using test::expect_error;

FeatParams parse(const std::string &text, double sample_rate_hz = 0) {
  return parse_feat_params(text, "feat.params", sample_rate_hz);
}

TEST(FeatParams, AnEmptyFileGivesTheDefaults) {
  const FeatParams params = parse("");
  FrontEnd expected = sphinx_front_end();
  expected.noise_removal = true;
  EXPECT_EQ(front_end_to_json(params.front_end), front_end_to_json(expected));
  EXPECT_EQ(params.streams.size(), 1u);
  EXPECT_EQ(params.streams[0].size(), 39u);
  EXPECT_EQ(params.streams[0][38], 38u);
  EXPECT_EQ(params.variance_floor, 1e-4);
  EXPECT_EQ(params.weight_floor, 1e-7);
  EXPECT_EQ(params.transition_floor, 1e-4);
  EXPECT_TRUE(params.notes.empty());
}

TEST(FeatParams, EveryKeyHasItsField) {
  const FeatParams params = parse(
      "# a comment\n-samprate 8000 -frate 80\n-wlen 0.025\n-nfft 512\n-alpha 0.9\n-ncep 12\n-nfilt 31\n-lowerf 200\n"
      "-upperf 3500\n-transform htk\n-lifter 22\n-unit_area no\n-round_filters no\n-remove_dc yes\n-feat 1s_c_d\n"
      "-cmn prior\n-cmninit 1,-2.5\n-varfloor 0.001\n-mixwfloor 0.01\n-tmatfloor 0.1\n-svspec 0-11/12,14,13-13\n"
      "-agc none\n-model ptm\n-remove_noise no\n-doublebw no\n-varnorm no\n-dither no\n");
  const FrontEnd &f = params.front_end;
  EXPECT_EQ(f.sample_rate_hz, 8000);
  EXPECT_EQ(f.shift_samples, 100u);
  EXPECT_EQ(f.window_samples, 200u);
  EXPECT_EQ(f.fft_samples, 512u);
  EXPECT_EQ(f.edges, FrameEdges::kPadTail);
  EXPECT_EQ(f.preemphasis, 0.9);
  EXPECT_EQ(f.n_ceps, 12u);
  EXPECT_EQ(f.n_mel, 31u);
  EXPECT_EQ(f.low_hz, 200);
  EXPECT_EQ(f.high_hz, 3500);
  EXPECT_EQ(f.dct, DctKind::kHtk);
  EXPECT_EQ(f.lifter, 22);
  EXPECT_FALSE(f.unit_area);
  EXPECT_FALSE(f.noise_removal);
  EXPECT_FALSE(f.round_edges_to_bins);
  EXPECT_EQ(f.dc_removal, ASR_DC_AFTER_PREEMPHASIS);
  EXPECT_EQ(f.dynamic, DynamicKind::kSphinx_c_d);
  EXPECT_EQ(f.cmn, CmnKind::kLive);
  std::vector<float> prior(12, 0);
  prior[0] = 1;
  prior[1] = -2.5f;
  EXPECT_EQ(f.cmn_prior, prior);
  EXPECT_EQ(params.variance_floor, 0.001);
  EXPECT_EQ(params.weight_floor, 0.01);
  EXPECT_EQ(params.transition_floor, 0.1);
  ASSERT_EQ(params.streams.size(), 2u);
  EXPECT_EQ(params.streams[0].size(), 12u);
  EXPECT_EQ(params.streams[1], (std::vector<uint32_t>{12, 14, 13}));
  EXPECT_TRUE(params.notes.empty());
}

TEST(FeatParams, WindowsOfTheKnownModels) {
  EXPECT_EQ(parse("").front_end.window_samples, 410u);
  EXPECT_EQ(parse("").front_end.fft_samples, 512u);
  EXPECT_EQ(parse("-wlen 0.025").front_end.window_samples, 400u);
  const FrontEnd narrow = parse("-wlen 0.025 -upperf 4000 -samprate 8000").front_end;
  EXPECT_EQ(narrow.window_samples, 200u);
  EXPECT_EQ(narrow.fft_samples, 256u);
  EXPECT_EQ(narrow.shift_samples, 80u);
}

TEST(FeatParams, StreamsOfS24x) {
  const FeatParams params = parse("-feat s2_4x");
  EXPECT_EQ(params.front_end.n_dims(), 51u);
  ASSERT_EQ(params.streams.size(), 4u);
  const uint32_t first[] = {0, 12, 36, 39}, size[] = {12, 24, 3, 12};
  for (size_t j = 0; j < 4; ++j) {
    EXPECT_EQ(params.streams[j].front(), first[j]);
    EXPECT_EQ(params.streams[j].size(), size[j]);
  }
}

// A narrow-band model without a rate is recognised as such, with a note; the user's rate has precedence over both.
TEST(FeatParams, SampleRate) {
  const FeatParams narrow = parse("-upperf 4000");
  EXPECT_EQ(narrow.front_end.sample_rate_hz, 8000);
  ASSERT_EQ(narrow.notes.size(), 1u);
  EXPECT_NE(narrow.notes[0].find("--sample-rate"), std::string::npos);
  EXPECT_EQ(parse("-upperf 4000", 16000).front_end.sample_rate_hz, 16000);
  EXPECT_TRUE(parse("-upperf 4000", 16000).notes.empty());
  EXPECT_EQ(parse("-upperf 4000 -samprate 11025").front_end.sample_rate_hz, 11025);
  EXPECT_EQ(parse("-samprate 16000", 22050).front_end.sample_rate_hz, 22050);
  expect_error([] { parse("", 8000); }, ASR_BAD_FILE, "--sample-rate");
}

TEST(FeatParams, NotesWhatItLeavesOut) {
  EXPECT_NE(parse("-dither yes").notes.at(0).find("dither"), std::string::npos);
  EXPECT_NE(parse("-lw 9").notes.at(0).find("-lw is not used"), std::string::npos);
}

TEST(FeatParams, RefusesWhatIsNotSupported) {
  const char *const texts[] = {"-agc max",       "-doublebw yes", "-logspec yes", "-warp_params 1.1",
                               "-transform dft", "-feat 2s_c",    "-cmn other",   "-varnorm yes -cmn live"};
  for (const char *text : texts) {
    const auto outcome = test::outcome_of([&] { parse(text); });
    EXPECT_EQ(outcome.code, ASR_UNSUPPORTED) << text << ": " << outcome.message;
    EXPECT_NE(outcome.message.find("feat.params: -"), std::string::npos) << outcome.message;
  }
  EXPECT_TRUE(parse("-varnorm yes -cmn batch").front_end.cmn_variance);
}

TEST(FeatParams, RefusesBadValues) {
  for (const char *text :
       {"lowerf 1",    "-lowerf",          "-lowerf x",    "-lowerf nan", "-lowerf 7000", "-nfilt 0",  "-nfilt -1",
        "-wlen 9",     "-remove_dc maybe", "-cmninit 1,x", "-nfft 100",   "-nfft 256",    "-ncep 41",  "-samprate 1e99",
        "-varfloor 0", "-svspec 0-39",     "-svspec 5-1",  "-svspec 0;1", "-svspec 0/",   "-svspec -1"}) {
    const auto outcome = test::outcome_of([&] { parse(text); });
    EXPECT_EQ(outcome.code, ASR_BAD_FILE) << text << ": " << outcome.message;
    EXPECT_NE(outcome.message.find("feat.params"), std::string::npos) << outcome.message;
  }
}

HmmSet phones(std::initializer_list<const char *> names) {
  HmmSet set;
  for (const char *name : names) set.phones.push_back({name, false, 0});
  set.silence = set.find_phone("SIL");
  return set;
}

TEST(Noisedict, AddsSilenceAndLeavesOutUnknownPhones) {
  std::vector<std::string> notes;
  const auto fillers = parse_noisedict("## comment\n;; comment\n<s> SIL\n++NOISE++ +N+ SIL\n++BREATH++ +B+\n", "noisedict",
                                       phones({"SIL", "+N+"}), notes);
  const Pronunciations expected = {{"<s>", {"SIL"}}, {"++NOISE++", {"+N+", "SIL"}}, {"</s>", {"SIL"}}, {"<sil>", {"SIL"}}};
  EXPECT_EQ(fillers, expected);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("++BREATH++ is left out: the model has no phone +B+"), std::string::npos);
}

TEST(Noisedict, WithoutSilenceAddsNothing) {
  std::vector<std::string> notes;
  EXPECT_TRUE(parse_noisedict("", "noisedict", phones({"A"}), notes).empty());
  expect_error([&] { parse_noisedict("<s>\n", "noisedict", phones({"SIL"}), notes); }, ASR_BAD_FILE, "noisedict:1");
}

}  // namespace
}  // namespace asr::sphinx
