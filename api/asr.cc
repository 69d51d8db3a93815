// SPDX-License-Identifier: Apache-2.0
// The functions of asr.h but those of events (asr_event.cc): handles, argument checks and calls of core/engine.
#include "asr.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>

#include "api/config.h"
#include "api/fill.h"
#include "api/guard.h"
#include "api/uncancelled.h"
#include "core/backend/registry.h"
#include "core/base/limits.h"
#include "core/base/log.h"
#include "core/engine/engine.h"

using asr::api::check_range;
using asr::api::fill;
using asr::api::guard;
using asr::api::require;
using asr::api::Uncancelled;

struct asr_device_list {
  std::vector<asr::DeviceEntry> entries;
};

struct asr_engine : asr::api::Handle {
  std::shared_ptr<asr::Engine> engine;
  std::atomic<bool> warned_of_rate{false}, warned_of_batch{false};
};

struct asr_stream : asr::api::Handle {
  std::shared_ptr<asr::Engine> engine;  // goes after the stream

  std::shared_ptr<asr::Stream> current() const {
    const std::lock_guard lock(mutex);
    return stream;
  }

  mutable std::mutex mutex;
  std::shared_ptr<asr::Stream> stream;  // current stream, which asr_reset replaces
};

struct asr_speaker : asr::api::Handle {
  std::shared_ptr<asr::Speaker> speaker;
};

namespace {

void free_stream(void *stream) { delete static_cast<asr_stream *>(stream); }

// Says once for an engine that audio has a lower rate than its model.
void warn_of_rate(asr_engine *engine, const asr::StreamOptions &options) {
  const double model_hz = engine->engine->model().bundle().front_end.sample_rate_hz, rate_hz = options.format.rate_hz;
  if (!options.is_audio() || rate_hz <= 0 || rate_hz >= model_hz || engine->warned_of_rate.exchange(true)) return;
  asr::log(ASR_LOG_WARNING,
           "asr_open: audio of %g samples a second on a model for %g: what lies above %g Hz is missing, and more "
           "words will be wrong; use a model for this rate (said once for an engine)",
           rate_hz, model_hz, rate_hz / 2);
}

// Says once for an engine why partial results of a stream will come late.
void warn_of_batch(asr_engine *engine, const asr::Stream &stream) {
  if (!stream.has_late_partials() || engine->warned_of_batch.exchange(true)) return;
  asr::log(ASR_LOG_WARNING,
           "asr_open: no PARTIAL will come before asr_finish, though partial_interval_ms is set: the mean is that of the whole "
           "utterance; set asr_stream_config.cmn to ASR_CMN_LIVE (said once for an engine)");
}

// The engine's thread, which loads graphs and models, may be the one that logs.
void check_named_call(const asr_engine *engine, const char *name, const char *call) {
  require(engine, call, "engine");
  require(name, call, "name");
  if (asr::in_log_function()) asr::fail(ASR_INVALID_STATE, "%s: called in a log function; call it outside", call);
}

void check_boost(const char *call, size_t n_bytes, float bonus) {
  if (n_bytes > asr::kMaxBoostBytes && n_bytes <= SIZE_MAX / 2) {
    asr::fail(ASR_UNSUPPORTED, "%s: the text has %zu bytes; the most is %zu", call, n_bytes, asr::kMaxBoostBytes);
  }
  check_range<size_t>(n_bytes, 0, SIZE_MAX / 2, (std::string(call) + ": n_bytes").c_str());
  check_range(static_cast<double>(bonus), -asr::kMaxBoostBonus, asr::kMaxBoostBonus, (std::string(call) + ": bonus").c_str());
}

// Checks what can be told from the description of rows.
void check_device_rows(const asr_device_rows &rows, size_t n, const asr::Stream &stream) {
  constexpr const char *kCall = "asr_feed_device";
  if (stream.options().input != ASR_INPUT_LOGLIKES) {
    asr::fail(ASR_INVALID_STATE, "%s: the stream's input is no rows of log-likelihoods; open one with ASR_INPUT_LOGLIKES",
              kCall);
  }
  check_range(asr::api::number(rows.memory), 0, static_cast<int>(ASR_MEMORY_OPENCL), "asr_device_rows.memory");
  check_range(asr::api::number(rows.type), 0, static_cast<int>(ASR_VALUE_BFLOAT16), "asr_device_rows.type");
  if (n > 0) require(rows.rows, kCall, "rows->rows");
  const size_t n_columns = stream.frame_values();
  if (rows.stride != 0 && rows.stride < n_columns) {
    asr::fail(ASR_INVALID_ARGUMENT, "%s: rows->stride is %llu; a row has %zu values", kCall,
              static_cast<unsigned long long>(rows.stride), n_columns);
  }
  const uint64_t stride = std::max<uint64_t>(rows.stride, n_columns);
  if (n > 0 && stride > asr::kMaxFeedBytes / sizeof(float) / n) {
    asr::fail(ASR_INVALID_ARGUMENT, "%s: n is %zu; the most of one call are %zu bytes", kCall, n,
              static_cast<size_t>(asr::kMaxFeedBytes));
  }
  if (rows.offset > asr::kMaxFeedBytes) asr::fail(ASR_INVALID_ARGUMENT, "%s: rows->offset is too large", kCall);
  const bool is_host = rows.memory == ASR_MEMORY_HOST;
  if (is_host && (rows.event != nullptr || rows.stream != nullptr)) {
    asr::fail(ASR_INVALID_ARGUMENT, "%s: rows->event and rows->stream are for rows in memory of a device", kCall);
  }
  if (rows.memory == ASR_MEMORY_OPENCL && rows.stream != nullptr) {
    asr::fail(ASR_INVALID_ARGUMENT, "%s: rows->stream is for CUDA; give OpenCL's cl_event in rows->event", kCall);
  }
}

// Copies the values of a transform, or of none, to the caller of a function that gets it.
void copy_transform(const asr::FeatureTransform *transform, const char *call, float *values, size_t capacity,
                    size_t *n_values) {
  require(n_values, call, "n_values");
  const size_t n = transform != nullptr ? transform->matrix.size() : 0;
  if (values != nullptr && capacity < n) {
    asr::fail(ASR_INVALID_ARGUMENT, "%s: capacity is %zu; the transform has %zu values", call, capacity, n);
  }
  if (values != nullptr && n > 0) memcpy(values, transform->matrix.data(), n * sizeof(float));
  *n_values = n;
}

// Returns the transform that a function is to set.
asr::FeatureTransform checked_transform(const asr::Speaker &speaker, const char *call, const float *values, size_t n_values) {
  require(values, call, "values");
  const uint32_t n = speaker.n_dims();
  if (n_values != size_t{n} * (n + 1)) {
    asr::fail(ASR_INVALID_ARGUMENT, "%s: n_values is %zu; a transform of the model has %u rows of %u", call, n_values, n,
              n + 1);
  }
  if (!std::all_of(values, values + n_values, [](float value) { return std::isfinite(value); })) {
    asr::fail(ASR_INVALID_ARGUMENT, "%s: a value is not finite", call);
  }
  return {n, std::vector<float>(values, values + n_values)};
}

}  // namespace

/* ---- status and log ------------------------------------------------------------------------------------------------ */

const char *asr_status_text(asr_status status) {
  switch (static_cast<int>(status)) {
    case ASR_OK:
      return "ASR_OK";
    case ASR_INVALID_ARGUMENT:
      return "ASR_INVALID_ARGUMENT";
    case ASR_INVALID_STATE:
      return "ASR_INVALID_STATE";
    case ASR_NOT_FOUND:
      return "ASR_NOT_FOUND";
    case ASR_BAD_FILE:
      return "ASR_BAD_FILE";
    case ASR_BAD_AUDIO:
      return "ASR_BAD_AUDIO";
    case ASR_UNSUPPORTED:
      return "ASR_UNSUPPORTED";
    case ASR_NO_DEVICE:
      return "ASR_NO_DEVICE";
    case ASR_DEVICE_LOST:
      return "ASR_DEVICE_LOST";
    case ASR_OUT_OF_MEMORY:
      return "ASR_OUT_OF_MEMORY";
    case ASR_IO:
      return "ASR_IO";
    case ASR_TIMEOUT:
      return "ASR_TIMEOUT";
    case ASR_CANCELLED:
      return "ASR_CANCELLED";
    case ASR_INTERNAL:
      return "ASR_INTERNAL";
    case ASR_BUSY:
      return "ASR_BUSY";
    default:
      return "unknown asr_status";
  }
}

const char *asr_last_error(void) { return asr::api::last_error().text; }

const char *asr_version(void) {
#define ASR_TEXT(number) ASR_TEXT_OF(number)
#define ASR_TEXT_OF(number) #number
  return ASR_TEXT(ASR_VERSION_MAJOR) "." ASR_TEXT(ASR_VERSION_MINOR) "." ASR_TEXT(ASR_VERSION_PATCH) ASR_VERSION_SUFFIX;
#undef ASR_TEXT_OF
#undef ASR_TEXT
}

void asr_set_log(asr_log_fn log, asr_log_level level, void *user_data) {
  const Uncancelled uncancelled;
  asr::set_log(log, level, user_data);
}

/* ---- devices ------------------------------------------------------------------------------------------------------- */

asr_status asr_devices(asr_device_list **list) {
  return guard([&] {
    require(list, "asr_devices", "list");
    *list = new asr_device_list{asr::list_devices()};
  });
}

size_t asr_device_list_count(const asr_device_list *list) { return list ? list->entries.size() : 0; }

asr_status asr_device_list_get(const asr_device_list *list, size_t index, asr_device *device) {
  return guard([&] {
    require(list, "asr_device_list_get", "list");
    require(device, "asr_device_list_get", "device");
    if (index >= list->entries.size()) {
      asr::fail(ASR_INVALID_ARGUMENT, "asr_device_list_get: device %zu of %zu", index, list->entries.size());
    }
    const asr::DeviceEntry &entry = list->entries[index];
    const bool usable = entry.reason.empty();
    fill(device,
         asr_device{sizeof(asr_device), entry.id.c_str(), entry.info.name, entry.reason.c_str(), entry.info.memory_bytes,
                    usable ? entry.info.score : 0, entry.info.n_cores},
         "asr_device_list_get: device->size");
  });
}

void asr_device_list_free(asr_device_list *list) { delete list; }

/* ---- engine -------------------------------------------------------------------------------------------------------- */

void asr_engine_config_default(asr_engine_config *config) {
  if (config == nullptr) return;
  *config = asr_engine_config{};
  config->size = sizeof(*config);
  config->max_lanes = 8;
  config->window_frames = 32;
}

asr_status asr_engine_load(const char *bundle_path, const asr_engine_config *config, asr_engine **engine) {
  return guard([&] {
    require(bundle_path, "asr_engine_load", "bundle_path");
    require(engine, "asr_engine_load", "engine");
    auto handle = std::make_unique<asr_engine>();
    handle->engine = std::make_shared<asr::Engine>(bundle_path, asr::api::read_config(config));
    *engine = handle.release();
  });
}

asr_status asr_engine_get_info(const asr_engine *engine, asr_engine_info *info) {
  return guard([&] {
    require(engine, "asr_engine_get_info", "engine");
    require(info, "asr_engine_get_info", "info");
    const asr::LoadedModel &model = engine->engine->model();
    asr_engine_info value{};
    value.device_id = model.device().entry().id.c_str();
    value.device_name = model.device().entry().info.name;
    value.sample_rate_hz = model.bundle().front_end.sample_rate_hz;
    value.frame_shift_ms = 1000 * model.frame_shift_s();
    value.n_feature_dims = model.scores() ? 0 : model.n_dims();
    value.n_states = model.n_columns();
    if (const asr::GraphName name = engine->engine->own_graph()) {
      const std::shared_ptr<asr::LoadedGraph> own = name->get();
      value.n_words = static_cast<uint32_t>(own->words().size());
      value.n_graph_states = own->graph().n_states();
      value.n_graph_arcs = own->graph().n_arcs();
    }
    value.search_device_id = model.searcher().entry().id.c_str();
    value.search_device_name = model.searcher().entry().info.name;
    value.is_batch = model.bundle().front_end.cmn == asr::CmnKind::kBatch ? 1 : 0;
    value.n_measurements = asr::WholeMean::n_passes(model.bundle().front_end);
    fill(info, value, "asr_engine_get_info: info->size");
  });
}

asr_status asr_engine_get_stats(const asr_engine *engine, asr_engine_stats *stats) {
  return guard([&] {
    require(engine, "asr_engine_get_stats", "engine");
    require(stats, "asr_engine_get_stats", "stats");
    const asr::EngineMeter &meter = engine->engine->meter();
    const auto seconds = [](int64_t ns) { return 1e-9 * static_cast<double>(ns); };
    asr_engine_stats value{};
    value.n_streams = meter.n_streams;
    value.fed_s = seconds(meter.fed_ns);
    value.searched_s = seconds(meter.searched_ns);
    value.waiting_s = seconds(meter.waiting_ns);
    value.busy_s = seconds(meter.busy_ns);
    value.n_steps = meter.n_steps;
    value.n_lanes = meter.n_lanes;
    fill(stats, value, "asr_engine_get_stats: stats->size");
  });
}

asr_status asr_engine_add_graph(asr_engine *engine, const char *name, const char *bundle_path) {
  return guard([&] {
    check_named_call(engine, name, "asr_engine_add_graph");
    require(bundle_path, "asr_engine_add_graph", "bundle_path");
    engine->engine->add_graph(name, asr::read_graph_parts(bundle_path));
  });
}

asr_status asr_engine_add_graph_bytes(asr_engine *engine, const char *name, const void *bytes, size_t n_bytes) {
  return guard([&] {
    check_named_call(engine, name, "asr_engine_add_graph_bytes");
    require(bytes, "asr_engine_add_graph_bytes", "bytes");
    engine->engine->add_graph(name, asr::read_graph_archive(bytes, n_bytes, "asr_engine_add_graph_bytes: bytes"));
  });
}

asr_status asr_engine_remove_graph(asr_engine *engine, const char *name) {
  return guard([&] {
    check_named_call(engine, name, "asr_engine_remove_graph");
    engine->engine->remove_graph(name);
  });
}

asr_status asr_engine_boost(asr_engine *engine, const char *graph, const char *text, size_t n_bytes, float bonus,
                            uint32_t allow_unknown) {
  return guard([&] {
    require(engine, "asr_engine_boost", "engine");
    if (text == nullptr) return engine->engine->forget_boosts(graph);
    check_boost("asr_engine_boost", n_bytes, bonus);
    check_range(allow_unknown, 0u, 1u, "asr_engine_boost: allow_unknown");
    engine->engine->boost(graph, std::string(text, n_bytes), bonus, allow_unknown != 0);
  });
}

asr_status asr_engine_add_model(asr_engine *engine, const char *name, const char *bundle_path) {
  return guard([&] {
    check_named_call(engine, name, "asr_engine_add_model");
    require(bundle_path, "asr_engine_add_model", "bundle_path");
    engine->engine->add_model(name, bundle_path);
  });
}

asr_status asr_engine_remove_model(asr_engine *engine, const char *name) {
  return guard([&] {
    check_named_call(engine, name, "asr_engine_remove_model");
    engine->engine->remove_model(name);
  });
}

void asr_engine_close(asr_engine *engine) {
  if (engine == nullptr || engine->is_of_parent()) return;
  const Uncancelled uncancelled;
  delete engine;
}

/* ---- speaker ------------------------------------------------------------------------------------------------------- */

asr_status asr_speaker_new(asr_engine *engine, asr_speaker **speaker) {
  return guard([&] {
    require(engine, "asr_speaker_new", "engine");
    require(speaker, "asr_speaker_new", "speaker");
    *speaker = new asr_speaker{{}, engine->engine->new_speaker()};
  });
}

asr_status asr_adapt(asr_speaker *speaker) {
  return guard([&] {
    require(speaker, "asr_adapt", "speaker");
    speaker->speaker->adapt();
  });
}

asr_status asr_speaker_set_methods(asr_speaker *speaker, uint32_t methods, uint32_t n_warps) {
  return guard([&] {
    require(speaker, "asr_speaker_set_methods", "speaker");
    if (methods == 0 || methods > (ASR_SPEAKER_FMLLR | ASR_SPEAKER_VTLN | ASR_SPEAKER_MLLR)) {
      asr::fail(ASR_INVALID_ARGUMENT,
                "asr_speaker_set_methods: methods is %u but must be ASR_SPEAKER_FMLLR, ASR_SPEAKER_VTLN, ASR_SPEAKER_MLLR or "
                "several of them",
                methods);
    }
    const bool is_vtln = (methods & ASR_SPEAKER_VTLN) != 0;
    if (is_vtln ? n_warps != 11 && n_warps != 21 : n_warps != 0) {
      asr::fail(ASR_INVALID_ARGUMENT, "asr_speaker_set_methods: n_warps is %u but must be %s", n_warps,
                is_vtln ? "11 or 21 with ASR_SPEAKER_VTLN" : "0 without ASR_SPEAKER_VTLN");
    }
    speaker->speaker->set_methods((methods & ASR_SPEAKER_FMLLR) != 0, (methods & ASR_SPEAKER_MLLR) != 0, n_warps);
  });
}

asr_status asr_speaker_get_warp(asr_speaker *speaker, float *warp) {
  return guard([&] {
    require(speaker, "asr_speaker_get_warp", "speaker");
    require(warp, "asr_speaker_get_warp", "warp");
    *warp = speaker->speaker->warp();
  });
}

asr_status asr_speaker_set_warp(asr_speaker *speaker, float warp) {
  return guard([&] {
    require(speaker, "asr_speaker_set_warp", "speaker");
    check_range(warp, asr::kMinWarp, asr::kMaxWarp, "asr_speaker_set_warp: warp");
    speaker->speaker->set_warp(warp);
  });
}

asr_status asr_speaker_get_transform(asr_speaker *speaker, float *values, size_t capacity, size_t *n_values) {
  return guard([&] {
    require(speaker, "asr_speaker_get_transform", "speaker");
    const auto transform = speaker->speaker->adaptation().transform;
    copy_transform(transform.get(), "asr_speaker_get_transform", values, capacity, n_values);
  });
}

asr_status asr_speaker_set_transform(asr_speaker *speaker, const float *values, size_t n_values) {
  return guard([&] {
    require(speaker, "asr_speaker_set_transform", "speaker");
    if (n_values == 0) return speaker->speaker->set_transform(nullptr);
    speaker->speaker->set_transform(std::make_shared<asr::FeatureTransform>(
        checked_transform(*speaker->speaker, "asr_speaker_set_transform", values, n_values)));
  });
}

asr_status asr_speaker_get_mean_transform(asr_speaker *speaker, float *values, size_t capacity, size_t *n_values) {
  return guard([&] {
    require(speaker, "asr_speaker_get_mean_transform", "speaker");
    const auto model = speaker->speaker->adaptation().model;
    const asr::FeatureTransform *const transform = model ? &model->means().transform : nullptr;
    copy_transform(transform, "asr_speaker_get_mean_transform", values, capacity, n_values);
  });
}

asr_status asr_speaker_set_mean_transform(asr_speaker *speaker, const float *values, size_t n_values) {
  return guard([&] {
    require(speaker, "asr_speaker_set_mean_transform", "speaker");
    if (n_values == 0) return speaker->speaker->set_mean_transform({});
    speaker->speaker->set_mean_transform(
        checked_transform(*speaker->speaker, "asr_speaker_set_mean_transform", values, n_values));
  });
}

void asr_speaker_free(asr_speaker *speaker) {
  if (speaker == nullptr || speaker->is_of_parent()) return;
  delete speaker;
}

/* ---- stream -------------------------------------------------------------------------------------------------------- */

void asr_stream_config_default(asr_stream_config *config) {
  if (config == nullptr) return;
  *config = asr_stream_config{};
  config->size = sizeof(*config);
  config->n_channels = 1;
  config->channel = -1;
  config->vtln_warp = 1;
  config->word_insertion_cost = NAN;
  config->blank_penalty = NAN;
  config->prior_scale = NAN;
  config->min_active = 200;
  config->max_backlog_ms = 30000;
  config->n_best = 1;
}

void asr_fusion_default(asr_fusion *fusion) {
  if (fusion == nullptr) return;
  *fusion = asr_fusion{};
  fusion->size = sizeof(*fusion);
}

asr_status asr_open(asr_engine *engine, const asr_stream_config *config, asr_stream **stream) {
  return guard([&] {
    require(engine, "asr_open", "engine");
    require(stream, "asr_open", "stream");
    asr::api::StreamConfig read = asr::api::read_config(config);
    if (read.speaker != nullptr) {
      require(read.speaker, "asr_open", "asr_stream_config.speaker");
      read.options.speaker = read.speaker->speaker;
    }
    if (read.fusion) read.options.fusion = engine->engine->fusion(*read.fusion);
    warn_of_rate(engine, read.options);
    auto opened = std::make_unique<asr_stream>();
    if (read.callback != nullptr) {
      read.options.callback = [handle = opened.get(), callback = read.callback, user_data = read.user_data](
                                  asr::EventPointer event) { callback(handle, event.release(), user_data); };
    }
    opened->engine = engine->engine;
    opened->stream = engine->engine->open(std::move(read.options));
    warn_of_batch(engine, *opened->current());
    opened->current()->start();
    *stream = opened.release();
  });
}

asr_status asr_stream_get_state(asr_stream *stream, void *bytes, size_t capacity, size_t *n_bytes) {
  return guard([&] {
    require(stream, "asr_stream_get_state", "stream");
    require(n_bytes, "asr_stream_get_state", "n_bytes");
    const std::string state = stream->current()->state();
    if (bytes != nullptr && capacity < state.size()) {
      asr::fail(ASR_INVALID_ARGUMENT, "asr_stream_get_state: capacity is %zu; the state has %zu bytes", capacity, state.size());
    }
    if (bytes != nullptr) memcpy(bytes, state.data(), state.size());
    *n_bytes = state.size();
  });
}

asr_status asr_stream_set_state(asr_stream *stream, const void *bytes, size_t n_bytes) {
  return guard([&] {
    require(stream, "asr_stream_set_state", "stream");
    require(bytes, "asr_stream_set_state", "bytes");
    stream->current()->set_state(bytes, n_bytes);
  });
}

asr_status asr_stream_get_stats(const asr_stream *stream, asr_stream_stats *stats) {
  return guard([&] {
    require(stream, "asr_stream_get_stats", "stream");
    require(stats, "asr_stream_get_stats", "stats");
    const asr::StreamMeter::Positions at = std::as_const(*stream->current()).meter().positions();
    fill(stats, asr_stream_stats{sizeof(asr_stream_stats), at.fed_s, at.searched_s, at.fed_s - at.searched_s},
         "asr_stream_get_stats: stats->size");
  });
}

asr_status asr_feed(asr_stream *stream, const void *samples, size_t n) {
  return guard([&] {
    require(stream, "asr_feed", "stream");
    if (n > 0) require(samples, "asr_feed", "samples");
    stream->current()->feed(samples, n);
  });
}

asr_status asr_try_feed(asr_stream *stream, const void *samples, size_t n) {
  return guard([&] {
    require(stream, "asr_try_feed", "stream");
    if (n > 0) require(samples, "asr_try_feed", "samples");
    stream->current()->try_feed(samples, n);
  });
}

void asr_device_rows_default(asr_device_rows *rows) {
  if (rows == nullptr) return;
  *rows = asr_device_rows{};
  rows->size = sizeof(*rows);
}

asr_status asr_feed_device(asr_stream *stream, const asr_device_rows *rows, size_t n) {
  return guard([&] {
    require(rows, "asr_feed_device", "rows");
    const asr_device_rows read = asr::api::resized(rows, asr_device_rows_default, "asr_device_rows");
    auto piece = std::make_shared<asr::GivenPiece>(read);  // from here on `release` is called
    require(stream, "asr_feed_device", "stream");
    check_device_rows(read, n, *stream->current());
    stream->current()->feed_device(std::move(piece), n);
  });
}

asr_status asr_engine_get_memory(const asr_engine *engine, asr_engine_memory *memory) {
  return guard([&] {
    require(engine, "asr_engine_get_memory", "engine");
    require(memory, "asr_engine_get_memory", "memory");
    fill(memory, engine->engine->model().memory(), "asr_engine_get_memory: memory->size");
  });
}

asr_status asr_end_utterance(asr_stream *stream) {
  return guard([&] {
    require(stream, "asr_end_utterance", "stream");
    stream->current()->end_utterance();
  });
}

asr_status asr_cancel_utterance(asr_stream *stream) {
  return guard([&] {
    require(stream, "asr_cancel_utterance", "stream");
    stream->current()->cancel_utterance();
  });
}

asr_status asr_reset(asr_stream *stream) {
  return guard([&] {
    require(stream, "asr_reset", "stream");
    const std::lock_guard lock(stream->mutex);
    std::shared_ptr<asr::Stream> fresh = stream->engine->open_instead(*stream->stream);
    fresh->replace(stream->stream.get());
    stream->stream.swap(fresh);
    stream->stream->start();
  });
}

asr_status asr_set_graph(asr_stream *stream, const char *name) {
  return guard([&] {
    require(stream, "asr_set_graph", "stream");
    stream->current()->set_graph(stream->engine->graph(name == nullptr ? "" : name, "asr_set_graph"));
  });
}

asr_status asr_boost(asr_stream *stream, const char *text, size_t n_bytes, float bonus) {
  return guard([&] {
    require(stream, "asr_boost", "stream");
    if (text == nullptr) return stream->current()->forget_boosts();
    check_boost("asr_boost", n_bytes, bonus);
    stream->current()->boost(std::string(text, n_bytes), bonus);
  });
}

asr_status asr_finish(asr_stream *stream) {
  return guard([&] {
    require(stream, "asr_finish", "stream");
    stream->current()->finish();
  });
}

asr_status asr_cancel(asr_stream *stream) {
  return guard([&] {
    require(stream, "asr_cancel", "stream");
    stream->current()->cancel();
  });
}

asr_status asr_result(asr_stream *stream, asr_event **event) {
  return guard([&] {
    require(stream, "asr_result", "stream");
    require(event, "asr_result", "event");
    *event = stream->current()->poll().release();
  });
}

asr_status asr_wait(asr_stream *stream, int32_t timeout_ms) {
  return guard([&] {
    require(stream, "asr_wait", "stream");
    stream->current()->wait(timeout_ms);
  });
}

void asr_close(asr_stream *stream) {
  if (stream == nullptr || stream->is_of_parent()) return;
  if (stream->current()->in_callback()) {
    asr::log(ASR_LOG_ERROR, "asr_close: called in the stream's own callback, which it would wait for; ignored");
    return;
  }
  const Uncancelled uncancelled;
  asr::EventQueue::Handle handle(stream, free_stream);
  stream->current()->close(&handle);
}
