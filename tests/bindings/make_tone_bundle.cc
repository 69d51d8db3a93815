// SPDX-License-Identifier: Apache-2.0
// make_tone_bundle DIRECTORY: writes the bundle of tests/api/tone_bundle.h and recordings of it, for tests in other
// languages. Bundles are DIRECTORY/bundle, bundle_with_mean, wide (another model of bundle's states), ends, and tokens
// (tests/api/token_bundle.h).
// ends.sgraph and tagged.sgraph have one word, "high" or "low". Grammars are compiled for model and tones.dict.
// Recordings (16 kHz, 16-bit) are low_mid_high.raw, high_low.raw and low.raw.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>

#include "tests/api/token_bundle.h"
#include "tests/api/tone_bundle.h"
#include "tests/build/tone_model.h"

namespace {

namespace fs = std::filesystem;

void make(const fs::path &directory) {
  fs::create_directories(directory);
  const auto copy = [&](const std::string &bundle, const char *name) {
    fs::copy(bundle, directory / name, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  };
  const std::vector<std::string> ends{"high", "low"};
  copy(asr::test::tone_bundle(), "bundle");
  copy(asr::test::tone_bundle_with_mean(), "bundle_with_mean");
  copy(asr::test::tone_grammar_bundle(ends), "ends");
  copy(asr::test::tone_model_bundle(asr::test::ToneModel::kWide), "wide");
  copy(asr::test::tone_model(), "model");
  copy(asr::test::token_bundle(), "tokens");
  const auto write = [&](const char *name, const std::string &archive) {
    std::ofstream(directory / name, std::ios::binary).write(archive.data(), static_cast<std::streamsize>(archive.size()));
  };
  write("tones.dict", asr::test::kToneLexicon);
  write("ends.sgraph", asr::test::tone_grammar_archive(ends));
  write("tagged.sgraph", asr::test::tone_tagged_archive());
  for (const char *words : {"low mid high", "high low", "low"}) {
    const fs::path recording = asr::test::tone_recording(words);
    fs::copy_file(recording, directory / recording.filename(), fs::copy_options::overwrite_existing);
  }
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: make_tone_bundle DIRECTORY\n");
    return 2;
  }
  try {
    make(argv[1]);
    return 0;
  } catch (const std::exception &error) {
    fprintf(stderr, "make_tone_bundle: %s\n", error.what());
    return 1;
  }
}
