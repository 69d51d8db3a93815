// SPDX-License-Identifier: Apache-2.0
#include "tools/bench_features.h"

#include <algorithm>

#include "builder/import/kaldi_archive.h"
#include "core/model/acoustic_model.h"
#include "core/model/bundle.h"
#include "tools/archive_features.h"

namespace asr::tool {
namespace {

constexpr uint32_t kRowsAtOnce = 256;

std::string specifier_of(const std::string &archive) {
  const bool has_prefix = archive.rfind("ark:", 0) == 0 || archive.rfind("scp:", 0) == 0;
  return has_prefix ? archive : "ark:" + archive;
}

}  // namespace

FeatureRows read_feature_rows(const std::string &bundle, const std::string &archive) {
  const FrontEnd front_end = read_bundle(bundle).front_end;
  const ArchiveFeatures maker(front_end, "model", "", "");
  FeatureRows all;
  all.n_dims = front_end.n_dims();
  kaldi::ArchiveReader reader(specifier_of(archive));
  std::string key;
  for (kaldi::Matrix<float> matrix; reader.next(&key, &matrix);) {
    const std::vector<float> rows = maker.rows(key, matrix);
    if (rows.empty()) continue;
    all.n_frames.push_back(static_cast<uint32_t>(rows.size() / all.n_dims));
    all.values.insert(all.values.end(), rows.begin(), rows.end());
  }
  if (all.n_frames.empty()) fail(ASR_BAD_FILE, "%s: no frames in it; give an archive of features", archive.c_str());
  return all;
}

BenchAcoustic::BenchAcoustic(const Device &device, const std::string &bundle) : device_(device) {
  const AcousticModel model = read_acoustic_model(read_bundle(bundle).file("acoustic.bin"));
  n_states_ = model.n_states;
  device.check(device.api()->load_acoustic(device.get(), AcousticView(model).get(), &acoustic_));
}

std::vector<float> score_rows(const BenchOptions &options, const std::string &bundle, const FeatureRows &features) {
  const Device device(choose_device(options.device), backend_options(options, kRowsAtOnce));
  const BenchAcoustic acoustic(device, bundle);
  const uint64_t n_rows = features.n_rows();
  std::vector<float> scores(n_rows * acoustic.n_states());
  for (uint64_t row = 0; row < n_rows; row += kRowsAtOnce) {
    const auto n = static_cast<uint32_t>(std::min<uint64_t>(kRowsAtOnce, n_rows - row));
    const asr_score_job job{acoustic.get(), features.values.data() + row * features.n_dims, n, 0,
                            scores.data() + row * acoustic.n_states()};
    device.check(device.api()->score(device.get(), &job, 1));
    device.check(device.api()->wait(device.get(), 0));
  }
  return scores;
}

}  // namespace asr::tool
