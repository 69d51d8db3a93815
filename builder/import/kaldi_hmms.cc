// SPDX-License-Identifier: Apache-2.0
// Converts Kaldi's phones, topologies and transition-ids to an HmmSet.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <tuple>

#include "builder/import/kaldi_model.h"
#include "builder/import/kaldi_tree.h"
#include "builder/import/text_lines.h"
#include "builder/text/text_file.h"
#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr::kaldi {
namespace {

constexpr uint64_t kMaxTreeSteps = 128 * kMaxContexts;  // questions of a tree about a model's phones: half a minute

// A Kaldi phone as a base phone and a position in the word.
struct PlacedPhone {
  uint32_t base = kNoPhone;
  uint8_t position = kAnyPosition;
};

struct Ending {
  const char *text;
  const char *boundary;  // in word_boundary.int
  WordPosition position;
};
constexpr std::array<Ending, 4> kEndings = {{{"_B", "begin", WordPosition::kBegin},
                                             {"_E", "end", WordPosition::kEnd},
                                             {"_I", "internal", WordPosition::kInternal},
                                             {"_S", "singleton", WordPosition::kSingle}}};

bool is_silence(const std::string &name) { return name == "SIL" || name == "sil"; }

bool is_filler(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  static const std::set<std::string> kNames = {"SIL", "SPN", "NSN", "LAU"};
  return kNames.count(name) != 0;
}

class HmmSetMaker {
 public:
  HmmSetMaker(const TransitionModel &model, const std::vector<std::string> &names, const std::string &source,
              const WordBoundaries *boundaries)
      : model_(model), source_(source.c_str()), boundaries_(boundaries) {
    for (uint32_t phone = 0; phone < model.entry_of.size(); ++phone) {
      if (model.entry_of[phone] >= 0) names_[phone] = name_of(phone, names);
    }
    for (const auto &[phone, name] : names_) {
      if (!all_.insert(name).second) fail(ASR_BAD_FILE, "%s: two phones have the name %s", source_, name.c_str());
    }
  }

  HmmSet make(const Tree *tree) {
    set_.n_pdfs = model_.n_pdfs;
    for (const auto &[phone, name] : names_) place(phone, name);
    add_hmms();
    if (has_positions_) {
      add_phone_contexts(tree);
    } else if (tree != nullptr && tree->width() > 1) {
      add_contexts(*tree);
    }
    add_transitions();
    if (tree != nullptr && tree->width() == 1 && !set_.knows_contexts()) {
      fail(ASR_INVALID_ARGUMENT,
           "%s: has several pdfs for the neighbours of a phone, but the tree of --tree is one of monophones; give the model's "
           "own tree",
           source_);
    }
    for (uint32_t i = 0; i < set_.phones.size(); ++i) {
      if (set_.silence == kNoPhone && is_silence(set_.phones[i].name)) set_.silence = i;
    }
    return std::move(set_);
  }

 private:
  const TransitionModel &model_;
  uint64_t n_tree_steps_ = 0;
  const char *source_;
  const WordBoundaries *boundaries_;
  std::map<uint32_t, std::string> names_;  // key: Kaldi's phone number
  std::set<std::string> all_;
  std::map<std::string, uint32_t> base_of_;  // key: name
  std::map<uint32_t, PlacedPhone> placed_;
  std::map<std::pair<uint32_t, uint8_t>, uint32_t> phone_in_;  // key: base phone, position
  bool has_positions_ = false;
  HmmSet set_;

  std::string name_of(uint32_t phone, const std::vector<std::string> &names) const {
    if (names.empty()) return std::to_string(phone);
    if (phone >= names.size())
      fail(ASR_BAD_FILE, "%s: has phone %u, which the list of phones lacks; give the right --phones", source_, phone);
    return names[phone];
  }

  // Takes the position from the list of boundaries.
  PlacedPhone split_as_listed(uint32_t phone, const std::string &name, std::string *base) const {
    const auto listed = boundaries_->find(phone);
    if (listed == boundaries_->end()) {
      fail(ASR_INVALID_ARGUMENT, "%s: has phone %u (%s), which --word-boundary lacks; give the file of its data/lang/phones",
           source_, phone, name.c_str());
    }
    *base = listed->second == kAnyPosition ? name : name.substr(0, name.size() - 2);
    return {kNoPhone, listed->second};
  }

  // Splits off an ending only if the phone exists with all four, so that a phone called X_S stays whole.
  PlacedPhone split(const std::string &name, std::string *base) const {
    *base = name;
    if (name.size() < 3) return {};
    const std::string stem = name.substr(0, name.size() - 2), ending = name.substr(name.size() - 2);
    PlacedPhone placed;
    for (const auto &[text, boundary, position] : kEndings) {
      if (all_.count(stem + text) == 0) return {};
      if (ending == text) placed.position = static_cast<uint8_t>(position);
    }
    if (placed.position != kAnyPosition) *base = stem;
    return placed;
  }

  void place(uint32_t phone, const std::string &name) {
    std::string base;
    PlacedPhone placed = boundaries_ != nullptr ? split_as_listed(phone, name, &base) : split(name, &base);
    const auto [found, is_new] = base_of_.emplace(base, static_cast<uint32_t>(set_.phones.size()));
    if (is_new) set_.phones.push_back({base, is_filler(base), kNoPhone});
    placed.base = found->second;
    placed_[phone] = placed;
    phone_in_.emplace(std::pair(placed.base, placed.position), phone);
    has_positions_ |= placed.position != kAnyPosition;
  }

  // Returns the first transition-state + 1 of every phone in every HMM state; 0: none. Sets *only if each has exactly one.
  std::map<uint32_t, std::vector<uint32_t>> first_states(bool *only) const {
    std::map<uint32_t, std::vector<uint32_t>> first_state_of;  // phone -> [HMM state]
    *only = true;
    for (uint32_t s = 0; s < model_.states.size(); ++s) {
      const TransitionState &state = model_.states[s];
      std::vector<uint32_t> &by_state = first_state_of[state.phone];
      by_state.resize(entry(state.phone).size() - 1, 0);
      *only = *only && by_state[state.hmm_state] == 0;
      if (by_state[state.hmm_state] == 0) by_state[state.hmm_state] = s + 1;
    }
    for (const auto &[phone, states] : first_state_of) *only = *only && std::count(states.begin(), states.end(), 0u) == 0;
    return first_state_of;
  }

  // Adds one HMM for each phone, for unlisted contexts: in every HMM state the first pdf of the phone. The first form of a base
  // phone, or that outside of words, is its context-independent HMM. Without the tree other pdfs have no HMM, which
  // HmmSet::knows_contexts reports.
  void add_hmms() {
    bool only = false;
    const std::map<uint32_t, std::vector<uint32_t>> first_state_of = first_states(&only);
    const auto has_states = [&](uint32_t phone) {
      const auto found = first_state_of.find(phone);
      return found != first_state_of.end() && std::count(found->second.begin(), found->second.end(), 0u) == 0;
    };
    for (const auto &[phone, placed] : placed_) {
      BasePhone &base = set_.phones[placed.base];
      if (base.hmm != kNoPhone || !has_states(phone)) continue;
      const auto outside = phone_in_.find({placed.base, kAnyPosition});
      const uint32_t of = outside != phone_in_.end() && has_states(outside->second) ? outside->second : phone;
      base.hmm = add_hmm(entry(of), first_state_of.at(of));
    }
    for (const BasePhone &base : set_.phones) {
      if (base.hmm == kNoPhone)
        fail(ASR_BAD_FILE, "%s: phone %s lacks a state; the file is damaged", source_, base.name.c_str());
    }
  }

  const TopologyEntry &entry(uint32_t phone) const { return model_.entries[static_cast<size_t>(model_.entry_of[phone])]; }

  uint32_t add_hmm(const TopologyEntry &entry, const std::vector<uint32_t> &states) {
    Topology topology;
    topology.n_states = static_cast<uint32_t>(entry.size() - 1);
    Hmm hmm;
    for (uint32_t k = 0; k < topology.n_states; ++k) {
      const uint32_t s = states[k] - 1;
      hmm.pdfs.push_back(model_.states[s].self_loop_pdf);
      std::vector<asr::TopologyArc> arcs;
      for (uint32_t i = 0; i < entry[k].arcs.size(); ++i) {
        arcs.push_back({k, entry[k].arcs[i].to, -model_.log_probs[first_id(s) + i]});
      }
      std::sort(arcs.begin(), arcs.end(), [](const auto &a, const auto &b) { return a.to < b.to; });
      topology.arcs.insert(topology.arcs.end(), arcs.begin(), arcs.end());
    }
    topology.arcs.push_back({kEntry, 0, 0.0f});
    hmm.topology = static_cast<uint32_t>(set_.topologies.size());
    set_.topologies.push_back(std::move(topology));
    set_.hmms.push_back(std::move(hmm));
    return static_cast<uint32_t>(set_.hmms.size() - 1);
  }

  uint32_t first_id(uint32_t state) const {
    const auto found = std::lower_bound(model_.ids.begin() + 1, model_.ids.end(), state,
                                        [](const TransitionId &id, uint32_t s) { return id.state < s; });
    return static_cast<uint32_t>(found - model_.ids.begin());
  }

  // Lists the HMM of every phone between any two others, or none.
  void add_contexts(const Tree &tree) {
    check_triphones(tree);
    const uint64_t n_phones = placed_.size(), n_contexts = n_phones * (n_phones + 1) * (n_phones + 1);
    if (n_contexts > kMaxContexts) {
      fail(ASR_UNSUPPORTED,
           "%s: %llu phones have %llu contexts; --tree can list up to %llu; leave it out and give senone graph --hclg", source_,
           static_cast<unsigned long long>(n_phones), static_cast<unsigned long long>(n_contexts),
           static_cast<unsigned long long>(kMaxContexts));
    }
    const StateIndex index_of = index_states();
    std::map<std::vector<uint32_t>, uint32_t> hmm_of;  // key: its states
    std::vector<uint32_t> neighbours = {0};
    for (const auto &[phone, placed] : placed_) neighbours.push_back(phone);
    const auto base_of = [&](uint32_t phone) { return phone == 0 ? kNoPhone : placed_.at(phone).base; };
    for (const auto &[phone, placed] : placed_) {
      for (const uint32_t left : neighbours) {
        for (const uint32_t right : neighbours) {
          const std::vector<uint32_t> states = states_in_context(tree, index_of, {left, phone, right});
          const auto [found, is_new] = hmm_of.emplace(states, 0);
          if (is_new) found->second = add_hmm(entry(phone), states);
          set_.contexts.push_back({placed.base, base_of(left), base_of(right), kAnyPosition, found->second});
        }
      }
    }
  }

  struct StateOrder {
    bool operator()(const TransitionState &a, const TransitionState &b) const {
      const auto key = [](const TransitionState &s) { return std::tie(s.phone, s.hmm_state, s.forward_pdf, s.self_loop_pdf); };
      return key(a) < key(b);
    }
  };

  using StateIndex = std::map<TransitionState, uint32_t, StateOrder>;

  StateIndex index_states() const {
    StateIndex index_of;
    for (uint32_t s = 0; s < model_.states.size(); ++s) index_of.emplace(model_.states[s], s);
    return index_of;
  }

  void check_triphones(const Tree &tree) const {
    if (tree.width() == 3 && tree.central() == 1) return;
    fail(ASR_UNSUPPORTED, "%s: its tree is not one for triphones; leave out --tree and give senone graph --hclg", source_);
  }

  // Lists the HMMs of every phone in its position. Without a tree they are known if no phone has several for its neighbours.
  void add_phone_contexts(const Tree *tree) {
    if (tree == nullptr || tree->width() == 1) {
      bool only = false;
      const std::map<uint32_t, std::vector<uint32_t>> states_of = first_states(&only);
      if (!only) return;
      for (const auto &[phone, states] : states_of) {
        const std::vector<uint16_t> classes(set_.n_neighbour_forms(), 0);
        const PlacedPhone &placed = placed_.at(phone);
        set_.phone_contexts.push_back({placed.base, placed.position, 1, classes, classes, {add_hmm(entry(phone), states)}});
      }
      return;
    }
    check_triphones(*tree);
    if (placed_.size() * set_.n_neighbour_forms() > kMaxContexts) refuse_contexts();
    const StateIndex index_of = index_states();
    for (const auto &[phone, placed] : placed_) {
      add_contexts_of(*tree, index_of, phone, placed);
      if (placed.position != kAnyPosition) continue;
      // A phone without positions may stand anywhere in a word, where its neighbours are other forms than between words.
      for (uint8_t position = 0; position < 4; ++position) {
        if (phone_in_.count({placed.base, position}) == 0) add_contexts_of(*tree, index_of, phone, {placed.base, position});
      }
    }
  }

  void add_contexts_of(const Tree &tree, const StateIndex &index_of, uint32_t phone, const PlacedPhone &placed) {
    set_.phone_contexts.push_back(contexts_of(tree, index_of, phone, placed));
    if (set_.n_contexts() > kMaxContexts) refuse_contexts();
  }

  [[noreturn]] void refuse_contexts() const {
    fail(ASR_UNSUPPORTED, "%s: its phones have more than %llu contexts; leave out --tree and give senone graph --hclg", source_,
         static_cast<unsigned long long>(kMaxContexts));
  }

  // Returns the phone that a base phone is in a position; if it has none, the one outside of words, or alone, or any.
  uint32_t phone_in(uint32_t base, uint8_t position) const {
    for (const uint8_t at : {position, kAnyPosition, static_cast<uint8_t>(WordPosition::kSingle)}) {
      const auto found = phone_in_.find({base, at});
      if (found != phone_in_.end()) return found->second;
    }
    return phone_in_.lower_bound({base, 0})->second;
  }

  // Returns the phones that the neighbours in all forms are on one side of a phone (PhoneContexts). across: another word's.
  std::vector<uint32_t> neighbours_on(bool left, bool across) const {
    const WordPosition edge = left == across ? WordPosition::kEnd : WordPosition::kBegin;
    const WordPosition inside = across ? WordPosition::kSingle : WordPosition::kInternal;
    std::vector<uint32_t> neighbours;
    for (uint32_t base = 0; base < set_.phones.size(); ++base) {
      neighbours.push_back(phone_in(base, static_cast<uint8_t>(edge)));
      neighbours.push_back(phone_in(base, static_cast<uint8_t>(inside)));
      neighbours.push_back(phone_in(base, kAnyPosition));
    }
    neighbours.push_back(0);
    return neighbours;
  }

  PhoneContexts contexts_of(const Tree &tree, const StateIndex &index_of, uint32_t phone, const PlacedPhone &placed) {
    const auto is_one_of = [&](WordPosition a, WordPosition b) {
      return placed.position == static_cast<uint8_t>(a) || placed.position == static_cast<uint8_t>(b);
    };
    const bool begins = !is_one_of(WordPosition::kInternal, WordPosition::kEnd);
    const bool ends = !is_one_of(WordPosition::kInternal, WordPosition::kBegin);
    const std::vector<uint32_t> lefts = neighbours_on(true, begins), rights = neighbours_on(false, ends);
    const std::vector<uint32_t> left_class = tree.classes(phone, 0, lefts, &n_tree_steps_),
                                right_class = tree.classes(phone, 2, rights, &n_tree_steps_);
    if (n_tree_steps_ > kMaxTreeSteps) {
      fail(ASR_UNSUPPORTED,
           "%s: its tree asks too many questions about its phones; leave out --tree and give senone graph --hclg", source_);
    }
    const auto members = [](const std::vector<uint32_t> &classes, const std::vector<uint32_t> &neighbours) {
      std::vector<uint32_t> member(1 + *std::max_element(classes.begin(), classes.end()));
      for (size_t i = 0; i < classes.size(); ++i) member[classes[i]] = neighbours[i];
      return member;
    };
    PhoneContexts contexts{placed.base, placed.position, 0, {}, {}, {}};
    contexts.left_class.assign(left_class.begin(), left_class.end());
    contexts.right_class.assign(right_class.begin(), right_class.end());
    const std::vector<uint32_t> right_members = members(right_class, rights);
    contexts.n_right_classes = static_cast<uint32_t>(right_members.size());
    std::map<std::vector<uint32_t>, uint32_t> hmm_of;  // key: its states
    for (const uint32_t left : members(left_class, lefts)) {
      for (const uint32_t right : right_members) {
        const std::vector<uint32_t> states = states_in_context(tree, index_of, {left, phone, right});
        const auto [found, is_new] = hmm_of.emplace(states, 0);
        if (is_new) found->second = add_hmm(entry(phone), states);
        contexts.hmms.push_back(found->second);
      }
    }
    return contexts;
  }

  // Returns [HMM state]: transition-state + 1, as add_hmm takes them.
  std::vector<uint32_t> states_in_context(const Tree &tree, const StateIndex &index_of,
                                          const std::vector<uint32_t> &window) const {
    const TopologyEntry &topology = entry(window[1]);
    std::vector<uint32_t> states;
    for (uint32_t k = 0; k + 1 < topology.size(); ++k) {
      const int32_t forward = tree.pdf(window, topology[k].forward_class);
      const int32_t self_loop = tree.pdf(window, topology[k].self_loop_class);
      const auto found = index_of.find({window[1], k, static_cast<uint32_t>(forward), static_cast<uint32_t>(self_loop)});
      if (found == index_of.end()) {
        fail(ASR_INVALID_ARGUMENT, "%s: lacks pdf %d, to which the tree leads state %u of phone %u; give the model's own tree",
             source_, forward, k, window[1]);
      }
      states.push_back(found->second + 1);
    }
    return states;
  }

  void add_transitions() {
    set_.transitions.push_back({0, kAnyPosition, 0, false, 0});
    for (uint32_t id = 1; id < model_.ids.size(); ++id) {
      const TransitionState &state = model_.states[model_.ids[id].state];
      const PlacedPhone &placed = placed_.at(state.phone);
      const bool self_loop = model_.is_self_loop(id);
      set_.transitions.push_back({placed.base, placed.position, static_cast<uint16_t>(state.hmm_state), self_loop,
                                  self_loop ? state.self_loop_pdf : state.forward_pdf});
    }
  }
};

}  // namespace

WordBoundaries read_word_boundaries(const std::string &path, const std::vector<std::string> &phone_names) {
  const std::string text = read_text(path, {"a list of word boundaries"});
  TextLines lines(text, path);
  WordBoundaries boundaries;
  std::map<uint32_t, size_t> line_of;  // key: phone
  std::vector<std::string_view> words;
  while (lines.next(words, "\n")) {  // no comments: names of phones may begin with any letter
    if (words.size() != 2) lines.fail_line("is not: a phone and nonword, begin, end, internal or singleton");
    const bool is_number = words[0].find_first_not_of("0123456789") == std::string_view::npos;
    size_t phone = phone_names.size();
    if (is_number) {
      phone = lines.number(words[0], "a phone");
    } else {
      phone = static_cast<size_t>(std::find(phone_names.begin(), phone_names.end(), words[0]) - phone_names.begin());
    }
    if (phone >= phone_names.size()) lines.fail_line("names a phone that the list of phones (--phones) lacks");
    const auto ending =
        std::find_if(kEndings.begin(), kEndings.end(), [&](const auto &kind) { return words[1] == kind.boundary; });
    if (ending == kEndings.end() && words[1] != "nonword") {
      lines.fail_line("has a word that is not nonword, begin, end, internal or singleton");
    }
    const std::string &name = phone_names[phone];
    if (ending != kEndings.end() && (name.size() < 3 || name.substr(name.size() - 2) != ending->text)) {
      lines.fail_line(format("has phone %s, whose name does not end in %s; give the phones.txt and word_boundary.int of one "
                             "data/lang",
                             name.c_str(), ending->text)
                          .c_str());
    }
    const uint8_t position = ending == kEndings.end() ? kAnyPosition : static_cast<uint8_t>(ending->position);
    const auto [listed, is_new] = boundaries.emplace(static_cast<uint32_t>(phone), position);
    const size_t line = line_of.emplace(static_cast<uint32_t>(phone), lines.line_number()).first->second;
    if (!is_new && listed->second != position) {
      lines.fail_line(format("has phone %s again, and line %zu says something else of it", name.c_str(), line).c_str());
    }
  }
  return boundaries;
}

HmmSet make_hmm_set(const TransitionModel &model, const std::vector<std::string> &phone_names, const std::string &source,
                    const Tree *tree, const WordBoundaries *boundaries) {
  HmmSet set = HmmSetMaker(model, phone_names, source, boundaries).make(tree);
  set.validate(source);
  return set;
}

}  // namespace asr::kaldi
