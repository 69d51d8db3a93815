// SPDX-License-Identifier: Apache-2.0
// The layout is in docs/lattices.md.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

#include "core/base/error.h"
#include "core/lattice/kaldi_lattice.h"
#include "core/lattice/unordered_lattice.h"

namespace asr {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\f\v";
constexpr std::string_view kBlanksInLine = " \t\r\f\v";
constexpr int32_t kMagic = 2125659606;

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const size_t begin = line.find_first_not_of(kBlanksInLine);
    if (begin == std::string_view::npos) return fields;
    line.remove_prefix(begin);
    const size_t size = std::min(line.find_first_of(kBlanksInLine), line.size());
    fields.push_back(line.substr(0, size));
    line.remove_prefix(size);
  }
}

}  // namespace

class KaldiLatticeReader::Source {
 public:
  Source(std::string bytes, const std::string &path) : path_(path), bytes_(std::move(bytes)) {}

  bool next(std::string *key, CompactLattice *lattice) {
    if (at_ == kEnded) return false;
    const size_t begin = bytes_.find_first_not_of(kBlanks, at_);
    if (begin == std::string::npos) return false;
    is_first_ = at_ == 0;
    const size_t end = bytes_.find_first_of(kBlanks, begin);
    if (end == std::string::npos) {
      at_ = begin;
      fail_last("ends within the key of an entry; the file is damaged or truncated");
    }
    *key = bytes_.substr(begin, end - begin);
    if (std::any_of(key->begin(), key->end(), [](unsigned char byte) { return byte < ' '; })) refuse_key(begin);
    at_ = end;
    lattice_ = {};
    const size_t line_end = bytes_.find_first_not_of(kBlanksInLine, at_);
    binary_ = line_end != std::string::npos && bytes_[line_end] != '\n';
    const bool has_paths = read();
    try {
      *lattice = has_paths ? lattice_.sorted() : CompactLattice{};
    } catch (const Error &error) {
      fail(error.code(), "%s: entry %s: %s", path_.c_str(), key->substr(0, 100).c_str(), error.what());
    }
    return true;
  }

 private:
  const std::string path_;
  const std::string bytes_;
  size_t at_ = 0;
  bool binary_ = true;
  bool is_first_ = true;  // true: this is the first entry
  UnorderedLattice lattice_;

  static constexpr size_t kEnded = SIZE_MAX;  // nothing can be read behind the damage

  bool read() {
    const size_t begin = at_ + 1;  // a binary lattice begins behind the blank after the key
    try {
      return binary_ ? read_binary() : read_text();
    } catch (const Error &) {
      binary_ ? skip_binary(begin) : skip_text();
      throw;
    }
  }

  // Moves from a damaged binary lattice, which begins at `begin`, to the key before the next one. Nothing between them marks
  // the end, but a lattice ends in a byte of 0, as its last number is a state or a count, and no key has such a byte.
  void skip_binary(size_t begin) {
    const std::string start =
        std::string(reinterpret_cast<const char *>(&kMagic), sizeof kMagic) + std::string("\6\0\0\0vector", 10);
    at_ = kEnded;
    for (size_t next = begin; at_ == kEnded && (next = bytes_.find(start, next + 1)) != std::string::npos;) {
      if (bytes_[next - 1] != ' ') continue;
      size_t key = next - 1;
      while (key > begin && static_cast<unsigned char>(bytes_[key - 1]) > ' ') --key;
      if (key < next - 1) at_ = key;
    }
  }

  [[noreturn]] void refuse_key(size_t begin) {
    if (is_first_) fail_kind();
    at_ = begin;
    try {
      fail_here("no key of an entry is here; the file is damaged");
    } catch (const Error &) {
      skip_binary(begin);
      throw;
    }
  }

  // Moves to the end of a text entry: an empty line.
  void skip_text() {
    for (bool is_empty = false; !is_empty && at_ < bytes_.size();) {
      const size_t end = std::min(bytes_.find('\n', at_), bytes_.size());
      is_empty = fields_of(std::string_view(bytes_).substr(at_, end - at_)).empty();
      at_ = end + 1;
    }
    at_ = std::min(at_, bytes_.size());
  }

  [[noreturn]] void fail_last(const char *what) {
    try {
      fail_here(what);
    } catch (const Error &) {
      at_ = kEnded;
      throw;
    }
  }

  [[noreturn]] void fail_here(const char *what) const {
    if (binary_) fail(ASR_BAD_FILE, "%s: byte %zu: %s", path_.c_str(), at_, what);
    const auto line = 1 + std::count(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
    fail(ASR_BAD_FILE, "%s:%lld: %s", path_.c_str(), static_cast<long long>(line), what);
  }

  [[noreturn]] void fail_kind() const {
    fail(ASR_BAD_FILE, "%s: is no archive of lattices, of a key and a graph each; name one", path_.c_str());
  }

  // ---- both forms

  // Returns false for a cost that means "no path".
  bool is_path(const LatticeCost &cost) const {
    const auto possible = [](double x) { return !std::isnan(x) && x != -kNoEnd.graph; };
    if (!possible(cost.graph) || !possible(cost.acoustic)) fail_here("a cost is not a number; the file is damaged");
    return std::isfinite(cost.graph) && std::isfinite(cost.acoustic);
  }

  void add_arc(const UnorderedLattice::Arc &arc) {
    if (is_path(arc.cost)) lattice_.arcs.push_back(arc);
  }

  void add_end(uint32_t state, const CompactLattice::End &end) {
    if (is_path(end.cost)) lattice_.endings.push_back({state, end});
  }

  Alignment add_ids(const uint32_t *ids, uint32_t n) {
    const Alignment alignment = {lattice_.transition_ids.size(), n};
    lattice_.transition_ids.insert(lattice_.transition_ids.end(), ids, ids + n);
    return alignment;
  }

  // ---- binary

  template <typename T>
  T take() {
    T value;
    if (bytes_.size() - at_ < sizeof value) fail_here("ends within a lattice; the file is damaged or truncated");
    memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  std::string take_string() {
    const auto size = take<int32_t>();
    if (size < 0 || static_cast<size_t>(size) > bytes_.size() - at_) {
      fail_here("the length of a name does not fit in the file; it is damaged");
    }
    at_ += static_cast<size_t>(size);
    return bytes_.substr(at_ - static_cast<size_t>(size), static_cast<size_t>(size));
  }

  uint32_t take_label() {
    const auto label = take<int32_t>();
    if (label < 0) fail_here("a label is negative; the file is damaged");
    return static_cast<uint32_t>(label);
  }

  // Takes a count of elements with at least `bytes_each` bytes each in the file.
  uint64_t take_count(size_t bytes_each) {
    const auto count = take<int64_t>();
    if (count < 0 || static_cast<uint64_t>(count) > (bytes_.size() - at_) / bytes_each) {
      fail_here("a count does not fit in the file; it is damaged or truncated");
    }
    return static_cast<uint64_t>(count);
  }

  LatticeCost take_cost() {
    const double graph = double{take<float>()};
    return {graph, double{take<float>()}};
  }

  Alignment take_ids() {
    const auto n = take<int32_t>();
    if (n < 0 || static_cast<size_t>(n) > (bytes_.size() - at_) / 4) {
      fail_here("the length of an alignment does not fit in the file; it is damaged or truncated");
    }
    std::vector<uint32_t> ids;
    ids.reserve(static_cast<size_t>(n));
    for (int32_t i = 0; i < n; ++i) ids.push_back(take_label());
    return add_ids(ids.data(), static_cast<uint32_t>(n));
  }

  bool read_binary() {
    ++at_;  // the blank after the key
    if (is_first_ && (bytes_.size() - at_ < 4 || memcmp(bytes_.data() + at_, &kMagic, 4) != 0)) fail_kind();
    if (take<int32_t>() != kMagic) fail_here("no lattice follows the key; the file is damaged");
    if (take_string() != "vector") fail_here("a lattice is not of type \"vector\"; convert it");
    const std::string arc_type = take_string();
    const bool compact = arc_type == "compactlattice44";
    if (!compact && arc_type != "lattice4") fail_here("arcs are neither compactlattice44 nor lattice4; convert them");
    if (take<int32_t>() != 2 || take<int32_t>() != 0) {
      fail_here("a lattice is not of version 2 without symbol tables; convert it");
    }
    at_ += std::min<size_t>(8, bytes_.size() - at_);  // properties
    const auto start = take<int64_t>();
    const auto n_states = take<int64_t>();
    take<int64_t>();  // number of arcs: not reliable
    constexpr int64_t kStateBytes = 16;
    if (n_states < 0 || n_states > static_cast<int64_t>(bytes_.size() - at_) / kStateBytes || start >= n_states) {
      fail_here("the number of states or the start does not fit the file; it is damaged or truncated");
    }
    for (uint32_t s = 0; s < static_cast<uint64_t>(n_states); ++s) read_state(s, static_cast<uint64_t>(n_states), compact);
    lattice_.start = static_cast<uint32_t>(std::max<int64_t>(start, 0));
    return start >= 0;
  }

  void read_state(uint32_t state, uint64_t n_states, bool compact) {
    CompactLattice::End end;
    end.cost = take_cost();
    if (compact) end.alignment = take_ids();
    add_end(state, end);
    for (uint64_t n = take_count(compact ? 24 : 20); n > 0; --n) {
      UnorderedLattice::Arc arc{};
      arc.from = state;
      const uint32_t input = take_label();
      arc.word = take_label();
      if (compact && input != arc.word) fail_here("the two labels of a word's arc differ; the file is damaged");
      arc.cost = take_cost();
      arc.alignment = compact ? take_ids() : add_ids(&input, input != 0 ? 1 : 0);
      arc.to = take_label();
      if (arc.to >= n_states) fail_here("an arc leads to a state that does not exist; the file is damaged");
      add_arc(arc);
    }
  }

  // ---- text

  static bool is_number(std::string_view text) { return text.find_first_not_of("0123456789") == std::string_view::npos; }

  template <typename T>
  T number(std::string_view text) const {
    T value{};
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_extreme = std::is_floating_point_v<T> && error == std::errc::result_out_of_range;
    if ((error != std::errc() && !is_extreme) || stop != text.data() + text.size()) {
      fail_here("a number is not one; the file is damaged");
    }
    return is_extreme ? static_cast<T>(extreme(text)) : value;
  }

  // Returns the value of a number below the least or above the largest one: from_chars does not tell which.
  static double extreme(std::string_view text) {
    const double sign = text[0] == '-' ? -1 : 1;
    const size_t exponent = text.find_first_of("eE"), first = text[0] == '-' ? 1 : 0;
    const bool is_small =
        exponent != std::string_view::npos ? text[exponent + 1] == '-' : text[first] == '0' || text[first] == '.';
    return sign * (is_small ? 0 : kNoEnd.graph);
  }

  // Parses "graph,acoustic" and, in compact lattices, ",id_id_..."; an empty text is a cost of 0.
  LatticeCost read_weight(std::string_view text, Alignment *alignment) {
    const size_t first = text.find(','), second = text.find(',', first + 1);
    if (first == std::string_view::npos) fail_here("a cost must be \"graph,acoustic\"; the file is damaged");
    const LatticeCost cost = {number<double>(text.substr(0, first)),
                              number<double>(text.substr(first + 1, std::min(second, text.size()) - first - 1))};
    std::vector<uint32_t> ids;
    std::string_view rest = second == std::string_view::npos ? "" : text.substr(second + 1);
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('_'), rest.size());
      ids.push_back(number<uint32_t>(rest.substr(0, end)));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    *alignment = add_ids(ids.data(), static_cast<uint32_t>(ids.size()));
    return cost;
  }

  // Throws if the first line of the file's first lattice begins with no state, or with one alone: the file is another text.
  void check_kind(const std::vector<std::string_view> &fields) const {
    const bool has_state = is_number(fields[0]);
    const bool goes_on = fields.size() == 1 || is_number(fields[1]) || fields[1].find(',') != std::string_view::npos;
    if (!has_state || !goes_on) fail_kind();
  }

  bool read_text() {
    at_ = std::min(bytes_.find('\n', at_), bytes_.size());
    bool first = true;
    while (at_ < bytes_.size()) {
      ++at_;
      const size_t end = std::min(bytes_.find('\n', at_), bytes_.size());
      const std::vector<std::string_view> fields = fields_of(std::string_view(bytes_).substr(at_, end - at_));
      if (fields.empty()) {
        at_ = end;
        break;
      }
      if (first && is_first_) check_kind(fields);
      if (first) lattice_.start = number<uint32_t>(fields[0]);
      first = false;
      read_line(fields);
      at_ = end;
    }
    return !first;
  }

  void read_line(const std::vector<std::string_view> &fields) {
    const bool has_weight = fields.back().find(',') != std::string_view::npos;
    const size_t n_labels = fields.size() - (has_weight ? 1 : 0);
    if (n_labels == 0 || n_labels == 2 || n_labels > 4) fail_here("a line is neither an arc nor an end; the file is damaged");
    UnorderedLattice::Arc arc{};
    arc.from = number<uint32_t>(fields[0]);
    if (has_weight) arc.cost = read_weight(fields.back(), &arc.alignment);
    if (n_labels == 1) {
      add_end(arc.from, {arc.cost, arc.alignment});
      return;
    }
    arc.to = number<uint32_t>(fields[1]);
    arc.word = number<uint32_t>(fields[n_labels - 1]);
    if (n_labels == 4) {
      const auto id = number<uint32_t>(fields[2]);
      arc.alignment = add_ids(&id, id != 0 ? 1 : 0);
    }
    add_arc(arc);
  }
};

KaldiLatticeReader::KaldiLatticeReader(const std::string &path) : KaldiLatticeReader(read_file(path), path) {}
KaldiLatticeReader::KaldiLatticeReader(std::string bytes, const std::string &source)
    : source_(std::make_unique<Source>(std::move(bytes), source)) {}
KaldiLatticeReader::~KaldiLatticeReader() = default;

bool KaldiLatticeReader::next(std::string *key, CompactLattice *lattice) { return source_->next(key, lattice); }

}  // namespace asr
