// SPDX-License-Identifier: Apache-2.0
// F9 and F10: from cepstra to feature rows.
#include <algorithm>
#include <cmath>

#include "reference/mfcc.h"

namespace asr::reference {
namespace {

// Returns row t; outside the range, the nearest edge row.
const Row &nearest(const Rows &rows, int64_t t) {
  return rows[static_cast<size_t>(std::clamp<int64_t>(t, 0, static_cast<int64_t>(rows.size()) - 1))];
}

Row slope_kernel(int window) {
  double norm = 0;
  for (int k = -window; k <= window; ++k) norm += k * k;
  Row taps;
  for (int k = -window; k <= window; ++k) taps.push_back(k / norm);
  return taps;
}

Row convolved(const Row &a, const Row &b) {
  Row sum(a.size() + b.size() - 1, 0.0);
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b.size(); ++j) sum[i + j] += a[i] * b[j];
  }
  return sum;
}

Rows filtered(const Rows &rows, const Row &taps) {
  Rows out;
  const auto radius = static_cast<int64_t>(taps.size() / 2);
  for (int64_t t = 0; t < static_cast<int64_t>(rows.size()); ++t) {
    Row sum(rows[0].size(), 0.0);
    for (int64_t k = -radius; k <= radius; ++k) {
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += taps[static_cast<size_t>(k + radius)] * nearest(rows, t + k)[i];
    }
    out.push_back(sum);
  }
  return out;
}

void append(Row *row, const Row &more, size_t first = 0) {
  row->insert(row->end(), more.begin() + static_cast<int64_t>(first), more.end());
}

Row difference(const Row &a, const Row &b) {
  Row out;
  for (size_t i = 0; i < a.size(); ++i) out.push_back(a[i] - b[i]);
  return out;
}

Row sphinx_row(const FrontEnd &f, const Rows &c, int64_t t) {
  const auto at = [&](int64_t k) { return nearest(c, t + k); };
  const Row statics = at(0), d = difference(at(2), at(-2)), ld = difference(at(4), at(-4));
  const Row dd = difference(difference(at(3), at(-1)), difference(at(1), at(-3)));
  const Row power = {statics[0], d[0], dd[0]};
  Row row;
  switch (f.dynamic) {
    case DynamicKind::kSphinx_c_d:
      append(&row, statics), append(&row, d);
      break;
    case DynamicKind::kSphinx_c_d_dd:
      append(&row, statics), append(&row, d), append(&row, dd);
      break;
    case DynamicKind::kSphinx_c_d_ld_dd:
      append(&row, statics), append(&row, d), append(&row, ld), append(&row, dd);
      break;
    case DynamicKind::kSphinx_s2_4x:
      append(&row, statics, 1), append(&row, d, 1), append(&row, ld, 1), append(&row, power), append(&row, dd, 1);
      break;
    case DynamicKind::kSphinx_s3_1x39:
      append(&row, statics, 1), append(&row, d, 1), append(&row, power), append(&row, dd, 1);
      break;
    default:
      break;
  }
  return row;
}

Rows regression(const FrontEnd &f, const Rows &statics) {
  std::vector<Rows> orders = {statics};
  Row kernel = {1};
  for (uint32_t k = 1; k <= f.delta_order; ++k) {
    kernel = convolved(kernel, slope_kernel(static_cast<int>(f.delta_window)));
    const bool squared = f.dynamic == DynamicKind::kRegressionSquared;
    orders.push_back(squared ? filtered(statics, kernel)
                             : filtered(orders.back(), slope_kernel(static_cast<int>(f.delta_window))));
  }
  Rows out;
  for (size_t t = 0; t < statics.size(); ++t) {
    Row row;
    for (const Rows &order : orders) append(&row, order[t]);
    if (f.drop_absolute_energy) row.erase(row.begin() + (f.c0_last ? f.n_ceps - 1 : 0));
    out.push_back(row);
  }
  return out;
}

Row transformed(const FrontEnd &f, const Row &row) {
  Row out;
  for (uint32_t i = 0; i < f.transform_rows; ++i) {
    const float *weights = &f.transform[size_t{i} * f.transform_cols];
    double sum = f.transform_cols > row.size() ? weights[row.size()] : 0;
    for (size_t j = 0; j < row.size(); ++j) sum += weights[j] * row[j];
    out.push_back(sum);
  }
  return out;
}

}  // namespace

Rows batch_normalised(const FrontEnd &f, const Rows &cepstra) {
  Row mean(f.n_ceps, 0.0), deviation(f.n_ceps, 0.0);
  const size_t level = f.c0_last ? f.n_ceps - 1 : 0;
  double n = 0, highest = -INFINITY;
  for (const Row &c : cepstra) {
    if (f.cmn_skip_negative_c0 && c[f.c0_last ? f.n_ceps - 1 : 0] < 0) continue;
    for (uint32_t i = 0; i < f.n_ceps; ++i) mean[i] += c[i];
    ++n;
  }
  for (double &m : mean) m /= std::max(n, 1.0);
  for (const Row &c : cepstra) {
    for (uint32_t i = 0; i < f.n_ceps; ++i) deviation[i] += (c[i] - mean[i]) * (c[i] - mean[i]);
  }
  for (double &d : deviation) d = std::sqrt(std::max(d / static_cast<double>(cepstra.size()), 1e-20));
  Rows out = cepstra;
  for (const Row &c : cepstra) highest = std::max(highest, c[level]);
  for (Row &c : out) {
    const double energy = std::max(c[level], highest - f.energy_range_db * std::log(10) / 10);
    for (uint32_t i = 0; i < f.n_ceps && f.cmn_cepstra; ++i) c[i] = (c[i] - mean[i]) / (f.cmn_variance ? deviation[i] : 1);
    if (f.energy_range_db > 0) c[level] = 1 - (highest - energy) * f.energy_scale;
  }
  return out;
}

// Computes the means after all frames first; each frame then uses the mean at the frame it waits for.
Rows live_normalised(const FrontEnd &f, const Rows &cepstra) {
  const uint32_t level_at = f.c0_last ? f.n_ceps - 1 : 0;
  double ones = std::sqrt(f.n_mel);
  if (f.dct == DctKind::kHtk) ones = std::sqrt(2.0 * f.n_mel);
  if (f.dct == DctKind::kSphinxLegacy) ones = (f.n_mel - 0.5) / f.n_mel;
  if (f.magnitude) ones /= 2;
  if (f.lpc_order > 0) ones = f.compression / (f.magnitude ? 2 : 1);
  ones *= f.cepstral_scale;
  if (f.use_energy) ones = 1;
  const double db = ones * std::log(10) / 10, most = std::max(f.cmn_window_frames, 100.0);
  Row prior(f.n_ceps, 0.0), sums[2] = {prior, prior};  // sums of silence, of speech
  std::copy(f.cmn_prior.begin(), f.cmn_prior.end(), prior.begin());
  double n[2] = {0, 0}, peak = NAN, floor = NAN;
  size_t heard = 0;
  Rows means;
  std::vector<size_t> heards;
  for (const Row &c : cepstra) {
    const double level = c[level_at];
    if (!(f.cmn_skip_negative_c0 && level < 0)) {
      if (std::isnan(peak)) peak = floor = level;
      peak = level > peak ? 0.7 * peak + 0.3 * level : peak - 0.005 * db;
      floor = std::min(floor + 0.01 * db, level);
      const bool speech = level > peak - 22 * db && level > floor + 13 * db;
      const double keep = n[speech] + 1 > most ? most / (n[speech] + 1) : 1;
      for (uint32_t i = 0; i < f.n_ceps; ++i) sums[speech][i] = keep * (sums[speech][i] + c[i]);
      n[speech] = keep * (n[speech] + 1);
      heard += speech;
    }
    const double silence = std::min(n[0], 10 + 0.5 * n[1]);
    Row mean;
    for (uint32_t i = 0; i < f.n_ceps; ++i) {
      double from = prior[i], weight = 10;
      if (i == level_at) {
        weight = 20;
        const double shift = peak - 16 * db - prior[i];
        if (!std::isnan(peak)) {
          from += prior[i] == 0 ? shift : std::clamp(shift, -24 * db, 24 * db) * std::min(1.0, static_cast<double>(heard) / 20);
        }
      }
      const double of_silence = n[0] > 0 ? sums[0][i] / n[0] : 0;
      mean.push_back((weight * from + sums[1][i] + silence * of_silence) / (weight + n[1] + silence));
    }
    means.push_back(mean);
    heards.push_back(heard);
  }
  Rows out = cepstra;
  for (size_t t = 0; t < out.size(); ++t) {
    size_t at = t;
    while (at + 1 < out.size() && at < t + f.cmn_lookahead_frames && heards[at] < f.cmn_lookahead_frames) ++at;
    for (uint32_t i = 0; i < f.n_ceps; ++i) out[t][i] -= means[at][i];
  }
  return out;
}

Rows running_normalised(const FrontEnd &f, const Rows &cepstra) {
  Row mean(f.n_ceps, 0.0);
  std::copy(f.cmn_prior.begin(), f.cmn_prior.end(), mean.begin());
  Row sum = mean;
  for (double &s : sum) s *= f.cmn_prior_frames;
  double n = f.cmn_prior_frames;
  Rows out = cepstra;
  for (Row &c : out) {
    if (f.cmn_skip_negative_c0 && c[f.c0_last ? f.n_ceps - 1 : 0] < 0) continue;
    for (uint32_t i = 0; i < f.n_ceps; ++i) {
      sum[i] += c[i];
      c[i] -= mean[i];
    }
    n += 1;
    if (n <= f.cmn_window_frames) continue;
    for (uint32_t i = 0; i < f.n_ceps; ++i) {
      mean[i] = sum[i] / n;
      sum[i] = mean[i] * f.cmn_prior_frames;
    }
    n = f.cmn_prior_frames;
  }
  return out;
}

Rows dynamic(const FrontEnd &f, const Rows &cepstra) {
  Rows out;
  if (f.dynamic == DynamicKind::kNone) {
    out = cepstra;
  } else if (f.dynamic == DynamicKind::kRegressionSquared || f.dynamic == DynamicKind::kRegressionRepeated) {
    out = regression(f, cepstra);
  } else {
    for (int64_t t = 0; t < static_cast<int64_t>(cepstra.size()); ++t) {
      Row row;
      for (int64_t k = t - f.splice_left; k <= t + int64_t{f.splice_right}; ++k) append(&row, nearest(cepstra, k));
      out.push_back(f.dynamic == DynamicKind::kSplice ? row : sphinx_row(f, cepstra, t));
    }
  }
  if (!f.transform.empty()) {
    for (Row &row : out) row = transformed(f, row);
  }
  return out;
}

}  // namespace asr::reference
