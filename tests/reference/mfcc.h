// SPDX-License-Identifier: Apache-2.0
// Features in double, directly from the conventions of a FrontEnd: one function for each equation F1 ... F10 of
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

// F4. The VTLN warp of a frequency.
double warped_hz(const FrontEnd &f, double hz, double warp);

// F5. Energies of the mel bands.
Row mel(const FrontEnd &f, const Row &spectrum, double warp);

// F6. Noise removal over all frames, then the logarithm.
Rows noise_removed(const Rows &mel);
Row logarithm(const FrontEnd &f, const Row &mel);

// F7, F8. Cosine transform and lifter.
Row cepstra(const FrontEnd &f, const Row &log_mel, double log_energy);

// F1 ... F8 of a whole signal.
Rows mfcc(const FrontEnd &f, const std::vector<double> &signal, double warp = 1);

// F9. Normalisation over the whole utterance; live; or running from the prior of the model.
Rows batch_normalised(const FrontEnd &f, const Rows &cepstra);
Rows live_normalised(const FrontEnd &f, const Rows &cepstra);
Rows running_normalised(const FrontEnd &f, const Rows &cepstra);

// F10. Dynamic features, splicing and transform.
Rows dynamic(const FrontEnd &f, const Rows &cepstra);

}  // namespace asr::reference
