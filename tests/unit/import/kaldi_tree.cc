// SPDX-License-Identifier: Apache-2.0
// Tests Kaldi's decision trees: a small one, damaged ones, and one of a real model.
#include "builder/import/kaldi_tree.h"

#include <cstdlib>

#include "builder/import/kaldi.h"
#include "tests/unit/scratch.h"

namespace asr::kaldi {
namespace {

const char kSmall[] =
    "ContextDependency 3 1 ToPdf TE 1 3 ( NULL CE 5 SE 0 [ 1 0 ]\n{ TE -1 2 ( CE 0 CE 1 ) SE 2 [ 2 ]\n{ CE 2 CE 3 } } )\n"
    "EndContextDependency\n";

Tree parse(const std::string &text) {
  const test::Scratch scratch;
  test::spill(scratch / "tree", text);
  return Tree(scratch / "tree");
}

std::string with(const std::string &what, const std::string &instead) {
  std::string text = kSmall;
  return text.replace(text.find(what), what.size(), instead);
}

TEST(KaldiTree, LeadsToPdfs) {
  const Tree tree = parse(kSmall);
  EXPECT_EQ(tree.width(), 3u);
  EXPECT_EQ(tree.central(), 1u);
  EXPECT_EQ(tree.pdf({2, 1, 2}, 0), 5);
  EXPECT_EQ(tree.pdf({0, 2, 1}, 0), 0);
  EXPECT_EQ(tree.pdf({1, 2, 2}, 1), 1);
  EXPECT_EQ(tree.pdf({2, 2, 2}, 1), 2);
  EXPECT_EQ(tree.pdf({2, 2, 0}, 0), 3);
}

TEST(KaldiTree, SaysNothingOfWhatItLacks) {
  const Tree tree = parse(kSmall);
  EXPECT_EQ(tree.pdf({1, 0, 1}, 0), -1);  // no such phone
  EXPECT_EQ(tree.pdf({1, 3, 1}, 0), -1);
  EXPECT_EQ(tree.pdf({1, 2, 1}, 2), -1);  // no such class
}

TEST(KaldiTree, AnOlderFormSaysLengthsFirst) {
  EXPECT_EQ(parse(with("ToPdf", "ToLength TE 1 2 ( NULL CE 3 ) ToPdf")).pdf({2, 1, 2}, 0), 5);
}

TEST(KaldiTree, DamageIsReported) {
  const auto expect = [](const std::string &text, const char *cause) {
    test::expect_error([&] { parse(text); }, ASR_BAD_FILE, cause);
  };
  expect(with("3 1", "3 3"), "central");
  expect(with("3 1", "0 0"), "no phones");
  expect(with("SE 0", "SE 3"), "outside its window");
  expect(with("SE 0", "XE 0"), "unknown kind XE");
  expect(with("TE 1 3", "TE 1 4"), "tree");
  expect(with("EndContext", "Context"), "EndContextDependency");
  std::string deep = "ContextDependency 1 0 ToPdf ";
  for (int i = 0; i < 100000; ++i) deep += "TE 0 1 ( ";
  expect(deep, "too deep");
}

TEST(KaldiTree, GivesARealModelItsContexts) {
  const char *data = getenv("SENONE_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "SENONE_TEST_DATA is not set";
  const std::string folder = std::string(data) + "/kaldi_20k/";
  KaldiOptions options;
  options.model = folder + "final.main.mdl";
  options.phones = folder + "phones.txt";
  options.features_only = true;
  EXPECT_FALSE(import_kaldi(options).hmms.knows_contexts());
  options.tree = folder + "tree";
  const HmmSet set = import_kaldi(options).hmms;
  EXPECT_TRUE(set.knows_contexts());
  EXPECT_EQ(set.contexts.size(), 40u * 41 * 41);

  options.tree = std::string(data) + "/kaldi_indonesian/exp/tri1/tree";  // belongs to another model
  test::expect_error([&] { import_kaldi(options); }, ASR_INVALID_ARGUMENT, "the model's own tree");
}

}  // namespace
}  // namespace asr::kaldi
