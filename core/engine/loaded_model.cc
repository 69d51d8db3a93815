// SPDX-License-Identifier: Apache-2.0
#include "core/engine/loaded_model.h"

#include <algorithm>

#include "core/backend/asr_backend_given.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/model/acoustic_model.h"

namespace asr {
namespace {

// Returns the lanes needed: a stream that compares its results with the background takes two.
uint32_t n_lanes_for(const Bundle &bundle, const EngineOptions &options) {
  return bundle.has("background.bin") ? std::max(options.max_lanes, 2u) : options.max_lanes;
}

asr_backend_options backend_options(const EngineOptions &options, uint32_t n_lanes) {
  asr_backend_options result{};
  result.size = sizeof(result);
  result.max_lanes = n_lanes;
  result.window_frames = options.window_frames;
  result.n_threads = options.n_threads;
  result.timeout_ms = options.device_timeout_ms;
  result.model_bits = options.model_bits;
  result.n_best_gaussians = options.n_best_gaussians;
  result.cluster_share = options.cluster_share;
  return result;
}

// Warns of options for Gaussians that states share, or do not share, which the model has none of.
void warn_of_selection(const std::string &bundle_path, const AcousticModel &model, const EngineOptions &options) {
  std::vector<uint32_t> n_users(model.codebooks.size(), 0);
  for (const uint32_t codebook : model.state_codebook) ++n_users[codebook];
  const bool share = std::any_of(n_users.begin(), n_users.end(), [](uint32_t n) { return n > 1; });
  bool own = false;
  for (size_t c = 0; c < n_users.size(); ++c) own = own || (n_users[c] == 1 && model.codebooks[c].n_gaussians > 1);
  if (options.n_best_gaussians > 0 && !share) {
    log(ASR_LOG_WARNING,
        "%s: asr_engine_config.n_best_gaussians has no effect, as no states share Gaussians; asr_engine_config.cluster_share "
        "is for such models",
        bundle_path.c_str());
  }
  if (options.cluster_share < 1 && !own) {
    log(ASR_LOG_WARNING,
        "%s: asr_engine_config.cluster_share has no effect, as states share their Gaussians or have one each; "
        "asr_engine_config.n_best_gaussians is for Gaussians that states share",
        bundle_path.c_str());
  }
}

}  // namespace

Bundle read_model_bundle(const std::string &path) {
  Bundle bundle = read_bundle(path, "graph.bin");
  if (bundle.has("acoustic.bin") || bundle.scores) return bundle;
  fail(ASR_NOT_FOUND, "%s: the bundle has no acoustic.bin; import a model with `senone import`", path.c_str());
}

BackendPointer<asr_backend_features> load_features(const Device &device, const FeatureTables &tables) {
  return {device.load_features(*tables.view()), device.api()->free_features};
}

BackendPointer<asr_backend_acoustic> load_acoustic(const Device &device, const AcousticView &model) {
  asr_backend_acoustic *acoustic = nullptr;
  const asr_status status = device.api()->load_acoustic(device.get(), model.get(), &acoustic);
  return {device.made(status, acoustic, "load_acoustic"), device.api()->free_acoustic};
}

AcousticModel read_acoustic_model(const Bundle &bundle) {
  check_has_gaussians(bundle);
  AcousticModel model = read_acoustic_model(bundle.file("acoustic.bin"));
  if (model.n_dims != bundle.front_end.n_dims()) {
    fail(ASR_BAD_FILE, "%s: features have %u dimensions, the model of acoustic.bin has %u; import the model again",
         bundle.file("senone.json").c_str(), bundle.front_end.n_dims(), model.n_dims);
  }
  return model;
}

LoadedModel::LoadedModel(const std::string &bundle_path, const EngineOptions &options)
    : options_(options),
      bundle_(read_model_bundle(bundle_path)),
      tables_(bundle_.front_end),
      n_lanes_(n_lanes_for(bundle_, options)),
      device_(candidate_devices(options.device), backend_options(options, n_lanes_)),
      features_(nullptr, nullptr),
      acoustic_(nullptr, nullptr),
      objects_(std::make_unique<DeviceObjects>()) {
  if (options.n_best_gaussians > 0 && !device_.has(ASR_BACKEND_SELECTION)) {
    fail(ASR_UNSUPPORTED, "%s mixes all Gaussians; leave asr_engine_config.n_best_gaussians 0, or use the CPU",
         device_.entry().id.c_str());
  }
  if (options.cluster_share < 1 && !device_.has(ASR_BACKEND_CLUSTERS)) {
    fail(ASR_UNSUPPORTED, "%s scores all states; leave asr_engine_config.cluster_share 0, or use the CPU",
         device_.entry().id.c_str());
  }
  open_searcher();
  open_extractor();
  if (scores()) {
    n_states_ = scores()->n_states;
    log(ASR_LOG_INFO, "%s: rows of %u log-likelihoods, on %s (%s)", bundle_path.c_str(), n_columns(),
        searcher().entry().id.c_str(), searcher().entry().info.name);
    load_buffers();
    return;
  }
  load_gaussians(bundle_path);
}

// Rows of a device are searched where they are.
void LoadedModel::load_buffers() {
  given_ = is_split() ? nullptr : extension_of<asr_backend_given_api>(*api(), ASR_BACKEND_GIVEN);
  if (given_ == nullptr) return;
  asr_backend_acoustic *buffers = nullptr;
  const asr_status status = given_->load_buffers(device_.get(), n_states_, &buffers);
  acoustic_ = {device_.made(status, buffers, "load_buffers"), api()->free_acoustic};
  device_.check(given_->describe(device_.get(), &memory_));
}

std::shared_ptr<asr_backend_given_map> LoadedModel::given_map(const asr_given_map_view &view) const {
  constexpr size_t kMost = 8;
  for (const GivenMap &loaded : given_maps_) {
    if (std::equal(loaded.offsets.begin(), loaded.offsets.end(), view.offsets)) return loaded.map;
  }
  if (given_maps_.size() == kMost) given_maps_.erase(given_maps_.begin());
  asr_backend_given_map *map = nullptr;
  const asr_status status = given_->load_map(device_.get(), &view, &map);
  BackendPointer<asr_backend_given_map> owner(device_.made(status, map, "load_map"), given_->free_map);
  given_maps_.push_back({{view.offsets, view.offsets + view.n_states}, objects_->hold(std::move(owner), nullptr)});
  return given_maps_.back().map;
}

void LoadedModel::load_gaussians(const std::string &bundle_path) {
  const AcousticModel model = read_acoustic_model(bundle_);
  n_states_ = model.n_states;
  warn_of_selection(bundle_path, model, options_);
  features_ = load_features(extractor(), tables_);
  constexpr size_t kMinSize = offsetof(asr_backend_signals_api, set_transform);
  if (const auto *const signals = is_split() || &extractor() != &device_
                                      ? nullptr
                                      : extension_of<asr_backend_signals_api>(*api(), ASR_BACKEND_SIGNALS, kMinSize)) {
    uint32_t makes_rows = 0;
    device_.check(signals->prepare(device_.get(), features(), &makes_rows));
    if (makes_rows != 0) signals_ = signals;
  }
  if (!is_split()) fusion_ = extension_of<asr_backend_fusion_api>(*api(), ASR_BACKEND_FUSION);
  acoustic_ = load_acoustic(device_, AcousticView(model));
  log(ASR_LOG_INFO, "%s: %u states, on %s (%s)", bundle_path.c_str(), n_states_, device_.entry().id.c_str(),
      device_.entry().info.name);
  if (is_split()) {
    log(ASR_LOG_INFO, "%s: searched on %s (%s)", bundle_path.c_str(), searcher().entry().id.c_str(),
        searcher().entry().info.name);
  }
  if (&extractor() != &device_) {
    log(ASR_LOG_INFO, "%s: cepstra computed on %s (%s)", bundle_path.c_str(), extractor().entry().id.c_str(),
        extractor().entry().info.name);
  }
}

// Opens the device that searches, unless it is the one that scores. If that cannot search, the CPU does.
void LoadedModel::open_searcher() {
  if (options_.search_device.empty() && searches(*api())) return;
  const std::string wanted = options_.search_device.empty() ? "cpu" : options_.search_device;
  const DeviceEntry entry = choose_device(wanted, "search device");
  if (!searches(*entry.api)) {
    fail(ASR_UNSUPPORTED, "search device \"%s\": its back end does not search; take another one, such as cpu", wanted.c_str());
  }
  if (entry.id != device_.entry().id) searcher_.emplace(entry, backend_options(options_, n_lanes_));
}

// Lets the CPU compute cepstra for a device that does not.
void LoadedModel::open_extractor() {
  if (makes_features(*api())) return;
  const DeviceEntry cpu = choose_device("cpu");
  if (searcher().entry().id == cpu.id) {
    extractor_ = &searcher();
  } else {
    extractor_ = &own_extractor_.emplace(cpu, backend_options(options_, n_lanes_));
  }
}

void LoadedModel::wait(uint32_t n_left) const {
  std::optional<Error> failure;
  for (const Device *device : {&device_, &searcher()}) {
    try {
      device->check(device->api()->wait(device->get(), n_left));
    } catch (...) {
      if (!failure) failure = current_error();
    }
    if (!is_split()) break;
  }
  if (failure) throw Error(*failure);
}

void LoadedModel::begin_thread() const {
  device_.begin_thread();
  if (is_split()) searcher_->begin_thread();
  if (own_extractor_) own_extractor_->begin_thread();
}

}  // namespace asr
