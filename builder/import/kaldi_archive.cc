// SPDX-License-Identifier: Apache-2.0
#include "builder/import/kaldi_archive.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>
#include <variant>

#include "builder/import/text_lines.h"
#include "builder/text/text_file.h"
#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr::kaldi {
namespace {

namespace fs = std::filesystem;

// The target of a list's line: "FILE" or "FILE:offset", with an optional "[first:last]" of rows.
struct Place {
  std::string path;
  uint64_t offset = 0;
  std::optional<std::pair<uint32_t, uint32_t>> rows;  // first and last
};

template <typename Int>
bool parse_int(std::string_view text, Int *value) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && stop == text.data() + text.size();
}

// Cuts "[first:last]" off the end of `text`; false if the end has another form.
bool cut_rows(std::string_view *text, Place *place) {
  if (text->empty() || text->back() != ']') return true;
  const size_t open = text->rfind('[');
  if (open == std::string_view::npos) return false;
  const std::string_view range = text->substr(open + 1, text->size() - open - 2);
  const size_t colon = range.find(':');
  std::pair<uint32_t, uint32_t> rows;
  if (colon == std::string_view::npos || !parse_int(range.substr(0, colon), &rows.first) ||
      !parse_int(range.substr(colon + 1), &rows.second) || rows.first > rows.second) {
    return false;
  }
  place->rows = rows;
  *text = text->substr(0, open);
  return true;
}

Place parse_place(std::string_view text, const TextLines &lines) {
  Place place;
  if (!text.empty() && text.back() == '|')
    lines.fail_line("is a command; commands are not run, write its output to an archive");
  if (!cut_rows(&text, &place)) lines.fail_line("has a row range other than [first:last]");
  const size_t colon = text.rfind(':');
  if (colon != std::string_view::npos && parse_int(text.substr(colon + 1), &place.offset)) text = text.substr(0, colon);
  if (text.empty()) lines.fail_line("names no file");
  place.path = text;
  return place;
}

template <typename T>
Matrix<T> rows_of(const Matrix<T> &m, const std::pair<uint32_t, uint32_t> &rows, const std::string &key) {
  if (rows.second >= m.n_rows) {
    fail(ASR_BAD_FILE, "%s: row %u is asked for, but there are %u", key.c_str(), rows.second, m.n_rows);
  }
  const auto at = [&](uint64_t row) { return m.values.begin() + static_cast<std::ptrdiff_t>(row * m.n_cols); };
  return {rows.second - rows.first + 1, m.n_cols, std::vector<T>(at(rows.first), at(rows.second + uint64_t{1}))};
}

// An archive in text that went through another system's editor. Others stay mapped.
bool was_edited(std::string_view bytes) {
  const std::string_view begin = bytes.substr(0, 4096);
  return begin.find('\0') == std::string_view::npos && (begin_of_text(begin) > 0 || begin.find('\r') != std::string_view::npos);
}

}  // namespace

struct ArchiveReader::Source {
  std::string path;
  UnpackedFile file;                    // the archive
  std::string text;                     // the list, or an archive in text
  std::optional<ObjectReader> archive;  // ark
  std::optional<TextLines> list;        // scp
  std::string mapped_path;              // path of the archive of the last line
  UnpackedFile mapped;
  std::optional<uint64_t> read_offset;  // offset in that archive of the matrix in last_read
  std::variant<Matrix<float>, Matrix<double>> last_read;
  std::set<std::string> archives;                  // canonical paths of the archives referred to by lines
  uint64_t n_archive_bytes = 0, n_read_bytes = 0;  // total size of these archives; total read by all lines

  // Returns the matrix of a line. Lists cut a recording into pieces, so consecutive lines with one matrix read it once.
  template <typename T>
  Matrix<T> read(const Place &place, const std::string &key) {
    ObjectReader reader = find(place);
    if (read_offset != place.offset || !std::holds_alternative<Matrix<T>>(last_read)) {
      read_offset.reset();
      reader.begin_object();
      last_read = reader.matrix<T>(key.c_str());
      read_offset = place.offset;
      count(reader.position() - place.offset);
    }
    const Matrix<T> &whole = std::get<Matrix<T>>(last_read);
    Matrix<T> matrix = place.rows ? rows_of(whole, *place.rows, key) : whole;
    count(matrix.values.size() * sizeof(T));
    return matrix;
  }

  // Each line may name the same matrix; this bounds the total by the size of the archives.
  void count(uint64_t n_bytes) {
    n_read_bytes += n_bytes;
    if (n_read_bytes <= std::max(kSureListBytes, kMostListRepeats * n_archive_bytes)) return;
    fail(ASR_BAD_FILE, "%s:%zu: the lines so far read over %llu times what their archives hold; split the list", path.c_str(),
         list->line_number(), static_cast<unsigned long long>(kMostListRepeats));
  }

  // Returns a reader at the beginning of the object.
  ObjectReader find(const Place &place) {
    std::error_code error;  // ignored: opening the file reports the error
    std::string found = place.path;
    if (!fs::exists(found, error)) found = (fs::path(path).parent_path() / fs::path(place.path).filename()).string();
    if (!fs::exists(found, error)) found = place.path;
    if (found != mapped_path) {
      mapped = UnpackedFile(found);
      mapped_path = found;
      read_offset.reset();
      if (archives.insert(fs::canonical(found, error)).second) n_archive_bytes += mapped.size();
      if (mapped.is_packed()) count(mapped.size());  // a list may change between archives at each line
    }
    const std::string_view bytes = mapped.bytes();
    if (place.offset >= bytes.size()) {
      fail(ASR_BAD_FILE, "%s:%zu: points at byte %llu of %s, which has %zu", path.c_str(), list->line_number(),
           static_cast<unsigned long long>(place.offset), found.c_str(), bytes.size());
    }
    return ObjectReader(bytes, found, static_cast<size_t>(place.offset));
  }
};

ArchiveReader::ArchiveReader(const std::string &specifier) : source_(std::make_unique<Source>()) {
  const std::string kind = specifier.substr(0, 4);
  if (kind != "ark:" && kind != "scp:") {
    fail(ASR_INVALID_ARGUMENT, "%s: is not an archive; write ark:FILE or scp:FILE", specifier.c_str());
  }
  source_->path = specifier.substr(4);
  if (kind == "scp:") {
    source_->text = read_text(source_->path, {"a list of places in archives (scp)", {}, Characters::kAsTheyAre});
    source_->list.emplace(source_->text, source_->path);
    return;
  }
  const WantedText wanted{"an archive of matrices", {Format::kKaldiArchive}, Characters::kAsTheyAre};
  source_->file = UnpackedFile(source_->path);
  check_format(source_->file.bytes(), source_->path, wanted.what, wanted.taken);
  if (was_edited(source_->file.bytes())) {
    source_->text = text_of(source_->file.take(), source_->path, wanted);
    source_->archive.emplace(source_->text, source_->path);
  } else {
    source_->archive.emplace(source_->file.bytes(), source_->path);
  }
}

ArchiveReader::~ArchiveReader() = default;

template <typename T>
bool ArchiveReader::next(std::string *key, Matrix<T> *matrix) {
  if (source_->archive) {
    ObjectReader &reader = *source_->archive;
    if (reader.at_end()) return false;
    *key = reader.key();
    reader.begin_object();
    *matrix = reader.matrix<T>(key->c_str());
    return true;
  }
  std::vector<std::string_view> words;
  if (!source_->list->next(words, "\n")) return false;
  if (words.size() != 2) source_->list->fail_line("is not a key and a place in an archive");
  *key = words[0];
  *matrix = source_->read<T>(parse_place(words[1], *source_->list), *key);
  return true;
}

template <typename T>
std::vector<std::pair<std::string, Matrix<T>>> read_archive(const std::string &specifier) {
  std::vector<std::pair<std::string, Matrix<T>>> entries;
  ArchiveReader reader(specifier);
  std::string key;
  Matrix<T> matrix;
  while (reader.next(&key, &matrix)) entries.emplace_back(key, std::move(matrix));
  return entries;
}

template bool ArchiveReader::next(std::string *, Matrix<float> *);
template bool ArchiveReader::next(std::string *, Matrix<double> *);
template std::vector<std::pair<std::string, Matrix<float>>> read_archive(const std::string &);
template std::vector<std::pair<std::string, Matrix<double>>> read_archive(const std::string &);

}  // namespace asr::kaldi
