// SPDX-License-Identifier: Apache-2.0
// A checked call of the extension "fusion", in the tables of plugins/common/fuse_types.h. The CPU back end works on
// them; device/fuser.h copies them to a device.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/backend/asr_backend_fusion.h"
#include "core/base/error.h"
#include "plugins/common/fuse_types.h"
#include "plugins/common/score_checks.h"

namespace asr {

static_assert(kFuseMostModels == ASR_FUSE_MOST_TERMS && kFuseSum == ASR_FUSE_SUM && kFuseLogSum == ASR_FUSE_LOG_SUM &&
              kFuseMax == ASR_FUSE_MAX);

// Acoustic is a back end's class, with check_rows() and n_states().
template <typename Acoustic>
struct FuseCall {
  std::vector<Acoustic *> models;  // distinct
  std::vector<FuseTerm> terms;
  std::vector<FuseJob> jobs;
  std::vector<FuseRow> rows;

  // acoustic_of: the back end's object of a handle.
  template <typename AcousticOf>
  FuseCall(const Acoustic &to, const asr_fuse_job *list, size_t n_jobs, uint32_t buffer, const AcousticOf &acoustic_of) {
    check_buffer("fuse", buffer);
    for (size_t j = 0; j < n_jobs; ++j) {
      const asr_fuse_job &job = list[j];
      if (job.n_terms == 0 || job.n_terms > ASR_FUSE_MOST_TERMS) {
        fail(ASR_INVALID_ARGUMENT, "fuse: a job has %u terms; give 1 to %u", job.n_terms, ASR_FUSE_MOST_TERMS);
      }
      if (static_cast<uint32_t>(job.rule) > ASR_FUSE_MAX) fail(ASR_INVALID_ARGUMENT, "fuse: there is no such rule");
      to.check_rows("fuse", buffer, job.first_row, job.n_rows);
      add(to, job, buffer, acoustic_of);
    }
  }

  // So many jobs have launches of their own, which cost less than the copies of the tables.
  static constexpr size_t kFewJobs = 4;

  // Returns true if the jobs are few, and the scores of each can be counted in 32 bits.
  bool has_few_jobs(uint32_t n_states) const {
    return jobs.size() <= kFewJobs && rows.size() <= std::numeric_limits<uint32_t>::max() / n_states;
  }

  // Returns a job as one long row.
  FuseFlatJob flat(size_t job, uint32_t n_states) const {
    const auto n_rows = std::count_if(rows.begin(), rows.end(), [&](const FuseRow &row) { return row.job == job; });
    return {jobs[job].n_terms, jobs[job].rule, static_cast<uint32_t>(n_rows) * n_states, jobs[job].weight};
  }

  // The terms of the job that has most.
  uint32_t max_terms() const {
    uint32_t most = 0;
    for (const FuseJob &job : jobs) most = std::max(most, job.n_terms);
    return most;
  }

 private:
  template <typename AcousticOf>
  void add(const Acoustic &to, const asr_fuse_job &job, uint32_t buffer, const AcousticOf &acoustic_of) {
    FuseJob made = {static_cast<uint32_t>(terms.size()), job.n_terms, static_cast<uint32_t>(job.rule), job.first_row, 0.0f};
    for (uint32_t m = 0; m < job.n_terms; ++m) made.weight = std::max(made.weight, job.terms[m].weight);
    for (uint32_t m = 0; m < job.n_terms; ++m) {
      const asr_fuse_term &term = job.terms[m];
      if (!(term.weight > 0) || std::isinf(term.weight)) {
        fail(ASR_INVALID_ARGUMENT, "fuse: a weight is %g; give positive and finite ones", static_cast<double>(term.weight));
      }
      Acoustic &acoustic = acoustic_of(term.acoustic);
      if (acoustic.n_states() != to.n_states()) {
        fail(ASR_INVALID_ARGUMENT, "fuse: a model has %u states, that of the results %u", acoustic.n_states(), to.n_states());
      }
      acoustic.check_rows("fuse", buffer, term.first_row, job.n_rows);
      const auto offset = static_cast<float>(std::log(static_cast<double>(term.weight) / static_cast<double>(made.weight)));
      terms.push_back({number_of(acoustic), term.first_row, term.weight, offset});
    }
    for (uint32_t t = 0; t < job.n_rows; ++t) rows.push_back({static_cast<uint32_t>(jobs.size()), t});
    jobs.push_back(made);
  }

  uint32_t number_of(Acoustic &acoustic) {
    const auto found = std::find(models.begin(), models.end(), &acoustic);
    const auto number = static_cast<uint32_t>(found - models.begin());
    if (found != models.end()) return number;
    if (models.size() == kFuseMostModels) fail(ASR_INVALID_ARGUMENT, "fuse: more than %u models in a call", kFuseMostModels);
    models.push_back(&acoustic);
    return number;
  }
};

}  // namespace asr
