// SPDX-License-Identifier: Apache-2.0
// Implements `senone models`: the installed bundles, in the order in which they are found by name.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/model/bundle.h"
#include "tools/installed_models.h"
#include "tools/tool.h"

namespace asr::tool {
namespace {

const char *kind_of(const Bundle &bundle) {
  if (!bundle.has("graph.bin")) return "no graph";
  return bundle.decoding.reject_threshold ? "grammar" : "language model";
}

void print_json(const std::vector<InstalledModel> &models) {
  auto array = nlohmann::json::array();
  for (const InstalledModel &model : models) {
    nlohmann::json entry{{"name", model.name}, {"path", model.path}};
    try {
      const Bundle bundle = read_bundle_index(model.path);
      entry["kind"] = kind_of(bundle);
      entry["sample_rate_hz"] = bundle.front_end.sample_rate_hz;
    } catch (const Error &error) {
      entry["error"] = error.what();
    }
    array.push_back(entry);
  }
  printf("%s\n", array.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

void print_table(const std::vector<InstalledModel> &models) {
  for (const InstalledModel &model : models) {
    try {
      const Bundle bundle = read_bundle_index(model.path);
      print_line(stdout, "%-20s %-14s %6.0f Hz  %s", model.name.c_str(), kind_of(bundle), bundle.front_end.sample_rate_hz,
                 model.path.c_str());
    } catch (const Error &error) {
      print_line(stdout, "%-20s not used: %s", model.name.c_str(), error.what());
    }
  }
  if (!models.empty()) return;
  print_line(stdout, "no bundle is in any of these directories:");
  for (const std::string &directory : model_directories()) print_line(stdout, "  %s", directory.c_str());
}

void list_models(bool json) {
  const std::vector<InstalledModel> models = installed_models();
  if (json) {
    print_json(models);
  } else {
    print_table(models);
  }
}

void add_models(Command app) {
  Command command = app.command("models", "List the installed bundles, which --model of recognize finds by name");
  const auto json = std::make_shared<bool>(false);
  command.flag("--json", *json, "Print JSON");
  command.callback([json] { list_models(*json); });
}

const Subcommand kModels{"models", add_models};

}  // namespace
}  // namespace asr::tool
