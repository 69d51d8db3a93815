// SPDX-License-Identifier: Apache-2.0
// Tests Kaldi's vectors, matrices, compressed matrices and archives, written here byte by byte and read back.
#include <cstdlib>

#include "builder/import/kaldi_archive.h"
#include "builder/import/kaldi_io.h"
#include "tests/unit/import/kaldi_writer.h"
#include "tests/unit/scratch.h"

namespace asr::kaldi {
namespace {

using test::KaldiWriter;
using test::Scratch;

const std::vector<float> kValues = {1, 2, 3, -4.5f, 1e-20f, 6};

class BothForms : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Kaldi, BothForms, ::testing::Values(false, true));

TEST_P(BothForms, NumbersAndVectorsAndMatrices) {
  KaldiWriter w(GetParam());
  w.token("<A>").integer(-7).real(0.5f).vector(kValues).matrix(2, kValues).packed(3, kValues).token("<B>");
  ObjectReader reader(w.bytes(), "object");
  reader.begin_object();
  EXPECT_EQ(reader.binary(), GetParam());
  reader.expect("<A>");
  EXPECT_EQ(reader.integer("n"), -7);
  EXPECT_EQ(reader.real("x"), 0.5);
  EXPECT_EQ(reader.vector<float>("vector"), kValues);
  const Matrix<double> m = reader.matrix<double>("matrix");
  EXPECT_EQ(m.n_rows, 2u);
  EXPECT_EQ(m.n_cols, 3u);
  EXPECT_EQ(m.row(1)[0], -4.5);
  uint32_t n_rows = 0;
  EXPECT_EQ(reader.packed<float>("packed", &n_rows), kValues);
  EXPECT_EQ(n_rows, 3u);
  EXPECT_FALSE(reader.skip("<C>"));
  EXPECT_TRUE(reader.skip("<B>"));
  EXPECT_TRUE(reader.at_end());
}

TEST(KaldiObjects, DoublesAreKeptAsDoubles) {
  const std::string bytes = KaldiWriter(true).token("DM").integer(1).integer(1).raw(1.0 / 3).bytes();
  ObjectReader reader(bytes, "object");
  reader.begin_object();
  EXPECT_EQ(reader.matrix<double>("matrix").values[0], 1.0 / 3);
}

KaldiWriter compressed(const char *kind, int32_t rows, int32_t cols) {
  return KaldiWriter(true).token(kind).raw(-1.0f).raw(4.0f).raw(rows).raw(cols);
}

TEST(KaldiObjects, PercentileCompressionByColumns) {
  KaldiWriter w = compressed("CM", 4, 2);
  for (const uint16_t head : {0, 16384, 32768, 65535}) w.raw(head);  // -1, 0, 1, 3
  for (const uint16_t head : {0, 0, 0, 0}) w.raw(head);
  for (const uint8_t v : {0, 64, 192, 255, 0, 1, 2, 3}) w.raw(v);
  ObjectReader reader(w.bytes(), "object");
  reader.begin_object();
  const Matrix<float> m = reader.matrix<float>("matrix");
  const float expected[] = {-1, 0, 1, 3};
  for (size_t r = 0; r < 4; ++r) {
    EXPECT_NEAR(m.row(r)[0], expected[r], 1e-4);
    EXPECT_EQ(m.row(r)[1], -1);
  }
}

TEST(KaldiObjects, EvenCompressionByRows) {
  const std::string two = compressed("CM2", 1, 2).raw(uint16_t{0}).raw(uint16_t{65535}).bytes();
  const std::string one = compressed("CM3", 2, 1).raw(uint8_t{0}).raw(uint8_t{51}).bytes();
  ObjectReader first(two, "two"), second(one, "one");
  first.begin_object();
  second.begin_object();
  EXPECT_EQ(first.matrix<float>("m").values, (std::vector<float>{-1, 3}));
  EXPECT_NEAR(second.matrix<float>("m").row(1)[0], -0.2, 1e-6);
}

TEST(KaldiObjects, SizesBeyondTheFileAreRefusedBeforeMemoryIsTaken) {
  const auto read = [](const KaldiWriter &w) {
    ObjectReader reader(w.bytes(), "object");
    reader.begin_object();
    reader.matrix<float>("matrix");
  };
  test::expect_error([&] { read(KaldiWriter(true).token("FM").integer(0x7fffffff).integer(0x7fffffff)); }, ASR_BAD_FILE,
                     "object: byte 15: matrix: 4611686014132420609 values do not fit");
  test::expect_error([&] { read(compressed("CM", 0x7fffffff, 0x7fffffff)); }, ASR_BAD_FILE, "ends within its matrix");
  test::expect_error([&] { read(compressed("CM2", -1, 4)); }, ASR_BAD_FILE, "-1 rows");
  test::expect_error([&] { read(KaldiWriter(true).token("FV").integer(1)); }, ASR_BAD_FILE, "is not a matrix");
}

TEST(KaldiObjects, TextErrorsNameTheLine) {
  ObjectReader reader(" [\n 1 2\n 3 x ]\n", "object");
  test::expect_error([&] { reader.matrix<float>("matrix"); }, ASR_BAD_FILE, "object:3: matrix has \"x\"");
  ObjectReader uneven(" [\n 1 2\n 3 ]\n", "object");
  test::expect_error([&] { uneven.matrix<float>("matrix"); }, ASR_BAD_FILE, "row 1 of matrix has another length");
}

class Archives : public ::testing::Test {
 protected:
  Scratch scratch_;
  std::string ark_, scp_;

  void SetUp() override {
    std::string archive = "one " + KaldiWriter(true).matrix(2, kValues).bytes();
    const size_t second = archive.size() + 4;
    archive += "two " + KaldiWriter(true).matrix(3, kValues).bytes();
    ark_ = scratch_ / "a.ark";
    scp_ = scratch_ / "a.scp";
    test::spill(ark_, archive);
    test::spill(scp_, format("two %s:%zu[1:2]\none /elsewhere/a.ark:4\n", ark_.c_str(), second));
  }
};

TEST_F(Archives, EntriesComeInOrder) {
  const auto entries = read_archive<float>("ark:" + ark_);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].first, "one");
  EXPECT_EQ(entries[1].second.n_rows, 3u);
}

TEST_F(Archives, ListsPointIntoArchivesAndCutRows) {
  const auto entries = read_archive<float>("scp:" + scp_);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].second.values, (std::vector<float>{3, -4.5f, 1e-20f, 6}));
  EXPECT_EQ(entries[1].second.values, kValues);  // found beside the list
}

// Every line costs a few bytes and may name a matrix of megabytes.
TEST_F(Archives, ListsThatNameAMatrixManyTimes) {
  const std::vector<float> values(3 << 20);
  std::string archive;
  for (const char *name : {"one ", "two "}) archive += name + KaldiWriter(true).matrix(1 << 20, values).bytes();
  test::spill(ark_, archive);
  const auto n_read = [&](const std::string &lines) {
    std::string list;
    for (int i = 0; i < 1000; ++i) list += lines;
    test::spill(scp_, list);
    ArchiveReader reader("scp:" + scp_);
    std::string key;
    Matrix<float> matrix;
    size_t n = 0;
    while (reader.next(&key, &matrix)) ++n;
    return n;
  };
  const std::string one = "one " + ark_ + ":4", two = "two " + ark_ + ":" + std::to_string(archive.size() / 2 + 4);
  EXPECT_EQ(n_read(one + "[0:0]\n"), 1000u);  // read once
  for (const std::string &lines : {one + "\n", one + "[0:0]\n" + two + "[0:0]\n"}) {
    test::expect_error([&] { n_read(lines); }, ASR_BAD_FILE, "the lines so far read over 16 times what their archives hold");
  }
}

TEST_F(Archives, TextArchive) {
  test::spill(ark_, "one  [\n 1 2 3\n -4.5 1e-20 6 ]\ntwo  [ ]\n");
  const auto entries = read_archive<float>("ark:" + ark_);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].second.values, kValues);
  EXPECT_EQ(entries[1].second.n_rows, 0u);
}

TEST_F(Archives, BadListsAndSpecifiers) {
  const auto list = [&](const std::string &text) {
    test::spill(scp_, text);
    read_archive<float>("scp:" + scp_);
  };
  test::expect_error([&] { list("one copy-feats ark:x ark:- |\n"); }, ASR_BAD_FILE, "a.scp:1:");
  test::expect_error([&] { list("one cat|\n"); }, ASR_BAD_FILE, "commands are not run");
  test::expect_error([&] { list("one " + ark_ + ":4[1:2]\n"); }, ASR_BAD_FILE, "row 2 is asked for");
  test::expect_error([&] { list("one " + ark_ + ":4[2:1]\n"); }, ASR_BAD_FILE, "row range");
  test::expect_error([&] { list("one " + ark_ + ":9999\n"); }, ASR_BAD_FILE, "points at byte 9999");
  test::expect_error([&] { list("one /no/such:4\n"); }, ASR_NOT_FOUND, "/no/such");
  test::expect_error([&] { read_archive<float>(ark_); }, ASR_INVALID_ARGUMENT, "write ark:FILE or scp:FILE");
}

TEST_F(Archives, NoDamageCrashes) {
  EXPECT_GT(test::count_refused_damages(ark_, [&] { read_archive<float>("ark:" + ark_); }), 60u);
}

TEST(KaldiData, FeaturesOf217Utterances) {
  const char *data = getenv("SENONE_TEST_DATA");
  if (!data) GTEST_SKIP() << "SENONE_TEST_DATA is not set";
  const std::string folder = std::string(data) + "/kaldi_indonesian/mfcc/";
  const auto archive = read_archive<float>("ark:" + folder + "raw_mfcc_test.1.ark");
  const auto list = read_archive<float>("scp:" + folder + "raw_mfcc_test.1.scp");
  ASSERT_EQ(archive.size(), 217u);
  ASSERT_EQ(list.size(), 217u);
  uint64_t n_frames = 0;
  for (size_t i = 0; i < archive.size(); ++i) {
    n_frames += archive[i].second.n_rows;
    EXPECT_EQ(archive[i].first, list[i].first);
    EXPECT_EQ(archive[i].second.values, list[i].second.values);
    EXPECT_EQ(archive[i].second.n_cols, 13u);
  }
  EXPECT_EQ(n_frames, 128454u);
  EXPECT_EQ(read_archive<double>("ark:" + folder + "cmvn_test.ark")[0].second.n_cols, 14u);
}

}  // namespace
}  // namespace asr::kaldi
