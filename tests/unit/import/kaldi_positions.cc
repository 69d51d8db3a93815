// SPDX-License-Identifier: Apache-2.0
// Tests models whose phones have positions in words (Kaldi's _B _E _I _S), with decision trees that ask for the positions of
// neighbours. The trees are random, and what they say of each phone is asked here by Kaldi's numbers of phones.
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <set>

#include "builder/graph/build.h"
#include "builder/graph/phrases.h"
#include "builder/import/kaldi_model.h"
#include "builder/import/kaldi_tree.h"
#include "tests/unit/build/brute_force.h"
#include "tests/unit/scratch.h"

namespace asr::kaldi {
namespace {

const std::vector<std::string> kNames = {"<eps>", "SIL", "SIL_B", "SIL_E", "SIL_I", "SIL_S", "A_B", "A_E", "A_I",
                                         "A_S",   "B_B", "B_E",   "B_I",   "B_S",   "C_B",   "C_E", "C_I", "C_S"};
constexpr uint32_t kSil = 1;  // Kaldi's number
const auto kSilent = [](double, const std::string &) {};

uint32_t number_of(const std::string &name) {
  return static_cast<uint32_t>(std::find(kNames.begin(), kNames.end(), name) - kNames.begin());
}

// Writes a tree whose questions are drawn at random: about the neighbours, and about the central phone itself.
class RandomTree {
 public:
  explicit RandomTree(unsigned seed) : random_(seed) {
    text_ = "ContextDependency 3 1 ToPdf ";
    add_node(6);
    text_ += "EndContextDependency ";
  }
  const std::string &text() const { return text_; }
  uint32_t n_pdfs() const { return n_pdfs_; }

 private:
  std::mt19937 random_;
  std::string text_;
  uint32_t n_pdfs_ = 0;

  void add_node(int depth) {
    if (depth == 0 || (depth < 4 && random_() % 4 == 0)) {
      text_ += "CE " + std::to_string(n_pdfs_++) + " ";
      return;
    }
    const int keys[] = {0, 0, 1, 2, 2};
    text_ += "SE " + std::to_string(keys[random_() % 5]) + " [ ";
    for (size_t phone = 0; phone < kNames.size(); ++phone) {
      if (random_() % 2) text_ += std::to_string(phone) + " ";
    }
    text_ += "]\n{ ";
    add_node(depth - 1);
    add_node(depth - 1);
    text_ += "} ";
  }
};

Tree read(const std::string &text) {
  const test::Scratch scratch;
  test::spill(scratch / "tree", text);
  return Tree(scratch / "tree");
}

// Makes the transition model that goes with a tree: phones of one state, with a transition-state for every pdf of each.
TransitionModel make_model(const Tree &tree, uint32_t n_pdfs) {
  TransitionModel model;
  model.entries = {{{0, 0, {{0, 0.5f}, {1, 0.5f}}}, {}}};
  model.entry_of = {-1};
  model.ids.push_back({0, 0});
  model.log_probs.push_back(0);
  model.n_pdfs = n_pdfs;
  const auto n_phones = static_cast<uint32_t>(kNames.size());
  for (uint32_t phone = 1; phone < n_phones; ++phone) {
    model.entry_of.push_back(0);
    std::set<uint32_t> pdfs;
    for (uint32_t left = 0; left < n_phones; ++left) {
      for (uint32_t right = 0; right < n_phones; ++right) pdfs.insert(static_cast<uint32_t>(tree.pdf({left, phone, right}, 0)));
    }
    for (const uint32_t pdf : pdfs) {
      model.states.push_back({phone, 0, pdf, pdf});
      for (uint32_t arc = 0; arc < 2; ++arc) {
        model.ids.push_back({static_cast<uint32_t>(model.states.size() - 1), arc});
        model.log_probs.push_back(-0.693f);
      }
    }
  }
  return model;
}

TEST(KaldiPositions, ClassesTellApartWhatTheTreeDoes) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const RandomTree text(seed);
    const Tree tree = read(text.text());
    std::vector<uint32_t> phones;
    for (uint32_t phone = 0; phone < kNames.size(); ++phone) phones.push_back(phone);
    for (uint32_t central = 1; central < kNames.size(); ++central) {
      uint64_t n_steps = 0;
      const std::vector<uint32_t> left = tree.classes(central, 0, phones, &n_steps),
                                  right = tree.classes(central, 2, phones, &n_steps);
      for (const uint32_t a : phones) {
        for (const uint32_t b : phones) {
          for (const uint32_t other : phones) {
            if (left[a] == left[b]) {
              ASSERT_EQ(tree.pdf({a, central, other}, 0), tree.pdf({b, central, other}, 0)) << seed;
            }
            if (right[a] == right[b]) {
              ASSERT_EQ(tree.pdf({other, central, a}, 0), tree.pdf({other, central, b}, 0)) << seed;
            }
          }
        }
      }
    }
  }
}

// A sentence as Kaldi's numbers of phones, with `silences` before each word and at the end.
struct Sentence {
  std::vector<uint32_t> phones;
  std::string words;
};

class Sentences {
 public:
  Sentences(const std::vector<std::vector<std::string>> &pronunciations, size_t max_phones)
      : pronunciations_(pronunciations), max_phones_(max_phones) {}

  // Calls `use` for the words 0, 1, ..., each once, with any number of silences around them.
  void for_each(const std::function<void(const Sentence &)> &use) const { extend({}, 0, use); }

 private:
  const std::vector<std::vector<std::string>> &pronunciations_;
  const size_t max_phones_;

  void extend(Sentence so_far, size_t word, const std::function<void(const Sentence &)> &use) const {
    if (so_far.phones.size() > max_phones_) return;
    Sentence silent = so_far;
    silent.phones.push_back(kSil);
    extend(silent, word, use);
    if (word == pronunciations_.size()) return use(so_far);
    const std::vector<std::string> &phones = pronunciations_[word];
    for (size_t i = 0; i < phones.size(); ++i) {
      const char *const ending = phones.size() == 1 ? "_S" : i == 0 ? "_B" : i + 1 == phones.size() ? "_E" : "_I";
      so_far.phones.push_back(number_of(phones[i] + ending));
    }
    so_far.words += "w" + std::to_string(word) + " ";
    extend(so_far, word + 1, use);
  }
};

std::string frame_text(const HmmSet &set, const Tree &tree, const std::vector<uint32_t> &phones, size_t i) {
  const std::string &name = kNames[phones[i]];
  const std::string base = name.substr(0, name.find('_'));
  const std::string ending = name.substr(base.size());
  const unsigned position = ending.empty() ? 255 : ending == "_I" ? 0 : ending == "_B" ? 1 : ending == "_E" ? 2 : 3;
  const uint32_t left = i == 0 ? 0 : phones[i - 1], right = i + 1 == phones.size() ? 0 : phones[i + 1];
  const int32_t pdf = tree.pdf({left, phones[i], right}, 0);
  return format(" %u/%u/0/%d", set.find_phone(base), position, pdf);
}

// In the graph of random words every phone is the one of its position, and its pdf is what the tree says of it between its
// neighbours in their positions. Silence keeps its first pdf, as it has no contexts.
TEST(KaldiPositions, GraphsHaveThePhonesAndPdfsOfTheTree) {
  size_t n_paths = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const RandomTree text(seed);
    const Tree tree = read(text.text());
    const HmmSet set = make_hmm_set(make_model(tree, text.n_pdfs()), kNames, "model", &tree);
    ASSERT_EQ(set.phones.size(), 4u);

    std::vector<std::vector<std::string>> pronunciations;
    std::string plain, marked, phrase;
    for (size_t word = 0; word < 1 + seed % 3; ++word) {
      const std::string name = "w" + std::to_string(word);
      plain += name;
      marked += name + " 1.0";
      phrase += name + " ";
      pronunciations.emplace_back();
      const size_t n = 1 + random() % 3;
      for (size_t i = 0; i < n; ++i) {
        const std::string phone(1, "ABC"[random() % 3]);
        pronunciations.back().push_back(phone);
        plain += " " + phone;
        marked += " " + phone + (n == 1 ? "_S" : i == 0 ? "_B" : i + 1 == n ? "_E" : "_I");
      }
      plain += "\n";
      marked += "\n";
    }
    size_t n_left_out = 0;
    const Lexicon lexicon = parse_sphinx_lexicon(plain, "lexicon.txt", set, &n_left_out);
    const Lexicon same = parse_sphinx_lexicon(marked, "lexiconp.txt", set, &n_left_out);
    EXPECT_EQ(lexicon.pronunciations, same.pronunciations);
    EXPECT_EQ(lexicon.pronunciations_of, same.pronunciations_of);

    const Vocabulary vocabulary = {[](const std::string &) { return true; }, "test", false};
    const Grammar grammar = rules_grammar(parse_phrases(phrase, "test", LetterCase::kAsIs), "", vocabulary, "test");
    GraphSizes sizes{};
    const GraphData graph = build_graph(set, lexicon, grammar, GraphOptions(), kSilent, &sizes);
    const size_t max_frames = 7;
    std::set<std::string> expected, found;
    Sentences(pronunciations, max_frames).for_each([&](const Sentence &sentence) {
      std::string path = sentence.words + "|";
      for (size_t i = 0; i < sentence.phones.size(); ++i) {
        path += sentence.phones[i] == kSil ? format(" 0/255/0/%u", set.hmms[set.phones[0].hmm].pdfs[0])
                                           : frame_text(set, tree, sentence.phones, i);
      }
      if (sentence.phones.size() <= max_frames) expected.insert(path);
    });
    for (const auto &[path, costs] : test::paths_of_graph(graph, grammar.words, max_frames)) {
      if (path.find('=') == std::string::npos) found.insert(path);
    }
    ASSERT_EQ(found, expected);
    n_paths += expected.size();
  }
  EXPECT_GT(n_paths, 1000u) << "too few paths to tell anything";
}

TEST(KaldiPositions, BundlesKeepTheContexts) {
  const RandomTree text(3);
  const Tree tree = read(text.text());
  const HmmSet set = make_hmm_set(make_model(tree, text.n_pdfs()), kNames, "model", &tree);
  const test::Scratch scratch;
  write_hmm_set(set, scratch / "hmms.bin");
  const HmmSet again = read_hmm_set(scratch / "hmms.bin");
  const ContextTable table(set), same(again);
  for (uint32_t base = 0; base < 4; ++base) {
    for (uint32_t left = 0; left < table.n_neighbours(); ++left) {
      for (uint32_t right = 0; right < table.n_neighbours(); ++right) {
        for (uint8_t position = 0; position < 4; ++position) {
          ASSERT_EQ(table.find_between(base, left, right, WordPosition(position)),
                    same.find_between(base, left, right, WordPosition(position)));
        }
      }
    }
  }
}

// The phone that stands for silence between words may be named after the import.
TEST(KaldiPositions, SilenceIsThePhoneOutsideOfWords) {
  const Tree tree = read(
      "ContextDependency 3 1 ToPdf SE 0 [ 0 ] { CE 0 SE 0 [ 1 ] { CE 1 SE 0 [ 5 ] { CE 2 CE 3 } } } "
      "EndContextDependency");
  HmmSet set = make_hmm_set(make_model(tree, 4), kNames, "model", &tree);
  const auto pdf_after = [&](const std::function<uint32_t(const ContextTable &)> &left) {
    const ContextTable table(set);
    return set.hmms[table.find_between(1, left(table), table.edge_neighbour(), WordPosition::kSingle)].pdfs[0];
  };
  const auto edge = [](const ContextTable &table) { return table.edge_neighbour(); };
  const auto silence = [](const ContextTable &table) { return table.silence_neighbour(); };
  const auto spoken = [](const ContextTable &table) { return table.neighbour(0, WordPosition::kSingle); };
  const auto other = [](const ContextTable &table) { return table.neighbour(2, WordPosition::kEnd); };
  EXPECT_EQ(pdf_after(edge), 0u);
  EXPECT_EQ(pdf_after(silence), 1u);
  EXPECT_EQ(pdf_after(spoken), 2u);  // a word whose phone is SIL_S
  EXPECT_EQ(pdf_after(other), 3u);
  set.silence = kNoPhone;
  EXPECT_EQ(pdf_after(silence), 0u);
}

TEST(KaldiPositions, ATreeOfMonophonesNeedsNoNeighbours) {
  const Tree tree = read("ContextDependency 1 0 ToPdf SE 0 [ 8 ] { CE 1 CE 0 } EndContextDependency");
  const Tree triphones = read("ContextDependency 3 1 ToPdf SE 1 [ 8 ] { CE 1 CE 0 } EndContextDependency");
  const TransitionModel model = make_model(triphones, 2);
  for (const Tree *given : {static_cast<const Tree *>(nullptr), &tree, &triphones}) {
    const HmmSet set = make_hmm_set(model, kNames, "model", given);
    EXPECT_TRUE(set.knows_contexts());
    const ContextTable table(set);
    EXPECT_EQ(set.hmms[table.find_between(1, 0, 0, WordPosition::kInternal)].pdfs[0], 1u);  // A_I
    EXPECT_EQ(set.hmms[table.find_between(1, 0, 0, WordPosition::kEnd)].pdfs[0], 0u);
  }
}

// Neighbours of monophones need no numbers of their own, so that twice as many phones fit.
TEST(KaldiPositions, GraphsOfMonophonesCanHave255Phones) {
  std::vector<std::string> names = {"<eps>", "SIL"};
  std::string words;
  for (int i = 0; i < 254; ++i) {
    const std::string phone = "p" + std::to_string(i);
    for (const char *ending : {"_B", "_E", "_I", "_S"}) names.push_back(phone + ending);
    words += "w" + std::to_string(i) + " " + phone + " " + phone + "\n";
  }
  TransitionModel model;
  model.entries = {{{0, 0, {{0, 0.5f}, {1, 0.5f}}}, {}}};
  model.entry_of = {-1};
  model.ids.push_back({0, 0});
  model.log_probs.push_back(0);
  model.n_pdfs = static_cast<uint32_t>(names.size() - 1);
  for (uint32_t phone = 1; phone < names.size(); ++phone) {
    model.entry_of.push_back(0);
    model.states.push_back({phone, 0, phone - 1, phone - 1});
    for (uint32_t arc = 0; arc < 2; ++arc) {
      model.ids.push_back({phone - 1, arc});
      model.log_probs.push_back(-0.693f);
    }
  }
  const HmmSet set = make_hmm_set(model, names, "x.mdl");
  ASSERT_EQ(set.phones.size(), 255u);
  size_t n_left_out = 0;
  const Lexicon lexicon = parse_sphinx_lexicon(words, "lexicon.txt", set, &n_left_out);
  const Vocabulary vocabulary = {[](const std::string &) { return true; }, "test", false};
  const Grammar grammar = rules_grammar(parse_phrases("w7 w253", "test", LetterCase::kAsIs), "", vocabulary, "test");
  GraphSizes sizes{};
  const GraphData graph = build_graph(set, lexicon, grammar, GraphOptions(), kSilent, &sizes);
  std::set<std::string> pdfs;
  for (size_t i = 1; i < graph.transitions.size(); ++i) {
    const Transition &t = graph.transitions[i];
    pdfs.insert(format("%s/%u/%u", set.phones[t.phone].name.c_str(), t.position, t.pdf));
  }
  // Position 1 is the begin, 2 the end; the names of a phone are _B _E _I _S in the order of their pdfs.
  EXPECT_EQ(pdfs, (std::set<std::string>{"SIL/255/0", "p7/1/29", "p7/2/30", "p253/1/1013", "p253/2/1014"}));
}

// Kaldi's data/lang has all positions of a phone; a model without one cannot say a word that needs it.
TEST(KaldiPositions, WordsInMissingPositionsAreLeftOut) {
  const test::Scratch scratch;
  const std::vector<std::string> names = {"<eps>", "SIL", "A_B", "A_E", "O_B", "O_E", "O_S"};
  test::spill(scratch / "word_boundary.txt", "SIL nonword\nA_B begin\nA_E end\nO_B begin\nO_E end\nO_S singleton\n");
  const WordBoundaries boundaries = read_word_boundaries(scratch / "word_boundary.txt", names);
  test::spill(scratch / "tree", "ContextDependency 1 0 ToPdf CE 0 EndContextDependency");
  const Tree tree(scratch / "tree");
  TransitionModel model = make_model(tree, 1);
  model.entry_of.resize(names.size());
  model.states.resize(names.size() - 1);
  model.ids.resize(1 + 2 * model.states.size());
  model.log_probs.resize(model.ids.size());
  const HmmSet set = make_hmm_set(model, names, "x.mdl", &tree, &boundaries);
  size_t n_left_out = 0;
  const Lexicon lexicon = parse_sphinx_lexicon("ao A O\na A\no O\naoa A O A\n", "lexicon.txt", set, &n_left_out);
  EXPECT_TRUE(lexicon.contains("ao") && lexicon.contains("o"));
  ASSERT_EQ(n_left_out, 2u);
  EXPECT_EQ(lexicon.left_out.at("a").why(), "line 2 has the phone 'A_S', which the model lacks");
  EXPECT_EQ(lexicon.left_out.at("aoa").why(), "line 4 has the phone 'O_I', which the model lacks");
}

TEST(KaldiPositions, OtherTreesAreRefused) {
  const Tree tree = read("ContextDependency 2 1 ToPdf CE 0 EndContextDependency");
  const Tree monophones = read("ContextDependency 1 0 ToPdf CE 0 EndContextDependency");
  const Tree triphones = read("ContextDependency 3 1 ToPdf SE 0 [ 8 ] { CE 1 CE 0 } EndContextDependency");
  const Tree other = read("ContextDependency 3 1 ToPdf CE 5 EndContextDependency");
  const TransitionModel model = make_model(triphones, 2);
  EXPECT_FALSE(make_hmm_set(model, kNames, "x.mdl").knows_contexts());
  test::expect_error([&] { make_hmm_set(model, kNames, "x.mdl", &tree); }, ASR_UNSUPPORTED, "not one for triphones");
  test::expect_error([&] { make_hmm_set(model, kNames, "x.mdl", &monophones); }, ASR_INVALID_ARGUMENT,
                     "the tree of --tree is one of monophones");
  test::expect_error([&] { make_hmm_set(model, kNames, "x.mdl", &other); }, ASR_INVALID_ARGUMENT, "the model's own tree");
}

// A list of boundaries says which phones have positions, whatever endings there are.
TEST(KaldiPositions, WordBoundariesSayThePositions) {
  const test::Scratch scratch;
  const std::string path = scratch / "word_boundary.int";
  const std::vector<std::string> names = {"<eps>", "SIL", "A_B", "A_E", "A_S", "O_S", "#0"};
  const auto read = [&](const std::string &text) {
    test::spill(path, text);
    return read_word_boundaries(path, names);
  };
  const WordBoundaries boundaries = read("1 nonword\n2 begin\n3 end\nA_S singleton\nO_S nonword\n");
  const Tree tree = kaldi::Tree([&] {
    test::spill(scratch / "tree", "ContextDependency 3 1 ToPdf SE 0 [ 3 ] { CE 1 CE 0 } EndContextDependency");
    return scratch / "tree";
  }());
  TransitionModel model = make_model(tree, 2);
  model.entry_of.resize(names.size() - 1);
  while (model.states.back().phone >= model.entry_of.size()) {
    model.states.pop_back();
    for (int arc = 0; arc < 2; ++arc) {
      model.ids.pop_back();
      model.log_probs.pop_back();
    }
  }
  const HmmSet set = make_hmm_set(model, names, "x.mdl", &tree, &boundaries);
  ASSERT_EQ(set.phones.size(), 3u);
  EXPECT_EQ(set.phones[1].name, "A");
  EXPECT_EQ(set.phones[2].name, "O_S");
  const ContextTable table(set);
  const auto pdf_after = [&](WordPosition last) {
    return set.hmms[table.find_between(2, table.neighbour(1, last), table.edge_neighbour(), WordPosition::kSingle)].pdfs[0];
  };
  EXPECT_EQ(pdf_after(WordPosition::kEnd), 1u);
  EXPECT_EQ(pdf_after(WordPosition::kSingle), 0u);
  EXPECT_EQ(make_hmm_set(model, names, "x.mdl", &tree).phones.size(), 5u);  // without the list A has not all four endings

  const auto expect = [&](const std::string &text, const char *part) {
    test::expect_error([&] { read(text); }, ASR_BAD_FILE, part);
  };
  expect("1 nonword\n2 end\n", ":2: has phone A_B, whose name does not end in _E");
  expect("7 nonword\n", ":1: names a phone that the list of phones (--phones) lacks");
  expect("B_B begin\n", ":1: names a phone that the list of phones (--phones) lacks");
  expect("1 nonword\n2 begin\nA_B nonword\n", ":3: has phone A_B again, and line 2 says something else of it");
  EXPECT_EQ(read("1 nonword\n2 begin\nA_B begin\n").size(), 2u);
  expect("1 middle\n", ":1: has a word that is not nonword, begin");
  expect("1\n", ":1: is not: a phone and nonword");
  const WordBoundaries some = read("1 nonword\n2 begin\n");
  test::expect_error([&] { make_hmm_set(model, names, "x.mdl", &tree, &some); }, ASR_INVALID_ARGUMENT,
                     "has phone 3 (A_E), which --word-boundary lacks");
}

TEST(KaldiPositions, WrongPositionsInADictionaryAreNamed) {
  const Tree tree = read("ContextDependency 3 1 ToPdf CE 0 EndContextDependency");
  const HmmSet set = make_hmm_set(make_model(tree, 1), kNames, "model", &tree);
  size_t n_left_out = 0;
  const auto read_text = [&](const std::string &text) { return parse_sphinx_lexicon(text, "d.txt", set, &n_left_out); };
  struct Case {
    const char *line, *part;
  };
  const Case cases[] = {
      {"word A_B B_B C_E", "d.txt: line 2: 'word' has B_B as phone 2 of 3, where it must be B_I"},
      {"word 0.5 A_I B_E", "has A_I as phone 1 of 2, where it must be A_B"},
      {"word A_B B_S", "has B_S as phone 2 of 2, where it must be B_E"},
      {"word A_B", "has A_B as phone 1 of 1, where it must be A_S"},
      {"word A B_E C", "has B_E as phone 2 of 3, where it must be B_I"},
  };
  for (const Case &c : cases) {
    test::expect_error([&] { read_text(std::string("a A_S\n") + c.line + "\n"); }, ASR_BAD_FILE, c.part);
  }
  const Lexicon lexicon = read_text("a A_S\nsome A_B B C_E\n<unk> SIL_S\nother D_B A_E\n");
  EXPECT_TRUE(lexicon.contains("some") && lexicon.contains("<unk>"));
  EXPECT_FALSE(lexicon.contains("other"));
  EXPECT_EQ(lexicon.left_out.at("other").why(), "line 4 has the phone 'D_B', which the model lacks");
  HmmSet plain = set;
  plain.phone_contexts.clear();  // without positions the endings belong to names
  test::expect_error([&] { parse_sphinx_lexicon("a A_B B_E\n", "d.txt", plain, &n_left_out); }, ASR_BAD_FILE,
                     "the phone 'A_B'");
}

}  // namespace
}  // namespace asr::kaldi
