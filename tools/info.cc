// SPDX-License-Identifier: Apache-2.0
// Implements `senone info BUNDLE`: the content of a bundle, for people or as JSON. Reading it checks every file of it. With
// --device it also reports the use of device memory.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/base/json_writer.h"
#include "core/base/printable.h"
#include "core/graph/graph.h"
#include "core/model/acoustic_model.h"
#include "core/model/bundle.h"
#include "core/model/hmm_set.h"
#include "tools/device_memory.h"
#include "tools/tool.h"

namespace asr::tool {
namespace {

using Json = nlohmann::ordered_json;

Json acoustic_info(const Bundle &bundle) {
  const AcousticModel model = read_acoustic_model(bundle.file("acoustic.bin"));
  return {{"covariance", model.covariance == ASR_COVARIANCE_FULL ? "full" : "diagonal"},
          {"states", model.n_states},
          {"gaussians", model.n_gaussians()},
          {"codebooks", model.codebooks.size()},
          {"streams", model.streams.size()},
          {"dimensions", model.n_dims},
          {"weights", model.log_weights.size()}};
}

Json hmm_info(const Bundle &bundle) {
  const HmmSet set = read_hmm_set(bundle.file("hmms.bin"));
  return {{"phones", set.phones.size()},
          {"hmms", set.hmms.size()},
          {"topologies", set.topologies.size()},
          {"contexts", set.n_contexts()},
          {"pdfs", set.n_pdfs},
          {"silence", set.silence == kNoPhone ? "" : set.phones[set.silence].name}};
}

Json graph_info(const Bundle &bundle) {
  const Graph graph(bundle.file("graph.bin"));
  return {{"states", graph.n_states()},
          {"arcs", graph.n_arcs()},
          {"emitting_arcs", graph.n_emitting_arcs()},
          {"transitions", graph.n_transition_ids()},
          {"words", graph.n_words()}};
}

// Collects the bundle's properties, by part.
Json collect(const Bundle &bundle) {
  Json files = Json::object();
  for (const auto &[name, file] : bundle.files) files[name] = file.size;
  Json made_by = Json::array();
  for (const BundleStep &step : bundle.made_by) {
    std::string line = "senone " + step.version + ":";
    for (const std::string &argument : step.arguments) line += " " + argument;
    made_by.push_back(line);
  }
  Json fillers = Json::array();
  for (const auto &[word, phones] : bundle.filler_words) fillers.push_back(word);
  Json info = {{"bundle", bundle.path},
               {"name", bundle.name},
               {"source", bundle.source},
               {"made_by", made_by},
               {"front_end", Json::parse(front_end_to_json(bundle.front_end))},
               {"decoding",
                {{"acoustic_scale", bundle.decoding.acoustic_scale},
                 {"beam", bundle.decoding.beam},
                 {"max_active", bundle.decoding.max_active},
                 {"word_insertion_cost", bundle.decoding.word_insertion_cost}}}};
  if (bundle.scores) {
    JsonWriter scores;
    write_score_model(*bundle.scores, &scores);
    info["scores"] = Json::parse(scores.text());
  }
  if (bundle.has("acoustic.bin")) info["acoustic"] = acoustic_info(bundle);
  if (bundle.has("hmms.bin")) info["hmms"] = hmm_info(bundle);
  if (bundle.has("graph.bin")) info["graph"] = graph_info(bundle);
  if (bundle.has("words.txt")) info["words"] = read_symbols(bundle.file("words.txt")).size();
  info["filler_words"] = std::move(fillers);
  info["files"] = std::move(files);
  return info;
}

// Prints "acoustic      states 5126, gaussians 16128, ...": a paragraph with short lines for each top-level entry.
void print_for_people(const Json &info) {
  constexpr int kNameWidth = 14;
  constexpr size_t kLineWidth = 100;
  for (const auto &[name, value] : info.items()) {
    std::string line;
    const char *heading = name.c_str();
    for (const auto &[key, field] : value.items()) {
      const std::string text = printable(field.is_string() ? field.get<std::string>() : field.dump());
      if (field.is_array() || text.empty()) continue;
      const std::string item = value.is_object() ? printable(key) + " " + text : text;
      if (line.size() + item.size() > kLineWidth) {
        printf("%-*s%s,\n", kNameWidth, heading, line.c_str());
        heading = "";
        line.clear();
      }
      line += (line.empty() ? "" : ", ") + item;
    }
    printf("%-*s%s\n", kNameWidth, heading, line.c_str());
  }
}

void add_info(Command app) {
  Command info = app.command("info", "Show what a bundle holds, and check it");
  const auto path = std::make_shared<std::string>();
  const auto device = std::make_shared<std::string>();
  const auto as_json = std::make_shared<bool>(false);
  info.option("BUNDLE", *path, "Directory made by `senone import`").required();
  info.option("--device", *device, "Also load it on this device (\"cuda\", \"cuda:1\") and show the memory it takes there");
  info.flag("--json", *as_json, "Print JSON");
  info.callback([=] {
    Json collected = collect(read_bundle(*path));
    if (!device->empty()) collected["memory"] = device_memory(*path, *device);
    if (*as_json) {
      printf("%s\n", collected.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
    } else {
      print_for_people(collected);
    }
  });
}

const Subcommand kInfo{"info", add_info};

}  // namespace
}  // namespace asr::tool
