// SPDX-License-Identifier: Apache-2.0
#include "builder/g2p/g2p_model.h"

#include <algorithm>

#include "builder/text/text_file.h"
#include "core/base/error.h"
#include "core/base/limits.h"
#include "core/base/sections.h"

namespace asr {
namespace {

constexpr char kMagic[9] = "SenoneGP";
constexpr uint32_t kVersion = 1;

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t order, n_letters, n_phones, n_name_bytes, n_units, n_inner, n_nodes;
  uint64_t checksum;  // checksum of the file's bytes with this field 0
};
static_assert(sizeof(Header) == 48);
static_assert(sizeof(G2pUnit) == 6);

template <typename T>
bool rises(const std::vector<T> &values, size_t begin, size_t end) {
  for (size_t i = begin + 1; i < end; ++i) {
    if (!(values[i - 1] < values[i])) return false;
  }
  return true;
}

void check(bool good, const std::string &source, const char *what) {
  if (!good) fail(ASR_BAD_FILE, "%s: %s; the file is damaged, train the model again", source.c_str(), what);
}

void check_units(const G2pModel &model, const std::string &source) {
  const size_t n = model.units.size();
  check(n >= kFirstUnit && n <= kNoSymbol, source, "the number of its units is not valid");
  check(rises(model.units, kFirstUnit, n), source, "its units are not in order");
  const auto is_symbol = [](uint16_t symbol, size_t n_symbols) { return symbol == kNoSymbol || symbol < n_symbols; };
  for (size_t i = 0; i < n; ++i) {
    const auto &[letter, phones] = model.units[i];
    const bool good = is_symbol(letter, model.letters.size()) && is_symbol(phones[0], model.phones.size()) &&
                      is_symbol(phones[1], model.phones.size()) && (phones[0] != kNoSymbol || phones[1] == kNoSymbol);
    const bool empty = letter == kNoSymbol && phones[0] == kNoSymbol;
    check(good && empty == (i < kFirstUnit), source, "a unit has letters or phones that are none");
  }
}

void check_trie(const G2pModel &model, const std::string &source) {
  const uint32_t n_inner = model.n_inner(), n_nodes = model.n_nodes();
  check(n_inner >= 1 && n_inner <= n_nodes && model.first_child[0] == 1 && model.first_child[n_inner] == n_nodes, source,
        "its n-grams have no root");
  check(model.first_child[1] == 1 + model.units.size(), source, "its n-grams have not all units");
  for (uint32_t node = 0; node < n_inner; ++node) {
    const uint32_t begin = model.first_child[node], end = model.first_child[node + 1];
    check(begin > node && begin <= end && end <= n_nodes, source, "its n-grams are not in order");
    check(rises(model.unit, begin, end) && (begin == end || model.unit[end - 1] < model.units.size()), source,
          "the units of its n-grams are not in order");
  }
}

}  // namespace

uint32_t G2pModel::lower_child(uint32_t node, uint32_t least) const {
  if (node >= n_inner()) return 0;
  const auto begin = unit.begin() + first_child[node], end = unit.begin() + first_child[node + 1];
  return static_cast<uint32_t>(std::lower_bound(begin, end, least) - unit.begin());
}

uint16_t G2pModel::letter_number(uint32_t letter) const {
  const auto found = std::lower_bound(letters.begin(), letters.end(), letter);
  return found != letters.end() && *found == letter ? static_cast<uint16_t>(found - letters.begin()) : kNoSymbol;
}

void G2pModel::complete(const std::string &source) {
  check(order >= 1 && order <= kMaxUnitOrder, source, "its order is not valid");
  check(letters.size() < kNoSymbol && rises(letters, 0, letters.size()) && (letters.empty() || letters.back() <= 0x10ffff),
        source, "its letters are not in order");
  check(phones.size() < kNoSymbol && rises(phones, 0, phones.size()), source, "its phones are not in order");
  check_units(*this, source);
  check_trie(*this, source);
  suffix.assign(n_nodes(), 0);
  std::vector<uint8_t> length(n_nodes(), 1);
  length[0] = 0;
  for (uint32_t node = 1; node < n_inner(); ++node) {
    for (uint32_t child = first_child[node]; child < first_child[node + 1]; ++child) {
      const uint32_t shorter = lower_child(suffix[node], unit[child]);
      check(shorter < end_child(suffix[node]) && unit[shorter] == unit[child], source, "an n-gram's end is missing");
      check(length[node] < order, source, "an n-gram is longer than its order");
      suffix[child] = shorter;
      length[child] = static_cast<uint8_t>(length[node] + 1);
    }
  }
  for (uint32_t node = n_inner(); node < n_nodes(); ++node) {
    check(suffix[node] < n_inner(), source, "an n-gram's end has no history");
  }
}

void write_g2p_model(const G2pModel &model, const std::string &path) {
  std::vector<char> names;
  std::vector<uint32_t> name_ends;
  for (const std::string &phone : model.phones) {
    names.insert(names.end(), phone.begin(), phone.end());
    name_ends.push_back(static_cast<uint32_t>(names.size()));
  }
  Header header{};
  memcpy(header.magic, kMagic, sizeof(header.magic));
  header.version = kVersion;
  header.order = model.order;
  header.n_letters = static_cast<uint32_t>(model.letters.size());
  header.n_phones = static_cast<uint32_t>(model.phones.size());
  header.n_name_bytes = static_cast<uint32_t>(names.size());
  header.n_units = static_cast<uint32_t>(model.units.size());
  header.n_inner = model.n_inner();
  header.n_nodes = model.n_nodes();
  // Collects the file's bytes in memory for their checksum.
  std::string bytes(reinterpret_cast<const char *>(&header), sizeof(header));
  const auto add = [&](const auto &values) {
    bytes.append((kSectionAlignment - bytes.size() % kSectionAlignment) % kSectionAlignment, '\0');
    bytes.append(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(values[0]));
  };
  add(model.letters);
  add(names);
  add(name_ends);
  add(model.units);
  add(model.first_child);
  add(model.unit);
  add(model.cost);
  add(model.backoff);
  header.checksum = checksum(bytes.data(), bytes.size());
  memcpy(bytes.data(), &header, sizeof(header));
  OutputFile file(path);
  file.write(bytes);
  file.commit();
}

G2pModel read_g2p_model(const std::string &path) {
  std::string bytes = read_unpacked(path, "a model of letters and phones", {Format::kSenoneG2p});
  SectionReader reader(bytes.data(), bytes.size(), path);
  const auto header = reader.header<Header>(kMagic, kVersion);
  memset(bytes.data() + offsetof(Header, checksum), 0, sizeof(header.checksum));
  check(header.checksum == checksum(bytes.data(), bytes.size()), path, "its checksum is wrong");
  G2pModel model;
  model.order = header.order;
  model.letters = reader.copy<uint32_t>(header.n_letters, "letters");
  const auto names = reader.copy<char>(header.n_name_bytes, "names of phones");
  const auto name_ends = reader.copy<uint32_t>(header.n_phones, "phones");
  model.units = reader.copy<G2pUnit>(header.n_units, "units");
  model.first_child = reader.copy<uint32_t>(uint64_t{header.n_inner} + 1, "n-grams");
  model.unit = reader.copy<uint16_t>(header.n_nodes, "units of n-grams");
  model.cost = reader.copy<uint16_t>(header.n_nodes, "costs");
  model.backoff = reader.copy<uint16_t>(header.n_inner, "back-off costs");
  reader.finish();
  uint32_t begin = 0;
  for (const uint32_t end : name_ends) {
    check(begin < end && end <= names.size(), path, "the name of a phone lies outside the names");
    model.phones.emplace_back(names.data() + begin, end - begin);
    begin = end;
  }
  model.complete(path);
  return model;
}

}  // namespace asr
