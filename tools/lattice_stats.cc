// SPDX-License-Identifier: Apache-2.0
// Implements `senone lattice stats`: the sizes of lattices, and the errors of their best paths.
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "builder/text/text_file.h"
#include "builder/text/unicode.h"
#include "core/base/limits.h"
#include "core/lattice/oracle.h"
#include "tools/lattice.h"
#include "tools/word_errors.h"

namespace asr::tool {
namespace {

struct StatsOptions {
  LatticeInput input;
  std::string ref_path;
  bool each = false, json = false;
};

struct Stats {
  LatticeSize size;
  size_t n_lattices = 0, n_without_ref = 0;
  WordErrors errors;  // errors of the oracle words
};

double density(const LatticeSize &size) {
  return size.n_frames == 0 ? 0 : static_cast<double>(size.arc_frames) / static_cast<double>(size.n_frames);
}

WordErrors oracle_errors(const CompactLattice &lattice, const Words &ref, const WordSymbols &symbols) {
  if (uint64_t{lattice.n_states()} * (ref.size() + 1) > kMaxOracleCells) {
    fail(ASR_UNSUPPORTED, "%u states by %zu words of the transcript are too many; prune the lattice, or cut the recording",
         lattice.n_states(), ref.size());
  }
  std::vector<uint32_t> numbers;
  for (const std::string &word : ref) numbers.push_back(symbols.number(word));
  Words words;
  for (const uint32_t word : oracle_words(lattice, numbers).words) words.push_back(symbols.text(word));
  return count_errors(align(ref, words));
}

void print(const Stats &stats, bool with_errors) {
  printf("%zu lattices, %" PRIu64 " states, %" PRIu64 " arcs, %" PRIu64 " frames\n", stats.n_lattices, stats.size.n_states,
         stats.size.n_arcs, stats.size.n_frames);
  printf("density %.2f arcs a frame\n", density(stats.size));
  if (!with_errors) return;
  if (stats.n_without_ref > 0) printf("%zu lattices have no transcript and are not counted here:\n", stats.n_without_ref);
  printf("oracle word error rate %.2f %%: %zu errors (%zu substitutions, %zu deletions, %zu insertions) in %zu words\n",
         percent(stats.errors.total(), stats.errors.n_ref_words), stats.errors.total(), stats.errors.n_substitutions,
         stats.errors.n_deletions, stats.errors.n_insertions, stats.errors.n_ref_words);
}

void print_json(const Stats &stats, bool with_errors) {
  nlohmann::json json = {{"lattices", stats.n_lattices},
                         {"states", stats.size.n_states},
                         {"arcs", stats.size.n_arcs},
                         {"frames", stats.size.n_frames},
                         {"density", density(stats.size)}};
  if (with_errors) {
    json["words"] = stats.errors.n_ref_words;
    json["oracle_errors"] = stats.errors.total();
    json["oracle_wer_percent"] = percent(stats.errors.total(), stats.errors.n_ref_words);
    json["without_transcript"] = stats.n_without_ref;
  }
  printf("%s\n", json.dump(2).c_str());
}

void run(const StatsOptions &options) {
  const bool with_errors = !options.ref_path.empty();
  if (with_errors && options.input.words_path.empty()) throw UsageError("lattice stats: give --words with --ref");
  Transcripts refs;
  std::unique_ptr<WordSymbols> symbols;
  if (with_errors) {
    refs = parse_transcripts(read_text(options.ref_path, {"a file of transcripts"}), options.ref_path, {});
    symbols = std::make_unique<WordSymbols>(options.input.words_path);
  }
  Stats stats;
  const LatticesTried tried = options.input.for_each([&](const std::string &id, const CompactLattice &lattice) {
    const LatticeSize size = lattice_size(lattice);
    WordErrors errors;
    const auto ref = refs.find(to_nfc(id));
    if (ref != refs.end()) errors = oracle_errors(lattice, ref->second, *symbols);
    ++stats.n_lattices;
    stats.size += size;
    stats.errors += errors;
    stats.n_without_ref += with_errors && ref == refs.end();
    if (!options.each) return;
    printf("%s: %" PRIu64 " states, %" PRIu64 " arcs, density %.2f", id.c_str(), size.n_states, size.n_arcs, density(size));
    if (ref != refs.end()) printf(", %zu of %zu words wrong", errors.total(), errors.n_ref_words);
    printf("\n");
  });
  options.json ? print_json(stats, with_errors) : print(stats, with_errors);
  tried.check(options.input.path);
}

}  // namespace

void add_lattice_stats(Command lattice) {
  Command command = lattice.command("stats", "Size, density and, with transcripts, the least errors of any path");
  const auto options = std::make_shared<StatsOptions>();
  add_lattice_path(command, &options->input);
  command.option("--ref", options->ref_path, "Transcripts, as for `senone wer`");
  command.option("--words", options->input.words_path, "words.txt of the graph; with --ref");
  command.flag("--each", options->each, "Also print a line for each lattice");
  command.flag("--json", options->json, "Print JSON");
  command.callback([options] { run(*options); });
}

}  // namespace asr::tool
