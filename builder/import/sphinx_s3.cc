// SPDX-License-Identifier: Apache-2.0
#include "builder/import/sphinx_s3.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>

#include "builder/import/byte_reader.h"
#include "builder/text/text_file.h"

namespace asr::sphinx {
namespace {

constexpr uint32_t kByteOrder = 0x11223344;

// Container returns the 32-bit words after the text header and byte-order mark, in this machine's byte order.
class Container {
 public:
  // what: the parameters that the file must have, for errors about others.
  Container(const std::string &path, const char *what) : path_(path), what_(what) {
    const std::string file = read_unpacked(path, "a parameter file of Sphinx", {Format::kSphinxS3});
    check_binary_format(file, path, "a parameter file of Sphinx", {Format::kSphinxS3});
    ByteReader reader(file, path);
    const bool has_checksum = skip_text_header(reader, file);
    const uint32_t mark = reader.u32("byte-order mark");
    if (mark != kByteOrder && mark != swap_bytes(kByteOrder)) {
      fail(ASR_BAD_FILE, "%s: has no byte-order mark after its header; the file is damaged", path.c_str());
    }
    reader.set_swapped(mark != kByteOrder);
    if (reader.left() % 4 != 0) fail(ASR_BAD_FILE, "%s: does not consist of 32-bit words; the file is damaged", path.c_str());
    words_.resize(reader.left() / 4);
    for (uint32_t &word : words_) word = reader.u32("data");
    is_checked_ = has_checksum;
    if (has_checksum) check_and_drop_checksum();
  }

  uint32_t count(const char *what) {
    if (at_ == words_.size()) fail(ASR_BAD_FILE, "%s: ends before its %s", path_.c_str(), what);
    const uint32_t value = words_[at_++];
    if (value == 0 || value > 0x7fffffffu) {
      fail(ASR_BAD_FILE, "%s: %s is %d; %s", path_.c_str(), what, static_cast<int32_t>(value), fault().c_str());
    }
    return value;
  }

  // Reads the rest of the file: a count that must be the product of `sizes`, and that many floats, all finite.
  std::vector<float> floats(std::initializer_list<uint64_t> sizes) {
    const uint64_t announced = count("number of values");
    uint64_t product = 1;
    for (const uint64_t size : sizes)
      product = size > 0 && product > (uint64_t{1} << 40) / size ? ~uint64_t{0} : product * size;
    if (announced != product || announced != words_.size() - at_) {
      fail(ASR_BAD_FILE, "%s: holds %zu values, announces %llu, and its sizes ask for %llu; %s", path_.c_str(),
           words_.size() - at_, static_cast<unsigned long long>(announced), static_cast<unsigned long long>(product),
           fault().c_str());
    }
    std::vector<float> values(announced);
    memcpy(values.data(), words_.data() + at_, announced * sizeof(float));
    at_ = words_.size();
    for (const float value : values) {
      if (!std::isfinite(value)) fail(ASR_BAD_FILE, "%s: a value is not a finite number", path_.c_str());
    }
    return values;
  }

 private:
  std::string path_;
  const char *what_;
  std::vector<uint32_t> words_;
  bool is_checked_ = false;  // its checksum fits, so that nothing in it is damaged
  size_t at_ = 0;

  // Files of all parameters look alike up to their sizes.
  std::string fault() const {
    if (is_checked_) return format("so it has other parameters than the %s", what_);
    return format("the file is damaged, or has other parameters than the %s", what_);
  }

  // Moves the reader behind "endhdr\n", or "*end_comment*\n" in files older than the s3 format; returns true if a checksum is
  // stored.
  static bool skip_text_header(ByteReader &reader, const std::string &file) {
    const bool s3 = file.compare(0, 3, "s3\n") == 0;
    const bool old = !file.empty() && file[0] >= '0' && file[0] <= '9';
    const std::string last = s3 ? "endhdr\n" : "*end_comment*\n";
    const size_t end = file.find(last);
    if ((!s3 && !old) || end == std::string::npos) {
      fail(ASR_BAD_FILE, "%s: is not a parameter file of CMU Sphinx: it has no header that begins with \"s3\"",
           reader.source().c_str());
    }
    const std::string_view header = reader.bytes(end + last.size(), "header");
    return s3 && header.find("\nchksum0") != std::string_view::npos;
  }

  void check_and_drop_checksum() {
    if (words_.empty()) fail(ASR_BAD_FILE, "%s: ends before its checksum", path_.c_str());
    const uint32_t stored = words_.back();
    words_.pop_back();
    uint32_t sum = 0;
    for (const uint32_t word : words_) sum = (sum << 20 | sum >> 12) + word;
    if (sum != stored) fail(ASR_BAD_FILE, "%s: its checksum does not fit its data; the file is damaged", path_.c_str());
  }
};

void check_not_negative(const std::vector<float> &values, const std::string &path) {
  if (std::any_of(values.begin(), values.end(), [](float v) { return v < 0; })) {
    fail(ASR_BAD_FILE, "%s: a count is negative; the file is damaged", path.c_str());
  }
}

void normalise(double *row, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += row[i];
  if (sum > 0) {
    for (size_t i = 0; i < n; ++i) row[i] /= sum;
  }
}

}  // namespace

Gaussians read_gaussians(const std::string &path) {
  Container file(path, "means or variances");
  Gaussians g;
  g.n_codebooks = file.count("number of codebooks");
  const uint32_t n_streams = file.count("number of streams");
  g.n_densities = file.count("number of densities");
  uint64_t n_dims = 0;
  for (uint32_t j = 0; j < n_streams; ++j) {
    g.stream_dims.push_back(file.count("length of a stream"));
    n_dims += g.stream_dims.back();
  }
  g.values = file.floats({g.n_codebooks, g.n_densities, n_dims});
  return g;
}

MixtureWeights read_mixture_weights(const std::string &path, double floor) {
  Container file(path, "mixture weights");
  MixtureWeights w;
  w.n_senones = file.count("number of senones");
  w.n_streams = file.count("number of streams");
  w.n_densities = file.count("number of densities");
  w.values = file.floats({w.n_senones, w.n_streams, w.n_densities});
  check_not_negative(w.values, path);
  std::vector<double> row(w.n_densities);
  for (size_t at = 0; at < w.values.size(); at += row.size()) {
    const auto begin = w.values.begin() + static_cast<std::ptrdiff_t>(at);
    std::copy_n(begin, row.size(), row.begin());
    normalise(row.data(), row.size());
    for (double &p : row) p = std::max(p, floor);
    normalise(row.data(), row.size());
    std::transform(row.begin(), row.end(), begin, [](double p) { return static_cast<float>(p); });
  }
  return w;
}

TransitionMatrices read_transition_matrices(const std::string &path, double floor) {
  Container file(path, "transition matrices");
  TransitionMatrices t;
  t.n_matrices = file.count("number of matrices");
  t.n_states = file.count("number of source states");
  const uint32_t n_to = file.count("number of destination states");
  if (n_to != t.n_states + 1) {
    fail(ASR_BAD_FILE, "%s: has %u states but %u destinations; one more than states is expected", path.c_str(), t.n_states,
         n_to);
  }
  const std::vector<float> counts = file.floats({t.n_matrices, t.n_states, n_to});
  check_not_negative(counts, path);
  t.values.assign(counts.begin(), counts.end());
  for (size_t at = 0; at < t.values.size(); at += n_to) {
    double *const row = &t.values[at];
    if (std::all_of(row, row + n_to, [](double v) { return v == 0; })) {
      fail(ASR_BAD_FILE, "%s: state %zu of matrix %zu cannot be left", path.c_str(), at / n_to % t.n_states,
           at / n_to / t.n_states);
    }
    normalise(row, n_to);
    for (size_t i = 0; i < n_to; ++i) row[i] = row[i] > 0 ? std::max(row[i], floor) : 0;
    normalise(row, n_to);
  }
  return t;
}

FeatureTransform read_feature_transform(const std::string &path) {
  Container file(path, "feature transform");
  FeatureTransform t;
  const uint32_t n_matrices = file.count("number of matrices");
  t.n_rows = file.count("number of rows");
  t.n_cols = file.count("number of columns");
  t.values = file.floats({n_matrices, t.n_rows, t.n_cols});
  t.values.resize(size_t{t.n_rows} * t.n_cols);  // the first matrix is the one in use
  return t;
}

}  // namespace asr::sphinx
