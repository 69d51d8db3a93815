// SPDX-License-Identifier: Apache-2.0
// Fuzzes a graph archive, as asr_engine_add_graph_bytes takes it: unchanged, and again with a list of files that fits its
// parts. Without that, checksums would prevent the reading of later parts.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/error.h"
#include "core/graph/archive.h"
#include "tests/fuzz/target.h"
#include "tests/unit/model/small_model.h"

namespace asr::fuzz {
namespace {

constexpr size_t kHeaderBytes = 48, kCountsAt = 16, kAlignment = 64;

GraphData small_graph() {
  GraphData graph;
  graph.arcs = {{1, 1, 0, 0.5f}, {1, 2, 1, 0.25f}, {0, 0, 2, 1}};
  graph.emitting_begin = {0, 1, 2};
  graph.epsilon_begin = {2, 2, 3};
  graph.final_costs = {INFINITY, 0.5f};
  graph.transitions = {{}, {0, 0, 0, true, 0}, {1, kAnyPosition, 1, false, 1}};
  graph.n_pdfs = 2;
  graph.n_words = 3;
  return graph;
}

// Returns the archive with the parts that its header announces, as far as present, and a list of files that fits them.
std::string with_fitting_index(const std::string &bytes) {
  uint64_t counts[4] = {};  // index, words, phones, graph
  memcpy(counts, bytes.data() + kCountsAt, sizeof(counts));
  std::string parts[4];
  const char *const names[4] = {"", "words.txt", "phones.txt", "graph.bin"};
  Bundle bundle = test::small_bundle();
  size_t at = kHeaderBytes;
  for (int i = 0; i < 4; ++i) {
    at = std::min((at + kAlignment - 1) / kAlignment * kAlignment, bytes.size());
    const auto n = static_cast<size_t>(std::min<uint64_t>(counts[i], bytes.size() - at));
    parts[i] = bytes.substr(at, n);
    at += n;
    if (i > 0) bundle.files[names[i]] = {n, checksum(parts[i].data(), n)};
  }
  parts[0] = bundle_index_text(bundle);
  std::string archive = bytes.substr(0, kHeaderBytes);
  for (size_t i = 0; i < 4; ++i) {
    const uint64_t n = parts[i].size();
    memcpy(archive.data() + kCountsAt + 8 * i, &n, sizeof(n));
    archive.resize((archive.size() + kAlignment - 1) / kAlignment * kAlignment);
    archive += parts[i];
  }
  return archive;
}

void read(const std::string &bytes) {
  GraphParts parts = read_graph_archive(bytes.data(), bytes.size(), "archive");
  const asr_graph_view &view = parts.graph.unpack();
  for (uint64_t i = 0; i < view.n_arcs; ++i) {
    const asr_graph_arc &arc = view.arcs[i];
    if (arc.word >= parts.words.words.size() || arc.next_state >= view.n_states) finding("an arc that leads nowhere");
    if (arc.transition_id != 0 && parts.graph.transition(arc.transition_id).pdf >= view.n_pdfs) finding("a pdf out of range");
  }
}

}  // namespace

std::vector<std::string> seeds() {
  return {graph_archive(test::small_bundle(), small_graph(), {{"<eps>", "yes", "no"}, {}}, {"<eps>", "SIL", "Y"})};
}
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {64, 1024, 2, 100}, [](const std::string &bytes) {
    if (bytes.size() >= fuzz::kHeaderBytes) {
      try {
        fuzz::read(fuzz::with_fitting_index(bytes));
      } catch (const Error &) {  // a damaged part
      }
    }
    fuzz::read(bytes);
  });
}
