// SPDX-License-Identifier: Apache-2.0
// Beginnings of files that people give in place of others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/text/packed.h"

namespace asr::test {

struct Foreign {
  const char *name;  // as messages have it
  std::string bytes;
};

inline std::vector<Foreign> foreign_files() {
  using namespace std::string_literals;
  const std::string fst = "\xd6\xfd\xb2\x7e\6\0\0\0vector\x8\0\0\0standard\2\0\0\0"s;
  return {{"a binary OpenFst graph", fst},
          {"a binary symbol table of OpenFst", "\x74\xfb\xb2\x7e\5\0\0\0words"s},
          {"an archive of OpenFst graphs (FAR)", "\x5c\xf3\xb2\x7e\0\0\0\0"s},
          {"a model of Kaldi", "\0B<TransitionModel> <Topology> \4"s},
          {"a model of Kaldi", "<TransitionModel> \n<Topology> \n"s},
          {"a decision tree of Kaldi", "\0BContextDependency \4\3\0\0\0"s},
          {"a language model in Kaldi's carpa form", "\0B<ConstArpaLm> \4"s},
          {"a neural network of Kaldi", "\0B<Nnet3> \n"s},
          {"a binary object of Kaldi", "\0BFM \4\2\0\0\0"s},
          {"an archive of Kaldi", "utt-1 \0BFM \4\2\0\0\0"s},
          {"an archive of graphs or lattices of Kaldi", "utt-1 " + fst},
          {"a binary language model of KenLM", "mmap lm http://kheafield.com/code format version 5\n\0\0\0\0"s},
          {"a language model in Sphinx's DMP form", "\x11\0\0\0Darpa Trigram LM\0\1"s},
          {"a language model in Sphinx's binary form (.lm.bin)", "Trie Language Model\3\1\0\0\0"s},
          {"a binary language model of SRILM", "SRILM_BINARY_NGRAM_002\n\0"s},
          {"a binary language model of IRSTLM", "blmt 3 100 200 300\n\0\0"s},
          {"a binary language model of Julius", "julius_bingram_v5\0\0"s},
          {"a binary HMM file of Julius", "JBINHMM\n\0\0\1"s},
          {"a model definition of Sphinx (mdef)", "BMDF\1\0\0\0"s},
          {"a parameter file of Sphinx", "s3\nversion 1.0\nendhdr\n"s},
          {"a file of a bundle of Senone", "SenoneAM\1\0\0\0"s},
          {"a grammar in JSGF", "#JSGF V1.0;\ngrammar g;\n"s},
          {"a language model in ARPA form", "\n\\data\\\nngram 1=4\n"s},
          {"a file of HTK's HMMs", "~h \"a\"\n<BEGINHMM>\n"s},
          {"XML", "<?xml version=\"1.0\"?>\n<lexicon/>\n"s},
          {"a web page", "<!DOCTYPE html>\n<html>\n"s},
          {"a pointer of Git LFS", "version https://git-lfs.github.com/spec/v1\noid sha256:00\n"s},
          {"packed with gzip", gzip(gzip("a\n"))},
          {"packed with Zstandard", "\x28\xb5\x2f\xfd\4\0\0"s},
          {"a ZIP archive", "PK\3\4\x14\0\0\0"s},
          {"a tar archive", "lm.arpa"s + std::string(250, '\0') + "ustar  \0"s},
          {"PDF", "%PDF-1.4\n\xc3\xa4\n"s},
          {"a recording or other media (WAV)", "RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0"s},
          {"text in UTF-16",
           "\xff\xfe"
           "a\0\n\0"s},
          {"text in UTF-16", "\xfe\xff\0a\0\n"s}};
}

}  // namespace asr::test
