// SPDX-License-Identifier: Apache-2.0
// Every reader of files that people bring gives the same result however the file is packed and its text is written, and names a
// file of another format. Readers of the command alone are tested in tests/command/text_files.cc.
#include <algorithm>
#include <functional>
#include <map>

#include "builder/g2p/g2p_model.h"
#include "builder/graph/arpa.h"
#include "builder/graph/grammar.h"
#include "builder/graph/jsgf.h"
#include "builder/graph/lexicon.h"
#include "builder/graph/trie_lm.h"
#include "builder/import/htk.h"
#include "builder/import/kaldi.h"
#include "builder/import/kaldi_archive.h"
#include "builder/import/kaldi_model.h"
#include "builder/import/kaldi_tree.h"
#include "builder/import/openfst_file.h"
#include "builder/import/sphinx_feat_params.h"
#include "builder/import/sphinx_mdef.h"
#include "builder/import/sphinx_s3.h"
#include "builder/text/file_format.h"
#include "core/feature/front_end_json.h"
#include "tests/unit/g2p/toy_dictionary.h"
#include "tests/unit/import/htk_writer.h"
#include "tests/unit/import/kaldi_writer.h"
#include "tests/unit/import/sphinx_writer.h"
#include "tests/unit/model/small_model.h"
#include "tests/unit/scratch.h"
#include "tests/unit/text/foreign.h"
#include "tests/unit/text/packed.h"

namespace asr {
namespace {

using test::Scratch;

// What a reader made of a file, as text.
class Made {
 public:
  Made &operator<<(const std::string &text) { return text_ += text + "\n", *this; }
  Made &operator<<(double value) { return *this << std::to_string(value); }
  template <typename T>
  Made &operator<<(const std::vector<T> &values) {
    for (const T &value : values) *this << value;
    return *this;
  }
  Made &operator<<(const std::pair<std::string, std::string> &pair) { return *this << pair.first << pair.second; }
  operator std::string() const { return text_; }

 private:
  std::string text_;
};

std::string made_of(const NgramModel &model) {
  Made made;
  made << model.words;
  for (const NgramLevel &level : model.levels) made << std::vector<double>(level.cost.begin(), level.cost.end());
  return made;
}

std::string made_of(const RuleNode &node) {
  std::string made = std::to_string(node.kind) + node.name + "(";
  for (const RuleNode &part : node.parts) made += made_of(part);
  return made + ")";
}

std::string made_of(const ImportedModel &model) {
  Made made;
  made << std::vector<double>(model.acoustic.means.begin(), model.acoustic.means.end());
  for (const BasePhone &phone : model.hmms.phones) made << phone.name;
  return made << double(model.hmms.contexts.size()) << front_end_to_json(model.bundle.front_end);
}

std::string made_of(const std::vector<std::pair<std::string, kaldi::Matrix<float>>> &archive) {
  Made made;
  for (const auto &[key, matrix] : archive) {
    made << key << double(matrix.n_rows) << std::vector<double>(matrix.values.begin(), matrix.values.end());
  }
  return made;
}

struct Reader {
  const char *name;
  std::string file;     // a small file that it reads
  bool is_text = true;  // false: binary, so that it can be packed alone
  std::function<std::string(const std::string &path)> read;
};

const char kArpa[] =
    "a comment\n\\data\\\nngram 1=4\nngram 2=1\n\n\\1-grams:\n-1.0 </s>\n-99 <s> -0.5\n-0.5\tcaf\u00e9\t-0.25\n-0.75 b\n\n"
    "\\2-grams:\n-0.2 <s> caf\u00e9\n\n\\end\\\n";
const char kTree[] = "ContextDependency 3 1 ToPdf TE 1 3 ( NULL CE 5 CE 2 )\nEndContextDependency\n";

std::string beside(const std::string &path, const std::string &name) { return path.substr(0, path.rfind('/') + 1) + name; }

std::string small_mdef() {
  return test::text_mdef({8,
                          6,
                          2,
                          {{"AA", "-", "-", '-', false, 0, {0, 1}},
                           {"B", "-", "-", '-', false, 1, {2, 3}},
                           {"SIL", "-", "-", '-', true, 0, {4, 5}},
                           {"AA", "B", "SIL", 'i', false, 1, {6, 7}}}});
}

std::string small_g2p_model() {
  const Scratch scratch;
  write_g2p_model(test::toy_model(), scratch / "model");
  return test::slurp(scratch / "model");
}

HtkOptions htk_options(const std::string &path) {
  test::spill(beside(path, "mmf"), test::kSmallHmmdefs);
  HtkOptions options;
  options.models = {beside(path, "mmf")};
  options.features_only = true;
  return options;
}

std::string sphinx_values(const std::string &path) {
  const sphinx::TransitionMatrices made = sphinx::read_transition_matrices(path, 1e-4);
  return Made() << double(made.n_matrices) << double(made.n_states);
}

const std::vector<Reader> &readers() {
  static const std::vector<Reader> all = {
      {"word list", "# words\none\ncaf\u00e9\n", true, [](const std::string &path) { return Made() << read_word_list(path); }},
      {"dictionary", "## words\ncaf\u00e9 A B\ncaf\u00e9(2) B\nb B\n", true,
       [](const std::string &path) {
         size_t n_left_out = 0;
         const Lexicon lexicon = read_sphinx_lexicon(path, test::small_hmm_set(), &n_left_out);
         Made made;
         const std::map<std::string, std::vector<uint32_t>> sorted(lexicon.pronunciations_of.begin(),
                                                                   lexicon.pronunciations_of.end());
         for (const auto &[word, numbers] : sorted) made << word << std::vector<double>(numbers.begin(), numbers.end());
         return made << double(n_left_out);
       }},
      {"ARPA", kArpa, true, [](const std::string &path) { return made_of(read_arpa(path)); }},
      {"language model", kArpa, true, [](const std::string &path) { return made_of(read_language_model(path)); }},
      {"JSGF", "#JSGF V1.0 UTF-8;\ngrammar g;\npublic <s> = caf\u00e9 | b [c];\n", true,
       [](const std::string &path) {
         Made made;
         for (const auto &[name, rule] : read_jsgf(path, LetterCase::kAsIs).rules) made << name << made_of(rule.expansion);
         return made;
       }},
      {"text archive of Kaldi", "u [\n 1 2\n 3 4 ]\nv [\n 5 6 ]\n", true,
       [](const std::string &path) { return made_of(kaldi::read_archive<float>("ark:" + path)); }},
      {"scp list", "u ARK:2\nv ARK:2[0:0]\n", true,
       [](const std::string &path) {
         test::spill(beside(path, "ARK"), "u [\n 1 2\n 3 4 ]\n");
         return made_of(kaldi::read_archive<float>("scp:" + path));
       }},
      {"matrix of Kaldi in text", " [\n 1 2\n 3 4 ]\n", true,
       [](const std::string &path) {
         const auto matrix = kaldi::read_matrix<float>(path);
         return Made() << double(matrix.n_rows) << std::vector<double>(matrix.values.begin(), matrix.values.end());
       }},
      {"model of Kaldi in text", test::small_kaldi_model(false, true, false), true,
       [](const std::string &path) { return Made() << double(kaldi::read_model(path).transitions.ids.size()); }},
      {"model of Kaldi", test::small_kaldi_model(true, true, false), false,
       [](const std::string &path) { return Made() << double(kaldi::read_model(path).transitions.ids.size()); }},
      {"tree of Kaldi", kTree, true,
       [](const std::string &path) {
         const kaldi::Tree tree(path);
         return Made() << double(tree.width()) << double(tree.pdf({0, 2, 1}, 0));
       }},
      {"phones.txt", "<eps> 0\na 1\ncaf\u00e9 2\n", true,
       [](const std::string &path) {
         test::spill(beside(path, "mdl"), test::small_kaldi_model(true, false, false));
         KaldiOptions options;
         options.model = beside(path, "mdl");
         options.phones = path;
         options.features_only = true;
         return made_of(import_kaldi(options));
       }},
      {"word_boundary.txt", "SIL nonword\ncaf\u00e9_B begin\n3 end\n", true,
       [](const std::string &path) {
         Made made;
         for (const auto &[phone, position] : kaldi::read_word_boundaries(path, {"<eps>", "SIL", "caf\u00e9_B", "a_E"})) {
           made << double(phone) << double(position);
         }
         return made;
       }},
      {"mfcc.conf", "# options\n--use-energy=false\n--num-ceps=12\n", true,
       [](const std::string &path) { return front_end_to_json(read_mfcc_conf(path)); }},
      {"MMF", test::kSmallHmmdefs, true,
       [](const std::string &path) {
         HtkOptions options;
         options.models = {path};
         options.features_only = true;
         return made_of(import_htk(options));
       }},
      {"HTK's list of HMMs", "a\nb a\nc\nsil\na-b+c\n", true,
       [](const std::string &path) {
         HtkOptions options = htk_options(path);
         options.hmm_list = path;
         return made_of(import_htk(options));
       }},
      {"HTK's configuration", "# options\nTARGETKIND = MFCC_0_D\nNUMCHANS = 20\n", true,
       [](const std::string &path) {
         HtkOptions options = htk_options(path);
         options.config = path;
         options.features_only = false;
         std::vector<std::string> notes;
         return front_end_to_json(htk_front_end_of(6 | 0x2000 | 0x100, 26, options, notes));
       }},
      {"feat.params", "-samprate 16000\n-ncep 12\n-feat 1s_c_d\n", true,
       [](const std::string &path) { return front_end_to_json(sphinx::read_feat_params(path, 0).front_end); }},
      {"mdef", small_mdef(), true,
       [](const std::string &path) {
         const sphinx::Mdef mdef = sphinx::read_mdef(path);
         return Made() << mdef.base_names << double(mdef.phones.size());
       }},
      {"transition matrices of Sphinx", test::s3_file({2, 2, 3}, {6, 2, 0, 0, 3, 1, 6, 2, 0, 0, 3, 1}), false, sphinx_values},
      {"model of letters and phones", small_g2p_model(), false,
       [](const std::string &path) { return Made() << read_g2p_model(path).phones; }},
  };
  return all;
}

// Returns whether the reader takes files of this format.
bool is_own(const Reader &reader, const test::Foreign &foreign) {
  const std::multimap<std::string, std::string> others = {
      {"ARPA", "a language model in ARPA form"},
      {"language model", "a language model in ARPA form"},
      {"language model", "a language model in Sphinx's binary form (.lm.bin)"},
      {"text archive of Kaldi", "an archive of Kaldi"},
      {"matrix of Kaldi in text", "a binary object of Kaldi"},
      {"mdef", "a model definition of Sphinx (mdef)"}};
  const auto [begin, end] = others.equal_range(reader.name);
  if (std::any_of(begin, end, [&](const auto &pair) { return pair.second == foreign.name; })) return true;
  FormatFound own, given;
  return find_format(reader.file, &own) && find_format(foreign.bytes, &given) && own.format == given.format &&
         own.format != Format::kOther;
}

TEST(EveryReader, FormsOfAFileAreTheSame) {
  for (const Reader &reader : readers()) {
    const Scratch scratch;
    const std::string path = scratch / "file";
    test::spill(path, reader.file);
    std::string expected;
    ASSERT_NO_THROW(expected = reader.read(path)) << reader.name;
    if (reader.is_text) {
      for (const auto &[form, bytes] : test::forms_of(reader.file)) {
        test::spill(path, bytes);
        std::string made;
        EXPECT_NO_THROW(made = reader.read(path)) << reader.name << ": " << form;
        EXPECT_EQ(made, expected) << reader.name << ": " << form;
      }
      continue;
    }
    for (const auto pack : {test::gzip, test::xz, test::bzip2}) {
      test::spill(path, pack(reader.file));
      EXPECT_EQ(reader.read(path), expected) << reader.name;
    }
  }
}

TEST(EveryReader, NamesAFileOfAnotherFormat) {
  for (const Reader &reader : readers()) {
    const Scratch scratch;
    const std::string path = scratch / "file";
    for (const test::Foreign &foreign : test::foreign_files()) {
      test::spill(path, foreign.bytes);
      const test::Outcome outcome = test::outcome_of([&] { reader.read(path); });
      ASSERT_NE(outcome.code, ASR_OK) << reader.name << ": " << foreign.name;
      if (is_own(reader, foreign)) continue;  // whose beginning it is
      EXPECT_NE(outcome.message.find(std::string(": is ") + foreign.name + ", not "), std::string::npos)
          << reader.name << ": " << foreign.name << ": " << outcome.message;
    }
  }
}

TEST(EveryReader, PackedFilesThatAreTruncatedAreCalledSo) {
  for (const Reader &reader : readers()) {
    const Scratch scratch;
    const std::string path = scratch / "file", packed = test::gzip(reader.file);
    test::spill(path, packed.substr(0, packed.size() - 5));
    test::expect_error([&] { reader.read(path); }, ASR_BAD_FILE, "its gzip data ends too early: the file is truncated");
  }
}

TEST(EveryReader, AWordTwiceInALanguageModelIsNoDamage) {
  const std::string both = test::replaced(kArpa, "-0.75 b", "-0.75 cafe\u0301");
  const Scratch scratch;
  test::spill(scratch / "lm", both);
  const test::Outcome outcome = test::outcome_of([&] { read_language_model(scratch / "lm"); });
  EXPECT_NE(outcome.message.find("is listed twice"), std::string::npos) << outcome.message;
  EXPECT_EQ(outcome.message.find("damaged"), std::string::npos) << outcome.message;
}

}  // namespace
}  // namespace asr
