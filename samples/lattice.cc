// SPDX-License-Identifier: Apache-2.0
// lattice BUNDLE FILE.raw [WORD=COST...]: prints alternatives for a recording (16-bit mono samples at the model's rate). It
// prints the likeliest sentences with their costs, and the words of the best one with their confidences. Then it
// rescores the lattice with its own costs, added at every occurrence of the words. They are natural logarithms, up to
// 1e6; below 0 they make a word likelier. It prints the new best sentence and its words' confidences.
//
//     c++ -std=c++17 lattice.cc $(pkg-config --cflags --libs senone) -o lattice
//     lattice my-bundle recording.raw four=-20 for=5
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <senone.hpp>
#include <string>
#include <vector>

namespace {

using WordCosts = std::map<std::string, double, std::less<>>;

std::vector<std::int16_t> read(const char *path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(std::string(path) + ": cannot be opened");
  std::vector<std::int16_t> samples(std::filesystem::file_size(path) / 2);  // throws for a directory
  file.read(reinterpret_cast<char *>(samples.data()), static_cast<std::streamsize>(2 * samples.size()));
  return samples;
}

WordCosts parse_costs(int argc, char **argv) {
  WordCosts costs;
  for (int i = 3; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t sign = argument.rfind('=');
    char *end = nullptr;
    const double cost = sign == std::string::npos ? NAN : std::strtod(argument.c_str() + sign + 1, &end);
    if (end == nullptr || *end != '\0' || !(std::fabs(cost) <= 1e6)) throw std::runtime_error(argument + ": is not WORD=COST");
    costs[argument.substr(0, sign)] = cost;
  }
  return costs;
}

double add_costs(double a, double b) {  // -log(exp(-a) + exp(-b))
  if (std::isinf(a) || std::isinf(b)) return std::min(a, b);
  return std::min(a, b) - std::log1p(std::exp(-std::fabs(a - b)));
}

// Rescored is a lattice with other costs, and has sums over its paths, forwards and backwards.
class Rescored {
 public:
  Rescored(const senone::Lattice &lattice, const WordCosts &words)
      : lattice_(lattice),
        best_(lattice.states().size(), INFINITY),
        to_end_(best_),
        from_start_(best_),
        best_arc_(best_.size()) {
    for (const senone::Arc arc : lattice.arcs()) {
      const auto added = words.find(arc.word);
      costs_.push_back(arc.graph_cost + lattice.acoustic_scale() * arc.acoustic_cost +
                       (added != words.end() ? added->second : 0));
    }
    walk_back();
    walk_forward();
  }

  // Prints the words of the best path, each with its posterior in the rescored lattice.
  void print_best() const {
    if (best_.empty()) return;
    std::printf("rescored %.3f\n", best_[0]);
    for (std::size_t state = 0; best_[state] < end_cost(state);) {
      const senone::Arc arc = lattice_.arcs()[best_arc_[state]];
      const double through = from_start_[state] + costs_[best_arc_[state]] + to_end_[arc.to];
      std::printf("%7.2f %7.2f  %.3f  %.*s\n", arc.start_s, arc.end_s, std::exp(to_end_[0] - through), int(arc.word.size()),
                  arc.word.data());
      state = arc.to;
    }
  }

 private:
  double end_cost(std::size_t state) const {
    const senone::LatticeState end = lattice_.states()[state];
    return end.end_graph_cost + lattice_.acoustic_scale() * end.end_acoustic_cost;
  }

  // Arcs lead to higher-numbered states and are in the order of their states, so one pass in each direction is enough.
  void walk_back() {
    std::size_t number = costs_.size();
    for (std::size_t state = best_.size(); state-- > 0;) {
      best_[state] = to_end_[state] = end_cost(state);
      for (; number > 0 && lattice_.arcs()[number - 1].from == state; --number) {
        const std::uint32_t to = lattice_.arcs()[number - 1].to;
        to_end_[state] = add_costs(to_end_[state], costs_[number - 1] + to_end_[to]);
        if (costs_[number - 1] + best_[to] >= best_[state]) continue;
        best_[state] = costs_[number - 1] + best_[to];
        best_arc_[state] = number - 1;
      }
    }
  }

  void walk_forward() {
    if (!from_start_.empty()) from_start_[0] = 0;
    for (std::size_t number = 0; number < costs_.size(); ++number) {
      const senone::Arc arc = lattice_.arcs()[number];
      from_start_[arc.to] = add_costs(from_start_[arc.to], from_start_[arc.from] + costs_[number]);
    }
  }

  senone::Lattice lattice_;
  std::vector<double> costs_;                       // [arc]
  std::vector<double> best_, to_end_, from_start_;  // costs of the best path to the end; of all paths to it, from the start
  std::vector<std::size_t> best_arc_;               // first arc of the best path to the end
};

void print(const senone::Event &final, const WordCosts &costs) {
  const senone::Lattice lattice = final.lattice();
  int number = 0;
  for (const senone::Alternative alternative : final.alternatives()) {
    const double cost = alternative.graph_cost() + lattice.acoustic_scale() * alternative.acoustic_cost();
    std::printf("%2d %12.3f  %s\n", ++number, cost, std::string(alternative.text()).c_str());
  }
  for (const senone::Word word : final.words()) {
    std::printf("%7.2f %7.2f  %.3f  %s\n", word.start_s, word.end_s, double(word.confidence), std::string(word.text).c_str());
  }
  Rescored(lattice, costs).print_best();
}

}  // namespace

int main(int argc, char **argv) try {
  if (argc < 3) {
    std::fprintf(stderr, "usage: lattice BUNDLE FILE.raw [WORD=COST...]\n");
    return 2;
  }
  const WordCosts costs = parse_costs(argc, argv);
  senone::StreamConfig config;
  config.lattice_beam = 10;
  config.n_best = 5;
  senone::Engine engine(argv[1]);
  senone::Stream stream = engine.open(config);
  stream.feed(read(argv[2]));
  stream.finish();
  print(stream.final_event(), costs);
} catch (const std::exception &error) {
  std::fprintf(stderr, "lattice: %s\n", error.what());
  return 1;
}
