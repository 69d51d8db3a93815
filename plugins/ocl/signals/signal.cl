// SPDX-License-Identifier: Apache-2.0
// The kernels of the fused step; plugins/gpu/signals/signal-inl.h has the equations.
//   -D BANDS=... (n_mel if noise is removed, else 1) VALUES=... (n_values if there is a transform, else 1) DIMS=... (n_dims)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
#include "plugins/gpu/signals/signal-inl.h"

__kernel void signal_frames(__constant DynamicsNumbers *numbers, __global const SignalJob *restrict jobs,
                            __global const float *restrict noise_dct, __global const float *restrict prior_mean,
                            __global const float *restrict slope, __global float *cepstra, __global double *states,
                            __global const float *restrict given, __global float *transforms, __global float *wholes) {
  __local double energy[BANDS], gain[BANDS];
  const SignalJob job = jobs[get_group_id(0)];
  const SignalState state = signal_state(numbers, &job, states, wholes);
  const uint n_items = get_local_size(0);
  __global float *const of_signal = cepstra + job.first_value;
  if (numbers->removes_noise) remove_noise(numbers, &job, &state, noise_dct, of_signal, energy, gain, n_items);
  normalise_cepstra(numbers, &job, &state, prior_mean, of_signal, n_items);
  make_levels(numbers, &job, &state, slope, n_items);
  keep_transform(numbers, &job, given, transforms, n_items);
}

__kernel void signal_rows(__constant DynamicsNumbers *numbers, __global const SignalJob *restrict jobs,
                          __global const uint *restrict tap_begin, __global const SignalTap *restrict taps,
                          __global const float *restrict transform, __global float *transforms, __global double *states,
                          __global float *wholes, __global float *restrict rows, __global float *restrict plain) {
  __local float values[VALUES], made[DIMS];
  const SignalJob job = jobs[get_group_id(0)];
  const uint number = get_group_id(1);
  const SignalState state = signal_state(numbers, &job, states, wholes);
  make_row(numbers, &job, &state, tap_begin, taps, transform, transforms, values, made, number, rows, plain, get_local_size(0));
}
