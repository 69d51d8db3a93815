// SPDX-License-Identifier: Apache-2.0
// Expands Gaussians, checks that the expanded form keeps the tolerance, and packs it into fragments of mma operands.
#include "plugins/gpu/scores/gmm_tensor_pack.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "plugins/common/halves.h"
#include "plugins/common/log_zero.h"
#include "plugins/common/packing.h"

namespace asr {
namespace {

constexpr double kLog2E = 1.4426950408889634;
constexpr double kMaxWeight = 60000;  // fp16 ends at 65504
// Terms of the expanded form cancel near the mean, where precision matters. The error is their sum without signs, in base 2,
// times the 2^-22 of split fp16 numbers and the few 2^-24 of the sums. Below this limit it stays well under the tolerance.
constexpr double kMaxTerms = 3000;
constexpr uint32_t kMaxMonomials = 4096;
// A halved Gaussian's quadratic form may change by this part of itself at most, in any direction, and scores of its own rows by
// this deviation, in base 2, because its mean moves.
constexpr double kMaxChange = 1.0 / 64, kMaxShift = 0.03;
constexpr uint32_t kFour = 4;
constexpr TileInfo kEmptyTile = {{kLogZero, kLogZero, kLogZero, kLogZero, kLogZero, kLogZero, kLogZero, kLogZero},
                                 {-1, -1, -1, -1}};

uint32_t ceil_div(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

// Stores the values of k and k + 1 of a column where mma reads them, among 16 values of k, or 8 for a `half` step. Lane l of
// the warp has column l / 4 and k = 2 (l % 4), the next one, and both plus 8. halved: without lo.
void put_fragment(uint32_t *step, uint32_t column, uint32_t k, bool half, bool halved, HalfPairs pair) {
  const uint32_t lane = 4 * column + k % 8 / 2, n_hi = half ? 1 : 2;
  uint32_t *const out = step + size_t{lane} * n_hi * (halved ? 1 : 2) + (half ? 0 : k / 8);
  out[0] = pair.hi;
  if (!halved) out[n_hi] = pair.lo;
}

double rounded_half(double value) { return double(half_value(half_bits(float(value)))); }

// Calls visit(i, j, at) for the products x_i x_j among the weights of n dimensions, the order of TensorPacker::Expanded.
template <typename Visit>
void visit_products(uint32_t n, bool full, bool interleaved, const Visit &visit) {
  size_t at = n;
  for (uint32_t i = 0; i < n; ++i) {
    for (uint32_t j = i; j < (full ? n : i + 1); ++j) visit(i, j, interleaved ? 2 * size_t{i} + 1 : at++);
  }
}

}  // namespace

// Expanded is a weighted Gaussian in base 2: constant + sum_k weights[k] phi_k of scaled features. phi is x_0, x_0^2, x_1,
// x_1^2 ... for the diagonal kernel, and the monomials of monomials_of() for the expanded one.
struct TensorPacker::Expanded {
  double constant;
  std::vector<double> weights;
  double terms;                                        // sum of |weights[k] phi_k| at the mean
  std::vector<double> mean;                            // as a scaled feature
  std::vector<double> factor;                          // full: of PackedGaussian, for scaled features
  double factor_at(size_t row, size_t column) const {  // row <= column
    return factor[row * mean.size() - row * (row + 1) / 2 + column];
  }
};

struct TensorPacker::States {
  uint32_t stream;
  const std::vector<uint32_t> &numbers;
  const std::vector<TensorDim> &dims;
};

// The scale of a feature is the power of two nearest to the inverse of its deviation, within and between Gaussians together.
std::vector<TensorDim> TensorPacker::dims_of(uint32_t stream) const {
  const asr_gmm_stream &features = view_.streams[stream];
  std::vector<double> squares(features.n_dims, 0);
  uint64_t n = 0;
  for (uint32_t c = 0; c < view_.n_codebooks; ++c) {
    const asr_gmm_codebook &codebook = view_.codebooks[c];
    if (codebook.stream != stream) continue;
    n += codebook.n_gaussians;
    for (uint32_t k = 0; k < codebook.n_gaussians; ++k) {
      const float *const mean = view_.means + codebook.first_mean + size_t{k} * features.n_dims;
      const float *const precision = view_.precisions + view_.precision_at[view_.covariance_of[codebook.first_gaussian + k]];
      for (uint32_t d = 0; d < features.n_dims; ++d) {
        const double difference = double(mean[d]) - centre_[features.dims[d]];
        squares[d] += difference * difference + 1.0 / precision[full() ? d * (d + 1) / 2 + d : d];
      }
    }
  }
  std::vector<TensorDim> dims;
  for (uint32_t d = 0; d < features.n_dims; ++d) {
    const double exponent = std::round(-0.5 * std::log2(squares[d] / double(n)));
    const bool sensible = std::isfinite(exponent) && std::abs(exponent) < 60;
    dims.push_back({features.dims[d], centre_[features.dims[d]], sensible ? float(std::exp2(exponent)) : 1.0f, 0});
  }
  return dims;
}

bool uses_diagonal_kernel(asr_covariance covariance, uint32_t n_dims) {
  return covariance == ASR_COVARIANCE_DIAGONAL && n_dims <= kMaxDiagonalDims;
}

std::vector<uint32_t> TensorPacker::monomials_of(uint32_t n_dims) const {
  std::vector<uint32_t> monomials;
  for (uint32_t i = 0; i < n_dims; ++i) monomials.push_back(i | n_dims << 16);
  for (uint32_t i = 0; i < n_dims; ++i) {
    for (uint32_t j = i; j < (full() ? n_dims : i + 1); ++j) monomials.push_back(i | j << 16);
  }
  while (monomials.size() % 32 != 0) monomials.push_back((n_dims + 1) | (n_dims + 1) << 16);
  return monomials;
}

TensorPacker::Expanded TensorPacker::expand(const asr_gmm_codebook &codebook, uint32_t k, double log_weight,
                                            const std::vector<TensorDim> &dims) const {
  const auto n = uint32_t(dims.size());
  const PackedGaussian gaussian = pack_gaussian(view_, codebook, k, centre_);
  const float *const mean = view_.means + codebook.first_mean + size_t{k} * n;
  Expanded expanded{kLog2E * (log_weight + gaussian.log_normaliser), {}, 0, std::vector<double>(n), {}};
  std::vector<double> &x = expanded.mean;
  for (uint32_t d = 0; d < n; ++d) x[d] = (double(mean[d]) - dims[d].centre) * dims[d].scale;
  for (const double offset : gaussian.offset) expanded.constant -= kLog2E / 2 * offset * offset;
  const auto add = [&](double weight, double phi) {
    expanded.weights.push_back(weight);
    expanded.terms += std::abs(weight * phi);
  };
  if (!full()) {
    const bool interleaved = uses_diagonal_kernel(view_.covariance, n);
    const auto linear = [&](uint32_t d) { add(kLog2E * gaussian.factor[d] * gaussian.offset[d] / dims[d].scale, x[d]); };
    const auto square = [&](uint32_t d) {
      const double factor = gaussian.factor[d] / dims[d].scale;
      add(-kLog2E / 2 * factor * factor, x[d] * x[d]);
    };
    for (uint32_t d = 0; d < n; ++d) {
      linear(d);
      if (interleaved) square(d);
    }
    for (uint32_t d = 0; !interleaved && d < n; ++d) square(d);
    return expanded;
  }
  for (uint32_t row = 0, at = 0; row < n; ++row) {
    for (uint32_t column = row; column < n; ++column, ++at) {
      expanded.factor.push_back(gaussian.factor[at] / dims[column].scale);
    }
  }
  for (uint32_t j = 0; j < n; ++j) {
    double sum = 0;
    for (uint32_t row = 0; row <= j; ++row) sum += expanded.factor_at(row, j) * gaussian.offset[row];
    add(kLog2E * sum, x[j]);
  }
  for (uint32_t i = 0; i < n; ++i) {
    for (uint32_t j = i; j < n; ++j) {
      double sum = 0;
      for (uint32_t row = 0; row <= i; ++row) sum += expanded.factor_at(row, i) * expanded.factor_at(row, j);
      add((i == j ? -kLog2E / 2 : -kLog2E) * sum, x[i] * x[j]);
    }
  }
  return expanded;
}

// Rounds the weights of a Gaussian to one fp16 number each. It keeps the mean, to the precision of fp16, and the score at the
// mean. So the error grows with the distance from the mean. Returns false if it is too large near the mean.
bool TensorPacker::halve(const std::vector<TensorDim> &dims, Expanded *expanded) const {
  const auto n = uint32_t(dims.size());
  const bool interleaved = uses_diagonal_kernel(view_.covariance, n);
  const std::vector<double> &mean = expanded->mean;
  std::vector<double> &weights = expanded->weights, linear(n, 0), squares(n, 0), differences;
  double change = 0;  // of the score at the mean
  visit_products(n, full(), interleaved, [&](uint32_t i, uint32_t j, size_t at) {
    const double rounded = rounded_half(weights[at]);
    differences.push_back(rounded - weights[at]);
    change += differences.back() * mean[i] * mean[j];
    linear[i] -= rounded * mean[j], linear[j] -= rounded * mean[i];
    if (i == j) squares[i] = -rounded / (kLog2E / 2);
    weights[at] = rounded;
  });
  double largest = 0;
  for (uint32_t d = 0; d < n; ++d) {
    double &weight = weights[interleaved ? 2 * size_t{d} : d];
    const double rounded = rounded_half(linear[d]);
    largest = std::max(largest, std::abs(rounded));
    change += (rounded - weight) * mean[d];
    weight = rounded;
    linear[d] = rounded - linear[d];  // by which the mean moves
  }
  expanded->constant -= change;
  if (!(largest <= kMaxWeight)) return false;
  // |U^-T r|, U the factor of the precision, is the deviation of r'x for rows of the Gaussian.
  double shift = 0;
  for (uint32_t d = 0; d < n; ++d) {
    for (uint32_t k = 0; full() && k < d; ++k) linear[d] -= expanded->factor_at(k, d) * linear[k];
    linear[d] /= full() ? expanded->factor_at(d, d) : std::sqrt(squares[d]);
    shift += linear[d] * linear[d];
  }
  return shift <= kMaxShift * kMaxShift && (!full() || shape_change(n, *expanded, differences) <= kMaxChange * kMaxChange);
}

// Returns a bound of how much the quadratic form |U x|^2 of a full Gaussian, U its factor, changes in any direction if its
// products' weights change by `differences`, D: the square of the norm of U^-T D U^-1.
double TensorPacker::shape_change(uint32_t n, const Expanded &expanded, const std::vector<double> &differences) const {
  std::vector<double> m(size_t{n} * n);
  visit_products(n, true, false, [&](uint32_t i, uint32_t j, size_t at) {  // a weight is -log2 e / 2 of x_i^2, twice of x_i x_j
    m[size_t{i} * n + j] = m[size_t{j} * n + i] = differences[at - n] / (kLog2E / 2) / (i == j ? 1 : 2);
  });
  for (uint32_t row = 0; row < n; ++row) {
    double *const of_row = m.data() + size_t{row} * n;
    for (uint32_t column = 0; column < n; ++column) {
      for (uint32_t k = 0; k < column; ++k) of_row[column] -= of_row[k] * expanded.factor_at(k, column);
      of_row[column] /= expanded.factor_at(column, column);
    }
  }
  double squares = 0;
  for (uint32_t row = 0; row < n; ++row) {
    double *const of_row = m.data() + size_t{row} * n;
    for (uint32_t k = 0; k < row; ++k) {
      for (uint32_t column = 0; column < n; ++column) of_row[column] -= expanded.factor_at(k, row) * m[size_t{k} * n + column];
    }
    for (uint32_t column = 0; column < n; ++column) {
      of_row[column] /= expanded.factor_at(row, row);
      squares += of_row[column] * of_row[column];
    }
  }
  return squares;
}

std::vector<TensorFit> TensorPacker::which_fit(uint32_t stream, const std::vector<uint32_t> &states,
                                               const std::vector<TensorDim> &dims, bool halves) const {
  std::vector<TensorFit> fit(states.size(), TensorFit::kNone);
  pool_.run(states.size(), [&](size_t i) { fit[i] = fit_of(states[i], stream, dims, halves); });
  return fit;
}

TensorFit TensorPacker::fit_of(uint32_t state, uint32_t stream, const std::vector<TensorDim> &dims, bool halves) const {
  if (!uses_diagonal_kernel(view_.covariance, uint32_t(dims.size())) &&
      monomials_of(uint32_t(dims.size())).size() > kMaxMonomials) {
    return TensorFit::kNone;
  }
  const asr_gmm_codebook &codebook = codebook_of(view_, state, stream);
  for (uint32_t k = 0; k < codebook.n_gaussians; ++k) {
    Expanded expanded = expand(codebook, k, 0, dims);
    if (!(expanded.terms <= kMaxTerms)) return TensorFit::kNone;
    for (const double weight : expanded.weights) {
      if (!(std::abs(weight) <= kMaxWeight)) return TensorFit::kNone;
    }
    halves = halves && halve(dims, &expanded);
  }
  return halves ? TensorFit::kHalved : TensorFit::kWhole;
}

uint32_t TensorPacker::n_gaussians(const States &states, uint32_t state) const {
  return codebook_of(view_, state, states.stream).n_gaussians;
}

// Packs Gaussian k of a state. put(k, HalfPairs) stores the weights of k (an even number) and k + 1.
template <typename Put>
void TensorPacker::put_gaussian(const States &states, uint32_t state, uint32_t k, bool halved, float *constant,
                                Put &&put) const {
  const float *const weights = log_weights_of(view_, state, states.stream);
  if (weights[k] == -INFINITY) return;
  Expanded expanded = expand(codebook_of(view_, state, states.stream), k, weights[k], states.dims);
  if (halved) halve(states.dims, &expanded);
  *constant = float(expanded.constant);
  const auto n = uint32_t(expanded.weights.size());
  for (uint32_t at = 0; at < n; at += 2) {
    put(at, split_halves(expanded.weights[at], at + 1 < n ? expanded.weights[at + 1] : 0));
  }
}

TensorPack TensorPacker::pack(uint32_t stream, const std::vector<uint32_t> &states, const std::vector<TensorDim> &dims,
                              const TensorLayout &layout) const {
  const States packed = {stream, states, dims};
  const bool diagonal = uses_diagonal_kernel(view_.covariance, uint32_t(dims.size()));
  TensorPack pack = diagonal ? pack_diagonal(packed, layout) : pack_expanded(packed, layout.halved);
  pack.halved = layout.halved;
  return pack;
}

// Returns TensorPack::four_tiles of states that have so many tiles one after the other. Every four has the tiles of the largest
// state, so they lie by fours only if that takes no more tiles.
uint32_t TensorPacker::four_tiles_of(const States &states, uint32_t n_tiles) const {
  uint32_t n_max = 0;
  for (const uint32_t state : states.numbers) n_max = std::max(n_max, n_gaussians(states, state));
  const uint32_t four_tiles = n_max <= kMaxFourTiles ? kMaxFourTiles / 2 : kMaxFourTiles;
  const uint32_t n_fours = ceil_div(uint32_t(states.numbers.size()), kFour);
  return n_max <= 2 * kMaxFourTiles && n_fours * four_tiles < n_tiles + four_tiles ? four_tiles : 0;
}

// Sets where tiles begin, and the states that end with them.
void TensorPacker::place_tiles(const States &states, const TensorLayout &layout, TensorPack *pack) const {
  const size_t n_states = states.numbers.size();
  pack->starts.push_back(0);
  for (const uint32_t state : states.numbers) {
    pack->starts.push_back(pack->starts.back() + ceil_div(n_gaussians(states, state), kTileGaussians));
  }
  if (layout.wgmma) pack->four_tiles = layout.four_tiles ? *layout.four_tiles : four_tiles_of(states, pack->starts.back());
  if (pack->four_tiles > 0) {
    const uint32_t n_fours = ceil_div(uint32_t(n_states), kFour);
    pack->starts.resize(n_fours + 1);
    for (uint32_t i = 0; i <= n_fours; ++i) pack->starts[i] = i * pack->four_tiles;
  }
  pack->tiles.assign(pack->starts.back(), kEmptyTile);
  for (size_t i = 0; i < n_states; ++i) {
    const auto state = int32_t(states.numbers[i]);
    if (pack->four_tiles > 0) {
      pack->tiles[pack->starts[i / kFour + 1] - 1].states[i % kFour] = state;
    } else {
      pack->tiles[pack->starts[i + 1] - 1].states[0] = state;
    }
  }
}

TensorPack TensorPacker::pack_diagonal(const States &states, const TensorLayout &layout) const {
  TensorPack pack;
  pack.n_steps = diagonal_steps(uint32_t(states.dims.size()));
  place_tiles(states, layout, &pack);
  const uint32_t step_words = layout.halved ? 32 : 64;
  const size_t info_at = size_t{pack.n_steps} * step_words;
  const size_t tile_words = info_at + (layout.wgmma ? 0 : sizeof(TileInfo) / 4);
  pack.fragments.assign(pack.tiles.size() * tile_words, 0);
  const bool fours = pack.four_tiles > 0;
  pool_.run(states.numbers.size(), [&](size_t i) {
    for (uint32_t k = 0; k < n_gaussians(states, states.numbers[i]); ++k) {
      const size_t tile = fours ? pack.starts[i / kFour] + k / 2 : pack.starts[i] + k / kTileGaussians;
      const uint32_t column = fours ? 2 * uint32_t(i % kFour) + k % 2 : k % kTileGaussians;
      uint32_t *const words = pack.fragments.data() + tile * tile_words;
      const auto put = [&](uint32_t at, HalfPairs pair) {
        if (layout.wgmma) {
          uint32_t *const core = words + size_t{at / 8} * 32 + size_t{column} * 4 + at % 8 / 2;
          core[0] = pair.hi;
          if (!layout.halved) core[size_t{pack.n_steps} * 32] = pair.lo;
        } else {
          const bool half = at / 8 + 1 == pack.n_steps && at % 16 < 8;
          put_fragment(words + size_t{at / 16} * 2 * step_words, column, at % 16, half, layout.halved, pair);
        }
      };
      put_gaussian(states, states.numbers[i], k, layout.halved, &pack.tiles[tile].constants[column], put);
    }
  });
  if (layout.wgmma) return pack;
  for (size_t tile = 0; tile < pack.tiles.size(); ++tile) {
    std::memcpy(pack.fragments.data() + tile * tile_words + info_at, &pack.tiles[tile], sizeof(TileInfo));
  }
  pack.tiles.clear();
  return pack;
}

// A state of up to a block's tiles lies in one block; a larger one begins with a block.
TensorPack TensorPacker::pack_expanded(const States &states, bool halved) const {
  TensorPack pack;
  pack.monomials = monomials_of(uint32_t(states.dims.size()));
  pack.n_steps = uint32_t(pack.monomials.size()) / 16;
  std::vector<uint32_t> first_tile;
  uint32_t n_tiles = 0;
  for (const uint32_t state : states.numbers) {
    const uint32_t n = ceil_div(n_gaussians(states, state), kTileGaussians);
    const uint32_t used = n_tiles % kBlockTiles;
    if (used + n > kBlockTiles && used > 0) n_tiles += kBlockTiles - used;
    if (n_tiles % kBlockTiles == 0) pack.starts.push_back(n_tiles / kBlockTiles);
    first_tile.push_back(n_tiles);
    n_tiles += n;
  }
  const uint32_t n_blocks = ceil_div(n_tiles, kBlockTiles);
  pack.starts.push_back(n_blocks);
  pack.tiles.assign(size_t{n_blocks} * kBlockTiles, kEmptyTile);
  const size_t lane_words = halved ? 64 : 128, step_words = kBlockTiles * lane_words, block_words = step_words * pack.n_steps;
  pack.fragments.assign(n_blocks * block_words, 0);
  pool_.run(states.numbers.size(), [&](size_t i) {
    const uint32_t state = states.numbers[i], n = n_gaussians(states, state);
    for (uint32_t k = 0; k < n; ++k) {
      const uint32_t tile = first_tile[i] + k / kTileGaussians, column = k % kTileGaussians;
      uint32_t *const words = pack.fragments.data() + tile / kBlockTiles * block_words + tile % kBlockTiles * lane_words;
      const auto put = [&](uint32_t at, HalfPairs pair) {
        put_fragment(words + at / 16 * step_words, column, at % 16, false, halved, pair);
      };
      put_gaussian(states, state, k, halved, &pack.tiles[tile].constants[column], put);
    }
    pack.tiles[first_tile[i] + (n - 1) / kTileGaussians].states[0] = int32_t(state);
  });
  return pack;
}

std::vector<uint32_t> cut_stretches(const std::vector<uint32_t> &starts, uint32_t n) {
  const auto fill = [&](uint32_t longest) {
    std::vector<uint32_t> begins = {0};
    for (size_t i = 1; i < starts.size(); ++i) {
      if (starts[i] - begins.back() > longest && starts[i - 1] > begins.back()) begins.push_back(starts[i - 1]);
    }
    return begins;
  };
  uint32_t least = starts.back() / n, most = starts.back();  // a length of `least` may be too short
  while (most - least > 1) {
    const uint32_t middle = least + (most - least) / 2;
    bool fits = fill(middle).size() <= n;
    for (size_t i = 1; i < starts.size() && fits; ++i) fits = starts[i] - starts[i - 1] <= middle;
    (fits ? most : least) = middle;
  }
  std::vector<uint32_t> begins = fill(most);
  begins.resize(n + 1, starts.back());
  return begins;
}

std::vector<uint32_t> state_begins(const std::vector<uint32_t> &starts) {
  std::vector<uint32_t> begins;
  for (size_t i = 0; i + 1 < starts.size(); ++i) begins.insert(begins.end(), starts[i + 1] - starts[i], starts[i]);
  begins.push_back(starts.back());
  return begins;
}

std::vector<uint32_t> share_blocks(const std::vector<uint64_t> &work, uint32_t n) {
  const uint64_t all = std::max<uint64_t>(1, std::accumulate(work.begin(), work.end(), uint64_t{0}));
  std::vector<uint32_t> shares;
  uint32_t n_shared = 0;
  for (const uint64_t w : work) {
    shares.push_back(std::max(1u, static_cast<uint32_t>(n * w / all)));
    n_shared += shares.back();
  }
  const auto time_with = [&](size_t i, int more) { return double(work[i]) / (int(shares[i]) + more); };
  for (; n_shared < n; ++n_shared) {  // to the longest
    size_t longest = 0;
    for (size_t i = 1; i < work.size(); ++i) {
      if (time_with(i, 0) > time_with(longest, 0)) longest = i;
    }
    ++shares[longest];
  }
  for (; n_shared > n; --n_shared) {  // from the one that is the shortest without it
    size_t shortest = work.size();
    for (size_t i = 0; i < work.size(); ++i) {
      if (shares[i] > 1 && (shortest == work.size() || time_with(i, -1) < time_with(shortest, -1))) shortest = i;
    }
    if (shortest == work.size()) break;
    --shares[shortest];
  }
  return shares;
}

}  // namespace asr
