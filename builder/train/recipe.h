// SPDX-License-Identifier: Apache-2.0
// The order of a training: when utterances are aligned again, when Gaussians are split, and how many rounds follow.
#pragma once

#include <cstdint>
#include <vector>

#include "builder/train/mixture_model.h"

namespace asr::train {

struct Recipe {
  bool flat = false;                 // begin with one Gaussian a state, of the mean and variance of all data
  bool tied = false;                 // with flat: states of a phone keep Gaussians in common, whatever the context
  bool full = false;                 // covariances
  bool semi_tied = false;            // diagonal covariances of features that an estimated transform makes
  uint32_t n_gaussians = 0;          // Gaussians of a mixture; 0: as the start has
  uint32_t n_silence_gaussians = 0;  // the same of a mixture of silence and fillers alone; 0: as the others
  uint32_t n_rounds = 4;             // after an alignment
  uint32_t n_alignments = 2;         // with each number of Gaussians
  double variance_floor = 0.01;      // share of the variance of all data
  double smooth = 200;               // EstimateOptions
  bool smooth_to_shared = true;      // towards the model's mean correlations instead of diagonals
  double weight_prior = 200;         // EstimateOptions
  double min_frames = 10;            // EstimateOptions
  double beam = 1000;                // beam of forced alignment
  double lattice_beam = 0;           // > 0: frames are shared among the states of a lattice
  CovarianceSharing sharing = CovarianceSharing::kNone;  // sharing of full covariances
  uint32_t n_covariance_classes = 0;                     // of kClasses, in each stream
  bool shares_correlations = false;                      // shares correlations and not variances
};

// An alignment and the rounds that follow it.
struct TrainingStep {
  bool equal_stretches = false;  // instead of a search
  bool unties = false;           // after the alignment
  bool makes_full = false;       // after it
  bool transforms = false;       // after it: estimates the transform of semi-tied covariances
  uint32_t n_gaussians = 0;      // after it mixtures are split into so many, or as many as they may have; 0: not
  uint32_t n_rounds = 1;
};

// max_gaussians: of a mixture of the start.
std::vector<TrainingStep> steps_of(const Recipe &recipe, uint32_t max_gaussians);

}  // namespace asr::train
