// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu/advance.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "plugins/common/score_checks.h"
#include "plugins/cpu/gmm_asked.h"
#include "plugins/cpu/handles.h"

namespace asr::cpu {
namespace {

using Jobs = std::vector<const asr_advance_job *>;

// Rows of a score buffer, and the n_jobs jobs for them, from jobs[0] on: more than one if the rows wait for demand.
struct SharedRows {
  const asr_advance_job *const *jobs;
  size_t n_jobs = 1;
  Asked asked;

  const asr_advance_job &job() const { return *jobs[0]; }
  template <typename Call>
  void for_channels(const Call &call) const {
    for (size_t j = 0; j < n_jobs; ++j) call(*jobs[j]->channel);
  }
  bool are_those_of(const asr_advance_job &other) const {
    return other.buffer == job().buffer && other.first_row == job().first_row && other.n_frames == job().n_frames;
  }
};

void check_job(const Acoustic *model, const asr_advance_job &job) {
  if (model == nullptr) fail(ASR_INVALID_ARGUMENT, "advance: a job names a score buffer but there is no acoustic model");
  check_buffer("advance", job.buffer);
  check_model(job.channel->search.n_pdfs(), model->n_states());
  model->check_rows("advance", job.buffer, job.first_row, job.n_frames);
}

// Returns the rows of jobs that read score buffers, which are sorted. Jobs for the same rows that wait come together.
std::vector<SharedRows> rows_of(const Acoustic &model, Jobs *jobs) {
  std::sort(jobs->begin(), jobs->end(), [](const asr_advance_job *a, const asr_advance_job *b) {
    return std::tie(a->buffer, a->first_row, a->n_frames) < std::tie(b->buffer, b->first_row, b->n_frames);
  });
  std::vector<SharedRows> rows;
  rows.reserve(jobs->size());
  for (const asr_advance_job *const &job : *jobs) {
    if (!rows.empty() && model.waiting[job->buffer] && rows.back().are_those_of(*job)) {
      ++rows.back().n_jobs;
    } else {
      rows.push_back({&job, 1, {}});
    }
  }
  return rows;
}

// Returns true once there are units for the states that the searches can ask for, and false if there is no memory for them.
bool make_units(Demanded *demanded, const Jobs &jobs) {
  try {
    for (const asr_advance_job *job : jobs) demanded->include(job->channel->search.pdfs());
    return true;
  } catch (const std::bad_alloc &) {
    return false;
  }
}

// Makes scores that wait, unless they are cheaper on demand. Returns those that go on waiting.
WaitingRows make_scores(Device &device, Acoustic &model, const std::vector<SharedRows> &list, const Jobs &jobs) {
  WaitingRows waiting;
  for (const SharedRows &rows : list) {
    if (model.waiting[rows.job().buffer]) waiting.add(rows.job().n_frames, rows.n_jobs);
  }
  const bool asks = waiting.n_rows > 0 && model.demand.asks(waiting) && make_units(&model.demanded, jobs);
  for (const SharedRows &rows : list) {
    if (!asks) device.score_waiting(model, rows.job().buffer);
    device.await(model, rows.job().buffer);
  }
  return asks ? waiting : WaitingRows();
}

// Calls advance(search). A failure becomes the outcome of the channel.
template <typename Advance>
void advance_channel(asr_backend_channel &channel, const Advance &advance) {
  if (channel.failure) return;
  try {
    advance(channel.search);
  } catch (...) {
    channel.failure = std::current_exception();
  }
}

void advance_on_demand(Acoustic &model, SharedRows &rows) {
  std::unique_ptr<AskedRows> asked = model.demanded.take();
  asked->begin(model.features[rows.job().buffer].data() + size_t{rows.job().first_row} * model.gmm.n_dims(),
               rows.job().n_frames);
  uint64_t n_arcs = 0;
  while (asked->next_tile()) {
    rows.for_channels([&](asr_backend_channel &channel) {
      advance_channel(channel, [&](Search &search) {
        const uint64_t before = search.n_arcs_expanded();
        search.advance(*asked);
        n_arcs += search.n_arcs_expanded() - before;
      });
    });
  }
  rows.asked = asked->sum();
  rows.asked.n_arcs = n_arcs;
  model.demanded.give(std::move(asked));
}

void advance_over_scores(Acoustic &model, SharedRows &rows) {
  const uint32_t buffer = rows.job().buffer;
  if (!model.waiting[buffer]) {
    const size_t n_states = model.n_states();
    const float *const first = model.scores[buffer].data() + rows.job().first_row * n_states;
    const uint32_t n_frames = rows.job().n_frames;
    rows.for_channels([&](asr_backend_channel &channel) {
      advance_channel(channel, [&](Search &search) { search.advance(first, n_states, n_frames); });
    });
    return;
  }
  try {
    advance_on_demand(model, rows);
  } catch (...) {
    rows.for_channels([](asr_backend_channel &channel) { channel.failure = std::current_exception(); });
  }
}

}  // namespace

void advance(Device &device, Acoustic *model, const asr_advance_job *jobs, size_t n_jobs) {
  Jobs of_host, of_buffers;
  of_host.reserve(n_jobs), of_buffers.reserve(n_jobs);
  for (size_t j = 0; j < n_jobs; ++j) {
    if (jobs[j].n_frames == 0) continue;
    if (jobs[j].loglikes == nullptr) check_job(model, jobs[j]);
    (jobs[j].loglikes != nullptr ? of_host : of_buffers).push_back(&jobs[j]);
  }
  std::vector<SharedRows> rows;
  WaitingRows waiting;
  if (model != nullptr && !of_buffers.empty()) {
    rows = rows_of(*model, &of_buffers);
    waiting = make_scores(device, *model, rows, of_buffers);
  }
  device.pool().run(of_host.size() + rows.size(), [&](size_t i) {
    if (i >= of_host.size()) return advance_over_scores(*model, rows[i - of_host.size()]);
    const asr_advance_job &job = *of_host[i];
    advance_channel(*job.channel, [&](Search &search) { search.advance(job.loglikes, search.n_pdfs(), job.n_frames); });
  });
  Asked asked;
  for (const SharedRows &of_channels : rows) asked += of_channels.asked;
  if (!rows.empty()) model->demand.add(waiting, asked);
}

}  // namespace asr::cpu
