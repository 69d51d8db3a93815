// SPDX-License-Identifier: Apache-2.0
#include "builder/import/sphinx_sendump.h"

#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "builder/import/byte_reader.h"
#include "builder/text/text_file.h"

namespace asr::sphinx {
namespace {

constexpr uint32_t kMaxString = 999;

// Reads the strings at the beginning; "name number" strings are parameters. Also detects the byte order: the first length is
// plausible in one order only.
std::map<std::string, uint32_t> read_parameters(ByteReader &reader) {
  std::map<std::string, uint32_t> parameters;
  for (bool first = true;; first = false) {
    uint32_t length = reader.u32("strings");
    if (first && (length == 0 || length > kMaxString)) {
      length = swap_bytes(length);
      reader.set_swapped(true);
    }
    if (length == 0 && !first) return parameters;
    if (length == 0 || length > kMaxString) {
      fail(ASR_BAD_FILE, "%s: is not a sendump file, or damaged: it has a string of %u bytes", reader.source().c_str(), length);
    }
    const std::string_view text = reader.bytes(length, "strings");
    const std::string_view line = text.substr(0, text.find('\0'));
    const size_t gap = line.find(' ');
    if (gap == std::string_view::npos) continue;
    uint32_t value = 0;
    const auto [stop, error] = std::from_chars(line.data() + gap + 1, line.data() + line.size(), value);
    if (error == std::errc() && stop == line.data() + line.size()) parameters[std::string(line.substr(0, gap))] = value;
  }
}

struct Layout {
  uint32_t rows, cols;  // numbers of densities, and of senones (perhaps padded)
  bool nibbles;         // two senones per byte, the even one in the low half
  bool clustered;       // values are indices into a code table
};

Layout read_layout(ByteReader &reader, std::map<std::string, uint32_t> &parameters) {
  const std::string &source = reader.source();
  const uint32_t n_clusters = parameters["cluster_count"];
  if (n_clusters == 0) {
    const uint32_t rows = reader.count("number of densities");
    return {rows, reader.count("number of senones"), false, false};
  }
  if (n_clusters > 16)
    fail(ASR_UNSUPPORTED, "%s: has %u weight clusters; at most 16 are supported", source.c_str(), n_clusters);
  const uint32_t bits = parameters.count("cluster_bits") != 0 ? parameters["cluster_bits"] : 8;
  if (bits != 4 && bits != 8) fail(ASR_UNSUPPORTED, "%s: has weights of %u bits; 4 and 8 are supported", source.c_str(), bits);
  return {parameters["mixture_count"], parameters["model_count"], bits == 4, true};
}

}  // namespace

std::vector<float> read_sendump(const std::string &path, uint32_t n_senones, uint32_t n_streams, uint32_t n_densities) {
  const std::string file = read_unpacked(path, "mixture weights of Sphinx (sendump)", {});
  check_binary_format(file, path, "mixture weights of Sphinx (sendump)", {});
  ByteReader reader(file, path);
  auto parameters = read_parameters(reader);
  const Layout layout = read_layout(reader, parameters);
  if (parameters.count("feature_count") != 0 && parameters["feature_count"] != n_streams) {
    fail(ASR_BAD_FILE, "%s: has %u streams, but means has %u", path.c_str(), parameters["feature_count"], n_streams);
  }
  if (layout.rows != n_densities || layout.cols < n_senones) {
    fail(ASR_BAD_FILE, "%s: has %u densities and %u senones, but means has %u and mdef %u", path.c_str(), layout.rows,
         layout.cols, n_densities, n_senones);
  }
  std::array<uint8_t, 16> codes{};
  if (layout.clustered) {
    for (uint8_t &code : codes) code = reader.u8("code table");
  }

  const uint64_t row_bytes = layout.nibbles ? (uint64_t{layout.cols} + 1) / 2 : layout.cols;
  if (row_bytes * n_densities > reader.left() / n_streams) {
    fail(ASR_BAD_FILE, "%s: ends within its weights; the file is damaged or truncated", path.c_str());
  }
  const double step = -1024 * std::log(1.0001);
  std::vector<float> log_weights(size_t{n_senones} * n_streams * n_densities);
  for (uint32_t j = 0; j < n_streams; ++j) {
    for (uint32_t k = 0; k < n_densities; ++k) {
      const std::string_view row = reader.bytes(row_bytes, "weights");
      for (uint32_t s = 0; s < n_senones; ++s) {
        uint8_t value = static_cast<uint8_t>(row[layout.nibbles ? s / 2 : s]);
        if (layout.nibbles) value = s % 2 == 0 ? value & 15 : value >> 4;
        if (layout.clustered && value > 15) fail(ASR_BAD_FILE, "%s: a weight uses code %u of 16", path.c_str(), value);
        if (layout.clustered) value = codes[value];
        log_weights[(size_t{s} * n_streams + j) * n_densities + k] = static_cast<float>(step * value);
      }
    }
  }
  reader.finish();
  return log_weights;
}

}  // namespace asr::sphinx
