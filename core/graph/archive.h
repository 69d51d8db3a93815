// SPDX-License-Identifier: Apache-2.0
// GraphParts is a graph with everything that an engine needs apart from the acoustic model: words, search settings and filler
// words. It comes from a bundle or from a graph archive, one block of bytes with these parts (docs/graph-file.md). `senone
// graph` writes archives; the engine reads both.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/model/bundle.h"

namespace asr {

struct GraphParts {
  std::string source;  // names the parts in errors
  Bundle bundle;       // settings and filler words; its list of files identifies the model
  Graph graph;
  WordTable words;
  std::vector<std::string> phones;  // empty without phones.txt
};

// These functions check everything they read and throw ASR_NOT_FOUND or ASR_BAD_FILE with the part and the field.
GraphParts read_graph_parts(const Bundle &bundle);     // from a bundle whose senone.json was read
GraphParts read_graph_parts(const std::string &path);  // from a bundle or an archive
// Returns the phone loop against which results are compared; its words are phones. Unset if the bundle has none.
std::optional<GraphParts> read_background_parts(const Bundle &bundle);
GraphParts read_graph_archive(const void *bytes, size_t n_bytes, const std::string &source);

// Throws ASR_UNSUPPORTED unless the graph was made for the HMMs of this model. If one of the two does not list them,
// acoustic.bin counts. Throws ASR_BAD_FILE if the number of states differs.
void check_made_for(const GraphParts &parts, const Bundle &model, uint32_t n_states);

// Returns an archive of a graph for the model of a bundle, which was read with its list of files.
std::string graph_archive(const Bundle &model, const GraphData &graph, const WordTable &words,
                          const std::vector<std::string> &phones);

}  // namespace asr
