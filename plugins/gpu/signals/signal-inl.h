// SPDX-License-Identifier: Apache-2.0
// Turns the cepstra of new frames into rows to score: F6 (noise removal), F9 (live) and F10 of docs/equations.md. The kernels
// of plugins/cuda/signals/signal.cu and plugins/ocl/signals/signal.cl call these functions.
//
// signal_frames: a block owns a signal and takes its new frames in their order. A thread has a mel band, then a cepstrum,
// with the running estimates of both in the signal's memory. Normalised cepstra go into the ring of the signal's last frames,
// then the levels above them, all frames of a level at once. signal_rows: a block owns a row. A thread sums the taps of
// a value, then a row of the transform, then one of the signal's own transform (A1). Cepstra may be log mel energies
// [n_mel]; layouts in signal_types.h.
//
// Accumulators are double, in the order of the host (core/feature), compiled without contraction. So the same cepstra give the
// same rows bit for bit, but for an ulp of double in exp and log of noise removal. References: tests/reference noise_removed,
// live_normalised, batch_normalised, dynamic. Floor: a frame of noise removal is a chain of n_mel double additions,
// about 1 us. The rest is 13 to 100 loads a value from the nearest cache.
#ifndef SENONE_KERNELS_SIGNAL_H
#define SENONE_KERNELS_SIGNAL_H

#include "plugins/common/dialect.h"
#include "plugins/gpu/signals/signal_types.h"
#ifdef __cplusplus
namespace asr {
#endif

FIXED double kMaxGain = 20, kPeakDecay = 0.85, kMaskedPeak = 0.2;
FIXED double kVarianceFloor = 1e-20;
FIXED uint32_t kSmoothedBands = 4;  // to each side

// SignalState points into a signal's memory.
typedef struct SignalState {
  GLOBAL double *mean, *sum, *count, *power, *noise, *floor, *peak;
  GLOBAL float *levels;
  uint32_t n_ring, n_columns;
} SignalState;

DEVICE SignalState signal_state(CONSTANT DynamicsNumbers *n, const SignalJob *job, GLOBAL double *states,
                                GLOBAL float *wholes) {
  SignalState s;
  s.mean = states + (size_t)job->slot * n->n_state_doubles, s.sum = s.mean + n->n_ceps, s.count = s.sum + n->n_ceps;
  s.power = s.count + n->n_ceps;
  const uint32_t n_bands = n->removes_noise ? n->n_mel : 0;
  s.noise = s.power + n_bands, s.floor = s.noise + n_bands, s.peak = s.floor + n_bands;
  s.levels = (GLOBAL float *)(s.peak + n_bands);
  s.n_ring = n->n_ring, s.n_columns = n->n_levels * n->n_ceps;
  if (job->whole) {
    s.n_ring = n->n_whole;
    s.levels = wholes + (size_t)job->whole_slot * s.n_ring * s.n_columns;
  }
  return s;
}

DEVICE GLOBAL float *signal_frame(const SignalState *s, uint32_t t) {
  return s->levels + (size_t)(t % s->n_ring) * s->n_columns;
}

// Returns frame t, or the nearest of 0 ... last.
DEVICE GLOBAL const float *nearest_frame(const SignalState *s, int64_t t, uint32_t last) {
  return signal_frame(s, (uint32_t)(t < 0 ? 0 : t < last ? t : last));
}

DEVICE double follow_lower_envelope(double value, double envelope) {
  const double keep = value >= envelope ? 0.995 : 0.5;
  return keep * envelope + (1 - keep) * value;
}

// Returns F6's gain of band m, of energy e.
DEVICE double noise_gain(const SignalState *s, double e, uint32_t m, bool is_first) {
  double power = is_first ? e : s->power[m], noise = is_first ? e / kMaxGain : s->noise[m];
  double lowest = is_first ? noise : s->floor[m], peak = is_first ? 0 : s->peak[m];
  power = 0.7 * power + 0.3 * e;
  noise = follow_lower_envelope(power, noise);
  const double unmasked = fmax(power - noise, 1.0);
  lowest = follow_lower_envelope(unmasked, lowest);
  peak *= kPeakDecay;
  const double signal = fmax(unmasked < kPeakDecay * peak ? kMaskedPeak * peak : unmasked, lowest);
  peak = fmax(peak, unmasked);
  s->power[m] = power, s->noise[m] = noise, s->floor[m] = lowest, s->peak[m] = peak;
  return signal < kMaxGain * power ? fmax(signal / power, 1 / kMaxGain) : kMaxGain;
}

// Computes F6 and F7: log mel energies become cepstra in the same array. energy, gain: [n_mel]. By a block of n_threads.
DEVICE void remove_noise(CONSTANT DynamicsNumbers *n, const SignalJob *job, const SignalState *s, GLOBAL const float *noise_dct,
                         GLOBAL float *cepstra, LOCAL double *energy, LOCAL double *gain, uint32_t n_threads) {
  const uint32_t n_mel = n->n_mel;
  for (uint32_t frame = 0; frame < job->n_frames; ++frame) {
    GLOBAL float *const row = cepstra + (size_t)frame * n_mel;
    for (uint32_t m = thread_number(); m < n_mel; m += n_threads) {
      energy[m] = fmax(exp((double)row[m]) - n->log_add, 0.0);
      gain[m] = noise_gain(s, energy[m], m, job->begins && frame == 0);
    }
    block_sync();
    for (uint32_t m = thread_number(); m < n_mel; m += n_threads) {
      const uint32_t first = m - min(m, kSmoothedBands), end = min(m + kSmoothedBands + 1, n_mel);
      double sum = 0;
      for (uint32_t k = first; k < end; ++k) sum += gain[k];
      energy[m] = log(fmax(energy[m] * (sum / (end - first)), (double)n->log_floor) + n->log_add);
    }
    block_sync();
    for (uint32_t i = thread_number(); i < n->n_ceps; i += n_threads) {
      double sum = 0;
      for (uint32_t m = 0; m < n_mel; ++m) sum += noise_dct[(size_t)i * n_mel + m] * energy[m];
      row[i] = (float)sum;
    }
    block_sync();
  }
}

// Computes F9, live: cepstra into level 0 of the ring.
DEVICE void normalise_live(CONSTANT DynamicsNumbers *n, const SignalJob *job, const SignalState *s,
                           GLOBAL const float *prior_mean, GLOBAL const float *cepstra, uint32_t n_threads) {
  for (uint32_t i = thread_number(); i < n->n_ceps; i += n_threads) {
    double mean = job->begins ? prior_mean[i] : s->mean[i], count = job->begins ? n->prior_frames : s->count[i];
    double sum = job->begins ? mean * n->prior_frames : s->sum[i];
    for (uint32_t frame = 0; frame < job->n_frames; ++frame) {
      GLOBAL const float *const row = cepstra + (size_t)frame * n->row_values;
      float value = row[i];
      if (job->live && (n->counted_cepstrum < 0 || row[n->counted_cepstrum] >= 0)) {
        sum += value;
        value = (float)(value - mean);
        if (++count > n->window_frames) {
          mean = sum / count;
          sum = mean * n->prior_frames;
          count = n->prior_frames;
        }
      }
      signal_frame(s, job->first_frame + frame)[i] = value;
    }
    s->mean[i] = mean, s->sum[i] = sum, s->count[i] = count;
  }
}

// Begins F9, batch: cepstra into level 0, and their sums. At the end it makes mean[i], and the factor in sum[i].
DEVICE void sum_whole(CONSTANT DynamicsNumbers *n, const SignalJob *job, const SignalState *s, GLOBAL const float *cepstra,
                      uint32_t n_threads) {
  const uint32_t n_total = job->first_frame + job->n_frames;
  for (uint32_t i = thread_number(); i < n->n_ceps; i += n_threads) {
    double sum = job->begins ? 0 : s->sum[i], count = job->begins ? 0 : s->count[i];
    for (uint32_t frame = 0; frame < job->n_frames; ++frame) {
      GLOBAL const float *const row = cepstra + (size_t)frame * n->row_values;
      if (n->counted_cepstrum < 0 || row[n->counted_cepstrum] >= 0) {
        sum += row[i];
        ++count;
      }
      signal_frame(s, job->first_frame + frame)[i] = row[i];
    }
    s->sum[i] = sum, s->count[i] = count;
    if (!job->ends || job->ended) continue;
    const double mean = count > 0 ? sum / count : 0;
    double squares = 0;
    for (uint32_t frame = 0; n->whole_variance && frame < n_total; ++frame) {
      const double difference = signal_frame(s, frame)[i] - mean;
      squares += difference * difference;
    }
    const double variance = squares / n_total;
    s->mean[i] = mean;
    s->sum[i] = n->whole_variance ? 1 / sqrt(variance < kVarianceFloor ? kVarianceFloor : variance) : 1;
  }
}

// Ends F9, batch, with the end of the signal.
DEVICE void scale_whole(CONSTANT DynamicsNumbers *n, const SignalJob *job, const SignalState *s, uint32_t n_threads) {
  const bool is_end = job->whole && job->ends && !job->ended;
  const uint32_t n_values = is_end ? (job->first_frame + job->n_frames) * n->n_ceps : 0;
  for (uint32_t k = thread_number(); k < n_values; k += n_threads) {
    const uint32_t i = k % n->n_ceps;
    GLOBAL float *const value = signal_frame(s, k / n->n_ceps) + i;
    *value = (float)((*value - s->mean[i]) * s->sum[i]);
  }
}

// Computes F9 of the job's frames, by a block.
DEVICE void normalise_cepstra(CONSTANT DynamicsNumbers *n, const SignalJob *job, const SignalState *s,
                              GLOBAL const float *prior_mean, GLOBAL const float *cepstra, uint32_t n_threads) {
  if (job->whole) {
    sum_whole(n, job, s, cepstra, n_threads);
  } else {
    normalise_live(n, job, s, prior_mean, cepstra, n_threads);
  }
  block_sync();
  scale_whole(n, job, s, n_threads);
}

// Computes F10's levels above the cepstra, as far as frames allow, by a block.
DEVICE void make_levels(CONSTANT DynamicsNumbers *n, const SignalJob *job, const SignalState *s, GLOBAL const float *slope,
                        uint32_t n_threads) {
  const uint32_t n_total = job->first_frame + job->n_frames, radius = n->n_slope / 2;
  for (uint32_t level = 1; level < n->n_levels; ++level) {
    block_sync();
    const uint32_t hidden = job->whole ? n_total : level * radius;  // newest frames that have no such level yet
    const uint32_t begin = job->ended ? n_total : job->first_frame - min(job->first_frame, hidden);
    const uint32_t end = job->ends ? n_total : n_total - min(n_total, hidden);
    for (uint32_t k = thread_number(); k < (end - begin) * n->n_ceps; k += n_threads) {
      const uint32_t frame = begin + k / n->n_ceps, i = k % n->n_ceps;
      double sum = 0;
      for (uint32_t j = 0; j < n->n_slope; ++j) {
        GLOBAL const float *const below = nearest_frame(s, (int64_t)frame + j - radius, n_total - 1) + (level - 1) * n->n_ceps;
        sum += (double)slope[j] * below[i];
      }
      signal_frame(s, frame)[level * n->n_ceps + i] = (float)sum;
    }
  }
}

// Returns F10's value i of a frame's row before the transform; `last` is the newest frame.
DEVICE float tap_sum(const SignalState *s, GLOBAL const uint32_t *tap_begin, GLOBAL const SignalTap *taps, uint32_t frame,
                     uint32_t last, uint32_t i) {
  double sum = 0;
  for (uint32_t k = tap_begin[i]; k < tap_begin[i + 1]; ++k) {
    const SignalTap tap = taps[k];
    sum += (double)tap.weight * nearest_frame(s, (int64_t)frame + tap.offset, last)[tap.column];
  }
  return (float)sum;
}

// Returns dimension i of a transform [n_values or one more][n_dims] of values; the last line, if any, has the offsets.
DEVICE double transformed(GLOBAL const float *transform, uint32_t n_dims, uint32_t n_values, bool has_offsets,
                          LOCAL const float *values, uint32_t i) {
  double sum = has_offsets ? transform[(size_t)n_values * n_dims + i] : 0;
  for (uint32_t j = 0; j < n_values; ++j) sum += (double)transform[(size_t)j * n_dims + i] * values[j];
  return sum;
}

// Returns where the signal's own transform is, as [n_dims + 1][n_dims].
DEVICE GLOBAL float *own_transform(CONSTANT DynamicsNumbers *n, const SignalJob *job, GLOBAL float *transforms) {
  return transforms + (size_t)job->slot * n->n_dims * (n->n_dims + 1);
}

// Takes over the signal's new transform, if any, from the input of the step.
DEVICE void keep_transform(CONSTANT DynamicsNumbers *n, const SignalJob *job, GLOBAL const float *given,
                           GLOBAL float *transforms, uint32_t n_threads) {
  if (job->new_transform == kNowhere) return;
  GLOBAL float *const own = own_transform(n, job, transforms);
  const uint32_t n_values = n->n_dims * (n->n_dims + 1);
  for (uint32_t k = thread_number(); k < n_values; k += n_threads) own[k] = given[job->new_transform + k];
}

// Computes F10, then A1: row `number` of the job. `plain`: the rows without A1. values, made: [n_values] if F10 has a
// transform; [n_dims]. By a block of n_threads; blocks of rows that the job does not have only reach the barriers.
DEVICE void make_row(CONSTANT DynamicsNumbers *n, const SignalJob *job, const SignalState *s, GLOBAL const uint32_t *tap_begin,
                     GLOBAL const SignalTap *taps, GLOBAL const float *transform, GLOBAL float *transforms, LOCAL float *values,
                     LOCAL float *made, uint32_t number, GLOBAL float *rows, GLOBAL float *plain, uint32_t n_threads) {
  const double most = FLT_MAX;
  const bool is_row = number < job->n_rows;
  const uint32_t n_dims = is_row ? n->n_dims : 0, n_values = is_row ? n->n_values : 0;
  const uint32_t frame = job->first_row + number, last = job->first_frame + job->n_frames - 1;
  LOCAL float *const to = n->has_transform ? values : made;
  for (uint32_t i = thread_number(); i < n_values; i += n_threads) to[i] = tap_sum(s, tap_begin, taps, frame, last, i);
  block_sync();
  const bool has_offsets = n->transform_cols > n_values;
  for (uint32_t i = thread_number(); i < n_dims && n->has_transform; i += n_threads) {
    made[i] = (float)transformed(transform, n_dims, n_values, has_offsets, values, i);
  }
  block_sync();
  GLOBAL float *const row = rows + (size_t)(job->to_row + number) * n_dims;
  for (uint32_t i = thread_number(); i < n_dims; i += n_threads) {
    if (job->to_plain != kNowhere) plain[(size_t)(job->to_plain + number) * n_dims + i] = made[i];
    if (job->transforms) {
      const double sum = transformed(own_transform(n, job, transforms), n_dims, n_dims, true, made, i);
      row[i] = (float)(sum < -most ? -most : most < sum ? most : sum);
    } else {
      row[i] = made[i];
    }
  }
}

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_SIGNAL_H
