// SPDX-License-Identifier: Apache-2.0
#include "builder/train/new/stages.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "builder/train/em.h"

namespace asr::train {
namespace {

// Calls `use` with the phones of each utterance.
template <typename Use>
void for_each_utterance(const Stage &stage, const std::vector<TrainingUtterance> &utterances, const Use &use) {
  const std::vector<PhoneState> state_of = phone_states(stage.set);
  for (const TrainingUtterance &utterance : utterances) {
    if (stage.rows.pdfs[utterance.first_row] == kNoState) continue;
    use(phone_segments(state_of, stage.rows, utterance.first_row, utterance.n_rows));
  }
}

AcousticModel one_stream(uint32_t n_dims) {
  AcousticModel model;
  model.n_dims = n_dims;
  model.streams.resize(1);
  model.streams[0].dims.resize(n_dims);
  std::iota(model.streams[0].dims.begin(), model.streams[0].dims.end(), 0u);
  return model;
}

// Returns a model of one Gaussian for each leaf. One without rows has the Gaussian of all.
AcousticModel gaussians_of(const std::vector<RowMoments> &leaves, const RowMoments &all, const std::vector<double> &floor,
                           const std::string &source) {
  MixtureModel model;
  model.n_dims = static_cast<uint32_t>(all.sum.size());
  model.streams = one_stream(model.n_dims).streams;
  for (const RowMoments &of_leaf : leaves) {
    const RowMoments &moments = of_leaf.frames > 0 ? of_leaf : all;
    Mixture mixture{0, {}, {}, {1}, {of_leaf.frames}, {}};
    for (size_t i = 0; i < all.sum.size(); ++i) {
      const double mean = moments.sum[i] / moments.frames, variance = moments.square[i] / moments.frames - mean * mean;
      mixture.means.push_back(mean);
      mixture.covariances.push_back(std::max(variance, floor[i]));
    }
    model.state_mixture.push_back(static_cast<uint32_t>(model.mixtures.size()));
    model.state_weight_row.push_back(0);
    model.mixtures.push_back(std::move(mixture));
  }
  return to_acoustic_model(model, source);
}

Stage run(const StageData &data, HmmSet set, const AcousticModel &start, RowsFile *rows, const Recipe &recipe) {
  Stage stage;
  stage.set = std::move(set);
  const TranscriptGraphs graphs(stage.set, data.lexicon, {});
  Trainer trainer(data.device, stage.set, graphs, rows, data.utterances, data.pool, data.reports);
  stage.acoustic = trainer.train(start, recipe, data.source);
  stage.rows = {trainer.states(), trainer.positions()};
  stage.transform = trainer.transform();
  stage.left_out = trainer.left_out();
  stage.n_rows = trainer.n_rows();
  std::vector<PhoneSegment> all;
  for_each_utterance(stage, data.utterances, [&](const std::vector<PhoneSegment> &segments) {
    all.insert(all.end(), segments.begin(), segments.end());
  });
  estimate_transitions(all, &stage.set);
  return stage;
}

}  // namespace

Stage train_monophones(const StageData &data, const HmmSet &monophones, RowsFile *rows, const Recipe &recipe) {
  AcousticModel shape = one_stream(rows->n_dims());
  shape.n_states = monophones.n_pdfs;
  return run(data, monophones, shape, rows, recipe);
}

Stage train_in_context(const StageData &data, const Stage &before, RowsFile *rows, const TreeOptions &options,
                       const Recipe &recipe) {
  const ContextMoments moments = context_moments(before, data.utterances, rows->map(), rows->n_dims(), data.pool);
  RowMoments all;
  for (const auto &[context, of_states] : moments) {
    for (const RowMoments &of_state : of_states) all.add(of_state);
  }
  std::vector<double> variance;
  for (size_t i = 0; i < all.sum.size(); ++i) {
    const double mean = all.sum[i] / all.frames;
    variance.push_back(all.square[i] / all.frames - mean * mean);
  }
  const std::vector<double> floor = floor_of(variance, recipe.variance_floor);
  const StateTree tree(before.set, moments, floor, options, data.pool);
  const AcousticModel start = gaussians_of(tree.leaf_moments(), all, floor, data.source);
  return run(data, tree.hmms(data.source), start, rows, recipe);
}

Stage train_further(const StageData &data, const Stage &before, RowsFile *rows, const Recipe &recipe) {
  return run(data, before.set, before.acoustic, rows, recipe);
}

ContextMoments context_moments(const Stage &stage, const std::vector<TrainingUtterance> &utterances, const float *rows,
                               uint32_t n_dims, ThreadPool *pool) {
  std::map<PhoneInContext, std::vector<PhoneSegment>> segments_of;
  const auto heard = [&](const PhoneSegment &segment) {
    return stage.set.phones[segment.phone].filler ? stage.set.silence : segment.phone;
  };
  for_each_utterance(stage, utterances, [&](const std::vector<PhoneSegment> &segments) {
    for (size_t i = 0; i < segments.size(); ++i) {
      PhoneInContext context{segments[i].phone, segments[i].position, stage.set.silence, stage.set.silence};
      if (!stage.set.phones[context.phone].filler) {
        if (i > 0) context.left = heard(segments[i - 1]);
        if (i + 1 < segments.size()) context.right = heard(segments[i + 1]);
      }
      segments_of[context].push_back(segments[i]);
    }
  });
  ContextMoments moments;
  std::vector<std::pair<const std::vector<PhoneSegment> *, MomentsOfPhone *>> jobs;
  for (const auto &[context, segments] : segments_of) jobs.emplace_back(&segments, &moments[context]);
  pool->run(jobs.size(), [&](size_t i) {
    for (const PhoneSegment &segment : *jobs[i].first) {
      for (uint32_t k = 0; k < kStatesOfPhone; ++k) {
        for (uint64_t row = segment.begin[k]; row < segment.begin[k + 1]; ++row) {
          (*jobs[i].second)[k].add(rows + row * n_dims, n_dims);
        }
      }
    }
  });
  return moments;
}

}  // namespace asr::train
