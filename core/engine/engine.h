// SPDX-License-Identifier: Apache-2.0
// Engine owns a loaded model, its graphs, and the threads that serve its streams. Its user and every open stream hold it by
// shared_ptr.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "core/base/page_allocator.h"
#include "core/engine/added_model.h"
#include "core/engine/loaded_graph.h"
#include "core/engine/loaded_model.h"
#include "core/engine/worker_pool.h"
#include "core/session/session.h"
#include "core/step/scheduler.h"

namespace asr {

class Engine {
 public:
  Engine(const std::string &bundle_path, const EngineOptions &options);
  ~Engine();
  Engine(const Engine &) = delete;
  Engine &operator=(const Engine &) = delete;

  const LoadedModel &model() const { return main_.model; }  // on the requested device, lost or not

  GraphName own_graph() const { return graphs_.find(""); }  // that of the bundle; nullptr if it has none

  // Loads a graph under a name, replacing a graph of the same name. Throws if it was not made for the model.
  void add_graph(const std::string &name, GraphParts parts);
  void remove_graph(const std::string &name);
  GraphName graph(const std::string &name, const char *call) const;

  // Boost phrases of all utterances of a graph that begin later, or of every graph (nullptr). Throws ASR_NOT_FOUND if the
  // graph, or every graph, lacks words of theirs, unless these phrases are to be left out.
  void boost(const char *graph, const std::string &phrases, float bonus, bool allow_unknown);
  void forget_boosts(const char *graph);

  // Loads the acoustic model of a bundle and gives it the name, which another may have borne. Throws if it is not for the
  // states of the engine's own model.
  void add_model(const std::string &name, const std::string &bundle_path);
  void remove_model(const std::string &name);
  // nullptr where the engine's own model is all that is asked for.
  std::shared_ptr<const FusionOptions> fusion(const FusionRequest &request) const;

  const EngineMeter &meter() const { return meter_; }

  // A speaker of the model; any number of engines with the same acoustic model may use it.
  std::shared_ptr<Speaker> new_speaker();

  // The stream must be closed before the engine is destroyed. Throws if the options do not fit the model, or if the device was
  // lost and there is no fallback.
  std::shared_ptr<Stream> open(StreamOptions options);
  std::shared_ptr<Stream> open_instead(const Stream &before);  // same options and event queue, for Stream::replace

 private:
  // The model on one device, and the thread that calls that device.
  struct ScheduledModel {
    ScheduledModel(const std::string &bundle_path, const EngineOptions &options, Scheduler::TakeOver take_over,
                   EngineMeter *meter)
        : model(bundle_path, options), scheduler(model, std::move(take_over), meter) {}
    const LoadedModel model;
    Scheduler scheduler;
  };

  Scheduler *take_over(const Error &reason);
  std::shared_ptr<Stream> open_session(const StreamOptions &options, GraphName graph, std::shared_ptr<EventQueue> events);
  void check_fusion(const StreamOptions &options) const;
  void check_given_rows(const StreamOptions &options) const;
  void check_scores(const StreamOptions &options) const;

  // Declared first, so that it is destroyed when all memory of the engine has been freed, and gives that back to the system.
  struct MemoryReturned {
    ~MemoryReturned() { return_free_memory(); }
  };
  const MemoryReturned memory_returned_;
  const std::string bundle_path_;
  EngineMeter meter_;
  ResampleFilters resample_filters_;
  // The fallback, after the loss of the main device. Written by the main scheduler's thread.
  std::unique_ptr<ScheduledModel> fallback_;
  ScheduledModel main_;
  GraphTable graphs_;
  ModelTable models_;
  std::shared_ptr<LoadedGraph> background_;  // nullptr where the bundle has none
  std::atomic<bool> told_of_no_background_{false};
  std::mutex estimation_mutex_;
  std::weak_ptr<const EstimationModel> estimation_model_;
  WorkerPool callbacks_;
  WorkerPool estimations_;  // learns from speakers and estimates their transforms: seconds of work, each on its own thread
  WorkerPool results_;      // makes results, while the engine's thread goes on with other streams
};

}  // namespace asr
