// SPDX-License-Identifier: Apache-2.0
// ObjectReader reads Kaldi's objects, binary or text: tokens, numbers, vectors, matrices (also compressed) and packed symmetric
// matrices. The Kaldi importer and kaldi_archive use it. It checks every size against the rest of the file before it allocates
// memory. Errors name the file and the byte or line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace asr::kaldi {

template <typename T>
struct Matrix {
  uint32_t n_rows = 0, n_cols = 0;
  std::vector<T> values;  // [n_rows][n_cols]

  const T *row(size_t r) const { return values.data() + r * n_cols; }
};

// A cursor over one or more objects. An object is binary if it begins with the bytes 0 'B'; begin_object() detects that.
class ObjectReader {
 public:
  ObjectReader(std::string_view bytes, std::string source, size_t position = 0)
      : bytes_(bytes), source_(std::move(source)), at_(position) {}

  void begin_object();
  bool binary() const { return binary_; }
  bool at_end();  // true if only blanks are left
  size_t position() const { return at_; }

  std::string token(const char *what);
  std::string peek_token(const char *what);  // returns the next token without consuming it
  void expect(const char *token);            // fails unless this token follows
  bool skip(const char *token);              // consumes the token and returns true if it is next

  int32_t integer(const char *what);
  uint32_t count(const char *what);  // an integer >= 0
  double real(const char *what);
  std::vector<int32_t> integers(const char *what);

  // T: float or double, whichever precision the file has. Values may be infinite or NaN.
  template <typename T>
  std::vector<T> vector(const char *what);
  template <typename T>
  Matrix<T> matrix(const char *what);
  template <typename T>
  std::vector<T> packed(const char *what, uint32_t *n_rows);  // lower triangle by rows

  std::string key();  // key of the next archive entry: up to a blank, which is consumed

  // Moves behind the object of an archive that begins at `begin`, of any kind whose length can be told: matrices, vectors and
  // texts in brackets. Returns false, without moving, for others and where the file is damaged.
  bool skip_object(size_t begin);
  [[noreturn]] void fail_here(const std::string &what) const;

 private:
  std::string_view bytes_;
  std::string source_;
  size_t at_;
  bool binary_ = false;
  size_t object_begin_ = 0;
  std::optional<size_t> first_object_;  // where the first object begins

  // True if only blanks are between the begin of the file's first object and this position: what is wrong there is the kind of
  // the file, and no damage.
  bool begins_file(size_t position) const;
  [[noreturn]] void fail_kind(size_t begin, const std::string &kind, const char *wanted, const char *what);
  void skip_blanks();
  bool skip_binary();
  bool skip_text();
  std::string_view take(uint64_t size, const char *what);
  void expect_size_byte(uint8_t size, const char *what);
  template <typename T>
  T raw(const char *what);
  template <typename T>
  std::vector<T> raw_values(char precision, uint64_t count, const char *what);
  double text_number(std::string_view word, const char *what) const;
  template <typename T>
  std::vector<T> bracketed(const char *what, std::vector<size_t> *row_ends);
  template <typename T>
  Matrix<T> compressed(const std::string &kind, const char *what);
};

// Reads the single object in `path`.
template <typename T>
Matrix<T> read_matrix(const std::string &path);

}  // namespace asr::kaldi
