// SPDX-License-Identifier: Apache-2.0
// Tests senone.json and symbol tables: round trips and refusals.
#include "core/model/bundle.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "tests/unit/model/small_model.h"
#include "tests/unit/scratch.h"

namespace asr {
namespace {

using Json = nlohmann::json;
using test::expect_error;
using test::Scratch;
using test::slurp;
using test::spill;

// Writes a bundle of two made-up files.
void write_small_bundle(const Scratch &scratch) {
  spill(scratch / "a.bin", "content of a");
  spill(scratch / "empty.bin", "");
  write_bundle_index(test::small_bundle(), scratch.path(), {"a.bin", "empty.bin"});
}

TEST(Bundle, RoundTrips) {
  const Scratch scratch;
  write_small_bundle(scratch);
  const Bundle expected = test::small_bundle();
  const Bundle bundle = read_bundle(scratch.path());
  EXPECT_EQ(bundle.path, scratch.path());
  EXPECT_EQ(bundle.name, expected.name);
  EXPECT_EQ(bundle.source, expected.source);
  ASSERT_EQ(bundle.made_by.size(), 2u);
  EXPECT_EQ(bundle.made_by[0].version, "0.2.0");
  EXPECT_EQ(bundle.made_by[0].arguments, expected.made_by[0].arguments);
  EXPECT_EQ(front_end_to_json(bundle.front_end), front_end_to_json(expected.front_end));
  EXPECT_EQ(bundle.decoding.beam, expected.decoding.beam);
  EXPECT_EQ(bundle.decoding.acoustic_scale, expected.decoding.acoustic_scale);
  EXPECT_EQ(bundle.decoding.word_insertion_cost, expected.decoding.word_insertion_cost);
  EXPECT_EQ(bundle.decoding.max_active, expected.decoding.max_active);
  EXPECT_EQ(bundle.decoding.reject_threshold, expected.decoding.reject_threshold);
  EXPECT_EQ(bundle.decoding.has_garbage, expected.decoding.has_garbage);
  EXPECT_EQ(bundle.decoding.keywords, expected.decoding.keywords);
  EXPECT_EQ(bundle.filler_words, expected.filler_words);
  EXPECT_TRUE(bundle.has("a.bin"));
  EXPECT_FALSE(bundle.has("graph.bin"));
  EXPECT_EQ(bundle.files.at("a.bin").size, 12u);
  EXPECT_EQ(bundle.files.at("a.bin").checksum, checksum("content of a", 12));
}

TEST(Bundle, IndexesAreTheSameByteForByte) {
  const Scratch first, second;
  write_small_bundle(first);
  write_small_bundle(second);
  EXPECT_EQ(slurp(first / "senone.json"), slurp(second / "senone.json"));
}

TEST(Bundle, ChecksTheFilesItLists) {
  const Scratch scratch;
  write_small_bundle(scratch);
  spill(scratch / "a.bin", "content of b");
  expect_error([&] { read_bundle(scratch.path()); }, ASR_BAD_FILE, "a.bin: its checksum");
  spill(scratch / "a.bin", "content");
  expect_error([&] { read_bundle(scratch.path()); }, ASR_BAD_FILE, "a.bin: has 7 bytes");
  std::filesystem::resize_file(scratch / "a.bin", uint64_t{1} << 42);  // a sum of so many bytes would take an hour
  expect_error([&] { read_bundle(scratch.path()); }, ASR_BAD_FILE, "a.bin: has 4398046511104 bytes");
  std::filesystem::remove(scratch / "a.bin");
  expect_error([&] { read_bundle(scratch.path()); }, ASR_NOT_FOUND, "a.bin");
  std::filesystem::resize_file(scratch / "senone.json", uint64_t{1} << 42);
  expect_error([&] { read_bundle(scratch.path()); }, ASR_BAD_FILE, "senone.json: has 4398046511104 bytes");
  expect_error([&] { read_bundle(scratch / "none"); }, ASR_NOT_FOUND, "none: does not exist");
  expect_error([&] { write_bundle_index(test::small_bundle(), scratch.path(), {"none.bin"}); }, ASR_NOT_FOUND, "none.bin");
}

// Makes each field missing, of another type, or out of range.
TEST(Bundle, RefusesBadFields) {
  const Scratch scratch;
  write_small_bundle(scratch);
  const Json good = Json::parse(slurp(scratch / "senone.json"));
  const auto expect_refused = [&](const Json &json, const std::string &part) {
    spill(scratch / "senone.json", json.dump());
    expect_error([&] { read_bundle(scratch.path()); }, ASR_BAD_FILE, part);
    expect_error([&] { read_bundle(scratch.path()); }, ASR_BAD_FILE, "senone.json");
  };
  for (const auto &[name, value] : good.items()) {
    Json json = good;
    json.erase(name);
    if (name == "made_by") {  // missing in older bundles
      spill(scratch / "senone.json", json.dump());
      EXPECT_TRUE(read_bundle(scratch.path()).made_by.empty());
    } else {
      expect_refused(json, "\"" + name + "\" is missing");
    }
    json[name] = nullptr;
    expect_refused(json, "\"" + name + "\" has the type null");
  }
  const std::tuple<const char *, Json, const char *> changes[] = {
      {"/senone_bundle", 2, "version 2"},
      {"/decoding/beam", -1, "beam"},
      {"/decoding/beam", "13", "beam"},
      {"/decoding/acoustic_scale", 0, "acoustic_scale"},
      {"/decoding/word_insertion_cost", 1e7, "word_insertion_cost"},
      {"/decoding/max_active", 0, "max_active"},
      {"/decoding/garbage", 1, "garbage"},
      {"/decoding/keywords", 1, "keywords"},
      {"/decoding/keywords", {{"stop", 1.5}}, "stop"},
      {"/decoding/reject_threshold", 1.5, "reject_threshold"},
      {"/front_end/n_mel", -1, "n_mel"},
      {"/front_end/unknown", 1, "unknown"},
      {"/made_by/0", 1, "made_by"},
      {"/made_by/0/senone", 1, "senone"},
      {"/made_by/0/arguments", "graph", "arguments"},
      {"/made_by/0/arguments/0", 1, "string"},
      {"/filler_words/0", 1, "filler_words"},
      {"/filler_words/0/word", 1, "word"},
      {"/filler_words/0/phones", "SIL", "phones"},
      {"/filler_words/0/phones/0", 1, "string"},
      {"/files/a.bin", 1, "a.bin"},
      {"/files/a.bin/size", -1, "size"},
      {"/files/a.bin/checksum", "12", "checksum"},
      {"/files/a.bin/checksum", "000000000000000g", "checksum"},
  };
  for (const auto &[pointer, value, part] : changes) {
    Json json = good;
    json[Json::json_pointer(pointer)] = value;
    expect_refused(json, part);
  }
  for (const char *name : {"../a.bin", "/etc/passwd", "", ".", "sub/a.bin"}) {
    Json json = good;
    json["files"][name] = good["files"]["a.bin"];
    expect_refused(json, "is not the name of a file");
  }
  expect_refused(Json::array(), "not a JSON object");
}

TEST(Bundle, SurvivesDamage) {
  const Scratch scratch;
  write_small_bundle(scratch);
  const std::string path = scratch / "senone.json";
  const size_t size = std::filesystem::file_size(path);
  EXPECT_GT(test::count_refused_damages(path, [&] { read_bundle(scratch.path()); }), size);
  spill(path, std::string(100000, '['));
  expect_error([&] { read_bundle(scratch.path()); }, ASR_BAD_FILE, "senone.json");
}

TEST(Symbols, RoundTrip) {
  const Scratch scratch;
  const std::vector<std::string> symbols = {"<eps>", "a", "b(2)", "\xc3\xa9t\xc3\xa9"};
  write_symbols(symbols, scratch / "words.txt");
  EXPECT_EQ(slurp(scratch / "words.txt"), "<eps> 0\na 1\nb(2) 2\n\xc3\xa9t\xc3\xa9 3\n");
  EXPECT_EQ(read_symbols(scratch / "words.txt"), symbols);
  spill(scratch / "words.txt", "<eps>\t0\r\na  1");
  EXPECT_EQ(read_symbols(scratch / "words.txt").size(), 2u);
}

TEST(Symbols, LabelsRoundTrip) {
  const WordTable table = {{"<eps>", "a", "a", "a"}, {{}, {"the rule", "x\ty\nz\\n\r"}, {"", "tag"}, {"rule", ""}}};
  const std::string text = words_text(table, "words.txt");
  EXPECT_EQ(text, "<eps> 0\na 1\tthe rule\tx\\ty\\nz\\\\n\\r\na 2\t\ttag\na 3\trule\n");
  const WordTable again = parse_words(text, "words.txt");
  EXPECT_EQ(again.words, table.words);
  ASSERT_EQ(again.labels.size(), table.labels.size());
  for (size_t i = 0; i < table.labels.size(); ++i) {
    EXPECT_EQ(again.labels[i].rule, table.labels[i].rule);
    EXPECT_EQ(again.labels[i].tags, table.labels[i].tags);
  }
  EXPECT_EQ(parse_symbols(text, "words.txt"), table.words);
  EXPECT_TRUE(parse_words("<eps> 0\na 1 \t\n", "words.txt").labels.empty());
  for (const char *const bad : {"a 1\tr\tt\tu", "a 1\tr\\", "a 1\t\\x"}) {
    expect_error([&] { parse_words("<eps> 0\n" + std::string(bad), "words.txt"); }, ASR_BAD_FILE, "not a rule and tags");
  }
}

TEST(Symbols, RefuseBadLines) {
  const Scratch scratch;
  const std::pair<std::string, const char *> cases[] = {
      {"", "does not begin"},
      {"a 0\n", "does not begin"},
      {"<eps> 0\na\n", ":2: is not a symbol"},
      {"<eps> 0\n\na 1\n", ":2: is not a symbol"},
      {"<eps> 0\na x\n", ":2: is not a symbol"},
      {"<eps> 0\na 1 1\n", ":2: is not a symbol"},
      {"<eps> 0\na 99999999999\n", ":2: is not a symbol"},
      {std::string("<eps> 0\na\0 1\n", 13), ":2: is not a symbol"},
      {"<eps> 0\na 2\n", ":2: has the number 2"},
      {"<eps> 0\na 0\n", ":2: has the number 0"},
  };
  for (const auto &[text, part] : cases) {
    spill(scratch / "words.txt", text);
    expect_error([&] { read_symbols(scratch / "words.txt"); }, ASR_BAD_FILE, part);
  }
  for (const char *symbol : {"", "a b", "a\n"}) {
    expect_error([&] { write_symbols({"<eps>", symbol}, scratch / "out.txt"); }, ASR_INVALID_ARGUMENT, "symbol 1");
  }
  EXPECT_EQ(scratch.n_entries(), 1u);
}

}  // namespace
}  // namespace asr
