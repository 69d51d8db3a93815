// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/build/brute_force.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/base/error.h"

namespace asr::test {
namespace {

std::string frame_text(uint32_t phone, unsigned position, unsigned state, uint32_t pdf, bool self_loop) {
  return format(" %u/%u/%u/%u%s", phone, position, state, pdf, self_loop ? "=" : "");
}

struct SpokenPhone {
  uint32_t phone;
  uint8_t position;
};

class Definition {
 public:
  Definition(const HmmSet &set, const Lexicon &lexicon, const Grammar &grammar, const GraphOptions &options, size_t max_frames)
      : set_(set), lexicon_(lexicon), grammar_(grammar), options_(options), max_frames_(max_frames), contexts_(set) {
    if (set.silence != kNoPhone && options.silence_prob > 0) fillers_[set.silence] = options.silence_prob;
    for (uint32_t phone : options.filler_phones) {
      if (phone != set.silence && options.filler_prob > 0) fillers_[phone] = options.filler_prob;
    }
    double none = 1;
    for (auto &[phone, probability] : fillers_) {
      none -= probability;
      probability = std::min(1.0, probability / (1 - probability));  // of any number in a row
    }
    none_cost_ = -std::log(none);
  }

  Paths run() {
    between_words(grammar_.start, 0);
    for (auto &[path, costs] : paths_) std::sort(costs.begin(), costs.end());
    return std::move(paths_);
  }

 private:
  const HmmSet &set_;
  const Lexicon &lexicon_;
  const Grammar &grammar_;
  const GraphOptions &options_;
  const size_t max_frames_;
  ContextTable contexts_;
  std::map<uint32_t, double> fillers_;  // probabilities
  double none_cost_ = 0;
  std::string words_;
  std::vector<SpokenPhone> phones_;
  Paths paths_;

  void between_words(uint32_t state, double cost) {
    if (phones_.size() > max_frames_) return;  // every phone lasts a frame
    for (const auto &[phone, probability] : fillers_) {
      phones_.push_back({phone, kAnyPosition});
      between_words(state, cost - std::log(probability));
      phones_.pop_back();
    }
    next_word(state, cost + none_cost_);
  }

  void next_word(uint32_t state, double cost) {
    if (grammar_.final_costs[state] != kNotFinal) speak(cost + grammar_.final_costs[state]);
    for (const GrammarArc &arc : grammar_.arcs[state]) {
      if (arc.word == 0) {
        next_word(arc.next, cost + arc.cost);
        continue;
      }
      const std::string before = words_;
      words_ += grammar_.words[arc.word] + " ";
      const std::string &word = grammar_.words[arc.word];
      const std::vector<uint32_t> &pronunciations = lexicon_.pronunciations_of.at(word);
      for (size_t variant = 0; variant < pronunciations.size(); ++variant) {
        const uint32_t pronunciation = pronunciations[variant];
        const double spoken_cost = lexicon_.costs_of.count(word) > 0 ? double{lexicon_.costs_of.at(word)[variant]} : 0;
        const std::vector<uint32_t> &spelling = lexicon_.pronunciations[pronunciation];
        for (size_t i = 0; i < spelling.size(); ++i) {
          const bool first = i == 0, last = i + 1 == spelling.size();
          phones_.push_back({spelling[i], uint8_t(first && last ? 3 : first ? 1 : last ? 2 : 0)});
        }
        between_words(arc.next, cost + arc.cost + spoken_cost);
        phones_.resize(phones_.size() - spelling.size());
      }
      words_ = before;
    }
  }

  // Returns the HMM of phone i (from 1) where contexts tell the positions of neighbours apart, from the classes by definition.
  uint32_t placed_hmm(size_t i) const {
    const SpokenPhone &at = phones_[i - 1];
    const auto form = [&](size_t neighbour) -> size_t {
      if (neighbour == 0 || neighbour > phones_.size()) return 3 * set_.phones.size();
      const SpokenPhone &phone = phones_[neighbour - 1];
      if (phone.position == kAnyPosition) return 3 * size_t{set_.silence} + 2;
      return 3 * size_t{phone.phone} + (phone.position == 0 || phone.position == 3 ? 1 : 0);
    };
    for (const PhoneContexts &contexts : set_.phone_contexts) {
      if (contexts.base != at.phone || contexts.position != at.position) continue;
      const size_t left = contexts.left_class[form(i - 1)], right = contexts.right_class[form(i + 1)];
      return contexts.hmms[left * contexts.n_right_classes + right];
    }
    return set_.phones[at.phone].hmm;
  }

  uint32_t neighbour(size_t i) const {  // i counts from 1
    if (i == 0 || i > phones_.size() || set_.phones[phones_[i - 1].phone].filler) return set_.silence;
    return phones_[i - 1].phone;
  }

  void speak(double cost) {
    std::vector<uint32_t> hmms;
    for (size_t i = 1; i <= phones_.size(); ++i) {
      const SpokenPhone &at = phones_[i - 1];
      hmms.push_back(at.position == kAnyPosition ? set_.phones[at.phone].hmm
                     : !set_.phone_contexts.empty()
                         ? placed_hmm(i)
                         : contexts_.find(at.phone, neighbour(i - 1), neighbour(i + 1), WordPosition(at.position)));
    }
    walk(hmms, 0, kEntry, cost, 0, words_ + "|");
  }

  double arc_cost(const Topology &topology, const TopologyArc &arc) const {
    double stay = 0;
    for (const TopologyArc &other : topology.arcs) {
      if (other.from == arc.from && other.to == arc.from) stay = std::exp(-double(other.cost));
    }
    if (arc.from == arc.to) return options_.scales.self_loop * arc.cost;
    const double leave = -std::log(1 - stay);
    return options_.scales.transition * (arc.cost - leave) + options_.scales.self_loop * leave;
  }

  void walk(const std::vector<uint32_t> &hmms, size_t i, uint32_t state, double cost, size_t n_frames,
            const std::string &path) {
    if (i == hmms.size()) {
      paths_[path].push_back(cost);
      return;
    }
    const Hmm &hmm = set_.hmms[hmms[i]];
    const Topology &topology = set_.topologies[hmm.topology];
    for (const TopologyArc &arc : topology.arcs) {
      if (arc.from != state) continue;
      const double next_cost = cost + arc_cost(topology, arc);
      if (arc.to == topology.n_states) {
        if (state == kEntry && phones_[i].position == kAnyPosition) continue;  // a filler lasts at least a frame
        walk(hmms, i + 1, kEntry, next_cost, n_frames, path);
      } else if (n_frames < max_frames_) {
        const std::string frame = frame_text(phones_[i].phone, phones_[i].position, arc.to, hmm.pdfs[arc.to], arc.to == state);
        walk(hmms, i, arc.to, next_cost, n_frames + 1, path + frame);
      }
    }
  }
};

}  // namespace

Paths paths_by_definition(const HmmSet &set, const Lexicon &lexicon, const Grammar &grammar, const GraphOptions &options,
                          size_t max_frames) {
  return Definition(set, lexicon, grammar, options, max_frames).run();
}

Paths paths_of_graph(const GraphData &graph, const std::vector<std::string> &words, size_t max_frames) {
  Paths paths;
  const std::function<void(uint32_t, double, size_t, const std::string &, const std::string &)> walk =
      [&](uint32_t state, double cost, size_t n_frames, const std::string &said, const std::string &frames) {
        if (std::isfinite(graph.final_costs[state])) paths[said + "|" + frames].push_back(cost + graph.final_costs[state]);
        const auto follow = [&](const asr_graph_arc &arc, const std::string &frame) {
          walk(arc.next_state, cost + arc.graph_cost, n_frames + !frame.empty(), arc.word ? said + words[arc.word] + " " : said,
               frames + frame);
        };
        for (uint32_t i = graph.epsilon_begin[state]; i < graph.epsilon_begin[state + 1]; ++i) follow(graph.arcs[i], "");
        if (n_frames == max_frames) return;
        for (uint32_t i = graph.emitting_begin[state]; i < graph.emitting_begin[state + 1]; ++i) {
          const Transition &t = graph.transitions[graph.arcs[i].transition_id];
          follow(graph.arcs[i], frame_text(t.phone, t.position, t.hmm_state, t.pdf, t.self_loop));
        }
      };
  walk(graph.start_state, 0, 0, "", "");
  for (auto &[path, costs] : paths) std::sort(costs.begin(), costs.end());
  return paths;
}

}  // namespace asr::test
