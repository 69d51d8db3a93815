// SPDX-License-Identifier: Apache-2.0
#include "tests/api/tone_bundle.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "core/backend/registry.h"
#include "core/feature/feature_pipeline.h"
#include "core/graph/archive.h"
#include "core/model/acoustic_model.h"
#include "core/model/bundle.h"

namespace asr::test {
namespace {

struct Tone {
  const char *word;
  double hz;
};
constexpr Tone kTones[] = {{"low", 400}, {"mid", 1000}, {"high", 2500}};
constexpr uint32_t kWords = 3, kHmmStates = 3;
constexpr double kAmplitude = 6000, kNoise = 30;

// Appends a tone (0 Hz: none) in noise.
void append(double hz, double seconds, uint32_t rate_hz, std::mt19937 *random, std::vector<int16_t> *samples) {
  std::normal_distribution<double> noise(0, kNoise);
  const size_t n = static_cast<size_t>(seconds * rate_hz);
  for (size_t i = 0; i < n; ++i) {
    const double tone = hz > 0 ? kAmplitude * std::sin(2 * M_PI * hz * static_cast<double>(i) / rate_hz) : 0;
    samples->push_back(static_cast<int16_t>(std::lround(tone + noise(*random))));
  }
}

FrontEnd tone_front_end() {
  FrontEnd front_end = sphinx_front_end();
  front_end.cmn = CmnKind::kNone;
  front_end.cmn_lookahead_frames = 0;
  front_end.cmn_prior.clear();  // running normalisation begins with unchanged features
  return front_end;
}

// Returns feature rows [T][D] of a signal, without mean normalisation.
std::vector<float> features_of(const std::vector<int16_t> &samples, const FrontEnd &front_end = tone_front_end()) {
  asr_backend_options options{};
  options.size = sizeof(options);
  options.max_lanes = 1;
  options.window_frames = 64;
  options.n_threads = 1;
  const Device device(choose_device("cpu"), options);
  const FeatureTables tables(front_end, {1.0});
  asr_backend_features *features = nullptr;
  device.check(device.api()->load_features(device.get(), tables.view(), &features));
  FeaturePipeline pipeline(tables, CmnKind::kNone, 0);
  const std::vector<float> values(samples.begin(), samples.end());
  pipeline.add_samples(values.data(), values.size());
  pipeline.finish();
  for (asr_extract_job job; pipeline.next_extract(&job, options.window_frames); pipeline.extracted()) {
    device.check(device.api()->extract(device.get(), features, &job, 1));
  }
  std::vector<float> rows(pipeline.rows(), pipeline.rows() + pipeline.ready_rows() * pipeline.n_dims());
  device.api()->free_features(features);
  return rows;
}

// Trains one Gaussian per state: state 0 is near-silence, state 1 + w the tone of word w.
AcousticModel train(const FrontEnd &front_end = tone_front_end()) {
  AcousticModel model;
  model.n_dims = front_end.n_dims();
  model.n_states = 1 + kWords;
  model.streams.resize(1);
  for (uint32_t d = 0; d < model.n_dims; ++d) model.streams[0].dims.push_back(d);
  std::mt19937 random(1);
  for (uint32_t s = 0; s < model.n_states; ++s) {
    std::vector<int16_t> samples;
    append(s == 0 ? 0 : kTones[s - 1].hz, 1, 16000, &random, &samples);
    const std::vector<float> rows = features_of(samples, front_end);
    const size_t n_rows = rows.size() / model.n_dims - 1;  // without the zero-padded frame at the end
    model.codebooks.push_back({0, 1, s, uint64_t{s} * model.n_dims});
    model.covariance_of.push_back(s);
    model.precision_at.push_back(model.precisions.size());
    model.state_codebook.push_back(s);
    model.state_weight.push_back(s);
    model.log_weights.push_back(0);
    for (uint32_t d = 0; d < model.n_dims; ++d) {
      double sum = 0, squares = 0;
      for (size_t t = 0; t < n_rows; ++t) sum += double(rows[t * model.n_dims + d]);
      const double mean = sum / double(n_rows);
      for (size_t t = 0; t < n_rows; ++t) squares += std::pow(double(rows[t * model.n_dims + d]) - mean, 2);
      model.means.push_back(static_cast<float>(mean));
      model.precisions.push_back(static_cast<float>(1 / (squares / double(n_rows) + 1)));
    }
  }
  return model;
}

// Converts the model to cepstra minus the mean of a whole recording of the words.
AcousticModel without_mean(AcousticModel model) {
  const uint32_t n_ceps = tone_front_end().n_ceps;
  const std::vector<float> rows = features_of(speak("low mid high"));
  const size_t n_rows = rows.size() / model.n_dims;
  for (uint32_t d = 0; d < n_ceps; ++d) {
    double sum = 0;
    for (size_t t = 0; t < n_rows; ++t) sum += double(rows[t * model.n_dims + d]);
    for (uint32_t s = 0; s < model.n_states; ++s) model.means[s * model.n_dims + d] -= static_cast<float>(sum / double(n_rows));
  }
  return model;
}

enum class Loop { kPlain, kWithCycle, kWithHomophone, kBackground };
constexpr uint32_t kHomophone = kWords + 1;  // number of the homophone

GraphData with_arcs(GraphData graph, const std::vector<std::vector<asr_graph_arc>> &emitting,
                    const std::vector<std::vector<asr_graph_arc>> &epsilon) {
  graph.emitting_begin.push_back(0);
  for (const auto &arcs : emitting) {
    graph.arcs.append(arcs.data(), arcs.size());
    graph.emitting_begin.push_back(static_cast<uint32_t>(graph.arcs.size()));
  }
  graph.epsilon_begin.push_back(static_cast<uint32_t>(graph.arcs.size()));
  for (const auto &arcs : epsilon) {
    graph.arcs.append(arcs.data(), arcs.size());
    graph.epsilon_begin.push_back(static_cast<uint32_t>(graph.arcs.size()));
  }
  graph.final_costs.assign(emitting.size(), INFINITY);
  return graph;
}

enum class Grammar { kOneOf, kAllInTurn };

// Makes a graph of one of the tones, or of all in turn. Tones are numbered from 1 on; a tone's word is its position in
// the list, from 1 on. A state precedes each word and follows the last, with silence in it.
GraphData grammar_of(const std::vector<uint32_t> &tones, Grammar kind = Grammar::kOneOf) {
  const bool in_turn = kind == Grammar::kAllInTurn;
  const uint32_t n_states = in_turn ? static_cast<uint32_t>(tones.size()) + 1 : 2;
  GraphData graph;
  graph.n_pdfs = 1 + kWords;
  graph.n_words = static_cast<uint32_t>(1 + tones.size());
  graph.transitions.push_back({});
  std::vector<std::vector<asr_graph_arc>> emitting(n_states), epsilon(n_states);
  const auto add_chain = [&](uint32_t tone, uint32_t word, uint32_t from, uint32_t last) {
    for (uint16_t k = 0; k < kHmmStates; ++k) {
      const auto to = static_cast<uint32_t>(emitting.size());
      emitting.emplace_back();
      epsilon.emplace_back();
      for (const bool self_loop : {false, true}) {
        graph.transitions.push_back({tone, kAnyPosition, k, self_loop, tone});
        const auto id = static_cast<uint32_t>(graph.transitions.size() - 1);
        emitting[self_loop ? to : from].push_back({to, id, !self_loop && k == 0 ? word : 0, 0.7f});
      }
      from = to;
    }
    epsilon[from].push_back({last, 0, 0, 0.0f});
  };
  for (uint32_t state = 0; state < n_states; ++state) add_chain(0, 0, state, state);
  for (uint32_t i = 0; i < tones.size(); ++i) add_chain(tones[i], 1 + i, in_turn ? i : 0, in_turn ? i + 1 : 1);
  graph = with_arcs(std::move(graph), emitting, epsilon);
  graph.final_costs[n_states - 1] = 0;
  return graph;
}

// Makes a loop over the words and silence: state 0, and from it a chain of HMM states for each.
GraphData word_loop(Loop kind) {
  GraphData graph;
  graph.n_pdfs = 1 + kWords;
  graph.n_words = 1 + kWords + (kind == Loop::kWithHomophone ? 1 : 0);
  graph.transitions.push_back({});
  std::vector<std::vector<asr_graph_arc>> emitting(1), epsilon(1);
  std::vector<std::pair<uint32_t, uint32_t>> words{{0, 0}, {1, 1}, {2, 2}, {3, 3}};  // words and their pdfs
  if (kind == Loop::kWithHomophone) words.insert(words.begin() + 1, {kHomophone, 1});
  for (const auto &[word, p] : words) {
    const uint8_t position = p == 0 ? kAnyPosition : static_cast<uint8_t>(WordPosition::kSingle);
    uint32_t from = 0;
    for (uint16_t k = 0; k < kHmmStates; ++k) {
      const uint32_t to = static_cast<uint32_t>(emitting.size());
      emitting.emplace_back();
      epsilon.emplace_back();
      for (const bool self_loop : {false, true}) {
        graph.transitions.push_back({p, position, k, self_loop, p});
        const uint32_t id = static_cast<uint32_t>(graph.transitions.size() - 1);
        emitting[self_loop ? to : from].push_back({to, id, !self_loop && k == 0 ? word : 0, 0.7f});
      }
      from = to;
    }
    epsilon[from].push_back({0, 0, 0, p == 0 ? 0.0f : kind == Loop::kBackground ? 10.0f : 1.0f});
    if (kind == Loop::kWithCycle && p == kWords) epsilon[from].push_back({from, 0, 2, 3});
  }
  graph = with_arcs(std::move(graph), emitting, epsilon);
  graph.final_costs[0] = 0;
  return graph;
}

std::vector<uint32_t> tones_of(const std::vector<std::string> &words) {
  std::vector<uint32_t> tones;
  for (const std::string &word : words) {
    for (uint32_t i = 0; i < kWords; ++i) {
      if (word == kTones[i].word) tones.push_back(1 + i);
    }
  }
  return tones;
}

std::vector<std::string> symbols_of(const std::vector<std::string> &words) {
  std::vector<std::string> symbols{"<eps>"};
  symbols.insert(symbols.end(), words.begin(), words.end());
  return symbols;
}

const std::vector<std::string> &phones() {
  static const std::vector<std::string> symbols{"<eps>", "SIL", "LOW", "MID", "HIGH"};
  return symbols;
}

struct TemporaryBundle {
  const std::string path;

  TemporaryBundle(const std::string &name, Loop loop, const FrontEnd &front_end = tone_front_end())
      : path(std::filesystem::temp_directory_path() / (name + "_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path);
    write_acoustic_model(front_end.cmn == CmnKind::kNone ? train() : without_mean(train()), path + "/acoustic.bin");
    write_graph(word_loop(loop), path + "/graph.bin");
    std::vector<std::string> words{"<eps>", "low", "mid", "high"};
    if (loop == Loop::kWithHomophone) words.emplace_back("deep");
    write_symbols(words, path + "/words.txt");
    write_symbols(phones(), path + "/phones.txt");
    Bundle bundle;
    bundle.name = "tones";
    bundle.front_end = front_end;
    bundle.decoding.beam = 200;
    bundle.decoding.acoustic_scale = 1;
    bundle.filler_words = {{"<sil>", {"SIL"}}};
    write_bundle_index(bundle, path, {"acoustic.bin", "graph.bin", "words.txt", "phones.txt"});
  }
  ~TemporaryBundle() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

}  // namespace

const std::string &tone_bundle() {
  static const TemporaryBundle bundle("senone_tones", Loop::kPlain);
  return bundle.path;
}

const std::string &tone_bundle_with_cycle() {
  static const TemporaryBundle bundle("senone_cycle", Loop::kWithCycle);
  return bundle.path;
}

const std::string &tone_bundle_with_homophone() {
  static const TemporaryBundle bundle("senone_homophone", Loop::kWithHomophone);
  return bundle.path;
}

const std::string &tone_bundle_with_mean() {
  static const TemporaryBundle bundle("senone_mean", Loop::kPlain, [] {
    FrontEnd front_end = tone_front_end();
    front_end.cmn = CmnKind::kBatch;
    front_end.cmn_lookahead_frames = 20;
    return front_end;
  }());
  return bundle.path;
}

namespace {

// Makes a bundle inside the first one's directory, which is removed with it.
std::string grammar_bundle(const std::string &name, const std::vector<std::string> &words, bool with_background,
                           Grammar kind = Grammar::kOneOf) {
  std::string path = tone_bundle() + "/" + name;
  for (const std::string &word : words) path += "_" + word;
  std::filesystem::create_directories(path);
  std::filesystem::copy_file(tone_bundle() + "/acoustic.bin", path + "/acoustic.bin",
                             std::filesystem::copy_options::overwrite_existing);
  write_graph(grammar_of(tones_of(words), kind), path + "/graph.bin");
  write_symbols(symbols_of(words), path + "/words.txt");
  write_symbols(phones(), path + "/phones.txt");
  Bundle bundle = read_bundle_index(tone_bundle());
  std::vector<std::string> names{"acoustic.bin", "graph.bin", "words.txt", "phones.txt"};
  if (with_background) {
    write_graph(word_loop(Loop::kBackground), path + "/background.bin");
    names.emplace_back("background.bin");
    bundle.decoding.reject_threshold = 0.5;
  }
  write_bundle_index(bundle, path, names);
  return path;
}

}  // namespace

namespace {

AcousticModel with_full_covariances(AcousticModel model) {
  std::vector<float> precisions;
  for (uint32_t s = 0; s < model.n_states; ++s) {
    const float *const diagonal = model.precisions.data() + model.precision_at[s];
    model.precision_at[s] = precisions.size();
    for (uint32_t i = 0; i < model.n_dims; ++i) {
      for (uint32_t j = 0; j <= i; ++j) precisions.push_back(i == j ? diagonal[i] : 0);
    }
  }
  model.covariance = ASR_COVARIANCE_FULL;
  model.precisions = precisions;
  return model;
}

AcousticModel with_fewer_states(AcousticModel model) {
  --model.n_states;
  for (auto *list : {&model.covariance_of, &model.state_codebook}) list->pop_back();
  for (auto *list : {&model.precision_at, &model.state_weight}) list->pop_back();
  model.codebooks.pop_back();
  model.log_weights.pop_back();
  model.means.resize(size_t{model.n_states} * model.n_dims);
  model.precisions.resize(size_t{model.n_states} * model.n_dims);
  return model;
}

AcousticModel deaf(AcousticModel model) {
  for (const uint32_t s : {1u, 3u}) {
    for (auto *list : {&model.means, &model.precisions}) {
      std::copy_n(list->data() + size_t{2} * model.n_dims, model.n_dims, list->data() + size_t{s} * model.n_dims);
    }
  }
  return model;
}

AcousticModel tone_model(ToneModel kind, const FrontEnd &front_end) {
  AcousticModel model = train(front_end);
  switch (kind) {
    case ToneModel::kWide:
      for (float &precision : model.precisions) precision /= 4;
      return model;
    case ToneModel::kFull:
      return with_full_covariances(std::move(model));
    case ToneModel::kWithMean:
      return without_mean(std::move(model));
    case ToneModel::kDeaf:
      return deaf(std::move(model));
    case ToneModel::kFewerStates:
      return with_fewer_states(std::move(model));
    default:
      return model;
  }
}

}  // namespace

std::string tone_model_bundle(ToneModel kind) {
  std::string path = tone_bundle() + "/model_" + std::to_string(static_cast<int>(kind));
  std::filesystem::create_directories(path);
  Bundle bundle = read_bundle_index(tone_bundle());
  if (kind == ToneModel::kWithMean) bundle.front_end.cmn = CmnKind::kBatch, bundle.front_end.cmn_lookahead_frames = 20;
  if (kind == ToneModel::kOtherFeatures) bundle.front_end.dynamic = DynamicKind::kSphinx_c_d, bundle.front_end.n_mel = 25;
  write_acoustic_model(tone_model(kind, bundle.front_end), path + "/acoustic.bin");
  write_bundle_index(bundle, path, {"acoustic.bin"});
  return path;
}

std::string tone_grammar_bundle(const std::vector<std::string> &words) { return grammar_bundle("one_of", words, false); }

std::string tone_bundle_with_background() { return grammar_bundle("background", {"low", "mid"}, true); }

std::string tone_sentence_with_background() { return grammar_bundle("sentence", {"low", "mid"}, true, Grammar::kAllInTurn); }

std::string tone_grammar_archive(const std::vector<std::string> &words) {
  return graph_archive(read_bundle_index(tone_bundle()), grammar_of(tones_of(words)), {symbols_of(words), {}}, phones());
}

std::string tone_tagged_archive() {
  const std::vector<std::string> words{"high", "low"};
  return graph_archive(read_bundle_index(tone_bundle()), grammar_of(tones_of(words)),
                       {symbols_of(words), {{}, {"ends", "H\nmore"}, {"ends", "L"}}}, phones());
}

std::string tone_archive() {
  return graph_archive(read_bundle_index(tone_bundle()), word_loop(Loop::kPlain), {symbols_of({"low", "mid", "high"}), {}},
                       phones());
}

std::vector<int16_t> speak(const std::string &words, uint32_t rate_hz) {
  std::mt19937 random(2);
  std::vector<int16_t> samples;
  append(0, kPause_s, rate_hz, &random, &samples);
  std::istringstream stream(words);
  for (std::string word; stream >> word;) {
    for (const Tone &tone : kTones) {
      if (word == tone.word) append(tone.hz, kWord_s, rate_hz, &random, &samples);
    }
    append(0, kPause_s, rate_hz, &random, &samples);
  }
  return samples;
}

std::string tone_recording(const std::string &words) {
  std::string path = tone_bundle() + "/" + words + ".raw";
  std::replace(path.begin(), path.end(), ' ', '_');
  const std::vector<int16_t> samples = speak(words);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char *>(samples.data()), static_cast<std::streamsize>(2 * samples.size()));
  return path;
}

}  // namespace asr::test
