// SPDX-License-Identifier: Apache-2.0
#include "builder/train/new/lda.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "builder/train/em.h"
#include "builder/train/matrix.h"
#include "core/base/error.h"

namespace asr::train {
namespace {

constexpr size_t kPieces = 16;  // of the utterances; sums are added in their order

struct ClassSums {
  std::vector<double> frames, first;  // [n_classes], [n_classes][d]
  std::vector<double> second;         // lower triangle
};

class Sums {
 public:
  Sums(size_t n_classes, size_t d)
      : d_(d),
        sums_{std::vector<double>(n_classes), std::vector<double>(n_classes * d), std::vector<double>(triangle_size(d))} {}

  void add(const float *row, uint32_t pdf) {
    double *const first = &sums_.first[size_t{pdf} * d_];
    double *triangle = sums_.second.data();
    sums_.frames[pdf] += 1;
    for (size_t r = 0; r < d_; triangle += ++r) {
      const auto x = static_cast<double>(row[r]);
      first[r] += x;
      for (size_t c = 0; c <= r; ++c) triangle[c] += x * static_cast<double>(row[c]);
    }
  }

  void add(const Sums &other) {
    const auto add_all = [](const std::vector<double> &from, std::vector<double> *to) {
      std::transform(to->begin(), to->end(), from.begin(), to->begin(), std::plus<double>());
    };
    add_all(other.sums_.frames, &sums_.frames);
    add_all(other.sums_.first, &sums_.first);
    add_all(other.sums_.second, &sums_.second);
  }

  // Returns the covariance of all rows, and sets *within to that about the means of their classes.
  std::vector<double> covariances(std::vector<double> *within) const {
    const double n = std::accumulate(sums_.frames.begin(), sums_.frames.end(), 0.0);
    std::vector<double> total(sums_.second), mean(d_);
    *within = sums_.second;
    for (size_t i = 0; i < sums_.frames.size(); ++i) {
      if (sums_.frames[i] == 0) continue;
      const double *const sum = &sums_.first[i * d_];
      for (size_t r = 0; r < d_; ++r) {
        mean[r] += sum[r] / n;
        for (size_t c = 0; c <= r; ++c) (*within)[triangle_at(r, c)] -= sum[r] * sum[c] / sums_.frames[i];
      }
    }
    for (size_t r = 0; r < d_; ++r) {
      for (size_t c = 0; c <= r; ++c) {
        total[triangle_at(r, c)] = total[triangle_at(r, c)] / n - mean[r] * mean[c];
        (*within)[triangle_at(r, c)] /= n;
      }
    }
    return total;
  }

 private:
  const size_t d_;
  ClassSums sums_;
};

// Returns L^-1 S L^-T of the triangles of L^-1 and S, as a square matrix.
std::vector<double> whitened(const std::vector<double> &inverse, const std::vector<double> &matrix, size_t d) {
  std::vector<double> half(d * d), whole(d * d);  // L^-1 S
  for (size_t r = 0; r < d; ++r) {
    for (size_t c = 0; c < d; ++c) {
      for (size_t k = 0; k <= r; ++k)
        half[r * d + c] += inverse[triangle_at(r, k)] * matrix[triangle_at(std::max(k, c), std::min(k, c))];
    }
  }
  for (size_t r = 0; r < d; ++r) {
    for (size_t c = 0; c <= r; ++c) {
      double sum = 0;
      for (size_t k = 0; k <= c; ++k) sum += half[r * d + k] * inverse[triangle_at(c, k)];
      whole[r * d + c] = whole[c * d + r] = sum;
    }
  }
  return whole;
}

}  // namespace

void splice(const float *rows, uint32_t n, uint32_t n_dims, uint32_t at, uint32_t context, float *spliced) {
  for (int64_t i = int64_t{at} - context; i <= int64_t{at} + context; ++i, spliced += n_dims) {
    const auto row = static_cast<size_t>(std::clamp<int64_t>(i, 0, int64_t{n} - 1));
    std::copy_n(rows + row * n_dims, n_dims, spliced);
  }
}

std::vector<double> lda_transform(const float *rows, uint32_t n_dims, const std::vector<TrainingUtterance> &utterances,
                                  const std::vector<uint32_t> &pdfs, uint32_t context, uint32_t n_out, ThreadPool *pool) {
  const size_t d = size_t{2 * context + 1} * n_dims;
  uint32_t n_classes = 0;
  for (const uint32_t pdf : pdfs) n_classes = std::max(n_classes, pdf == kNoState ? 0 : pdf + 1);
  std::vector<Sums> pieces(kPieces, Sums(n_classes, d));
  pool->run(kPieces, [&](size_t piece) {
    std::vector<float> spliced(d);
    for (size_t i = utterances.size() * piece / kPieces; i < utterances.size() * (piece + 1) / kPieces; ++i) {
      const TrainingUtterance &utterance = utterances[i];
      for (uint32_t at = 0; at < utterance.n_rows; ++at) {
        const uint32_t pdf = pdfs[utterance.first_row + at];
        if (pdf == kNoState) continue;
        splice(rows + utterance.first_row * n_dims, utterance.n_rows, n_dims, at, context, spliced.data());
        pieces[piece].add(spliced.data(), pdf);
      }
    }
  });
  for (size_t piece = 1; piece < kPieces; ++piece) pieces[0].add(pieces[piece]);
  std::vector<double> within;
  const std::vector<double> total = pieces[0].covariances(&within);
  if (!factorise(&within, d)) {
    fail(ASR_BAD_FILE, "the spliced features of all recordings depend on each other; check that the recordings are of speech");
  }
  const std::vector<double> inverse = inverse_triangle(within, d);
  std::vector<double> turned = whitened(inverse, total, d);
  std::vector<double> axes(d * d);
  for (size_t i = 0; i < d; ++i) axes[i * d + i] = 1;
  diagonalise(&turned, &axes, d);
  std::vector<size_t> order(d);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return turned[a * (d + 1)] > turned[b * (d + 1)]; });
  std::vector<double> transform(n_out * d);
  for (size_t r = 0; r < n_out; ++r) {
    for (size_t k = 0; k < d; ++k) {
      for (size_t c = 0; c <= k; ++c) transform[r * d + c] += axes[order[r] * d + k] * inverse[triangle_at(k, c)];
    }
  }
  return transform;
}

void add_transformed(const std::vector<double> &transform, const float *rows, uint32_t n_dims,
                     const std::vector<TrainingUtterance> &utterances, uint32_t context, ThreadPool *pool, RowsFile *file) {
  constexpr size_t kTogether = 64;  // utterances
  const size_t d = size_t{2 * context + 1} * n_dims, n_out = file->n_dims();
  std::vector<std::vector<float>> made(kTogether);
  for (size_t first = 0; first < utterances.size(); first += kTogether) {
    const size_t n = std::min(kTogether, utterances.size() - first);
    pool->run(n, [&](size_t i) {
      const TrainingUtterance &utterance = utterances[first + i];
      std::vector<float> spliced(d);
      made[i].clear();
      for (uint32_t at = 0; at < utterance.n_rows; ++at) {
        splice(rows + utterance.first_row * n_dims, utterance.n_rows, n_dims, at, context, spliced.data());
        for (size_t r = 0; r < n_out; ++r) {
          double sum = 0;
          for (size_t c = 0; c < d; ++c) sum += transform[r * d + c] * static_cast<double>(spliced[c]);
          made[i].push_back(static_cast<float>(sum));
        }
      }
    });
    for (size_t i = 0; i < n; ++i) file->add(made[i].data(), utterances[first + i].n_rows);
  }
}

}  // namespace asr::train
