// SPDX-License-Identifier: Apache-2.0
#include "core/engine/model_table.h"

#include <utility>

#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr {
namespace {

[[noreturn]] void fail_missing(const std::string &name, const char *call) {
  fail(ASR_NOT_FOUND, "%s: the engine has no model \"%s\"; add it with asr_engine_add_model", call, name.c_str());
}

}  // namespace

void ModelTable::require_room_locked(const std::string &name) const {
  if (models_.count(name) > 0 || models_.size() + 1 < kMostModels) return;
  fail(ASR_UNSUPPORTED, "asr_engine_add_model: the engine has %zu models with its own, which is the most; remove one first",
       kMostModels);
}

void ModelTable::require_room(const std::string &name) const {
  const std::lock_guard lock(mutex_);
  require_room_locked(name);
}

void ModelTable::set(const std::string &name, std::shared_ptr<AddedModel> model) {
  const std::lock_guard lock(mutex_);
  require_room_locked(name);
  models_[name].swap(model);  // the one before goes after the lock
}

std::shared_ptr<AddedModel> ModelTable::require(const std::string &name, const char *call) const {
  const std::lock_guard lock(mutex_);
  const auto found = models_.find(name);
  if (found == models_.end()) fail_missing(name, call);
  return found->second;
}

void ModelTable::remove(const std::string &name, const char *call) {
  std::shared_ptr<AddedModel> removed;  // goes after the lock
  const std::lock_guard lock(mutex_);
  const auto found = models_.find(name);
  if (found == models_.end()) fail_missing(name, call);
  removed = std::move(found->second);
  models_.erase(found);
}

}  // namespace asr
