// SPDX-License-Identifier: Apache-2.0
// Implements tokens, numbers, vectors and matrices of ObjectReader, and the layout of compressed matrices.
#include "builder/import/kaldi_io.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>

#include "builder/text/text_file.h"
#include "core/base/error.h"

namespace asr::kaldi {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\f\v";

uint64_t triangle(uint64_t n) { return n * (n + 1) / 2; }

}  // namespace

void ObjectReader::fail_here(const std::string &what) const {
  if (binary_) fail(ASR_BAD_FILE, "%s: byte %zu: %s", source_.c_str(), at_, what.c_str());
  const std::string_view before = bytes_.substr(0, at_);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  fail(ASR_BAD_FILE, "%s:%lld: %s", source_.c_str(), static_cast<long long>(line), what.c_str());
}

void ObjectReader::begin_object() {
  binary_ = bytes_.substr(at_, 2) == std::string_view("\0B", 2);
  if (binary_) at_ += 2;
  object_begin_ = at_;
  if (!first_object_) first_object_ = at_;
}

bool ObjectReader::begins_file(size_t position) const {
  return object_begin_ == first_object_.value_or(object_begin_) && bytes_.find_first_not_of(kBlanks, object_begin_) >= position;
}

void ObjectReader::fail_kind(size_t begin, const std::string &kind, const char *wanted, const char *what) {
  at_ = begin;
  static const std::map<std::string, const char *> kKinds = {
      {"FV", "vector"},        {"DV", "vector"},        {"FM", "matrix"},  {"DM", "matrix"}, {"CM", "matrix"},
      {"FP", "packed matrix"}, {"DP", "packed matrix"}, {"CM2", "matrix"}, {"CM3", "matrix"}};
  const auto known = kKinds.find(kind);
  if (known != kKinds.end()) {
    fail_here(format("%s is a %s where a %s must be; name the right file", what, known->second, wanted));
  }
  if (begins_file(begin))
    fail_here(format("does not begin with a %s, so it is a file of another kind; name the right one", wanted));
  fail_here(format("%s is not a %s; the file is damaged", what, wanted));
}

void ObjectReader::skip_blanks() { at_ = std::min(bytes_.find_first_not_of(kBlanks, at_), bytes_.size()); }

bool ObjectReader::at_end() { return bytes_.find_first_not_of(kBlanks, at_) == std::string_view::npos; }

std::string_view ObjectReader::take(uint64_t size, const char *what) {
  if (size > bytes_.size() - at_) fail_here(format("ends within its %s; the file is damaged or truncated", what));
  const std::string_view taken = bytes_.substr(at_, static_cast<size_t>(size));
  at_ += static_cast<size_t>(size);
  return taken;
}

std::string ObjectReader::token(const char *what) {
  skip_blanks();
  if (at_ == bytes_.size()) fail_here(format("ends before its %s; the file is damaged or truncated", what));
  const size_t end = std::min(bytes_.find_first_of(kBlanks, at_), bytes_.size());
  std::string found(bytes_.substr(at_, end - at_));
  at_ = binary_ ? std::min(end + 1, bytes_.size()) : end;  // a binary token ends with one blank, followed by data
  return found;
}

std::string ObjectReader::peek_token(const char *what) {
  const size_t begin = at_;
  std::string found = token(what);
  at_ = begin;
  return found;
}

void ObjectReader::expect(const char *expected) {
  const size_t begin = at_;
  const std::string found = token(expected);
  if (found == expected) return;
  at_ = begin;
  if (begins_file(begin))
    fail_here(format("does not begin with %s, so it is a file of another kind; name the right one", expected));
  fail_here(format("has no %s where one must follow; the file is damaged", expected));
}

bool ObjectReader::skip(const char *wanted) {
  if (at_end() || peek_token(wanted) != wanted) return false;
  token(wanted);
  return true;
}

std::string ObjectReader::key() {
  skip_blanks();
  const size_t end = bytes_.find_first_of(kBlanks, at_);
  if (end == std::string_view::npos) fail_here("ends within the key of an entry; the file is damaged or truncated");
  std::string found(bytes_.substr(at_, end - at_));
  at_ = bytes_[end] == '\n' ? end : end + 1;
  return found;
}

bool ObjectReader::skip_object(size_t begin) {
  const size_t here = at_;
  at_ = begin;
  begin_object();
  const bool is_skipped = binary_ ? skip_binary() : skip_text();
  if (!is_skipped) at_ = here;
  return is_skipped;
}

bool ObjectReader::skip_binary() {
  try {
    if (at_ < bytes_.size() && bytes_[at_] == 4) {  // the size of its integers
      integers("vector");
    } else {
      const std::string kind = peek_token("object");
      kind == "FV" || kind == "DV" ? void(vector<float>("vector")) : void(matrix<float>("matrix"));
    }
    return true;
  } catch (const Error &error) {
    if (error.code() != ASR_BAD_FILE) throw;
    return false;
  }
}

// Numbers in brackets, or the rest of a line. If a bracket is missing, the line of the next opening one begins an entry.
bool ObjectReader::skip_text() {
  const size_t open = bytes_.find_first_not_of(" \t", at_);
  if (open == std::string_view::npos || bytes_[open] != '[') {
    at_ = std::min(bytes_.find('\n', at_), bytes_.size());
    return at_ < bytes_.size();
  }
  const size_t close = bytes_.find(']', open), other = bytes_.find('[', open + 1);
  if (other < close) {
    at_ = std::max(bytes_.substr(0, other).rfind('\n') + 1, open);
    return at_ > open;
  }
  if (close == std::string_view::npos) return false;
  at_ = close + 1;
  return true;
}

template <typename T>
T ObjectReader::raw(const char *what) {
  T value;
  memcpy(&value, take(sizeof(T), what).data(), sizeof(T));
  return value;
}

void ObjectReader::expect_size_byte(uint8_t size, const char *what) {
  const auto found = raw<uint8_t>(what);
  if (found != size) fail_here(format("%s is not marked as %u bytes long; the file is damaged", what, size));
}

int32_t ObjectReader::integer(const char *what) {
  if (!binary_) {
    const std::string word = token(what);
    int32_t value = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || stop != word.data() + word.size()) fail_here(format("%s is not a whole number", what));
    return value;
  }
  const auto size = static_cast<int8_t>(raw<uint8_t>(what));
  if (size == 4) return raw<int32_t>(what);
  if (size == -4) {
    const auto value = raw<uint32_t>(what);
    if (value > 0x7fffffffu) fail_here(format("%s is too large", what));
    return static_cast<int32_t>(value);
  }
  fail_here(format("%s is not marked as a number of 4 bytes; the file is damaged", what));
}

uint32_t ObjectReader::count(const char *what) {
  const int32_t value = integer(what);
  if (value < 0) fail_here(format("%s is %d; the file is damaged", what, value));
  return static_cast<uint32_t>(value);
}

double ObjectReader::text_number(std::string_view word, const char *what) const {
  double value = 0;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool out_of_range = error == std::errc::result_out_of_range;  // for example 1e-400; treated as 0 or infinity
  if ((error != std::errc() && !out_of_range) || stop != word.data() + word.size()) {
    fail_here(format("%s has \"%s\" where a number must be", what, std::string(word.substr(0, 40)).c_str()));
  }
  return value;
}

double ObjectReader::real(const char *what) {
  if (!binary_) return text_number(token(what), what);
  const auto size = raw<uint8_t>(what);
  if (size == 4) return raw<float>(what);
  if (size == 8) return raw<double>(what);
  fail_here(format("%s is not marked as a float or double; the file is damaged", what));
}

std::vector<int32_t> ObjectReader::integers(const char *what) {
  std::vector<int32_t> values;
  if (binary_) {
    expect_size_byte(4, what);
    const auto n = raw<int32_t>(what);
    if (n < 0) fail_here(format("%s have the length %d; the file is damaged", what, n));
    const std::string_view data = take(uint64_t{4} * static_cast<uint32_t>(n), what);
    values.resize(static_cast<size_t>(n));
    if (n > 0) memcpy(values.data(), data.data(), data.size());
    return values;
  }
  expect("[");
  while (!skip("]")) values.push_back(integer(what));
  return values;
}

// Reads `count` values of precision 'F' or 'D', as T.
template <typename T>
std::vector<T> ObjectReader::raw_values(char precision, uint64_t count, const char *what) {
  const size_t size = precision == 'F' ? 4 : 8;
  if (count > (bytes_.size() - at_) / size) {
    fail_here(format("%s: %llu values do not fit in the rest of the file; it is damaged or truncated", what,
                     static_cast<unsigned long long>(count)));
  }
  const char *data = take(count * size, what).data();
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i, data += size) {
    if (precision == 'F') {
      float value;
      memcpy(&value, data, sizeof(value));
      values[i] = static_cast<T>(value);
    } else {
      double value;
      memcpy(&value, data, sizeof(value));
      values[i] = static_cast<T>(value);
    }
  }
  return values;
}

// Reads the numbers between "[" and "]" of the text form. `row_ends`: the count of numbers at the end of each non-empty line.
template <typename T>
std::vector<T> ObjectReader::bracketed(const char *what, std::vector<size_t> *row_ends) {
  expect("[");
  std::vector<T> values;
  const auto end_row = [&] {
    if (values.size() > (row_ends->empty() ? 0 : row_ends->back())) row_ends->push_back(values.size());
  };
  for (;;) {
    const size_t begin = at_;
    const std::string word = token(what);
    const std::string_view gap = bytes_.substr(begin, at_ - word.size() - begin);
    if (word == "]" || gap.find('\n') != std::string_view::npos) end_row();
    if (word == "]") return values;
    values.push_back(static_cast<T>(text_number(word, what)));
  }
}

template <typename T>
std::vector<T> ObjectReader::vector(const char *what) {
  if (!binary_) {
    std::vector<size_t> row_ends;
    return bracketed<T>(what, &row_ends);
  }
  const size_t begin = at_;
  const std::string kind = token(what);
  if (kind != "FV" && kind != "DV") fail_kind(begin, kind, "vector", what);
  const uint32_t n = count(what);
  return raw_values<T>(kind[0], n, what);
}

template <typename T>
Matrix<T> ObjectReader::matrix(const char *what) {
  Matrix<T> m;
  if (!binary_) {
    std::vector<size_t> row_ends;
    m.values = bracketed<T>(what, &row_ends);
    m.n_rows = static_cast<uint32_t>(row_ends.size());
    m.n_cols = row_ends.empty() ? 0 : static_cast<uint32_t>(row_ends[0]);
    for (size_t r = 0; r < row_ends.size(); ++r) {
      if (row_ends[r] != (r + 1) * m.n_cols) fail_here(format("row %zu of %s has another length than row 0", r, what));
    }
    return m;
  }
  const size_t begin = at_;
  const std::string kind = token(what);
  if (kind.substr(0, 2) == "CM") return compressed<T>(kind, what);
  if (kind != "FM" && kind != "DM") fail_kind(begin, kind, "matrix", what);
  m.n_rows = count(what);
  m.n_cols = count(what);
  m.values = raw_values<T>(kind[0], uint64_t{m.n_rows} * m.n_cols, what);
  return m;
}

template <typename T>
std::vector<T> ObjectReader::packed(const char *what, uint32_t *n_rows) {
  if (!binary_) {
    std::vector<size_t> row_ends;
    std::vector<T> values = bracketed<T>(what, &row_ends);
    *n_rows = static_cast<uint32_t>(row_ends.size());
    if (values.size() != triangle(*n_rows)) fail_here(format("%s is not a lower triangle", what));
    return values;
  }
  const size_t begin = at_;
  const std::string kind = token(what);
  if (kind != "FP" && kind != "DP") fail_kind(begin, kind, "packed matrix", what);
  *n_rows = count(what);
  return raw_values<T>(kind[0], triangle(*n_rows), what);
}

// "CM": one byte per value, interpolated between four percentiles of its column, column by column. "CM2", "CM3": 2 bytes or 1
// byte per value, spread evenly from `lowest` over `range`.
template <typename T>
Matrix<T> ObjectReader::compressed(const std::string &kind, const char *what) {
  if (kind != "CM" && kind != "CM2" && kind != "CM3")
    fail_here(format("%s has the unknown compression %s", what, kind.c_str()));
  const auto lowest = raw<float>(what), range = raw<float>(what);
  const auto rows = raw<int32_t>(what), cols = raw<int32_t>(what);
  if (rows < 0 || cols < 0) fail_here(format("%s has %d rows and %d columns; the file is damaged", what, rows, cols));
  Matrix<T> m;
  m.n_rows = static_cast<uint32_t>(rows);
  m.n_cols = static_cast<uint32_t>(cols);
  const uint64_t n = uint64_t{m.n_rows} * m.n_cols;
  const auto spread = [&](uint32_t step, uint32_t steps) {
    return lowest + range * (1.0f / static_cast<float>(steps)) * static_cast<float>(step);
  };
  if (kind != "CM") {
    const size_t size = kind == "CM2" ? 2 : 1;
    const std::string_view data = take(n * size, what);
    m.values.resize(n);
    for (size_t i = 0; i < n; ++i) {
      uint16_t step = 0;
      memcpy(&step, data.data() + i * size, size);
      m.values[i] = static_cast<T>(spread(step, size == 2 ? 65535 : 255));
    }
    return m;
  }
  const std::string_view heads = take(uint64_t{8} * m.n_cols, what), data = take(n, what);
  m.values.resize(n);
  for (size_t c = 0; c < m.n_cols; ++c) {
    uint16_t steps[4];
    memcpy(steps, heads.data() + 8 * c, sizeof(steps));
    float p[4];
    std::transform(steps, steps + 4, p, [&](uint16_t step) { return spread(step, 65535); });
    for (size_t r = 0; r < m.n_rows; ++r) {
      const int v = static_cast<uint8_t>(data[c * m.n_rows + r]);
      const auto f = static_cast<float>(v);
      const float x = v <= 64    ? p[0] + (p[1] - p[0]) * f * (1 / 64.0f)
                      : v <= 192 ? p[1] + (p[2] - p[1]) * (f - 64) * (1 / 128.0f)
                                 : p[2] + (p[3] - p[2]) * (f - 192) * (1 / 63.0f);
      m.values[r * m.n_cols + c] = static_cast<T>(x);
    }
  }
  return m;
}

template <typename T>
Matrix<T> read_matrix(const std::string &path) {
  const std::string bytes = read_unpacked(path, "a matrix of Kaldi", {Format::kKaldiBinary});
  ObjectReader reader(bytes, path);
  reader.begin_object();
  Matrix<T> m = reader.matrix<T>("matrix");
  if (!reader.at_end()) reader.fail_here("has data after its matrix; the file is damaged");
  return m;
}

template std::vector<float> ObjectReader::vector(const char *);
template std::vector<double> ObjectReader::vector(const char *);
template Matrix<float> ObjectReader::matrix(const char *);
template Matrix<double> ObjectReader::matrix(const char *);
template std::vector<float> ObjectReader::packed(const char *, uint32_t *);
template std::vector<double> ObjectReader::packed(const char *, uint32_t *);
template Matrix<float> read_matrix(const std::string &);
template Matrix<double> read_matrix(const std::string &);

}  // namespace asr::kaldi
