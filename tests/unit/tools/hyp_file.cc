// SPDX-License-Identifier: Apache-2.0
// Tests the journal of `senone recognize --resume`.
#include "tools/hyp_file.h"

#include <gtest/gtest.h>

#include "tests/unit/scratch.h"

namespace asr::tool {
namespace {

using test::expect_error;
using test::Scratch;
using test::slurp;
using test::spill;

Recognition result(const std::string &id, const std::string &text, const std::string &error = "") {
  Recognition r;
  r.id = id, r.best.text = text, r.error = error;
  return r;
}

TEST(HypJournal, TakesEachOlderLineOnce) {
  const Scratch scratch;
  spill(scratch / "hyp", "one two (a)\n(silent)\none (a)\nthree (name (1).wav)\n");
  HypJournal journal(scratch / "hyp");
  EXPECT_EQ(journal.n_older(), 4u);
  EXPECT_TRUE(journal.takes("a"));
  EXPECT_TRUE(journal.takes("a"));
  EXPECT_FALSE(journal.takes("a"));
  EXPECT_TRUE(journal.takes("silent"));
  EXPECT_TRUE(journal.takes("name (1).wav"));
  EXPECT_FALSE(journal.takes("b"));
}

TEST(HypJournal, WordsMayBeginWithParentheses) {
  const Scratch scratch;
  HypJournal(scratch / "hyp").append(result("name (1).wav", "(laughs) one (two) :-)"));
  HypJournal journal(scratch / "hyp");
  EXPECT_TRUE(journal.takes("name (1).wav"));
}

TEST(HypFile, IdsThatTheirLineDoesNotHoldAreRefused) {
  for (const char *id : {"a", "name (1).wav", "a b", "()"}) check_hyp_id(id);
  for (const char *id : {"", "a\nb", "a\033[2J", "a\rb", "a\x7f", "a)", "(a", "a) (b"}) {
    expect_error([&] { check_hyp_id(id); }, ASR_INVALID_ARGUMENT, "cannot be the id");
  }
}

TEST(HypJournal, AppendsAfterTheLastWholeLine) {
  const Scratch scratch;
  spill(scratch / "hyp", "one (a)\ntwo (b");
  HypJournal journal(scratch / "hyp");
  EXPECT_FALSE(journal.takes("b"));
  journal.append(result("b", "two"));
  journal.append(result("c", "", "c.wav: damaged"));
  EXPECT_EQ(slurp(scratch / "hyp"), "one (a)\ntwo (b)\n");
}

TEST(HypJournal, BeginsAFile) {
  const Scratch scratch;
  HypJournal journal(scratch / "hyp");
  EXPECT_EQ(journal.n_older(), 0u);
  journal.append(result("a", "one"));
  EXPECT_EQ(slurp(scratch / "hyp"), "one (a)\n");
}

TEST(HypJournal, OtherFilesAreRefusedAndLeftAlone) {
  const Scratch scratch;
  spill(scratch / "hyp", "one (a)\nnot such a line\n");
  expect_error([&] { HypJournal journal(scratch / "hyp"); }, ASR_BAD_FILE, "line 2 is not");
  EXPECT_EQ(slurp(scratch / "hyp"), "one (a)\nnot such a line\n");
  expect_error([&] { HypJournal journal(scratch / "no/such"); }, ASR_NOT_FOUND, "cannot be created");
  for (const char *text : {"{\"a\": 1}", "no line's end"}) {
    spill(scratch / "other", text);
    expect_error([&] { HypJournal journal(scratch / "other"); }, ASR_BAD_FILE, "name another file");
    EXPECT_EQ(slurp(scratch / "other"), text);
  }
}

TEST(HypJournal, ALastLineMayLackItsEnd) {
  const Scratch scratch;
  spill(scratch / "hyp", "one (a)\ntwo (b)");
  HypJournal journal(scratch / "hyp");
  EXPECT_EQ(journal.n_older(), 2u);
  EXPECT_TRUE(journal.takes("b"));
  journal.append(result("c", "three"));
  EXPECT_EQ(slurp(scratch / "hyp"), "one (a)\ntwo (b)\nthree (c)\n");
}

TEST(HypJournal, OneRunAtATime) {
  const Scratch scratch;
  const HypJournal journal(scratch / "hyp");
  expect_error([&] { HypJournal other(scratch / "hyp"); }, ASR_IO, "another run writes to it");
}

}  // namespace
}  // namespace asr::tool
