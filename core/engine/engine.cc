// SPDX-License-Identifier: Apache-2.0
#include "core/engine/engine.h"

#include <algorithm>
#include <cmath>
#include <utility>

#ifdef __GLIBC__  // known now that a header of the C library is included
#include <execinfo.h>
#endif

#include "core/base/error.h"
#include "core/base/log.h"

namespace asr {
namespace {

// Loads the unwinder now, by taking a back trace. Otherwise glibc loads it when an exception first passes through it, out of
// std::call_once. It ends the process if there is no memory for that.
void find_unwinder() {
#ifdef __GLIBC__
  void *frame = nullptr;
  backtrace(&frame, 1);
#endif
}

void check_mean(const StreamOptions &options) {
  if (options.cmn == CmnKind::kMeasure && (options.endpoint || options.fusion || !options.is_audio())) {
    fail(ASR_INVALID_ARGUMENT,
         "asr_open: ASR_CMN_MEASURE measures audio for the engine's own model, as one utterance: set neither endpoint nor "
         "fusion");
  }
  if (!options.endpoint || options.cmn != CmnKind::kBatch) return;
  fail(ASR_INVALID_ARGUMENT,
       "asr_open: ASR_CMN_BATCH decodes nothing before asr_finish, but the stream has endpoints; take ASR_CMN_LIVE");
}

// One file of a graph without the other is a damaged bundle, of which read_graph_parts() tells.
bool has_own_graph(const Bundle &bundle) { return bundle.has("graph.bin") || bundle.has("words.txt"); }

const FrontEnd &front_end_of(const std::shared_ptr<AddedModel> &model, const LoadedModel &own) {
  return model ? model->tables().front_end() : own.tables().front_end();
}

// Finds the model's front end among those that the stream has, or adds it.
size_t front_end_index(const std::shared_ptr<AddedModel> &model, const LoadedModel &own, FusionOptions *options) {
  const std::string text = front_end_to_json(front_end_of(model, own));
  size_t i = 0;
  while (i < options->front_ends.size() && front_end_to_json(front_end_of(options->front_ends[i], own)) != text) ++i;
  const bool is_own = front_end_to_json(own.tables().front_end()) == text;
  if (i == options->front_ends.size()) options->front_ends.push_back(is_own ? nullptr : model);
  return i;
}

}  // namespace

Engine::Engine(const std::string &bundle_path, const EngineOptions &options)
    : bundle_path_(bundle_path),
      main_(
          bundle_path, options,
          options.fallback.empty() ? Scheduler::TakeOver() : [this](const Error &reason) { return take_over(reason); },
          &meter_),
      callbacks_(options.max_callback_threads),
      estimations_(UINT32_MAX, [this] { model().begin_thread(); }),
      results_(options.n_workers(), [this] { model().begin_thread(); }) {
  find_unwinder();
  if (std::optional<GraphParts> parts = read_background_parts(model().bundle())) {
    background_ = std::make_shared<LoadedGraph>(std::move(*parts), main_.model);
  }
  if (has_own_graph(model().bundle())) add_graph("", read_graph_parts(model().bundle()));
}

// Destroys in order: the threads that submit jobs, then the jobs, then the objects that jobs read and report to.
Engine::~Engine() {
  main_.scheduler.stop();
  if (fallback_) fallback_->scheduler.stop();
}

// Loads the fallback; nullptr if that is impossible, with the reason in the log.
Scheduler *Engine::take_over(const Error &reason) {
  std::string lost = model().device().entry().id;
  if (model().is_split()) lost += " or " + model().searcher().entry().id;
  try {
    EngineOptions options = model().options();
    options.device = std::exchange(options.fallback, "");
    options.search_device.clear();
    fallback_ = std::make_unique<ScheduledModel>(bundle_path_, options, Scheduler::TakeOver(), &meter_);
  } catch (...) {
    log(ASR_LOG_ERROR, "%s was lost (%s), and %s cannot take over: %s", lost.c_str(), reason.what(),
        model().options().fallback.c_str(), current_error().what());
    return nullptr;
  }
  log(ASR_LOG_WARNING, "%s was lost (%s); %s takes over its streams", lost.c_str(), reason.what(),
      fallback_->model.device().entry().id.c_str());
  return &fallback_->scheduler;
}

// Loads the graph on the device at once; on a fallback when that first searches it.
void Engine::add_graph(const std::string &name, GraphParts parts) {
  main_.scheduler.inbox().check_usable();
  const std::string source = parts.source;
  const auto graph = std::make_shared<LoadedGraph>(std::move(parts), main_.model);
  try {
    main_.scheduler.inbox().run_between_steps([&] { graph->on(main_.model); });
  } catch (const Error &error) {
    if (error.code() != ASR_DEVICE_LOST) throw;
    main_.scheduler.inbox().check_usable();
  }
  graphs_.set(name, graph);
  log(ASR_LOG_INFO, "%s: graph \"%s\" of %u states, %llu arcs and %zu words", source.c_str(), name.c_str(),
      graph->graph().n_states(), static_cast<unsigned long long>(graph->graph().n_arcs()), graph->words().size());
  if (background_ || !graph->decoding().compares() || told_of_no_background_.exchange(true)) return;
  log(ASR_LOG_WARNING,
      "%s: has a threshold, but %s has no background to compare with, so that nothing is rejected and all keywords are "
      "results; `senone graph` makes one with any graph of that bundle",
      source.c_str(), bundle_path_.c_str());
}

GraphName Engine::graph(const std::string &name, const char *call) const {
  if (name.empty() && !graphs_.find(name)) {
    fail(ASR_NOT_FOUND, "%s: %s has no graph.bin; make it with `senone graph`, or choose a graph that was added", call,
         bundle_path_.c_str());
  }
  return graphs_.require(name, call);
}

void Engine::remove_graph(const std::string &name) {
  if (name.empty()) {
    fail(ASR_INVALID_ARGUMENT,
         "asr_engine_remove_graph: \"\" is the bundle's own graph, which stays; add another to replace it");
  }
  graphs_.remove(name, "asr_engine_remove_graph");
}

void Engine::boost(const char *graph, const std::string &phrases, float bonus, bool allow_unknown) {
  auto boost = std::make_shared<GivenBoost>(Boost{boosted_phrases(phrases), static_cast<double>(bonus)}, true);
  const GraphName name = graph != nullptr ? this->graph(graph, "asr_engine_boost") : nullptr;
  // Words are looked up for all graphs at once, so that no utterance waits for it.
  Boost unheard = boost->given();
  std::string what;
  for (const auto &loaded : name ? std::vector{name->get()} : graphs_.graphs()) {
    boost->of(loaded);
    if (unheard.phrases.empty()) continue;
    GraphBoost rest(unheard, loaded->index());
    rest.unheard.n_all = boost->given().phrases.size();
    what = rest.unheard.what() + "; a line of the text is a phrase, of words alone";
    unheard.phrases = std::move(rest.unheard.phrases);
  }
  const bool has_unheard = !what.empty() && !unheard.phrases.empty();
  if (has_unheard && !allow_unknown) {
    fail(ASR_NOT_FOUND, "asr_engine_boost: %s. Nothing is boosted by this call; allow_unknown leaves such phrases out",
         what.c_str());
  }
  if (has_unheard) log(ASR_LOG_WARNING, "asr_engine_boost: %s", what.c_str());
  if (boost->given().phrases.empty()) return;
  (name ? name->boosts() : graphs_.boosts()).add(std::move(boost), phrases.size());
}

void Engine::forget_boosts(const char *graph) {
  (graph != nullptr ? this->graph(graph, "asr_engine_boost")->boosts() : graphs_.boosts()).clear();
}

// The model goes to the device at once; to a fallback when a stream first needs it there.
void Engine::add_model(const std::string &name, const std::string &bundle_path) {
  if (name.empty()) {
    fail(ASR_INVALID_ARGUMENT, "asr_engine_add_model: \"\" is the engine's own model, which stays; give another name");
  }
  models_.require_room(name);
  main_.scheduler.inbox().check_usable();
  const auto added = std::make_shared<AddedModel>(bundle_path, main_.model);
  try {
    main_.scheduler.inbox().run_between_steps([&] { added->on(main_.model); });
  } catch (const Error &error) {
    if (error.code() != ASR_DEVICE_LOST) throw;
    main_.scheduler.inbox().check_usable();
  }
  models_.set(name, added);
  log(ASR_LOG_INFO, "%s: acoustic model \"%s\"", bundle_path.c_str(), name.c_str());
}

void Engine::remove_model(const std::string &name) {
  if (name.empty()) fail(ASR_INVALID_ARGUMENT, "asr_engine_remove_model: \"\" is the engine's own model, which stays");
  models_.remove(name, "asr_engine_remove_model");
}

std::shared_ptr<const FusionOptions> Engine::fusion(const FusionRequest &request) const {
  auto options = std::make_shared<FusionOptions>();
  options->settings = request.settings;
  options->settings.weights.clear();
  const double shift_s = main_.model.frame_shift_s();
  options->settings.follow_frames = request.follow_s / shift_s;
  options->settings.select_frames = static_cast<uint64_t>(std::max(1.0, std::round(request.select_s / shift_s)));
  for (size_t i = 0; i < request.models.size(); ++i) {
    const std::string &name = request.models[i];
    const auto model = name.empty() ? nullptr : models_.require(name, "asr_open");
    if (request.settings.weights[i] == 0) continue;
    options->settings.weights.push_back(request.settings.weights[i]);
    options->models.push_back({model, front_end_index(model, main_.model, options.get())});
  }
  if (options->models.size() == 1 && options->models[0].model == nullptr) return nullptr;
  return options;
}

void Engine::check_fusion(const StreamOptions &options) const {
  for (const auto &model : options.fusion->front_ends) {
    if (!options.is_audio() || !model) continue;
    check_takes_audio(model->bundle());
    model->tables().warp_index(static_cast<double>(options.vtln_warp));
  }
  if (options.input == ASR_INPUT_FEATURES && !options.fusion->has_own_rows_only()) {
    fail(ASR_UNSUPPORTED,
         "asr_open: asr_stream_config.fusion names models of other front ends than the engine's own, which rows that are fed "
         "cannot suit; feed audio");
  }
}

// A model of scores takes rows alone, and has what the options are about.
void Engine::check_scores(const StreamOptions &options) const {
  const std::optional<ScoreModel> &scores = model().scores();
  if (options.input != ASR_INPUT_LOGLIKES || options.gives_rows()) check_has_gaussians(model().bundle());
  const auto refuse = [&](const char *field, const char *what) {
    fail(ASR_UNSUPPORTED, "asr_open: asr_stream_config.%s is set, but the model of %s has no %s", field, bundle_path_.c_str(),
         what);
  };
  const bool has_blank = scores && scores->has_blank() && options.input == ASR_INPUT_LOGLIKES;
  if (options.blank_penalty && *options.blank_penalty != 0 && !has_blank) refuse("blank_penalty", "blank");
  if (options.blank_skip > 0 && !has_blank) refuse("blank_skip", "blank");
  const bool has_priors = scores && !scores->log_priors.empty();
  if (options.prior_scale && *options.prior_scale != 0 && !has_priors) refuse("prior_scale", "priors");
  if (options.blank_skip > 0 && options.endpoint) {
    fail(ASR_UNSUPPORTED, "asr_open: asr_stream_config.blank_skip is set, which leaves out the pauses that endpoint looks for");
  }
}

// Rows in memory of the device are read there alone.
void Engine::check_given_rows(const StreamOptions &options) const {
  constexpr const char *kField = "asr_open: asr_stream_config.rows_memory";
  if (!options.is_given_rows()) return;
  if (options.input != ASR_INPUT_LOGLIKES) {
    fail(ASR_INVALID_ARGUMENT, "%s is for rows of log-likelihoods; set input to ASR_INPUT_LOGLIKES", kField);
  }
  const asr_memory own = model().memory().memory;
  const auto name = [](asr_memory memory) {
    return memory == ASR_MEMORY_CUDA     ? "ASR_MEMORY_CUDA"
           : memory == ASR_MEMORY_OPENCL ? "ASR_MEMORY_OPENCL"
                                         : "ASR_MEMORY_HOST";
  };
  if (own != options.rows_memory) {
    fail(ASR_UNSUPPORTED, "%s is %s, but %s searches rows in %s%s; copy them there, or load the engine on their device", kField,
         name(options.rows_memory), model().searcher().entry().id.c_str(), name(own),
         model().scores() ? "" : " with this model, which has Gaussians");
  }
  if (options.blank_skip > 0) {
    fail(ASR_UNSUPPORTED, "%s is %s, but blank_skip looks at the blanks on the host; leave blank_skip 0", kField, name(own));
  }
  if (!model().options().fallback.empty()) {
    fail(ASR_UNSUPPORTED, "%s is %s, but the engine's fallback could not search these rows once more; load it without one",
         kField, name(own));
  }
  if (options.endpoint && options.lattice_beam == 0) {
    fail(ASR_UNSUPPORTED,
         "%s is %s, but an endpoint without lattices may search rows twice; set asr_stream_config.lattice_beam, such as to 8",
         kField, name(own));
  }
}

std::shared_ptr<Speaker> Engine::new_speaker() {
  const std::lock_guard lock(estimation_mutex_);
  std::shared_ptr<const EstimationModel> model = estimation_model_.lock();
  if (!model) estimation_model_ = model = std::make_shared<EstimationModel>(main_.model);
  return std::make_shared<Speaker>(std::move(model));
}

std::shared_ptr<Stream> Engine::open(StreamOptions options) {
  main_.scheduler.inbox().check_usable();
  const LoadedModel &model = main_.model;
  GraphName graph = options.gives_rows() ? nullptr : this->graph(options.graph, "asr_open");
  if (options.reject_threshold && *options.reject_threshold >= 0 && !background_) {
    fail(ASR_UNSUPPORTED,
         "asr_open: asr_stream_config.reject_threshold is set, but %s has no background to compare with; make its graph again "
         "with `senone graph`",
         bundle_path_.c_str());
  }
  check_scores(options);
  check_given_rows(options);
  if (!options.gives_rows()) options.background = background_;
  if (options.format.rate_hz == 0) {
    options.format.rate_hz = static_cast<uint32_t>(model.bundle().front_end.sample_rate_hz);
  }
  if (options.is_audio()) {
    check_takes_audio(model.bundle());
    options.resample_filter = resample_filters_.get(options.format.rate_hz, model.bundle().front_end.sample_rate_hz);
    model.tables().warp_index(static_cast<double>(options.vtln_warp));
  }
  if (options.fusion) check_fusion(options);
  if (options.speaker && !options.speaker->suits(model.bundle())) {
    fail(ASR_INVALID_ARGUMENT,
         "asr_open: asr_stream_config.speaker is of another acoustic model than %s; make one with "
         "asr_speaker_new of this engine",
         bundle_path_.c_str());
  }
  if (options.speaker && options.vtln_warp != 1 && options.vtln_warp != options.speaker->warp()) {
    fail(ASR_INVALID_ARGUMENT,
         "asr_open: asr_stream_config.vtln_warp is %g, but its speaker's warp is %g; set it by asr_speaker_set_warp",
         static_cast<double>(options.vtln_warp), static_cast<double>(options.speaker->warp()));
  }
  check_mean(options);
  if (options.callback) callbacks_.require_thread();
  if (options.speaker) estimations_.require_thread();
  if (options.lattice_beam > 0 && !model.searcher().has(ASR_BACKEND_LATTICES)) {
    fail(ASR_UNSUPPORTED,
         "asr_open: device %s makes no lattices; leave asr_stream_config.lattice_beam 0 or take another device",
         model.searcher().entry().id.c_str());
  }
  results_.require_thread();
  auto events = std::make_shared<EventQueue>(options.callback, &callbacks_);
  return open_session(options, std::move(graph), std::move(events));
}

std::shared_ptr<Stream> Engine::open_instead(const Stream &before) {
  main_.scheduler.inbox().check_usable();
  GraphName graph = graphs_.find(before.options().graph);
  if (before.options().gives_rows()) graph = nullptr;
  if (!graph) graph = before.first_graph();  // the graph was removed meanwhile
  return open_session(before.options(), std::move(graph), before.events());
}

std::shared_ptr<Stream> Engine::open_session(const StreamOptions &options, GraphName graph,
                                             std::shared_ptr<EventQueue> events) {
  const auto session = std::make_shared<Session>(options, std::move(graph), main_.model, &main_.scheduler.inbox(), &results_,
                                                 &estimations_, std::move(events), &meter_);
  return {session, &session->stream()};
}

}  // namespace asr
