// SPDX-License-Identifier: Apache-2.0
// Tells by its first bytes what a file is that a user names, so that a reader of another format says what it got and what to do
// with that, instead of calling it damaged. All readers of the command and of libsenone_build ask here first.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace asr {

enum class Format {
  kOpenFst,         // binary
  kOpenFstText,     // arcs in lines
  kOpenFstSymbols,  // binary
  kKaldiBinary,     // an object of Kaldi's without a format of its own here: a matrix, a vector, integers
  kKaldiModel,
  kKaldiTree,
  kKaldiArchive,
  kKaldiLattices,
  kArpa,
  kSphinxTrie,
  kSphinxMdef,
  kSphinxS3,
  kJuliusHmms,
  kHtkHmms,
  kJsgf,
  kXml,
  kSenoneLoglikes,
  kSenoneG2p,
  kOther,  // no reader takes it
};

struct FormatFound {
  Format format;
  std::string name;  // "a binary OpenFst graph"
  std::string remedy;
};

// Returns whether the bytes begin like a file of a known format, which is put into *found. Plain words in lines are none.
bool find_format(std::string_view bytes, FormatFound *found);

// Throws ASR_BAD_FILE if the bytes are of a known format that is not among those `taken`: "PATH: is an X, not WANTED; REMEDY".
// wanted: "a list of words".
void check_format(std::string_view bytes, const std::string &source, const char *wanted,
                  std::initializer_list<Format> taken = {});

// The same for readers of binary files: of what is no known format they refuse lines of text, too.
void check_binary_format(std::string_view bytes, const std::string &source, const char *wanted,
                         std::initializer_list<Format> taken);

}  // namespace asr
