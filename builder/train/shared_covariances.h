// SPDX-License-Identifier: Apache-2.0
// Full covariances, or their correlations, that several Gaussians have in common (equation T9): all of a mixture, all
// of a feature stream, or those of a class that likelihood chooses.
#pragma once

#include "builder/train/estimate.h"
#include "core/base/thread_pool.h"

namespace asr::train {

// Begins sharing: each group gets the mean of its covariances, by the Gaussians' weights. n_classes: of kClasses, in each
// stream; fewer where there are not so many Gaussians. correlations: Gaussians keep their variances, and get the mean of the
// correlations.
void begin_sharing(CovarianceSharing sharing, uint32_t n_classes, bool correlations, ThreadPool *pool, MixtureModel *model);

// Gives each group of Gaussians the mean of the covariances or correlations that were estimated from enough frames, by their
// frames, smoothed and floored; before that, Gaussians move to the class whose mean makes their frames likeliest. A group
// without any stays as it is. Does nothing to models that share none.
void share_covariances(const EstimateOptions &options, ThreadPool *pool, MixtureModel *model);

}  // namespace asr::train
