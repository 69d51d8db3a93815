// SPDX-License-Identifier: Apache-2.0
#include "builder/import/token_graph.h"

#include <algorithm>
#include <filesystem>

#include "builder/graph/bundle_parts.h"
#include "builder/import/openfst_file.h"
#include "builder/import/tokens.h"
#include "builder/text/text_file.h"
#include "core/base/error.h"
#include "core/base/limits.h"
#include "core/graph/graph.h"

namespace asr {
namespace {

HmmSet numbered_tokens(uint32_t n_tokens, uint32_t blank) {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < n_tokens; ++i) names.push_back(i == blank ? "<blank>" : format("<%u>", i));
  return token_hmms(names);
}

Bundle bundle_of(const TokenGraphOptions &options, uint32_t n_tokens) {
  Bundle bundle;
  bundle.name = std::filesystem::path(options.graph).filename().string();
  bundle.source = "tokens of CTC";
  bundle.front_end = front_end_of_rows(options.frame_shift_ms);
  bundle.decoding.acoustic_scale = 1;
  bundle.filler_words = {{"<blank>", {"<blank>"}}};
  ScoreModel scores;
  scores.topology = TokenTopology::kCtc;
  scores.n_states = n_tokens;
  scores.blank = options.blank;
  bundle.scores = std::move(scores);
  bundle.front_end.validate(bundle.source);
  return bundle;
}

}  // namespace

uint32_t write_token_graph(const TokenGraphOptions &options, const std::string &out) {
  const uint32_t most = options.n_tokens > 0 ? options.n_tokens : kMaxPhones;
  if (options.n_tokens > kMaxPhones || options.blank >= most) {
    fail(ASR_INVALID_ARGUMENT, "%s: %u tokens with the blank %u; there may be %u, and the blank is one of them",
         options.graph.c_str(), options.n_tokens, options.blank, kMaxPhones);
  }
  const WordTable words = {parse_symbols(read_text(options.words, {"a table of words and their numbers"}), options.words), {}};
  GraphData graph = read_openfst_graph(options.graph, numbered_tokens(most, options.blank), words.words, options.words);
  uint32_t n_tokens = options.n_tokens;
  if (n_tokens == 0) {
    n_tokens = options.blank + 1;
    for (const asr_graph_arc &arc : graph.arcs) n_tokens = std::max(n_tokens, arc.transition_id);
  }
  const HmmSet set = numbered_tokens(n_tokens, options.blank);
  graph.transitions = set.transitions;
  graph.n_pdfs = set.n_pdfs;
  OutputDirectory directory(out);
  write_hmm_set(set, directory.file("hmms.bin"));
  write_graph(graph, directory.file("graph.bin"));
  write_words(words, directory.file("words.txt"));
  write_symbols(phone_symbols(set), directory.file("phones.txt"));
  write_bundle_index(bundle_of(options, n_tokens), directory, {"hmms.bin", "graph.bin", "words.txt", "phones.txt"});
  directory.commit();
  return n_tokens;
}

}  // namespace asr
