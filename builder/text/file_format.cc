// SPDX-License-Identifier: Apache-2.0
#include "builder/text/file_format.h"

#include <algorithm>

#include "core/audio/file_kind.h"
#include "core/base/error.h"

namespace asr {
namespace {

constexpr size_t kLookedAtBytes = 4096;  // of the beginning, for what has no magic bytes at a fixed place

constexpr char kGiveArpa[] = "give the ARPA file that it was made of";
constexpr char kUnpack[] = "unpack it and name the file in it";
constexpr char kNameAnother[] = "name another file";
constexpr char kImportSphinx[] = "import the folder of the model: senone import sphinx";

struct Signature {
  std::string_view magic;
  size_t at;
  Format format;
  const char *name, *remedy;
  bool has_nul = false;  // the magic alone could be words: a zero byte must be near it
};

using namespace std::string_view_literals;

const Signature kSignatures[] = {
    {"\xd6\xfd\xb2\x7e"sv, 0, Format::kOpenFst, "a binary OpenFst graph",
     "a search graph goes with senone graph --hclg; fstprint makes text of it"},
    {"\x74\xfb\xb2\x7e"sv, 0, Format::kOpenFstSymbols, "a binary symbol table of OpenFst",
     "give the text that it was made of, lines of \"word number\""},
    {"\x5c\xf3\xb2\x7e"sv, 0, Format::kOther, "an archive of OpenFst graphs (FAR)", "take the graph out with farextract"},
    {"\0B<TransitionModel> "sv, 0, Format::kKaldiModel, "a model of Kaldi", "import it: senone import kaldi"},
    {"\0BContextDependency "sv, 0, Format::kKaldiTree, "a decision tree of Kaldi", "give it with senone import kaldi --tree"},
    {"\0B<ConstArpaLm> "sv, 0, Format::kOther, "a language model in Kaldi's carpa form", kGiveArpa},
    {"\0B<Nnet"sv, 0, Format::kOther, "a neural network of Kaldi", "only Gaussian models can be imported"},
    {"\0B"sv, 0, Format::kKaldiBinary, "a binary object of Kaldi", "Kaldi's tools write it as text with --binary=false"},
    {"<TransitionModel> "sv, 0, Format::kKaldiModel, "a model of Kaldi", "import it: senone import kaldi"},
    {"ContextDependency "sv, 0, Format::kKaldiTree, "a decision tree of Kaldi", "give it with senone import kaldi --tree"},
    {"mmap lm http://kheafield.com/code"sv, 0, Format::kOther, "a binary language model of KenLM", kGiveArpa},
    {"Darpa Trigram LM"sv, 4, Format::kOther, "a language model in Sphinx's DMP form",
     "convert it: sphinx_lm_convert -i FILE -o lm.arpa -ofmt arpa"},
    {"Trie Language Model"sv, 0, Format::kSphinxTrie, "a language model in Sphinx's binary form (.lm.bin)",
     "give it with senone graph --lm"},
    {"SRILM_BINARY_NGRAM"sv, 0, Format::kOther, "a binary language model of SRILM",
     "convert it: ngram -lm FILE -write-lm lm.arpa"},
    {"blmt "sv, 0, Format::kOther, "a binary language model of IRSTLM", "convert it: compile-lm FILE lm.arpa --text yes", true},
    {"Qblmt "sv, 0, Format::kOther, "a binary language model of IRSTLM", "convert it: compile-lm FILE lm.arpa --text yes",
     true},
    {"iARPA"sv, 0, Format::kOther, "a language model in IRSTLM's own text form",
     "convert it: compile-lm FILE lm.arpa --text yes"},
    {"julius_bingram"sv, 0, Format::kOther, "a binary language model of Julius", kGiveArpa},
    {"JBINHMM"sv, 0, Format::kJuliusHmms, "a binary HMM file of Julius", "import it: senone import htk"},
    {"BMDF"sv, 0, Format::kSphinxMdef, "a model definition of Sphinx (mdef)", kImportSphinx, true},
    {"FDMB"sv, 0, Format::kSphinxMdef, "a model definition of Sphinx (mdef)", kImportSphinx, true},
    {"s3\nversion "sv, 0, Format::kSphinxS3, "a parameter file of Sphinx", kImportSphinx},
    {"SenoneLL"sv, 0, Format::kSenoneLoglikes, "a file of log-likelihoods", "give it with --loglikes", true},
    {"SenoneGP"sv, 0, Format::kSenoneG2p, "a model of letters and phones", "give it with --g2p", true},
    {"SenoneGA"sv, 0, Format::kOther, "a graph of Senone", "give it where graphs are added", true},
    {"Senone"sv, 0, Format::kOther, "a file of a bundle of Senone", "name the folder of the bundle as the model", true},
    {"#JSGF"sv, 0, Format::kJsgf, "a grammar in JSGF", "give it with senone graph --jsgf"},
    {"<?xml"sv, 0, Format::kXml, "XML", kNameAnother},
    {"<!DOCTYPE "sv, 0, Format::kOther, "a web page", "download the file itself, not the page about it"},
    {"<html"sv, 0, Format::kOther, "a web page", "download the file itself, not the page about it"},
    {"version https://git-lfs.github.com/"sv, 0, Format::kOther, "a pointer of Git LFS", "get the file itself: git lfs pull"},
    {"\x1f\x8b"sv, 0, Format::kOther, "packed with gzip", kUnpack},
    {"\xfd"
     "7zXZ\0"sv,
     0, Format::kOther, "packed with xz", kUnpack},
    {"1AY&SY"sv, 4, Format::kOther, "packed with bzip2", kUnpack},
    {"\x28\xb5\x2f\xfd"sv, 0, Format::kOther, "packed with Zstandard", "unpack it: zstd -d FILE"},
    {"\x04\x22\x4d\x18"sv, 0, Format::kOther, "packed with LZ4", "unpack it: lz4 -d FILE"},
    {"\x1f\x9d"sv, 0, Format::kOther, "packed with compress", "unpack it: gzip -d FILE"},
    {"\x5d\0\0"sv, 0, Format::kOther, "packed with LZMA", "unpack it: xz -d --format=lzma FILE"},
    {"LZIP"sv, 0, Format::kOther, "packed with lzip", "unpack it: lzip -d FILE", true},
    {"PK\3\4"sv, 0, Format::kOther, "a ZIP archive", kUnpack},
    {"PK\5\6"sv, 0, Format::kOther, "an empty ZIP archive", kNameAnother},
    {"7z\xbc\xaf\x27\x1c"sv, 0, Format::kOther, "a 7-Zip archive", kUnpack},
    {"Rar!\x1a\x07"sv, 0, Format::kOther, "a RAR archive", kUnpack},
    {"ustar"sv, 257, Format::kOther, "a tar archive", "unpack it with tar -xf and name a file in it"},
    {"!<arch>\n"sv, 0, Format::kOther, "an archive of ar or a Debian package", kUnpack},
    {"%PDF-"sv, 0, Format::kOther, "PDF", kNameAnother},
    {"{\\rtf"sv, 0, Format::kOther, "a document in RTF", "save it as plain text in UTF-8"},
    {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, 0, Format::kOther, "a document of Microsoft Office",
     "save it as plain text in UTF-8"},
    {"\x89PNG\r"sv, 0, Format::kOther, "a picture", kNameAnother},
    {"\xff\xd8\xff"sv, 0, Format::kOther, "a picture", kNameAnother},
    {"GIF8"sv, 0, Format::kOther, "a picture", kNameAnother, true},
    {"\x7f"
     "ELF"sv,
     0, Format::kOther, "a program", kNameAnother},
    {"MZ"sv, 0, Format::kOther, "a program", kNameAnother, true},
    {"SQLite format 3\0"sv, 0, Format::kOther, "a database of SQLite", kNameAnother},
    {"\x89HDF\r\n"sv, 0, Format::kOther, "HDF5", kNameAnother},
    {"\x93NUMPY"sv, 0, Format::kOther, "an array of NumPy", "write it as a Kaldi archive"},
    {"\x80\2}"sv, 0, Format::kOther, "a pickle of Python", kNameAnother},
    {"\x80\4\x95"sv, 0, Format::kOther, "a pickle of Python", kNameAnother},
    {"\xff\xfe\0\0"sv, 0, Format::kOther, "text in UTF-32", "convert it: iconv -f UTF-32 -t UTF-8 FILE >NEW"},
    {"\0\0\xfe\xff"sv, 0, Format::kOther, "text in UTF-32", "convert it: iconv -f UTF-32 -t UTF-8 FILE >NEW"},
    {"\xff\xfe"sv, 0, Format::kOther, "text in UTF-16", "convert it: iconv -f UTF-16 -t UTF-8 FILE >NEW"},
    {"\xfe\xff"sv, 0, Format::kOther, "text in UTF-16", "convert it: iconv -f UTF-16 -t UTF-8 FILE >NEW"},
};

std::string_view begin_of(std::string_view bytes) { return bytes.substr(0, kLookedAtBytes); }

bool has_nul(std::string_view begin) { return begin.substr(0, 64).find('\0') != std::string_view::npos; }

// Kaldi's archives begin with a key, a blank and an object.
bool find_archive(std::string_view begin, FormatFound *found) {
  const size_t blank = begin.find_first_of(" \t\n\r\0"sv);
  if (blank == 0 || blank == std::string_view::npos || begin[blank] != ' ') return false;
  const std::string_view object = begin.substr(blank + 1);
  if (object.substr(0, 2) == "\0B"sv) {
    *found = {Format::kKaldiArchive, "an archive of Kaldi", "give it as ark:FILE where features or log-likelihoods are read"};
    return true;
  }
  if (object.substr(0, 4) != "\xd6\xfd\xb2\x7e"sv) return false;
  *found = {Format::kKaldiLattices, "an archive of graphs or lattices of Kaldi",
            "the commands of senone lattice read lattices"};
  return true;
}

std::string_view first_line(std::string_view begin) {
  const size_t first = begin.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  const std::string_view line = begin.substr(first, begin.find('\n', first) - first);
  return line.substr(0, line.find_last_not_of(" \t\r") + 1);
}

// A macro of HTK: "~h", and a name.
bool is_macro(std::string_view line) {
  return line.size() >= 2 && line[0] == '~' && "abdghijlmoprstuvwxy"sv.find(line[1]) != std::string_view::npos &&
         (line.size() == 2 || "\t <\":"sv.find(line[2]) != std::string_view::npos);
}

// Recordings. Letters alone may begin like one, so that text is none.
bool find_recording(std::string_view bytes, FormatFound *found) {
  if (!has_nul(begin_of(bytes))) return false;
  const std::string_view begin = bytes.substr(0, kMaxKindBytes);
  const KindFound kind = kind_of(reinterpret_cast<const unsigned char *>(begin.data()), begin.size(), true);
  if (kind.kind == nullptr || std::string_view(kind.kind->name) == "text") return false;
  *found = {Format::kOther, std::string("a recording or other media (") + kind.kind->name + ")", kNameAnother};
  return true;
}

// Lines of arcs: "from to input [output [cost]]".
bool is_openfst_text(std::string_view begin) {
  std::string_view line = first_line(begin);
  size_t n_fields = 0, n_numbers = 0;
  while (!line.empty()) {
    const std::string_view field = line.substr(0, line.find_first_of(" \t"));
    n_numbers += n_fields < 2 && field.find_first_not_of("0123456789") == std::string_view::npos;
    ++n_fields;
    line.remove_prefix(field.size());
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  }
  return n_numbers == 2 && n_fields >= 3 && n_fields <= 5;
}

bool is_text(std::string_view begin) {
  return !begin.empty() && std::none_of(begin.begin(), begin.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\v';
  });
}

void refuse(const FormatFound &found, const std::string &source, const char *wanted) {
  fail(ASR_BAD_FILE, "%s: is %s, not %s; %s", source.c_str(), found.name.c_str(), wanted, found.remedy.c_str());
}

bool is_among(Format format, std::initializer_list<Format> formats) {
  return std::find(formats.begin(), formats.end(), format) != formats.end();
}

}  // namespace

bool find_format(std::string_view bytes, FormatFound *found) {
  const std::string_view begin = begin_of(bytes);
  for (const Signature &signature : kSignatures) {
    if (begin.size() < signature.at || begin.substr(signature.at, signature.magic.size()) != signature.magic) continue;
    if (signature.has_nul && !has_nul(begin)) continue;
    *found = {signature.format, signature.name, signature.remedy};
    return true;
  }
  const std::string_view line = first_line(begin);
  if (line == "\\data\\") {
    *found = {Format::kArpa, "a language model in ARPA form", "give it with senone graph --lm"};
    return true;
  }
  if (is_macro(line)) {
    *found = has_nul(begin) ? FormatFound{Format::kOther, "a binary file of HTK's HMMs", "HHEd without -B writes text"}
                            : FormatFound{Format::kHtkHmms, "a file of HTK's HMMs", "import it: senone import htk"};
    return true;
  }
  return find_archive(begin, found) || find_recording(bytes, found);
}

void check_format(std::string_view bytes, const std::string &source, const char *wanted, std::initializer_list<Format> taken) {
  FormatFound found;
  if (find_format(bytes, &found) && !is_among(found.format, taken)) refuse(found, source, wanted);
}

void check_binary_format(std::string_view bytes, const std::string &source, const char *wanted,
                         std::initializer_list<Format> taken) {
  FormatFound found;
  if (find_format(bytes, &found)) {
    if (!is_among(found.format, taken)) refuse(found, source, wanted);
    return;
  }
  if (is_openfst_text(begin_of(bytes))) {
    refuse({Format::kOpenFstText, "an OpenFst graph in text", "fstcompile makes a binary graph of it"}, source, wanted);
  }
  if (is_text(begin_of(bytes))) {
    refuse({Format::kOther, "text", "name a binary file"}, source, wanted);
  }
}

}  // namespace asr
