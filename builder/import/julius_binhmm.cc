// SPDX-License-Identifier: Apache-2.0
// Reads Julius' binary HMMs, version 1 (JBINHMM): big endian, with references by number into the preceding list.
#include <cmath>

#include "builder/import/byte_reader.h"
#include "builder/import/htk_model.h"
#include "builder/text/text_file.h"

namespace asr::htk {
namespace {

constexpr size_t kMaxStreams = 50;
constexpr uint16_t kDiagonal = 0, kTied = 0xffff;
constexpr float kLogZero = -1e5f;  // zero probability at or below this

class BinHmmReader {
 public:
  BinHmmReader(std::string_view bytes, const std::string &path) : r_(bytes, path) { r_.set_swapped(true); }

  ModelSet read() {
    read_header();
    const bool tied = r_.u8("kind of mixtures") != 0;
    r_.u32("number of mixtures");
    read_transitions();
    read_variances();
    read_densities();
    if (set_.stream_dims.size() > 1)
      fail(ASR_UNSUPPORTED, "%s: has several streams; such models of Julius cannot be imported", source());
    if (tied) read_codebooks();
    read_states();
    read_hmms();
    r_.finish();
    return std::move(set_);
  }

 private:
  ByteReader r_;
  ModelSet set_;

  const char *source() const { return r_.source().c_str(); }
  [[noreturn]] void damaged(const char *what) const {
    fail(ASR_BAD_FILE, "%s: byte %zu: %s; the file is damaged", source(), r_.position(), what);
  }

  float f32(const char *what) {
    const uint32_t bits = r_.u32(what);
    float value;
    memcpy(&value, &bits, sizeof(value));
    if (!std::isfinite(value)) damaged("a value is not a finite number");
    return value;
  }

  // Reads the length of a list whose entries take at least `min_bytes` each.
  uint32_t length(const char *what, size_t min_bytes) {
    const uint32_t n = r_.count(what);
    if (n > r_.left() / min_bytes)
      fail(ASR_BAD_FILE, "%s: %u %s do not fit in the file; it is damaged or truncated", source(), n, what);
    return n;
  }

  uint32_t reference(size_t size, const char *what) {
    const uint32_t number = r_.u32(what);
    if (number >= size)
      fail(ASR_BAD_FILE, "%s: byte %zu: uses %s %u of %zu; the file is damaged", source(), r_.position(), what, number, size);
    return number;
  }

  std::vector<float> vector(const char *what) {
    const uint16_t n = r_.u16(what);
    if (n > r_.left() / 4) damaged("ends within a vector");
    std::vector<float> values;
    for (uint16_t i = 0; i < n; ++i) values.push_back(f32(what));
    return values;
  }

  void read_header() {
    const std::string magic = r_.text("header");
    if (magic != "JBINHMM\n") {
      fail(magic.compare(0, 7, "JBINHMM") == 0 ? ASR_UNSUPPORTED : ASR_BAD_FILE,
           "%s: is not a binary HMM file of Julius, version 1 (JBINHMM); write it with mkbinhmm of Julius 4.2 or older, or "
           "import its text",
           source());
    }
    const uint16_t n_streams = r_.u16("number of streams");
    if (n_streams < 1 || n_streams > kMaxStreams) damaged("the number of streams is out of range");
    for (size_t i = 0; i < kMaxStreams; ++i) {
      const uint16_t dims = r_.u16("size of a stream");
      if (i < n_streams) set_.stream_dims.push_back(dims);
    }
    const uint16_t n_dims = r_.u16("vector size");
    if (n_streams == 1) set_.stream_dims = {n_dims};
    if (r_.u16("kind of covariance") != kDiagonal)
      fail(ASR_UNSUPPORTED, "%s: its covariances are not diagonal; such models of Julius cannot be imported", source());
    r_.u16("kind of durations");
    set_.kind = r_.u16("parameter kind");
  }

  void read_transitions() {
    const uint32_t n = length("transition matrices", 3);
    for (uint32_t i = 0; i < n; ++i) {
      r_.text("name of a transition matrix");
      TransitionMatrix matrix;
      matrix.n = r_.u16("size of a transition matrix");
      if (matrix.n < 3) damaged("a transition matrix has fewer than 3 states");
      if (uint64_t{matrix.n} * matrix.n > r_.left() / 4) damaged("ends within a transition matrix");
      for (uint64_t k = 0; k < uint64_t{matrix.n} * matrix.n; ++k) {
        const float log10 = f32("transition probability");
        matrix.probs.push_back(log10 <= kLogZero ? 0 : std::pow(10.0, log10));
        if (matrix.probs.back() > 1.001) damaged("a transition probability is above 1");
      }
      set_.transitions.push_back(std::move(matrix));
    }
  }

  void read_variances() {
    const uint32_t n = length("variances", 3);
    for (uint32_t i = 0; i < n; ++i) {
      r_.text("name of a variance");
      std::vector<float> values = vector("variance");
      for (float &value : values) {
        if (!(value > 0)) damaged("a variance is not positive");
        value = static_cast<float>(1 / double{value});
      }
      set_.covariances.push_back(std::move(values));
    }
  }

  void read_densities() {
    const uint32_t n = length("densities", 11);
    for (uint32_t i = 0; i < n; ++i) {
      r_.text("name of a density");
      Density density;
      density.mean = vector("mean");
      density.covariance = reference(set_.covariances.size(), "variance");
      f32("constant of a Gaussian");  // recomputed for scoring
      set_.densities.push_back(std::move(density));
    }
  }

  std::vector<uint32_t> density_numbers(uint32_t n) {
    if (n > r_.left() / 4) damaged("ends within a list of densities");
    std::vector<uint32_t> numbers;
    for (uint32_t i = 0; i < n; ++i) numbers.push_back(reference(set_.densities.size(), "density"));
    return numbers;
  }

  void read_codebooks() {
    const uint32_t n = length("codebooks", 5);
    for (uint32_t i = 0; i < n; ++i) {
      r_.text("name of a codebook");
      set_.codebooks.push_back(density_numbers(r_.count("size of a codebook")));
    }
  }

  Mixture read_mixture() {
    Mixture mixture;
    const uint16_t n = r_.u16("number of mixtures");
    if (n == kTied) {
      mixture.codebook = reference(set_.codebooks.size(), "codebook");
    } else {
      mixture.densities = density_numbers(n);
    }
    const size_t n_weights = n == kTied ? set_.codebooks[mixture.codebook].size() : n;
    for (size_t i = 0; i < n_weights; ++i) {
      const float weight = f32("weight of a mixture");
      mixture.log_weights.push_back(weight <= kLogZero ? -INFINITY : weight);
    }
    return mixture;
  }

  void read_states() {
    const uint32_t n = length("states", 3);
    for (uint32_t i = 0; i < n; ++i) {
      r_.text("name of a state");
      set_.states.push_back({{read_mixture()}});
    }
  }

  void read_hmms() {
    const uint32_t n = length("HMMs", 7);
    for (uint32_t i = 0; i < n; ++i) {
      HmmDefinition hmm;
      hmm.name = r_.text("name of an HMM");
      const uint16_t n_states = r_.u16("number of states");
      for (uint16_t k = 0; k < n_states; ++k) {
        if (k == 0 || k + 1 == n_states) {
          r_.u32("state that does not emit");
        } else {
          hmm.states.push_back(reference(set_.states.size(), "state"));
        }
      }
      hmm.transitions = reference(set_.transitions.size(), "transition matrix");
      if (set_.transitions[hmm.transitions].n != n_states) damaged("an HMM has another number of states than its matrix");
      set_.hmms.push_back(std::move(hmm));
    }
    if (set_.hmms.empty()) damaged("defines no HMMs");
  }
};

}  // namespace

ModelSet read_binhmm(const std::string &path) {
  const std::string bytes = read_unpacked(path, "a binary HMM file of Julius", {Format::kJuliusHmms});
  check_binary_format(bytes, path, "a binary HMM file of Julius", {Format::kJuliusHmms});
  return BinHmmReader(bytes, path).read();
}

}  // namespace asr::htk
