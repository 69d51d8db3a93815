// SPDX-License-Identifier: Apache-2.0
#include "builder/import/openfst_file.h"

#include <cmath>
#include <cstring>
#include <functional>

#include "builder/text/text_file.h"
#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr {
namespace {

constexpr int32_t kFstMagic = 2125659606, kSymbolsMagic = 2125658996;
constexpr uint32_t kHasInputSymbols = 1, kHasOutputSymbols = 2, kAligned = 4;
constexpr uint64_t kAlignment = 16;

struct ConstState {
  float final_cost;
  uint32_t first_arc, n_arcs, n_input_epsilons, n_output_epsilons;
};
static_assert(sizeof(ConstState) == 20);

struct FileArc {
  int32_t input, output;
  float cost;
  int32_t next_state;
};
static_assert(sizeof(FileArc) == 16);

// Reads consecutive fixed-size values of the file; both file and machine are little endian.
class Cursor {
 public:
  Cursor(const UnpackedFile &file, const std::string &path) : file_(file), path_(path) {}

  template <typename T>
  T value(const char *what) {
    T v;
    memcpy(&v, take(1, sizeof(T), what), sizeof(T));
    return v;
  }

  const uint8_t *take(uint64_t n, uint64_t size_each, const char *what) {
    if (n > (file_.size() - at_) / size_each) bad(format("ends within its %s; the file is damaged or truncated", what));
    const uint8_t *begin = file_.data() + at_;
    at_ += n * size_each;
    return begin;
  }

  std::string text(const char *what) {
    const auto size = value<int32_t>(what);
    if (size < 0) bad(format("the length of its %s is negative; the file is damaged", what));
    return std::string(reinterpret_cast<const char *>(take(static_cast<uint32_t>(size), 1, what)), static_cast<uint32_t>(size));
  }

  void align() { take((kAlignment - at_ % kAlignment) % kAlignment, 1, "padding"); }

  bool at_end() const { return at_ == file_.size(); }
  uint64_t left() const { return file_.size() - at_; }

  [[noreturn]] void bad(const std::string &what) const {
    fail(ASR_BAD_FILE, "%s: byte %llu: %s", path_.c_str(), static_cast<unsigned long long>(at_), what.c_str());
  }

 private:
  const UnpackedFile &file_;
  const std::string &path_;
  uint64_t at_ = 0;
};

struct Header {
  bool is_const = false, aligned = false;
  int64_t start = 0, n_states = 0, n_arcs = 0;  // n_states -1: unknown, until the end of the file
};

// Called with the number and the symbol of each entry of a symbol table.
using UseSymbol = std::function<void(int64_t number, const std::string &symbol)>;

void read_symbols(Cursor &cursor, const UseSymbol &use) {
  if (cursor.value<int32_t>("symbol table") != kSymbolsMagic)
    cursor.bad("its symbol table does not begin like one; the file is damaged");
  cursor.text("name of a symbol table");
  cursor.value<int64_t>("symbol table");
  const auto n = cursor.value<int64_t>("size of a symbol table");
  for (int64_t i = 0; i < n; ++i) {
    const std::string symbol = cursor.text("symbol");
    use(cursor.value<int64_t>("key of a symbol"), symbol);
  }
}

Header read_header(Cursor &cursor, const UseSymbol &use_output) {
  if (cursor.left() < 4 || cursor.value<int32_t>("header") != kFstMagic) {
    cursor.bad("is not a binary OpenFst file; convert a text one with fstcompile, unpack a compressed one");
  }
  Header h;
  const std::string type = cursor.text("type"), arc_type = cursor.text("arc type");
  if ((type != "vector" && type != "const") || arc_type != "standard") {
    cursor.bad("is of type " + type.substr(0, 40) + " with " + arc_type.substr(0, 40) +
               " arcs; vector and const with standard arcs can be read (fstconvert)");
  }
  h.is_const = type == "const";
  const auto version = cursor.value<int32_t>("version");
  const auto flags = cursor.value<uint32_t>("flags");
  cursor.value<uint64_t>("properties");
  h.start = cursor.value<int64_t>("start state");
  h.n_states = cursor.value<int64_t>("number of states");
  h.n_arcs = cursor.value<int64_t>("number of arcs");
  if (version < 1 || version > 2) cursor.bad(format("has version %d; 1 and 2 can be read", version));
  h.aligned = h.is_const && (version == 1 || (flags & kAligned) != 0);
  if (flags & kHasInputSymbols) read_symbols(cursor, [](int64_t, const std::string &) {});
  if (flags & kHasOutputSymbols) read_symbols(cursor, use_output);
  if (h.n_states > static_cast<int64_t>(kMaxGraphStates)) cursor.bad("has more states than a graph can hold");
  if (h.start < 0) cursor.bad("has no start state: the graph is empty");
  return h;
}

// GraphMaker takes states in order; emitting and epsilon arcs go to two arrays that are joined at the end.
class GraphMaker {
 public:
  GraphMaker(const Cursor &cursor, const HmmSet &set, uint32_t n_words) : cursor_(cursor), n_ids_(set.transitions.size()) {
    graph_.transitions = set.transitions;
    graph_.n_pdfs = set.n_pdfs;
    graph_.n_words = n_words;
  }

  void reserve(uint64_t n_states, uint64_t n_arcs) {
    graph_.final_costs.reserve(n_states);
    graph_.emitting_begin.reserve(n_states + 1);
    graph_.epsilon_begin.reserve(n_states + 1);
    graph_.arcs.reserve(n_arcs);
  }

  void add_state(float final_cost, const uint8_t *arcs, uint64_t n_arcs) {
    if (graph_.final_costs.size() == kMaxGraphStates) cursor_.bad("has more states than a graph can hold");
    if (!(final_cost > -INFINITY)) bad_state("its final cost is not a number");
    begin_state();
    graph_.final_costs.push_back(final_cost);
    for (uint64_t i = 0; i < n_arcs; ++i) {
      FileArc arc;
      memcpy(&arc, arcs + i * sizeof(arc), sizeof(arc));
      add_arc(arc);
    }
  }

  GraphData finish(int64_t start) {
    const uint64_t n_states = graph_.final_costs.size(), n_emitting = graph_.arcs.size();
    begin_state();
    if (n_emitting + epsilons_.size() > kMaxGraphArcs) cursor_.bad("has more arcs than a graph can hold");
    for (uint32_t &begin : graph_.epsilon_begin) begin += static_cast<uint32_t>(n_emitting);
    graph_.arcs.append(epsilons_.data(), epsilons_.size());
    for (const asr_graph_arc &arc : graph_.arcs) {
      if (arc.next_state >= n_states) cursor_.bad("an arc leads to a state that the graph does not have; the file is damaged");
    }
    if (static_cast<uint64_t>(start) >= n_states) cursor_.bad("the start state is not one of its states; the file is damaged");
    graph_.start_state = static_cast<uint32_t>(start);
    return std::move(graph_);
  }

 private:
  const Cursor &cursor_;
  const uint64_t n_ids_;
  GraphData graph_;
  GrowingArray<asr_graph_arc> epsilons_;

  void begin_state() {
    graph_.emitting_begin.push_back(static_cast<uint32_t>(graph_.arcs.size()));
    graph_.epsilon_begin.push_back(static_cast<uint32_t>(epsilons_.size()));
  }

  void add_arc(const FileArc &arc) {
    if (arc.cost == INFINITY) return;
    if (!std::isfinite(arc.cost)) bad_state("the cost of an arc is not a number");
    if (arc.input < 0 || static_cast<uint64_t>(arc.input) >= n_ids_) {
      bad_state(
          format("an arc has the input label %d, but the model has transition-ids up to %llu; give the model that the graph "
                 "was made for",
                 arc.input, static_cast<unsigned long long>(n_ids_ - 1)));
    }
    if (arc.output < 0 || static_cast<uint32_t>(arc.output) >= graph_.n_words) {
      bad_state(format("an arc has the word %d, but the list of words ends at %u; give the words that the graph was made for",
                       arc.output, graph_.n_words - 1));
    }
    const asr_graph_arc made = {static_cast<uint32_t>(arc.next_state), static_cast<uint32_t>(arc.input),
                                static_cast<uint32_t>(arc.output), arc.cost};
    (arc.input == 0 ? epsilons_ : graph_.arcs).push_back(made);
  }

  [[noreturn]] void bad_state(const std::string &what) const {
    cursor_.bad(format("state %zu: ", graph_.final_costs.size() - (graph_.final_costs.empty() ? 0 : 1)) + what);
  }
};

GraphData read_const(Cursor &cursor, const Header &h, GraphMaker &maker) {
  if (h.n_states < 0 || h.n_arcs < 0) cursor.bad("the number of states or arcs is negative; the file is damaged");
  if (h.aligned) cursor.align();
  const uint8_t *states = cursor.take(static_cast<uint64_t>(h.n_states), sizeof(ConstState), "states");
  if (h.aligned) cursor.align();
  const uint8_t *arcs = cursor.take(static_cast<uint64_t>(h.n_arcs), sizeof(FileArc), "arcs");
  maker.reserve(static_cast<uint64_t>(h.n_states), static_cast<uint64_t>(h.n_arcs));
  uint64_t n_used = 0;
  for (int64_t s = 0; s < h.n_states; ++s) {
    ConstState state;
    memcpy(&state, states + static_cast<uint64_t>(s) * sizeof(state), sizeof(state));
    if (uint64_t{state.first_arc} + state.n_arcs > static_cast<uint64_t>(h.n_arcs)) {
      cursor.bad(format("state %lld has arcs beyond those of the file; the file is damaged", static_cast<long long>(s)));
    }
    n_used += state.n_arcs;  // each state must have its own arcs, or a small file could make a large graph
    if (n_used > static_cast<uint64_t>(h.n_arcs)) {
      cursor.bad(format("state %lld has arcs of another state; the file is damaged", static_cast<long long>(s)));
    }
    maker.add_state(state.final_cost, arcs + state.first_arc * sizeof(FileArc), state.n_arcs);
  }
  if (!cursor.at_end()) cursor.bad("has data after its arcs; the file is damaged");
  return maker.finish(h.start);
}

GraphData read_vector(Cursor &cursor, const Header &h, GraphMaker &maker) {
  for (int64_t s = 0; h.n_states >= 0 ? s < h.n_states : !cursor.at_end(); ++s) {
    const auto final_cost = cursor.value<float>("states");
    const auto n_arcs = cursor.value<int64_t>("number of arcs of a state");
    if (n_arcs < 0) cursor.bad("the number of arcs of a state is negative; the file is damaged");
    const uint8_t *arcs = cursor.take(static_cast<uint64_t>(n_arcs), sizeof(FileArc), "arcs");
    maker.add_state(final_cost, arcs, static_cast<uint64_t>(n_arcs));
  }
  if (!cursor.at_end()) cursor.bad("has data after its last state; the file is damaged");
  return maker.finish(h.start);
}

}  // namespace

namespace {

GraphData read_graph(const std::string &path, const HmmSet &set, uint32_t n_words, const UseSymbol &use_output) {
  if (set.transitions.empty()) {
    fail(ASR_INVALID_ARGUMENT, "%s: needs a model with transition-ids of its own, such as one made by senone import kaldi",
         path.c_str());
  }
  const UnpackedFile file(path);
  check_binary_format(file.bytes(), path, "a binary OpenFst graph", {Format::kOpenFst});
  Cursor cursor(file, path);
  const Header header = read_header(cursor, use_output);
  GraphMaker maker(cursor, set, n_words);
  return header.is_const ? read_const(cursor, header, maker) : read_vector(cursor, header, maker);
}

}  // namespace

GraphData read_openfst_graph(const std::string &path, const HmmSet &set, uint32_t n_words) {
  return read_graph(path, set, n_words, [](int64_t, const std::string &) {});
}

GraphData read_openfst_graph(const std::string &path, const HmmSet &set, const std::vector<std::string> &words,
                             const std::string &words_source) {
  const auto compare = [&](int64_t number, const std::string &symbol) {
    if (number < 0 || static_cast<uint64_t>(number) >= words.size() || words[static_cast<size_t>(number)] == symbol) return;
    fail(ASR_INVALID_ARGUMENT,
         "%s: its own table of symbols says that word %lld is \"%s\", but %s says \"%s\"; give the words.txt of this graph",
         path.c_str(), static_cast<long long>(number), symbol.c_str(), words_source.c_str(),
         words[static_cast<size_t>(number)].c_str());
  };
  return read_graph(path, set, static_cast<uint32_t>(words.size()), compare);
}

}  // namespace asr
