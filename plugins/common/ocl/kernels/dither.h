// SPDX-License-Identifier: Apache-2.0
// The noise of asr_features_view.dither (F1), as plugins/common/dither.h makes it.
static inline ulong mix_bits(ulong x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdUL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53UL;
  x ^= x >> 33;
  return x;
}

static inline float dither_noise(uint seed, ulong frame, uint sample) {
  const ulong bits = mix_bits(mix_bits(frame + ((ulong)seed << 32)) + sample);
  const int sum = (int)((bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48));
  return (float)(sum - 2 * 65535) * 2.64289e-5f;  // sqrt(3) / 65536
}
