// SPDX-License-Identifier: Apache-2.0
#include "core/graph/archive.h"

#include <filesystem>

#include "core/base/error.h"
#include "core/base/sections.h"

namespace asr {
namespace {

constexpr char kMagic[9] = "SenoneGA";
constexpr uint32_t kVersion = 1;

struct Header {
  char magic[8];
  uint32_t version, reserved;
  uint64_t n_index_bytes, n_words_bytes, n_phones_bytes, n_graph_bytes;
};
static_assert(sizeof(Header) == 48);

// Checks that the parts fit each other.
GraphParts checked(GraphParts parts) {
  if (parts.words.words.size() < parts.graph.n_words()) {
    fail(ASR_BAD_FILE, "%s/words.txt: %zu words, graph.bin uses %u; make the graph again with `senone graph`",
         parts.source.c_str(), parts.words.words.size(), parts.graph.n_words());
  }
  return parts;
}

void require(const Bundle &bundle, const std::string &source) {
  for (const char *name : {"graph.bin", "words.txt"}) {
    if (bundle.has(name)) continue;
    fail(ASR_NOT_FOUND, "%s: the bundle has no %s; make it with `senone graph`", source.c_str(), name);
  }
}

// Returns a text file of a bundle, checked against the bundle's list.
std::string read_listed(const Bundle &bundle, const std::string &name) {
  std::string text = read_file(bundle.file(name));
  check_bundle_file(bundle.file(name), bundle.files.at(name), {text.size(), checksum(text.data(), text.size())});
  return text;
}

std::vector<std::string> read_listed_symbols(const Bundle &bundle, const std::string &name) {
  return parse_symbols(read_listed(bundle, name), bundle.file(name));
}

// Returns a section of an archive, checked against its list of files like a file of a bundle.
std::string_view listed_section(SectionReader *reader, uint64_t n_bytes, const char *name, const Bundle &bundle,
                                const std::string &source) {
  const char *const bytes = reader->section<char>(n_bytes, name);
  const auto listed = bundle.files.find(name);
  if (listed == bundle.files.end()) fail(ASR_BAD_FILE, "%s: its senone.json does not list %s", source.c_str(), name);
  check_bundle_file(source + "/" + name, listed->second, {n_bytes, checksum(bytes, n_bytes)});
  return {bytes, n_bytes};
}

BundleFile listed(const std::string &bytes) { return {bytes.size(), checksum(bytes.data(), bytes.size())}; }

}  // namespace

GraphParts read_graph_parts(const Bundle &bundle) {
  require(bundle, bundle.path);
  WordTable words = parse_words(read_listed(bundle, "words.txt"), bundle.file("words.txt"));
  std::vector<std::string> phones;
  if (bundle.has("phones.txt")) phones = read_listed_symbols(bundle, "phones.txt");
  return checked({bundle.path, bundle, Graph(bundle.file("graph.bin"), &bundle.files.at("graph.bin")), std::move(words),
                  std::move(phones)});
}

std::optional<GraphParts> read_background_parts(const Bundle &bundle) {
  if (!bundle.has("background.bin") || !bundle.has("phones.txt")) return std::nullopt;
  std::vector<std::string> phones = read_listed_symbols(bundle, "phones.txt");
  const std::string path = bundle.file("background.bin");
  Graph graph(path, &bundle.files.at("background.bin"));
  if (phones.size() < graph.n_words()) {
    fail(ASR_BAD_FILE, "%s: uses %u phones, phones.txt has %zu; make the graph again with `senone graph`", path.c_str(),
         graph.n_words(), phones.size());
  }
  return GraphParts{path, bundle, std::move(graph), {phones, {}}, phones};
}

GraphParts read_graph_parts(const std::string &path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return read_graph_parts(read_bundle_index(path));
  const FileCopy archive(path);
  return read_graph_archive(archive.data(), archive.size(), path);
}

GraphParts read_graph_archive(const void *bytes, size_t n_bytes, const std::string &source) {
  SectionReader reader(bytes, n_bytes, source);
  const auto header = reader.header<Header>(kMagic, kVersion);
  if (header.reserved != 0) fail(ASR_BAD_FILE, "%s: header: reserved is not 0; the archive is damaged", source.c_str());
  const char *const index = reader.section<char>(header.n_index_bytes, "senone.json");
  Bundle bundle = parse_bundle_index(std::string(index, header.n_index_bytes), source + "/senone.json");
  const auto part = [&](const char *name, uint64_t n) { return listed_section(&reader, n, name, bundle, source); };
  WordTable words = parse_words(part("words.txt", header.n_words_bytes), source + "/words.txt");
  std::vector<std::string> phones = parse_symbols(part("phones.txt", header.n_phones_bytes), source + "/phones.txt");
  const std::string_view graph = part("graph.bin", header.n_graph_bytes);
  reader.finish();
  FileCopy copy(graph.data(), graph.size(), source);
  return checked(
      {source, std::move(bundle), Graph(std::move(copy), source + "/graph.bin"), std::move(words), std::move(phones)});
}

void check_made_for(const GraphParts &parts, const Bundle &model, uint32_t n_states) {
  bool is_compared = false;
  for (const char *const name : {"hmms.bin", "acoustic.bin"}) {
    const auto made_for = parts.bundle.files.find(name), ours = model.files.find(name);
    if (made_for == parts.bundle.files.end() || ours == model.files.end()) continue;
    if (made_for->second.checksum != ours->second.checksum || made_for->second.size != ours->second.size) {
      fail(
          ASR_UNSUPPORTED,
          "%s: the graph was made for another acoustic model, whose %s differs from the one of %s; make it for this model with "
          "`senone graph`",
          parts.source.c_str(), name, model.path.c_str());
    }
    is_compared = true;
    break;
  }
  if (!is_compared) {
    fail(ASR_UNSUPPORTED, "%s: its senone.json does not tell for which model the graph was made; make it with `senone graph`",
         parts.source.c_str());
  }
  if (parts.graph.n_pdfs() != n_states) {
    fail(ASR_BAD_FILE,
         "%s/graph.bin: made for %u states, the model of acoustic.bin has %u; make the graph again with `senone graph`",
         parts.source.c_str(), parts.graph.n_pdfs(), n_states);
  }
}

std::string graph_archive(const Bundle &model, const GraphData &graph, const WordTable &words,
                          const std::vector<std::string> &phones) {
  const std::string graph_part = graph_bytes(graph);
  const std::string words_part = words_text(words, "words.txt"), phones_part = symbols_text(phones, "phones.txt");
  Bundle bundle = model;
  bundle.files["graph.bin"] = listed(graph_part);
  bundle.files["words.txt"] = listed(words_part);
  bundle.files["phones.txt"] = listed(phones_part);
  const std::string index = bundle_index_text(bundle);
  Header header{};
  memcpy(header.magic, kMagic, sizeof(header.magic));
  header.version = kVersion;
  header.n_index_bytes = index.size();
  header.n_words_bytes = words_part.size();
  header.n_phones_bytes = phones_part.size();
  header.n_graph_bytes = graph_part.size();
  MemoryOutput archive;
  archive.write(&header, sizeof(header));
  for (const std::string *part : {&index, &words_part, &phones_part, &graph_part}) {
    archive.pad_to(kSectionAlignment);
    archive.write(*part);
  }
  return archive.bytes();
}

}  // namespace asr
