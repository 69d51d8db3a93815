// SPDX-License-Identifier: Apache-2.0
#include "core/engine/warp_scorer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/feature/cepstral_rows.h"
#include "core/feature/framer.h"

namespace asr {
namespace {

constexpr size_t kMaxAtOnce = 64;  // utterances: the rows of more would only wait in memory
constexpr char kCpu[] = "cpu:0";
constexpr double kUnits = 1 << 16;               // units of the sums per 1
constexpr double kMaxLogLikelihood = 1 << 20;    // limit of a row: sums over days of speech fit
constexpr size_t kRowsAtOnce = size_t{1} << 13;  // rows that an utterance scores together: as many wait in memory

std::vector<double> warps() {
  std::vector<double> result;
  for (size_t i = 0; i < WarpScorer::kWarps; ++i) result.push_back(WarpScorer::warp(i));
  return result;
}

const FrontEnd &with_warps(const FrontEnd &front_end) {
  require_warps(front_end);
  return front_end;
}

int64_t in_units(double log_likelihood) {
  return std::llround(kUnits * std::clamp(log_likelihood, -kMaxLogLikelihood, kMaxLogLikelihood));
}

// ForcedRows collects rows of several warps, scores them together, and adds the results to the sums of their warps.
class ForcedRows {
 public:
  ForcedRows(WarpDevice &device, size_t n_dims, std::vector<int64_t> *sums) : device_(device), n_dims_(n_dims), sums_(sums) {}

  // Leaves out rows that are not finite, which no microphone gives.
  void add(const float *row, uint32_t state, size_t warp) {
    if (!std::all_of(row, row + n_dims_, [](float x) { return std::isfinite(x); })) return;
    rows_.insert(rows_.end(), row, row + n_dims_);
    states_.push_back(state);
    warps_.push_back(warp);
    if (states_.size() == kRowsAtOnce) score();
  }
  void score() {
    if (states_.empty()) return;
    const std::vector<float> loglikes = device_.score(rows_, states_);
    for (size_t i = 0; i < loglikes.size(); ++i) {
      if (!std::isnan(loglikes[i])) (*sums_)[warps_[i]] += in_units(static_cast<double>(loglikes[i]));
    }
    rows_.clear(), states_.clear(), warps_.clear();
  }

 private:
  WarpDevice &device_;
  const size_t n_dims_;
  std::vector<int64_t> *const sums_;
  std::vector<float> rows_;
  std::vector<uint32_t> states_;
  std::vector<size_t> warps_;
};

}  // namespace

void require_warps(const FrontEnd &front_end) {
  if (standard_warps(front_end).size() > 1) return;
  fail(ASR_UNSUPPORTED, "the model's filter bank from %g to %g Hz is too narrow to be warped; use no other warp than 1",
       front_end.low_hz, front_end.high_hz);
}

struct WarpScorer::Utterance {
  const Framer &framer;
  const std::vector<uint32_t> &states;
  size_t n_frames, stride;
  bool normalises;
  const StopToken &stop;
};

// An utterance's turn, of kMaxAtOnce at a time.
class WarpScorer::Turn {
 public:
  explicit Turn(const WarpScorer &scorer) : scorer_(scorer) {
    std::unique_lock lock(scorer.mutex_);
    scorer.turn_ended_.wait(lock, [&] { return scorer.n_turns_ < kMaxAtOnce; });
    ++scorer.n_turns_;
  }
  ~Turn() {
    const std::lock_guard lock(scorer_.mutex_);
    --scorer_.n_turns_;
    scorer_.turn_ended_.notify_one();
  }
  Turn(const Turn &) = delete;
  Turn &operator=(const Turn &) = delete;

 private:
  const WarpScorer &scorer_;
};

WarpScorer::WarpScorer(const FrontEnd &front_end, const AcousticModel &model, const DeviceEntry &entry,
                       const EngineOptions &options)
    : tables_(with_warps(front_end), warps()), model_(model), options_(options) {
  tables_.for_many_banks();
  try {
    device_ = std::make_shared<WarpDevice>(entry, options_, tables_, model_);
  } catch (const Error &error) {
    if (entry.id == kCpu) throw;
    why_cpu_ = entry.id + ": " + error.what();
  }
}

std::shared_ptr<WarpDevice> WarpScorer::device() const {
  {
    const std::lock_guard lock(mutex_);
    if (device_) return device_;
  }
  return cpu();
}

std::shared_ptr<WarpDevice> WarpScorer::cpu() const {
  const std::lock_guard lock(mutex_);
  if (!cpu_) cpu_ = std::make_shared<WarpDevice>(choose_device(kCpu), options_, tables_, model_);
  return cpu_;
}

// A device without memory may have some for the next utterance. After another failure it is not asked again.
void WarpScorer::note_failure(const std::shared_ptr<WarpDevice> &device, const Error &error) const {
  if (error.code() == ASR_OUT_OF_MEMORY) return;
  {
    const std::lock_guard lock(mutex_);
    if (device_ != device) return;
    device_.reset();  // `device` still holds it
  }
  log(ASR_LOG_WARNING, "%s: %s; from now on the CPU searches for warps", device->id().c_str(), error.what());
}

// Scores the frames under all wanted warps; returns sums[kWarps].
std::vector<int64_t> WarpScorer::score_on(WarpDevice &device, const Utterance &said) const {
  std::vector<std::vector<float>> cepstra(kWarps);
  std::vector<asr_extract_job> jobs;
  for (size_t w = 0; w < kWarps; w += said.stride) {
    cepstra[w].resize(said.n_frames * tables_.view()->n_ceps);
    jobs.push_back({said.framer.samples(), said.framer.next_frame(), static_cast<uint32_t>(said.n_frames),
                    static_cast<uint32_t>(w), cepstra[w].data()});
  }
  device.extract(jobs);
  std::vector<int64_t> sums(kWarps);
  ForcedRows forced(device, model_.n_dims, &sums);
  for (size_t w = 0; w < kWarps; w += said.stride) {
    CepstralRows rows(tables_, said.normalises ? CmnKind::kBatch : CmnKind::kNone);
    rows.add(cepstra[w], said.n_frames);
    rows.finish();
    for (size_t i = 0; i < said.n_frames; ++i, rows.consume(1)) {
      said.stop.check();
      if (said.states[i] != kNoState) forced.add(rows.rows(), said.states[i], w);
    }
    std::vector<float>().swap(cepstra[w]);
  }
  forced.score();
  return sums;
}

size_t WarpScorer::score(const std::vector<float> &samples, const std::vector<uint32_t> &states, bool normalises, size_t stride,
                         const StopToken &stop, std::vector<int64_t> *sums) const {
  const Turn turn(*this);
  Framer framer(tables_.front_end());
  framer.push(samples.data(), samples.size());
  framer.finish();
  const size_t n_frames = std::min<size_t>(states.size(), framer.ready_frames());
  const Utterance said{framer, states, n_frames, stride, normalises, stop};
  const auto count = [](uint32_t state) { return state != kNoState; };
  const auto n_counted =
      static_cast<size_t>(std::count_if(states.begin(), states.begin() + static_cast<ptrdiff_t>(n_frames), count));
  if (n_counted == 0) return 0;
  std::vector<int64_t> of_utterance;
  const std::shared_ptr<WarpDevice> device = this->device();
  try {
    of_utterance = score_on(*device, said);
  } catch (const Error &error) {
    if (device->id() == kCpu || error.code() == ASR_CANCELLED) throw;
    note_failure(device, error);
    of_utterance = score_on(*this->cpu(), said);
  }
  for (size_t w = 0; w < kWarps; ++w) (*sums)[w] += of_utterance[w];
  return n_counted;
}

}  // namespace asr
