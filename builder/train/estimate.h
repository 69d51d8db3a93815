// SPDX-License-Identifier: Apache-2.0
// From statistics to the Gaussians and weights that explain them best within the floors (equations T3 to T5), and the splitting
// of Gaussians (T6).
#pragma once

#include <vector>

#include "builder/train/statistics.h"

namespace asr::train {

struct EstimateOptions {
  // A mixture with fewer frames stays as it is, and so does a state's row of weights in a mixture that states share. A Gaussian
  // with fewer keeps its mean and covariance, and gets a weight.
  double min_frames = 10;
  double min_weight = 1e-5;  // least weight of a Gaussian in its mixture
  // Frames of a prior that draws a state's weights towards the start's, where states share Gaussians.
  double weight_prior = 0;
  // Frames of a prior that draws full covariances towards their diagonals, or towards the correlations below.
  double smooth = 0;
  std::vector<std::vector<double>> correlations;  // correlations of each stream, lower triangles by rows; empty: diagonals
  std::vector<double> variance_floor;             // [n_dims]
};

// Returns the variance floor as a share of the variance of the data.
std::vector<double> floor_of(const std::vector<double> &variance, double share);

// Returns the variance floor (T4) of a stream's dimensions.
std::vector<double> floor_of_dims(const EstimateOptions &options, const std::vector<uint32_t> &dims);

// Smooths a full covariance of d dimensions that was estimated from so many frames of a stream (equation T5).
void smooth(const EstimateOptions &options, uint32_t stream, double frames, size_t d, std::vector<double> *covariance);

// The mean correlations of each stream's Gaussians, weighted by their frames. The covariances must be full.
std::vector<std::vector<double>> mean_correlations(const MixtureModel &model);

Mixture estimate(const MixtureModel &model, const Statistics &statistics, const EstimateOptions &options);

// Splits the Gaussian with most frames in two, until the mixture has n_gaussians, or none is left that has frames for two.
void split(const MixtureModel &model, size_t n_gaussians, double min_frames, Mixture *mixture);

}  // namespace asr::train
