// SPDX-License-Identifier: Apache-2.0
// Trains the Gaussians of a model on utterances with transcripts, step by step of a recipe. Called by `senone train em`.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "builder/train/device_sums.h"
#include "builder/train/em.h"
#include "builder/train/forced_aligner.h"
#include "builder/train/recipe.h"
#include "builder/train/rows_file.h"
#include "builder/train/transcript_graphs.h"

namespace asr::train {

struct TrainingUtterance {
  std::string id;
  Transcript words;
  uint64_t first_row = 0;
  uint32_t n_rows = 0;
};

struct RoundReport {
  size_t step = 0, n_steps = 0;  // from 1 on
  uint32_t round = 0;            // round of the step, from 1 on
  uint64_t n_gaussians = 0;
  size_t n_left_out = 0;      // utterances
  double log_likelihood = 0;  // mean per frame, before the round
};

struct TrainingReports {
  std::function<void(double fraction, const std::string &what)> progress;
  std::function<void(const RoundReport &)> round;
  std::function<void(const std::string &)> warning;  // of a device that no longer sums, once
};

// Returns the number of Gaussians of the largest codebook.
uint32_t max_gaussians(const AcousticModel &model);

class Trainer {
 public:
  // All must outlive this.
  Trainer(const Device &device, const HmmSet &set, const TranscriptGraphs &graphs, RowsFile *rows,
          const std::vector<TrainingUtterance> &utterances, ThreadPool *pool, TrainingReports reports);

  // Throws if no utterance can be aligned. `source` names the result in errors.
  AcousticModel train(const AcousticModel &start, const Recipe &recipe, const std::string &source);

  // Returns the features' new transform, [n_dims][n_dims]; empty if the recipe estimates none. It is the front end's
  // last step (append_transform).
  const std::vector<double> &transform() const { return transform_; }

  // Returns the device that sums statistics; nullptr: the host does.
  const DeviceSums *device_sums() const { return device_sums_.get(); }

  // Returns the reasons why the last alignment left utterances out, by number.
  const std::map<size_t, std::string> &left_out() const { return left_out_; }
  uint64_t n_rows() const { return rows_.n_used(); }  // rows of the other utterances

  // Returns the pdf of each row in the last alignment; kNoState in utterances that it left out.
  const std::vector<uint32_t> &states() const { return rows_.states; }

  // Returns where in a word the phone of each row is (WordPosition), in the last alignment of a search; kAnyPosition between
  // words.
  const std::vector<uint8_t> &positions() const { return positions_; }

 private:
  MixtureModel first_model(const AcousticModel &start, const Recipe &recipe);
  void run(const TrainingStep &step, const Recipe &recipe, const std::string &source, MixtureModel *model);
  void estimate_transform(const Recipe &recipe, MixtureModel *model);
  template <typename Work>
  void sum(const Work &work);
  void warn_of_device();
  void split_all(uint32_t n_gaussians, const Recipe &recipe, MixtureModel *model) const;
  void align(const AcousticModel &model, const Recipe &recipe);
  void align_in_equal_stretches();
  void set_states(size_t utterance, const std::vector<uint32_t> &states, const std::string &problem);
  void set_shares(const std::vector<std::vector<StateShare>> &shares);
  void check_alignment() const;
  void report(double share, const std::string &what) const;

  const Device &device_;
  const HmmSet &set_;
  const TranscriptGraphs &graphs_;
  const std::vector<TrainingUtterance> &utterances_;
  ThreadPool *const pool_;
  const TrainingReports reports_;
  RowsFile *const rows_file_;
  const std::unique_ptr<DeviceSums> device_sums_;
  TrainingRows rows_;
  std::vector<uint8_t> positions_;
  std::vector<double> transform_;
  EstimateOptions estimate_;
  std::vector<size_t> by_length_;
  std::map<size_t, std::string> left_out_;
  size_t step_ = 0, n_steps_ = 0;
  bool has_warned_ = false;
};

}  // namespace asr::train
