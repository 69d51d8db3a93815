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

constexpr uint32_t kMoreRows = 3;  // rows that a range may reach beyond the end: segments' times are rounded

struct Range {
  uint32_t first = 0, last = UINT32_MAX;
};

// The target of a list's line: "FILE" or "FILE:offset", with an optional range.
struct Place {
  std::string path;
  uint64_t offset = 0;
  bool has_offset = false;
  std::optional<Range> rows, columns;
};

template <typename Int>
bool parse_int(std::string_view text, Int *value) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && stop == text.data() + text.size();
}

// Parses "first:last", or ":" for all.
bool parse_range(std::string_view text, std::optional<Range> *range) {
  if (text == ":") return true;
  const size_t colon = text.find(':');
  Range found;
  if (colon == std::string_view::npos || !parse_int(text.substr(0, colon), &found.first) ||
      !parse_int(text.substr(colon + 1), &found.last) || found.first > found.last) {
    return false;
  }
  *range = found;
  return true;
}

// Cuts "[rows]" or "[rows,columns]" off the end of `text`; false if the end has another form.
bool cut_ranges(std::string_view *text, Place *place) {
  if (text->empty() || text->back() != ']') return true;
  const size_t open = text->rfind('[');
  if (open == std::string_view::npos) return false;
  const std::string_view ranges = text->substr(open + 1, text->size() - open - 2);
  const size_t comma = ranges.find(',');
  if (!parse_range(ranges.substr(0, comma), &place->rows)) return false;
  if (comma != std::string_view::npos && !parse_range(ranges.substr(comma + 1), &place->columns)) return false;
  *text = text->substr(0, open);
  return true;
}

Place parse_place(std::string_view text) {
  Place place;
  if (text.back() == '|') fail(ASR_BAD_FILE, "is a command (a pipe); commands are not run, write its output to an archive");
  if (!cut_ranges(&text, &place)) {
    fail(ASR_BAD_FILE, "has a range other than [first row:last row] or [first row:last row,first column:last column]");
  }
  const size_t colon = text.rfind(':');
  place.has_offset = colon != std::string_view::npos && parse_int(text.substr(colon + 1), &place.offset);
  if (place.has_offset) text = text.substr(0, colon);
  if (text.empty()) fail(ASR_BAD_FILE, "names no file");
  place.path = text;
  return place;
}

// Returns the rows and columns of the place's ranges. As in Kaldi, rows may reach a little beyond the end: then they are cut,
// and *warning says so.
template <typename T>
Matrix<T> part_of(const Matrix<T> &m, const Place &place, std::string *warning) {
  Range rows = place.rows.value_or(Range{0, m.n_rows - 1}), columns = place.columns.value_or(Range{0, m.n_cols - 1});
  if (place.rows && (rows.first >= m.n_rows || rows.last >= uint64_t{m.n_rows} + kMoreRows)) {
    fail(ASR_BAD_FILE, "rows %u to %u are asked for, but there are %u; correct the range", rows.first, rows.last, m.n_rows);
  }
  if (place.columns && columns.last >= m.n_cols) {
    fail(ASR_BAD_FILE, "columns %u to %u are asked for, but there are %u; correct the range", columns.first, columns.last,
         m.n_cols);
  }
  if (m.values.empty()) return m;
  if (rows.last >= m.n_rows) {
    *warning = format("rows %u to %u are asked for, but there are %u; the range is cut", rows.first, rows.last, m.n_rows);
    rows.last = m.n_rows - 1;
  }
  Matrix<T> part{rows.last - rows.first + 1, columns.last - columns.first + 1, {}};
  part.values.reserve(size_t{part.n_rows} * part.n_cols);
  for (size_t row = rows.first; row <= rows.last; ++row) {
    part.values.insert(part.values.end(), m.row(row) + columns.first, m.row(row) + columns.last + 1);
  }
  return part;
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
  size_t n_entries = 0;                 // ark: entries begun
  bool has_ended = false;               // true: nothing can be read behind the damage
  std::string warning;                  // about the last entry
  std::string mapped_path;              // path of the archive of the last line
  UnpackedFile mapped;
  std::optional<uint64_t> read_offset;  // offset in that archive of the matrix in last_read
  std::variant<Matrix<float>, Matrix<double>> last_read;
  std::set<std::string> archives;                  // canonical paths of the archives referred to by lines
  uint64_t n_archive_bytes = 0, n_read_bytes = 0;  // total size of these archives; total read by all lines

  std::string place() const {
    return list ? format("%s:%zu", path.c_str(), list->line_number()) : format("%s, entry %zu", path.c_str(), n_entries);
  }

  template <typename T>
  bool next_of_archive(std::string *key, Matrix<T> *matrix) {
    ObjectReader &reader = *archive;
    key->clear();
    if (has_ended || reader.at_end()) return false;
    ++n_entries;
    has_ended = true;  // unless it is read, or skipped
    *key = reader.key();
    const size_t begin = reader.position();
    try {
      reader.begin_object();
      *matrix = reader.matrix<T>(key->c_str());
      has_ended = false;
    } catch (const Error &) {
      has_ended = !reader.skip_object(begin);
      throw;
    }
    return true;
  }

  // Returns the place that a line of the list names; a path may have blanks.
  static Place place_of(const std::vector<std::string_view> &words) {
    if (words.size() == 1) fail(ASR_BAD_FILE, "is not a key and a place in an archive");
    return parse_place({words[1].data(), static_cast<size_t>(words.back().data() + words.back().size() - words[1].data())});
  }

  // Returns the file of a place: as written or, if that is not there, its base name beside the list.
  std::string file_of(const Place &place) const {
    std::error_code error;  // ignored: opening the file reports the error
    if (fs::exists(place.path, error)) return place.path;
    const std::string beside = (fs::path(path).parent_path() / fs::path(place.path).filename()).string();
    return fs::exists(beside, error) ? beside : place.path;
  }

  template <typename T>
  bool next_of_list(std::string *key, Matrix<T> *matrix) {
    std::vector<std::string_view> words;
    key->clear();
    if (has_ended || !list->next(words, "\n")) return false;
    *key = words[0];
    try {
      *matrix = read<T>(place_of(words), *key);
    } catch (const Error &error) {
      fail(error.code(), "%s: %s: %s", place().c_str(), key->c_str(), error.what());
    }
    if (!warning.empty()) warning = place() + ": " + *key + ": " + warning;
    return true;
  }

  // Returns the matrix of a line. Lists cut a recording into pieces, so consecutive lines with one matrix read it once.
  template <typename T>
  Matrix<T> read(const Place &place, const std::string &key) {
    ObjectReader reader = find(place);
    if (read_offset != place.offset || !std::holds_alternative<Matrix<T>>(last_read)) {
      read_offset.reset();
      if (!place.has_offset) refuse_archive(&reader, key);
      reader.begin_object();
      last_read = reader.matrix<T>("matrix");
      read_offset = place.offset;
      count(reader.position() - place.offset);
    }
    const Matrix<T> &whole = std::get<Matrix<T>>(last_read);
    Matrix<T> matrix = place.rows || place.columns ? part_of(whole, place, &warning) : whole;
    count(matrix.values.size() * sizeof(T));
    return matrix;
  }

  // Refuses a file that begins with a key instead of a matrix, and says where the entry of this key is.
  void refuse_archive(ObjectReader *reader, const std::string &key) const {
    ObjectReader entries = *reader;
    entries.begin_object();
    if (entries.binary() || entries.at_end() || entries.peek_token("matrix").front() == '[') return;
    const std::optional<size_t> offset = offset_of(key, entries);
    if (!offset) {
      fail(ASR_BAD_FILE, "%s begins with no matrix, and has none of this key; write FILE:offset of an archive's entry",
           mapped_path.c_str());
    }
    fail(ASR_BAD_FILE, "%s is an archive of several entries; this one is %s:%zu", mapped_path.c_str(), mapped_path.c_str(),
         *offset);
  }

  static std::optional<size_t> offset_of(const std::string &key, ObjectReader entries) {
    while (!entries.at_end()) {
      try {
        const bool is_found = entries.key() == key;
        const size_t begin = entries.position();
        if (is_found) return begin;
        if (!entries.skip_object(begin)) break;
      } catch (const Error &) {  // damage before the entry, if it is there at all
        break;
      }
    }
    return std::nullopt;
  }

  // Each line may name the same matrix; this bounds the total by the size of the archives.
  void count(uint64_t n_bytes) {
    n_read_bytes += n_bytes;
    if (n_read_bytes <= std::max(kBaseListBytes, kMaxListRepeats * n_archive_bytes)) return;
    has_ended = true;
    fail(ASR_BAD_FILE, "the lines so far read over %llu times what their archives hold; split the list",
         static_cast<unsigned long long>(kMaxListRepeats));
  }

  // Returns a reader at the beginning of the object.
  ObjectReader find(const Place &place) {
    std::error_code error;  // ignored: opening the file reports the error
    const std::string found = file_of(place);
    if (found != mapped_path) {
      mapped_path.clear();
      read_offset.reset();
      mapped = UnpackedFile(found);
      mapped_path = found;
      if (archives.insert(fs::canonical(found, error)).second) n_archive_bytes += mapped.size();
      if (mapped.is_packed()) count(mapped.size());  // a list may change between archives at each line
    }
    const std::string_view bytes = mapped.bytes();
    if (place.offset >= bytes.size()) {
      fail(ASR_BAD_FILE, "points at byte %llu of %s, which has %zu", static_cast<unsigned long long>(place.offset),
           found.c_str(), bytes.size());
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
  if (source_->path.empty() || source_->path == "-" || source_->path.back() == '|') {
    fail(ASR_INVALID_ARGUMENT, "%s: archives are read from files, not from pipes; write ark:FILE or scp:FILE",
         specifier.c_str());
  }
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
  source_->warning.clear();
  return source_->archive ? source_->next_of_archive(key, matrix) : source_->next_of_list(key, matrix);
}

const std::string &ArchiveReader::warning() const { return source_->warning; }
std::string ArchiveReader::place() const { return source_->place(); }

std::vector<std::pair<std::string, std::string>> ArchiveReader::listed_keys() const {
  std::vector<std::pair<std::string, std::string>> keys;
  if (source_->archive) return keys;
  TextLines lines(source_->text, source_->path);
  for (std::vector<std::string_view> words; lines.next(words, "\n");) {
    keys.emplace_back(words[0], format("%s:%zu", source_->path.c_str(), lines.line_number()));
  }
  return keys;
}

std::vector<std::string> ArchiveReader::listed_files() const {
  std::vector<std::string> files;
  if (source_->archive) return files;
  TextLines lines(source_->text, source_->path);
  for (std::vector<std::string_view> words; lines.next(words, "\n");) {
    try {
      std::string file = source_->file_of(Source::place_of(words));
      if (files.empty() || files.back() != file) files.push_back(std::move(file));
    } catch (const Error &) {  // next() reports the line
    }
  }
  return files;
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
