// SPDX-License-Identifier: Apache-2.0
// Audio of the benchmarks: chunks are whole at the end of the audio, too; too little audio is refused.
#include "tools/bench_audio.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "core/base/error.h"

namespace asr::tool {
namespace {

TEST(BenchAudio, ChunksGoAroundTheEnd) {
  const BenchAudio audio{16000, {0, 1, 2, 3, 4, 5, 6}};
  for (const size_t n : {1, 3, 7, 20}) {
    size_t at = 5, expected = 5;
    std::vector<float> room;
    for (int chunk = 0; chunk < 10; ++chunk) {
      const float *const samples = audio.play(n, &at, &room);
      for (size_t i = 0; i < n; ++i, expected = (expected + 1) % 7) ASSERT_EQ(samples[i], static_cast<float>(expected)) << n;
      EXPECT_EQ(at, expected);
    }
  }
}

TEST(BenchAudio, LessThanASecondIsRefused) {
  std::string path = std::filesystem::temp_directory_path() / ("senone_bench_audio_" + std::to_string(getpid()) + ".raw");
  const auto write = [&](size_t n_samples) {
    std::ofstream(path, std::ios::binary) << std::string(2 * n_samples, '\1');
    return path;
  };
  EXPECT_EQ(read_bench_audio({write(8000), path}).samples.size(), 16000u);
  write(7999);
  for (const bool with_pauses : {false, true}) {
    try {
      read_bench_audio({path, path}, with_pauses);
      ADD_FAILURE() << "0.99 s were taken";
    } catch (const Error &error) {
      EXPECT_EQ(error.code(), ASR_BAD_AUDIO);
      EXPECT_NE(std::string(error.what()).find("give 1 s or more"), std::string::npos) << error.what();
    }
  }
  std::remove(path.c_str());
}

}  // namespace
}  // namespace asr::tool
