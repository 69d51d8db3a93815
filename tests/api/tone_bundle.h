// SPDX-License-Identifier: Apache-2.0
// A tiny language for tests of the C ABI: its words "low", "mid" and "high" are tones of three pitches, with near-silence
// between them. Its bundle is trained and written in milliseconds, so the tests need no external model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace asr::test {

// Returns the bundle's directory, which is written on the first call of a process and removed when it ends.
const std::string &tone_bundle();

// The same with an epsilon cycle with the word "mid", at a cost, after each "high".
const std::string &tone_bundle_with_cycle();

// The same with a fourth word "deep", which sounds like "low" and which the search prefers.
const std::string &tone_bundle_with_homophone();

// The same with a model whose default is the mean of the whole utterance, and whose live mean looks 20 frames ahead.
const std::string &tone_bundle_with_mean();

// Grammars of the first bundle's model: one of these words, once, with silence around it. The first function returns a bundle
// with that model, the second one a graph archive.
std::string tone_grammar_bundle(const std::vector<std::string> &words);
std::string tone_grammar_archive(const std::vector<std::string> &words);
// The bundle of "low" and "mid", with a more expensive loop over all words as background and 0.5 as threshold.
std::string tone_bundle_with_background();
std::string tone_sentence_with_background();  // the same for the bundle of "low" and then "mid"
std::string tone_tagged_archive();            // "high" with the tags H and more, "low" with L, both of the rule "ends"
std::string tone_archive();                   // archive of the first bundle's own graph

// Other acoustic models with the first bundle's states, as bundles without a graph.
enum class ToneModel {
  kWide,           // larger variances
  kFull,           // full covariances
  kOtherFeatures,  // fewer features, from fewer neighbouring frames
  kWithMean,       // the model of tone_bundle_with_mean()
  kDeaf,           // all tones sound like "mid"
  kFewerStates,    // one state less; engines refuse it
};
std::string tone_model_bundle(ToneModel model);

// Returns a recording of the words: each lasts 0.3 s, with 0.2 s of near-silence before, between and after them.
std::vector<int16_t> speak(const std::string &words, uint32_t rate_hz = 16000);

// Writes the same as a .raw file of 16 kHz in the bundle's directory.
std::string tone_recording(const std::string &words);

constexpr double kWord_s = 0.3, kPause_s = 0.2;

}  // namespace asr::test
