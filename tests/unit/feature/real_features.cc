// SPDX-License-Identifier: Apache-2.0
// Compares the conventions with features of real recordings made by CMU Sphinx and Kaldi.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/base/file.h"
#include "tests/unit/feature/signals.h"

namespace asr {
namespace {

template <typename T>
std::vector<T> values_of(const std::string &bytes, size_t at, size_t n) {
  std::vector<T> values(n);
  if (at + n * sizeof(T) > bytes.size()) throw std::runtime_error("the file is too short");
  std::memcpy(values.data(), bytes.data() + at, n * sizeof(T));
  return values;
}

bool file_exists(const std::string &path) {
  FILE *file = fopen(path.c_str(), "rb");
  if (file != nullptr) fclose(file);
  return file != nullptr;
}

// goforward.mfc: en-us parameters, noise removal on, without the last 14 frames of silence.
TEST(RealFeatures, CmuSphinxGoforward) {
  const std::string folder = "/usr/share/pocketsphinx/test/data/";
  if (!file_exists(folder + "goforward.mfc")) GTEST_SKIP() << "Debian's pocketsphinx-testdata is not installed";
  const std::string raw = read_file(folder + "goforward.raw"), mfc = read_file(folder + "goforward.mfc");
  const std::vector<int16_t> samples = values_of<int16_t>(raw, 0, raw.size() / 2);
  const auto n_floats = static_cast<size_t>(values_of<int32_t>(mfc, 0, 1)[0]);
  ASSERT_EQ(mfc.size(), 4 + 4 * n_floats);
  const std::vector<float> want = values_of<float>(mfc, 4, n_floats);

  FrontEnd f = test::en_us_front_end();
  f.noise_removal = true;
  const reference::Rows got = reference::mfcc(f, {samples.begin(), samples.end()});
  ASSERT_EQ(got.size(), 278u);
  ASSERT_EQ(want.size(), 264u * f.n_ceps);
  for (size_t t = 0; t < want.size() / f.n_ceps; ++t) {
    for (uint32_t i = 0; i < f.n_ceps; ++i) ASSERT_NEAR(got[t][i], want[t * f.n_ceps + i], 2e-4) << "frame " << t << " c" << i;
  }
}

// Reads one entry of a Kaldi archive of compressed matrices, FORMATS "CM ".
reference::Rows first_matrix(const std::string &archive) {
  const size_t at = archive.find('\0') + 5;  // after "\0BCM "
  const std::vector<float> range = values_of<float>(archive, at, 2);
  const std::vector<int32_t> shape = values_of<int32_t>(archive, at + 8, 2);
  const auto n_rows = static_cast<size_t>(shape[0]), n_columns = static_cast<size_t>(shape[1]);
  const std::vector<uint16_t> headers = values_of<uint16_t>(archive, at + 16, 4 * n_columns);
  const std::vector<uint8_t> bytes = values_of<uint8_t>(archive, at + 16 + 8 * n_columns, n_rows * n_columns);
  reference::Rows rows(n_rows, reference::Row(n_columns));
  for (size_t c = 0; c < n_columns; ++c) {
    double p[4];
    for (size_t k = 0; k < 4; ++k) p[k] = range[0] + range[1] * headers[4 * c + k] / 65535.0;
    for (size_t r = 0; r < n_rows; ++r) {
      const int v = bytes[c * n_rows + r];
      rows[r][c] = v <= 64    ? p[0] + (p[1] - p[0]) * v / 64
                   : v <= 192 ? p[1] + (p[2] - p[1]) * (v - 64) / 128
                              : p[2] + (p[3] - p[2]) * (v - 192) / 63;
    }
  }
  return rows;
}

// The archive was made with dither of one unit and 8-bit compression, so only most differences are small.
TEST(RealFeatures, KaldiYesno) {
  const char *data = std::getenv("SENONE_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "SENONE_TEST_DATA is not set";
  const std::string folder = std::string(data) + "/kaldi_yesno/";
  if (!file_exists(folder + "README.picked")) GTEST_SKIP() << folder << " does not exist";
  const std::string wav = read_file(folder + "waves_yesno/0_0_0_0_1_1_1_1.wav");
  const size_t begin = wav.find("data") + 8;
  const std::vector<int16_t> samples = values_of<int16_t>(wav, begin, (wav.size() - begin) / 2);
  const reference::Rows want = first_matrix(read_file(folder + "data/train_yesno/data/raw_mfcc_train_yesno.1.ark"));

  FrontEnd f = kaldi_front_end();
  f.sample_rate_hz = 8000, f.high_hz = 4000;
  f.window_samples = 200, f.shift_samples = 80, f.fft_samples = 256;
  f.use_energy = false;
  const reference::Rows got = reference::mfcc(f, {samples.begin(), samples.end()});
  ASSERT_EQ(got.size(), want.size());
  std::vector<double> differences;
  for (size_t t = 0; t < got.size(); ++t) {
    for (uint32_t i = 0; i < f.n_ceps; ++i) differences.push_back(std::abs(got[t][i] - want[t][i]));
  }
  std::sort(differences.begin(), differences.end());
  EXPECT_LT(differences[differences.size() / 2], 0.25);
  EXPECT_LT(differences[differences.size() * 9 / 10], 1.0);
}

}  // namespace
}  // namespace asr
