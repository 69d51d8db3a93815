// SPDX-License-Identifier: Apache-2.0
#include "core/lattice/slf.h"

#include <gtest/gtest.h>

#include "tests/unit/scratch.h"

namespace asr {
namespace {

// Makes two frames "Grüße", or one frame of a word with odd characters and two to the end.
CompactLattice two_words() {
  CompactLattice lattice;
  lattice.transition_ids = {1, 2, 3, 4};
  lattice.arcs = {{2, 1, {1.5, 20}, {0, 2}}, {1, 2, {0.25, 10}, {2, 1}}};
  lattice.arc_begin = {0, 2, 2, 2};
  lattice.frames = {0, 1, 2};
  lattice.ends = {{}, {{0.5, 12}, {2, 2}}, {{0, 0}, {}}};
  return lattice;
}

TEST(Slf, IsWritten) {
  const test::Scratch scratch;
  const std::string path = scratch / "a.slf";
  const std::vector<std::string> words = {"<eps>", "Grüße", "\"it\\s\""};
  OutputFile file(path);
  write_slf(file, two_words(), {"utt-1", &words, 0.01, 0.1});
  file.commit();
  EXPECT_EQ(test::slurp(path),
            "VERSION=1.0\n"
            "UTTERANCE=utt-1\n"
            "lmscale=1 wdpenalty=0 acscale=0.1\n"
            "start=0 end=3\n"
            "N=4 L=4\n"
            "I=0 t=0.000\n"
            "I=1 t=0.010\n"
            "I=2 t=0.020\n"
            "I=3 t=0.030\n"
            "J=0 S=0 E=2 W=Grüße a=-20 l=-1.5\n"
            "J=1 S=0 E=1 W=\\\"it\\\\s\" a=-10 l=-0.25\n"
            "J=2 S=1 E=3 W=!NULL a=-12 l=-0.5\n"
            "J=3 S=2 E=3 W=!NULL a=0 l=0\n");
}

TEST(Slf, RefusesWhatItCannotSay) {
  const test::Scratch scratch;
  OutputFile file(scratch / "a.slf");
  const std::vector<std::string> words = {"<eps>", "one"};
  test::expect_error([&] { write_slf(file, two_words(), {"utt-1", &words, 0.01, 1}); }, ASR_INVALID_ARGUMENT, "word 2");
  test::expect_error([&] { write_slf(file, {}, {"utt-1", &words, 0.01, 1}); }, ASR_INVALID_ARGUMENT, "utt-1: has no path");
}

}  // namespace
}  // namespace asr
