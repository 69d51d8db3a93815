// SPDX-License-Identifier: Apache-2.0
// Features in double, directly from the conventions of a FrontEnd: one function for each equation F1 ... F11 of
// docs/equations.md, with plain loops and a Fourier transform by its definition. Tests compare the fast front end with these.
#pragma once

#include <cstdint>
#include <vector>

#include "core/feature/front_end.h"

namespace asr::reference {

using Row = std::vector<double>;
using Rows = std::vector<Row>;

// F1. Frames of a whole signal; [0] of a frame is the sample before it, then window_samples samples.
Rows frames(const FrontEnd &f, const std::vector<double> &signal);

// F2. Mean removal, pre-emphasis, window. *log_energy: the value that replaces c0 with use_energy.
Row windowed(const FrontEnd &f, const Row &frame, double *log_energy);

// F3. Power or magnitude of bins 0 ... fft_samples / 2.
Row spectrum(const FrontEnd &f, const Row &windowed);

// F4. The mel scale, and the VTLN warp of a frequency.
double hz_to_mel(double hz);
double mel_to_hz(double mel);
double warped_hz(const FrontEnd &f, double hz, double warp);

// F5. Energies of the mel bands.
Row mel(const FrontEnd &f, const Row &spectrum, double warp);

// F6. Noise removal over all frames, then the logarithm.
Rows noise_removed(const Rows &mel);
Row logarithm(const FrontEnd &f, const Row &mel);

// F7, F8. Cosine transform and lifter.
Row cepstra(const FrontEnd &f, const Row &log_mel, double log_energy);
// F8 of the cepstra 0, 1 ..., the energy, and their order.
Row arranged(const FrontEnd &f, const Row &cepstra, double log_energy);

// F11, step by step: the spectrum a[-1] ... a[M]; r[0] ... r[order]; the predictor of such a signal; its cepstra 0 ... order.
Row auditory_spectrum(const FrontEnd &f, const Row &log_mel, double warp);
Row autocorrelations(const Row &spectrum, uint32_t order);
struct Predictor {
  Row alpha;  // weights of the past samples 1 ... order: x[n] + sum alpha x[n - i] is the error
  double error;
};
Predictor predictor(const Row &autocorrelations);
Row all_pole_cepstra(const Predictor &predictor);
// F11 with F8, in place of cepstra().
Row plp(const FrontEnd &f, const Row &log_mel, double log_energy, double warp);

// F1 ... F8, F11 of a whole signal.
Rows mfcc(const FrontEnd &f, const std::vector<double> &signal, double warp = 1);

// F9. Normalisation over the whole utterance; live; or running from the prior of the model.
Rows batch_normalised(const FrontEnd &f, const Rows &cepstra);
Rows live_normalised(const FrontEnd &f, const Rows &cepstra);
Rows running_normalised(const FrontEnd &f, const Rows &cepstra);

// F10. Dynamic features, splicing and transform.
Rows dynamic(const FrontEnd &f, const Rows &cepstra);

}  // namespace asr::reference
