// SPDX-License-Identifier: Apache-2.0
#include "tools/device_memory.h"

#include "core/base/error.h"
#include "core/engine/loaded_graph.h"

namespace asr::tool {
namespace {

// Returns the initial memory of a channel.
uint64_t channel_bytes(const LoadedModel &model, asr_backend_graph *graph, float lattice_beam) {
  asr_search_options options{};
  options.size = sizeof(options);
  options.beam = static_cast<float>(model.bundle().decoding.beam);
  options.lattice_beam = lattice_beam;
  options.acoustic_scale = static_cast<float>(model.bundle().decoding.acoustic_scale);
  options.word_insertion_cost = static_cast<float>(model.bundle().decoding.word_insertion_cost);
  options.max_active = model.bundle().decoding.max_active;
  const uint64_t before = memory_of(model.device()).channel_bytes;
  asr_backend_channel *channel = nullptr;
  model.device().check(model.api()->channel_begin(model.device().get(), graph, &options, &channel));
  const BackendPointer<asr_backend_channel> owner(channel, model.api()->channel_end);
  return memory_of(model.device()).channel_bytes - before;
}

}  // namespace

bool tells_memory(const Device &device) {
  const auto *const bench = extension_of<asr_backend_bench_api>(*device.api(), ASR_BACKEND_BENCH);
  return bench != nullptr && bench->memory != nullptr;
}

asr_backend_memory memory_of(const Device &device) {
  asr_backend_memory memory{};
  memory.size = sizeof(memory);
  if (!tells_memory(device)) {
    fail(ASR_UNSUPPORTED, "back end %s does not tell what memory it takes; name another device", device.api()->name);
  }
  const auto *const bench = extension_of<asr_backend_bench_api>(*device.api(), ASR_BACKEND_BENCH);
  device.check(bench->memory(device.get(), &memory));
  return memory;
}

namespace {

double mb(uint64_t bytes) {
  const uint64_t hundredths = bytes / 10000;
  return static_cast<double>(hundredths) / 100;
}

// For a device that does not search: graphs and channels are in the host's memory.
nlohmann::ordered_json memory_of_model(const LoadedModel &model) {
  const asr_backend_memory memory = memory_of(model.device());
  nlohmann::ordered_json figures{{"device", model.device().entry().id}, {"acoustic_mb", mb(memory.acoustic_bytes)}};
  if (&model.extractor() == &model.device()) figures["features_mb"] = mb(memory.features_bytes);
  figures["searched_on"] = model.searcher().entry().id;
  return figures;
}

}  // namespace

nlohmann::ordered_json device_memory(const std::string &bundle, const std::string &device) {
  EngineOptions options;
  options.device = device;
  const LoadedModel model(bundle, options);
  if (model.is_split()) return memory_of_model(model);
  LoadedGraph graph(read_graph_parts(model.bundle()), model);
  const std::shared_ptr<asr_backend_graph> loaded = graph.on(model);
  const uint64_t best_path = channel_bytes(model, loaded.get(), 0), with_lattice = channel_bytes(model, loaded.get(), 8);
  const asr_backend_memory memory = memory_of(model.device());
  return {{"device", model.device().entry().id},
          {"graph_mb", mb(memory.graph_bytes)},
          {"acoustic_mb", mb(memory.acoustic_bytes)},
          {"features_mb", mb(memory.features_bytes)},
          {"lane_mb", memory.n_lanes == 0 ? 0.0 : mb(memory.lane_bytes / memory.n_lanes)},
          {"channel_mb", mb(best_path)},
          {"channel_with_lattice_mb", mb(with_lattice)}};
}

}  // namespace asr::tool
