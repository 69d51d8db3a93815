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
  test::expect_error([&] { read(KaldiWriter(true).token("FV").integer(1)); }, ASR_BAD_FILE, "matrix is a vector where a matrix must be");
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
  test::expect_error([&] { list("one " + ark_ + ":4[1:5]\n"); }, ASR_BAD_FILE,
                     "one: rows 1 to 5 are asked for, but there are 2");
  test::expect_error([&] { list("one " + ark_ + ":4[2:2]\n"); }, ASR_BAD_FILE,
                     "one: rows 2 to 2 are asked for, but there are 2");
  test::expect_error([&] { list("one " + ark_ + ":4[0:1,1:3]\n"); }, ASR_BAD_FILE, "one: columns 1 to 3 are asked for");
  for (const char *range : {"[2:1]", "[0]", "[0:1,]", "[,0:1]", "[0:1,0:1,0:1]", "[-1:1]", "[a:b]", "[]"}) {
    test::expect_error([&] { list("one " + ark_ + ":4" + range + "\n"); }, ASR_BAD_FILE,
                       "a.scp:1: one: has a range other than");
  }
  test::expect_error([&] { list("one " + ark_ + ":9999\n"); }, ASR_BAD_FILE, "points at byte 9999");
  test::expect_error([&] { list("one /no/such:4\n"); }, ASR_NOT_FOUND, "/no/such");
  test::expect_error([&] { read_archive<float>(ark_); }, ASR_INVALID_ARGUMENT, "write ark:FILE or scp:FILE");
  for (const char *pipe : {"ark:-", "scp:-", "ark:", "ark:gunzip -c a.gz |"}) {
    test::expect_error([&] { read_archive<float>(pipe); }, ASR_INVALID_ARGUMENT, "from files, not from pipes");
  }
}

// All ranges of rows and columns of a matrix of 2 x 3, as Kaldi cuts them: rows up to three beyond the end, with a warning.
TEST_F(Archives, RangesOfRowsAndColumns) {
  const auto text = [](int first, int last) { return first < 0 ? std::string(":") : format("%d:%d", first, last); };
  for (int r0 = -1; r0 < 2; ++r0) {
    for (int r1 = std::max(r0, 0); r1 < (r0 < 0 ? 1 : 5); ++r1) {
      for (int c0 = -1; c0 < 3; ++c0) {
        for (int c1 = std::max(c0, 0); c1 < (c0 < 0 ? 1 : 3); ++c1) {
          const std::string range = "[" + text(r0, r1) + (c0 < 0 && r1 % 2 == 0 ? "" : "," + text(c0, c1)) + "]";
          test::spill(scp_, "one " + ark_ + ":4" + range + "\n");
          ArchiveReader reader("scp:" + scp_);
          std::string key;
          Matrix<float> matrix;
          ASSERT_TRUE(reader.next(&key, &matrix)) << range;
          std::vector<float> expected;
          for (int r = std::max(r0, 0); r <= (r0 < 0 ? 1 : std::min(r1, 1)); ++r) {
            for (int c = std::max(c0, 0); c <= (c0 < 0 ? 2 : c1); ++c) expected.push_back(kValues[size_t(3 * r + c)]);
          }
          EXPECT_EQ(matrix.values, expected) << range;
          EXPECT_EQ(reader.warning().empty(), r0 < 0 || r1 < 2) << range << reader.warning();
          EXPECT_EQ(matrix.values.size(), size_t{matrix.n_rows} * matrix.n_cols);
        }
      }
    }
  }
}

// Reads all entries; a bad one becomes "key!".
std::vector<std::string> tried(const std::string &specifier, std::string *errors) {
  ArchiveReader reader(specifier);
  std::vector<std::string> keys;
  std::string key;
  Matrix<float> matrix;
  for (;;) {
    try {
      if (!reader.next(&key, &matrix)) return keys;
      keys.push_back(key);
    } catch (const Error &error) {
      keys.push_back(key + "!");
      *errors += error.what() + std::string("\n");
    }
  }
}

// Each combination of good and bad lines: a bad one costs itself.
TEST_F(Archives, EveryLineOfAListIsTried) {
  const std::vector<std::string> bad = {
      "copy-feats ark:x ark:- |", ark_ + ":9999", "/no/such:4", ark_ + ":4[7:8]", ark_ + ":5", "", ark_};
  for (size_t mask = 0; mask < size_t{1} << bad.size(); ++mask) {
    std::string list, errors;
    std::vector<std::string> expected;
    for (size_t i = 0; i < bad.size(); ++i) {
      const bool is_bad = (mask >> i & 1) != 0;
      const std::string key = "k" + std::to_string(i);
      list += key + " " + (is_bad ? bad[i] : ark_ + ":4") + "\n";
      expected.push_back(is_bad ? key + "!" : key);
    }
    test::spill(scp_, list);
    EXPECT_EQ(tried("scp:" + scp_, &errors), expected);
    for (size_t i = 0; i < bad.size(); ++i) {
      const std::string named = format("a.scp:%zu: k%zu: ", i + 1, i);
      EXPECT_EQ(errors.find(named) != std::string::npos, (mask >> i & 1) != 0) << errors;
    }
  }
}

TEST_F(Archives, AFileOfOneMatrixNeedsNoOffsetAndMayHaveBlanks) {
  const std::string file = scratch_ / "with blanks.mat";
  test::spill(file, KaldiWriter(true).matrix(2, kValues).bytes());
  test::spill(scp_, "one " + file + "\ntwo\t" + file + "[1:1]\nthree " + ark_ + "\n");
  std::string errors;
  EXPECT_EQ(tried("scp:" + scp_, &errors), (std::vector<std::string>{"one", "two", "three!"}));
  test::spill(scp_, "two " + ark_ + "\n");
  const size_t second = 4 + 4 + KaldiWriter(true).matrix(2, kValues).bytes().size();
  test::expect_error([&] { read_archive<float>("scp:" + scp_); }, ASR_BAD_FILE,
                     format("is an archive of several entries; this one is %s:%zu", ark_.c_str(), second));
}

TEST_F(Archives, EntriesOfAnotherKindCostThemselves) {
  const std::string matrix = KaldiWriter(true).matrix(2, kValues).bytes(), vector = KaldiWriter(true).vector(kValues).bytes();
  const std::string text = " [\n 1 2\n 3 4 ]\n", bad_text = " [\n 1 2\n 3 x ]\n", open_text = " [\n 1 2\n";
  std::string errors;
  test::spill(ark_, "a " + matrix + "b " + vector + "c " + bad_text + "d " + text + "e " + open_text + "f " + text +
                        "g 1 2 3\nh " + matrix);
  EXPECT_EQ(tried("ark:" + ark_, &errors), (std::vector<std::string>{"a", "b!", "c!", "d", "e!", "f", "g!", "h"})) << errors;
  test::spill(ark_, "a " + matrix + "b " + matrix.substr(0, matrix.size() - 1));
  EXPECT_EQ(tried("ark:" + ark_, &errors), (std::vector<std::string>{"a", "b!"}));
}

// Files of another kind are not called damaged, only what follows a good begin is.
TEST_F(Archives, FilesOfAnotherKindAreNotDamaged) {
  const auto expect_refused = [&](const std::string &text, const char *part) {
    test::spill(ark_, text);
    test::expect_error([&] { read_archive<float>("ark:" + ark_); }, ASR_BAD_FILE, part);
  };
  const std::string matrix = KaldiWriter(true).matrix(2, kValues).bytes(), vector = KaldiWriter(true).vector(kValues).bytes();
  expect_refused("HELLO HH AH L OW\n", ":1: does not begin with [, so it is a file of another kind");
  expect_refused(std::string("a \0BXY ", 7), "does not begin with a matrix, so it is a file of another kind");
  expect_refused("a " + vector, "a is a vector where a matrix must be");
  expect_refused("a " + matrix + "b c\n", "has no [ where one must follow; the file is damaged");
  expect_refused("a " + matrix + std::string("b \0BXY ", 7), "b is not a matrix; the file is damaged");
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
