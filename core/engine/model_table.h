// SPDX-License-Identifier: Apache-2.0
// The acoustic models that an engine has beside its own, by their names. Any thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/engine/added_model.h"

namespace asr {

class ModelTable {
 public:
  void require_room(const std::string &name) const;  // throws ASR_UNSUPPORTED where set() would
  void set(const std::string &name, std::shared_ptr<AddedModel> model);
  // Throws ASR_NOT_FOUND.
  std::shared_ptr<AddedModel> require(const std::string &name, const char *call) const;
  void remove(const std::string &name, const char *call);

 private:
  void require_room_locked(const std::string &name) const;

  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<AddedModel>> models_;
};

}  // namespace asr
