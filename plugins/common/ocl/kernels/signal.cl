// SPDX-License-Identifier: Apache-2.0
// From the cepstra of new frames to rows that are scored: F6 (noise removal), F9 (live) and F10 of docs/equations.md.
//
// signal_frames: a work-group owns a signal and takes its new frames in their order; an item has a mel band, then a cepstrum, with
// the running estimates of both in the signal's memory. Normalised cepstra go into the ring of the signal's last frames, then the
// levels above them, all frames of a level at once. signal_rows: a work-group owns a row; an item sums the taps of a value, then a
// row of the transform. Cepstra may be log mel energies [n_mel]; layouts in plugins/common/kernels/signal_types.h.
//
// Accumulators are double, in the order of the host (core/feature), without contraction: the same cepstra give the same rows bit
// for bit, but for an ulp of double in exp and log of noise removal. Reference: tests/reference noise_removed, live_normalised,
// dynamic. Floor: a frame of noise removal is a chain of n_mel double additions; the rest is 13 to 100 loads a value.
//   -D BANDS=... (n_mel if noise is removed, else 1) VALUES=... (n_values if there is a transform, else 1)
#include "plugins/common/kernels/signal_types.h"

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

#define MAX_GAIN 20.0
#define PEAK_DECAY 0.85
#define MASKED_PEAK 0.2
#define SMOOTHED_BANDS 4u  // to each side

// A signal's memory.
typedef struct State {
  __global double *mean, *sum, *count, *power, *noise, *floor, *peak;
  __global float *levels;
  uint n_ring, n_columns;
} State;

static inline State state_of(__constant DynamicsNumbers *n, __global double *states, uint slot) {
  const uint n_bands = n->removes_noise ? n->n_mel : 0;
  State s;
  s.mean = states + (size_t)slot * n->n_state_doubles, s.sum = s.mean + n->n_ceps, s.count = s.sum + n->n_ceps;
  s.power = s.count + n->n_ceps, s.noise = s.power + n_bands, s.floor = s.noise + n_bands, s.peak = s.floor + n_bands;
  s.levels = (__global float *)(s.peak + n_bands);
  s.n_ring = n->n_ring, s.n_columns = n->n_levels * n->n_ceps;
  return s;
}

static inline __global float *frame_of(const State *s, uint t) { return s->levels + (size_t)(t % s->n_ring) * s->n_columns; }

// Frame t, or the nearest of 0 ... last.
static inline __global const float *nearest(const State *s, long t, uint last) {
  return frame_of(s, (uint)clamp(t, 0L, (long)last));
}

static inline double follow_lower_envelope(double value, double envelope) {
  const double keep = value >= envelope ? 0.995 : 0.5;
  return keep * envelope + (1 - keep) * value;
}

// F6: the gain of a band of energy e.
static inline double gain_of(double e, uint m, bool is_first, const State *s) {
  double power = is_first ? e : s->power[m], noise = is_first ? e / MAX_GAIN : s->noise[m];
  double lowest = is_first ? noise : s->floor[m], peak = is_first ? 0 : s->peak[m];
  power = 0.7 * power + 0.3 * e;
  noise = follow_lower_envelope(power, noise);
  const double unmasked = fmax(power - noise, 1.0);
  lowest = follow_lower_envelope(unmasked, lowest);
  peak *= PEAK_DECAY;
  const double signal = fmax(unmasked < PEAK_DECAY * peak ? MASKED_PEAK * peak : unmasked, lowest);
  peak = fmax(peak, unmasked);
  s->power[m] = power, s->noise[m] = noise, s->floor[m] = lowest, s->peak[m] = peak;
  return signal < MAX_GAIN * power ? fmax(signal / power, 1 / MAX_GAIN) : MAX_GAIN;
}

// F6, F7: log mel energies become cepstra in their place. energy, gain: [n_mel].
static inline void remove_noise(__constant DynamicsNumbers *n, const SignalJob *job, const State *s,
                                __global const float *noise_dct, __global float *cepstra, __local double *energy,
                                __local double *gain) {
  const uint n_mel = n->n_mel, first_item = get_local_id(0), n_items = get_local_size(0);
  for (uint frame = 0; frame < job->n_frames; ++frame) {
    __global float *const row = cepstra + (size_t)frame * n_mel;
    for (uint m = first_item; m < n_mel; m += n_items) {
      energy[m] = fmax(exp((double)row[m]) - n->log_add, 0.0);
      gain[m] = gain_of(energy[m], m, job->begins && frame == 0, s);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (uint m = first_item; m < n_mel; m += n_items) {
      const uint first = m - min(m, SMOOTHED_BANDS), end = min(m + SMOOTHED_BANDS + 1, n_mel);
      double sum = 0;
      for (uint k = first; k < end; ++k) sum += gain[k];
      energy[m] = log(fmax(energy[m] * (sum / (end - first)), (double)n->log_floor) + n->log_add);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = first_item; i < n->n_ceps; i += n_items) {
      double sum = 0;
      for (uint m = 0; m < n_mel; ++m) sum += noise_dct[(size_t)i * n_mel + m] * energy[m];
      row[i] = (float)sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
}

// F9: cepstra into level 0 of the ring.
static inline void normalise(__constant DynamicsNumbers *n, const SignalJob *job, const State *s,
                             __global const float *prior_mean, __global const float *cepstra) {
  for (uint i = get_local_id(0); i < n->n_ceps; i += get_local_size(0)) {
    double mean = job->begins ? prior_mean[i] : s->mean[i], count = job->begins ? n->prior_frames : s->count[i];
    double sum = job->begins ? mean * n->prior_frames : s->sum[i];
    for (uint frame = 0; frame < job->n_frames; ++frame) {
      __global const float *const row = cepstra + (size_t)frame * n->row_values;
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
      frame_of(s, job->first_frame + frame)[i] = value;
    }
    s->mean[i] = mean, s->sum[i] = sum, s->count[i] = count;
  }
}

// F10: the levels above the cepstra, as far as they can be told.
static inline void make_levels(__constant DynamicsNumbers *n, const SignalJob *job, const State *s,
                               __global const float *slope) {
  const uint n_total = job->first_frame + job->n_frames, radius = n->n_slope / 2;
  for (uint level = 1; level < n->n_levels; ++level) {
    barrier(CLK_GLOBAL_MEM_FENCE);
    const uint hidden = level * radius;  // newest frames that have no such level yet
    const uint begin = job->ended ? n_total : job->first_frame - min(job->first_frame, hidden);
    const uint end = job->ends ? n_total : n_total - min(n_total, hidden);
    for (uint k = get_local_id(0); k < (end - begin) * n->n_ceps; k += get_local_size(0)) {
      const uint frame = begin + k / n->n_ceps, i = k % n->n_ceps;
      double sum = 0;
      for (uint j = 0; j < n->n_slope; ++j) {
        __global const float *const below = nearest(s, (long)frame + j - radius, n_total - 1) + (level - 1) * n->n_ceps;
        sum += (double)slope[j] * below[i];
      }
      frame_of(s, frame)[level * n->n_ceps + i] = (float)sum;
    }
  }
}

__kernel void signal_frames(__constant DynamicsNumbers *numbers, __global const SignalJob *restrict jobs,
                            __global const float *restrict noise_dct, __global const float *restrict prior_mean,
                            __global const float *restrict slope, __global float *cepstra, __global double *states) {
  __local double energy[BANDS], gain[BANDS];
  const SignalJob job = jobs[get_group_id(0)];
  const State state = state_of(numbers, states, job.slot);
  __global float *const of_signal = cepstra + job.first_value;
  if (numbers->removes_noise) remove_noise(numbers, &job, &state, noise_dct, of_signal, energy, gain);
  normalise(numbers, &job, &state, prior_mean, of_signal);
  make_levels(numbers, &job, &state, slope);
}

__kernel void signal_rows(__constant DynamicsNumbers *numbers, __global const SignalJob *restrict jobs,
                          __global const uint *restrict tap_begin, __global const SignalTap *restrict taps,
                          __global const float *restrict transform, __global double *states, __global float *restrict rows) {
  __local float values[VALUES];
  const SignalJob job = jobs[get_group_id(0)];
  const uint number = get_group_id(1);
  const bool is_row = number < job.n_rows, is_transformed = numbers->has_transform;
  const State state = state_of(numbers, states, job.slot);
  const uint frame = job.first_row + number, last = job.first_frame + job.n_frames - 1, n_dims = numbers->n_dims;
  const uint n_values = is_row ? numbers->n_values : 0;
  __global float *const row = rows + (size_t)(job.to_row + number) * n_dims;
  for (uint i = get_local_id(0); i < n_values; i += get_local_size(0)) {
    double sum = 0;
    for (uint k = tap_begin[i]; k < tap_begin[i + 1]; ++k) {
      const SignalTap tap = taps[k];
      sum += (double)tap.weight * nearest(&state, (long)frame + tap.offset, last)[tap.column];
    }
    if (is_transformed) {
      values[i] = (float)sum;
    } else {
      row[i] = (float)sum;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_local_id(0); i < n_dims && is_row && is_transformed; i += get_local_size(0)) {
    double sum = numbers->transform_cols > n_values ? transform[(size_t)n_values * n_dims + i] : 0;
    for (uint j = 0; j < n_values; ++j) sum += (double)transform[(size_t)j * n_dims + i] * values[j];
    row[i] = (float)sum;
  }
}
