// SPDX-License-Identifier: Apache-2.0
#include "tools/matrix_output.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "core/base/error.h"
#include "tools/tool.h"

namespace asr::tool {
namespace {

constexpr uint32_t kMaxTwoByteRows = 8;  // four percentiles of fewer rows would be the rows themselves
constexpr float kSteps = 65535;

void append(std::string *bytes, const void *data, size_t size) { bytes->append(static_cast<const char *>(data), size); }

// Places numbers on 65536 even steps from the lowest value of a matrix over its range.
struct Scale {
  float lowest, range;

  uint16_t step(float value) const {
    return static_cast<uint16_t>(std::lround(std::clamp((value - lowest) / range, 0.0f, 1.0f) * kSteps));
  }
  float value(uint16_t step) const { return lowest + range * (1.0f / kSteps) * static_cast<float>(step); }
};

Scale scale_of(const float *values, size_t n) {
  const auto [lowest, highest] = std::minmax_element(values, values + n);
  const float range = *highest - *lowest;
  return {*lowest, range > 0 ? range : 1 + std::abs(*lowest)};
}

// The steps of a column's lowest value, quartiles and highest value, strictly rising.
struct Percentiles {
  uint16_t steps[4];
  float values[4];

  Percentiles(std::vector<float> column, const Scale &scale) {
    const size_t n = column.size(), quarter = n / 4;
    const auto of_rank = [&](size_t rank) {
      std::nth_element(column.begin(), column.begin() + static_cast<ptrdiff_t>(rank), column.end());
      return scale.step(column[rank]);
    };
    int before = -1;
    for (int i = 0; i < 4; ++i) {
      const size_t rank = i == 3 ? n - 1 : static_cast<size_t>(i) * quarter;
      before = std::clamp<int>(of_rank(rank), before + 1, 65532 + i);
      steps[i] = static_cast<uint16_t>(before);
      values[i] = scale.value(steps[i]);
    }
  }

  // 0 to 64 lie between the first two percentiles, 64 to 192 between the next, and 192 to 255 between the last.
  uint8_t byte(float value) const {
    if (value < values[1]) return at(value, 0, 0, 64);
    if (value < values[2]) return at(value, 1, 64, 192);
    return at(value, 2, 192, 255);
  }

 private:
  uint8_t at(float value, int i, int first, int last) const {
    const float share = (value - values[i]) / (values[i + 1] - values[i]);
    const auto step = std::lround(share * static_cast<float>(last - first));
    return static_cast<uint8_t>(std::clamp<long>(first + step, first, last));
  }
};

std::string text_matrix(const float *values, uint32_t n_rows, uint32_t n_cols) {
  std::string text = " [";
  for (uint32_t r = 0; r < n_rows; ++r) {
    text += "\n ";
    for (uint32_t c = 0; c < n_cols; ++c) text += format(" %.9g", static_cast<double>(*values++));
  }
  return text + " ]\n";
}

// The sizes of Kaldi's binary matrices stand behind a byte with their own length.
std::string binary_matrix(const float *values, uint32_t n_rows, uint32_t n_cols) {
  std::string bytes = "FM ";
  for (const uint32_t n : {n_rows, n_cols}) {
    bytes += '\4';
    append(&bytes, &n, sizeof(n));
  }
  append(&bytes, values, size_t{n_rows} * n_cols * sizeof(float));
  return bytes;
}

std::string path_of(const std::string &name) { return name == "-" ? "/dev/stdout" : name; }

}  // namespace

std::string compressed_matrix(const float *values, uint32_t n_rows, uint32_t n_cols) {
  const size_t n = size_t{n_rows} * n_cols;
  const Scale scale = scale_of(values, n);
  const bool two_bytes = n_rows <= kMaxTwoByteRows;
  std::string bytes = two_bytes ? "CM2 " : "CM ";
  for (const float number : {scale.lowest, scale.range}) append(&bytes, &number, sizeof(number));
  for (const uint32_t size : {n_rows, n_cols}) append(&bytes, &size, sizeof(size));
  if (two_bytes) {
    for (size_t i = 0; i < n; ++i) {
      const uint16_t step = scale.step(values[i]);
      append(&bytes, &step, sizeof(step));
    }
    return bytes;
  }
  std::string data;
  std::vector<float> column(n_rows);
  for (uint32_t c = 0; c < n_cols; ++c) {
    for (uint32_t r = 0; r < n_rows; ++r) column[r] = values[size_t{r} * n_cols + c];
    const Percentiles percentiles(column, scale);
    append(&bytes, percentiles.steps, sizeof(percentiles.steps));
    for (const float value : column) data += static_cast<char>(percentiles.byte(value));
  }
  return bytes + data;
}

MatrixOutput::MatrixOutput(const std::string &command, const std::string &specifier, bool compressed)
    : compressed_(compressed) {
  const size_t colon = specifier.find(':');
  const std::string kind = specifier.substr(0, colon);
  std::string name = colon == std::string::npos ? "" : specifier.substr(colon + 1), list;
  if (kind == "ark,scp") {
    const size_t comma = name.rfind(',');
    list = comma == std::string::npos ? "" : name.substr(comma + 1);
    if (list.empty()) throw UsageError(command + ": --out " + specifier + " names no list; write ark,scp:FILE,LIST");
    name.resize(comma);
    if (name == "-") throw UsageError(command + ": a list has places of a file; name the archive in --out " + specifier);
  }
  is_text_ = kind == "ark,t";
  if (name.empty() || (kind != "ark" && kind != "ark,scp" && !is_text_)) {
    throw UsageError(command + ": --out " + specifier + " is no archive; write ark:FILE, ark,t:FILE or ark,scp:FILE,LIST");
  }
  if (is_text_ && compressed) throw UsageError(command + ": --compress is for binary archives; write --out ark:FILE");
  if (name == list) throw UsageError(command + ": --out " + specifier + " names one file as archive and as list");
  path_ = name;
  archive_ = std::make_unique<OutputFile>(path_of(name));
  if (!list.empty()) list_ = std::make_unique<OutputFile>(path_of(list));
}

void MatrixOutput::write(const std::string &key, const float *values, uint32_t n_rows, uint32_t n_cols) {
  archive_->write(key + " ");
  if (list_) list_->write(key + " " + path_ + format(":%llu\n", static_cast<unsigned long long>(archive_->position())));
  if (is_text_) return archive_->write(text_matrix(values, n_rows, n_cols));
  archive_->write(std::string_view("\0B", 2));
  archive_->write(compressed_ ? compressed_matrix(values, n_rows, n_cols) : binary_matrix(values, n_rows, n_cols));
}

void MatrixOutput::commit() {
  archive_->commit();
  if (list_) list_->commit();
}

}  // namespace asr::tool
