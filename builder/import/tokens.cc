// SPDX-License-Identifier: Apache-2.0
#include "builder/import/tokens.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <unordered_map>

#include "builder/text/text_file.h"
#include "core/base/error.h"
#include "core/base/limits.h"
#include "core/base/parse_json.h"

namespace asr {
namespace {

using Parsed = nlohmann::json;

constexpr char kSpace[] = "<space>";
constexpr const char *kBlankNames[] = {"<blank>", "<blk>", "[blank]", "<ctc_blank>", "[PAD]", "<pad>", "<eps>", "-"};

// Names cannot have white space; a token that is nothing else stands between words.
std::string token_name(std::string token) {
  const bool is_space = !token.empty() && token.find_first_not_of(" \t\r\n") == std::string::npos;
  return is_space ? kSpace : token;
}

template <typename Number>
bool parse_number(std::string_view text, Number *number) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && stop == text.data() + text.size() && !text.empty();
}

std::vector<std::string> lines_of(const std::string &text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

// A line's last field, and what is before it.
struct SplitLine {
  std::string token, field;
  bool has_tab = false;
};

std::vector<SplitLine> split(const std::vector<std::string> &lines) {
  std::vector<SplitLine> result;
  for (const std::string &line : lines) {
    const size_t at = line.find_last_of(" \t");
    if (at == std::string::npos || at + 1 == line.size()) return {};
    result.push_back({line.substr(0, at), line.substr(at + 1), line[at] == '\t'});
  }
  return result;
}

// Puts tokens in the order of their numbers, which are those from 0 on; returns false if they are not.
bool number_tokens(const std::vector<std::pair<std::string, uint64_t>> &numbered, TokenList *list) {
  std::vector<std::string> tokens(numbered.size());
  std::vector<bool> is_taken(numbered.size());
  for (const auto &[token, number] : numbered) {
    if (number >= tokens.size() || is_taken[number]) return false;
    is_taken[number] = true;
    tokens[number] = token;
  }
  list->tokens = std::move(tokens);
  return true;
}

TokenList tokens_of_lines(const std::string &text) {
  const std::vector<std::string> lines = lines_of(text);
  const std::vector<SplitLine> fields = split(lines);
  TokenList list;
  std::vector<std::pair<std::string, uint64_t>> numbered;
  std::vector<float> scores;
  for (const SplitLine &line : fields) {
    uint64_t number = 0;
    float score = 0;
    if (parse_number(std::string_view(line.field), &number)) numbered.emplace_back(line.token, number);
    if (line.has_tab && parse_number(std::string_view(line.field), &score)) scores.push_back(score);
  }
  const bool all_numbered = !fields.empty() && numbered.size() == fields.size();
  if (all_numbered && number_tokens(numbered, &list)) return list;
  if (!fields.empty() && scores.size() == fields.size()) {
    for (const SplitLine &line : fields) list.tokens.push_back(line.token);
    list.scores = std::move(scores);
    return list;
  }
  list.tokens = lines;
  return list;
}

[[noreturn]] void bad_json(const std::string &path) {
  fail(ASR_BAD_FILE,
       "%s: is no list of tokens: its JSON must be [\"token\", ...], {\"token\": number, ...} with the numbers from 0 on, or a "
       "tokenizer.json",
       path.c_str());
}

TokenList tokens_of_json(const Parsed &json, const std::string &path) {
  TokenList list;
  if (json.is_object() && json.contains("model") && json["model"].is_object() && json["model"].contains("vocab")) {
    return tokens_of_json(json["model"]["vocab"], path);
  }
  if (json.is_object()) {
    std::vector<std::pair<std::string, uint64_t>> numbered;
    for (const auto &[token, number] : json.items()) {
      if (!number.is_number_unsigned()) bad_json(path);
      numbered.emplace_back(token, number.get<uint64_t>());
    }
    if (!number_tokens(numbered, &list)) bad_json(path);
    return list;
  }
  if (!json.is_array()) bad_json(path);
  for (const Parsed &entry : json) {
    const bool has_score = entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_number();
    if (!has_score && !entry.is_string()) bad_json(path);
    list.tokens.push_back(has_score ? entry[0].get<std::string>() : entry.get<std::string>());
    if (has_score) list.scores.push_back(entry[1].get<float>());
  }
  if (!list.scores.empty() && list.scores.size() != list.tokens.size()) bad_json(path);
  return list;
}

// Returns the number of a token that is given by name or number; n_tokens is one, too, for a blank behind the others.
uint32_t find_token(const std::vector<std::string> &tokens, const std::string &name, const char *option) {
  const auto found = std::find(tokens.begin(), tokens.end(), token_name(name));
  if (found != tokens.end()) return static_cast<uint32_t>(found - tokens.begin());
  uint32_t number = 0;
  if (parse_number(std::string_view(name), &number) && number < tokens.size()) return number;
  fail(ASR_INVALID_ARGUMENT, "%s %s: there is no such token; give its name, or its number below %zu", option, name.c_str(),
       tokens.size());
}

uint32_t find_blank(const TokensOptions &options, std::vector<std::string> *tokens) {
  uint32_t number = 0;
  if (!options.blank.empty()) {
    if (parse_number(std::string_view(options.blank), &number) && number == tokens->size()) tokens->push_back(kBlankNames[0]);
    return find_token(*tokens, options.blank, "--blank");
  }
  for (const char *const name : kBlankNames) {
    const auto found = std::find(tokens->begin(), tokens->end(), name);
    if (found != tokens->end()) return static_cast<uint32_t>(found - tokens->begin());
  }
  fail(
      ASR_INVALID_ARGUMENT,
      "%s: has no token of a usual name for the blank (<blank>, <blk>, <pad>, ...); name it with --blank, or give %zu if it is "
      "behind the others",
      options.tokens.c_str(), tokens->size());
}

// The classes of tokens, in the order of the file; the blank is one.
struct Classes {
  std::vector<std::string> names;
  std::vector<uint32_t> of_token;  // kNoToken: unused
  size_t n_unused = 0;
};

Classes read_classes(const std::string &path, const std::vector<std::string> &tokens, uint32_t blank) {
  std::unordered_map<std::string, uint32_t> number_of;
  for (uint32_t i = 0; i < tokens.size(); ++i) number_of.emplace(tokens[i], i);
  Classes classes;
  classes.of_token.assign(tokens.size(), kNoToken);
  const auto add = [&](uint32_t token, size_t line) {
    if (classes.of_token[token] != kNoToken) {
      fail(ASR_BAD_FILE, "%s: line %zu: the token '%s' is in a class already", path.c_str(), line, tokens[token].c_str());
    }
    classes.of_token[token] = static_cast<uint32_t>(classes.names.size() - 1);
  };
  if (blank != kNoToken) {
    classes.names.push_back(tokens[blank]);
    add(blank, 0);
  }
  const std::vector<std::string> lines = lines_of(read_text(path, {"a list of classes of tokens"}));
  for (size_t i = 0; i < lines.size(); ++i) {
    std::vector<std::string> fields;
    for (size_t at = lines[i].find_first_not_of(" \t"); at != std::string::npos;) {
      const size_t end = std::min(lines[i].find_first_of(" \t", at), lines[i].size());
      fields.push_back(lines[i].substr(at, end - at));
      at = lines[i].find_first_not_of(" \t", end);
    }
    if (fields.empty()) continue;
    if (fields.size() == 1) {
      fail(ASR_BAD_FILE, "%s: line %zu: the class %s has no tokens", path.c_str(), i + 1, fields[0].c_str());
    }
    classes.names.push_back(fields[0]);
    for (size_t f = 1; f < fields.size(); ++f) {
      const auto token = number_of.find(fields[f]);
      if (token == number_of.end()) {
        fail(ASR_BAD_FILE, "%s: line %zu: there is no token '%s'", path.c_str(), i + 1, fields[f].c_str());
      }
      add(token->second, i + 1);
    }
  }
  classes.n_unused = static_cast<size_t>(std::count(classes.of_token.begin(), classes.of_token.end(), kNoToken));
  return classes;
}

std::vector<float> read_log_priors(const std::string &path, size_t n_tokens) {
  const std::string text = read_text(path, {"a list of priors"});
  std::vector<float> values;
  for (size_t at = text.find_first_not_of(" \t\n[]"); at != std::string::npos;) {
    const size_t end = std::min(text.find_first_of(" \t\n[]", at), text.size());
    float value = 0;
    if (!parse_number(std::string_view(text).substr(at, end - at), &value) || !std::isfinite(value)) {
      fail(ASR_BAD_FILE, "%s: '%.40s' is not a number", path.c_str(), text.substr(at, end - at).c_str());
    }
    values.push_back(value);
    at = text.find_first_not_of(" \t\n[]", end);
  }
  if (values.size() != n_tokens) {
    fail(ASR_BAD_FILE, "%s: has %zu numbers; there are %zu tokens", path.c_str(), values.size(), n_tokens);
  }
  const bool are_logs = std::all_of(values.begin(), values.end(), [](float value) { return value <= 0; });
  double sum = 0;
  for (const float value : values) sum += are_logs ? std::exp(static_cast<double>(value)) : static_cast<double>(value);
  for (float &value : values) {
    if (!are_logs && value <= 0) fail(ASR_BAD_FILE, "%s: %g is no probability", path.c_str(), static_cast<double>(value));
    value = static_cast<float>((are_logs ? static_cast<double>(value) : std::log(static_cast<double>(value))) - std::log(sum));
    value = std::min(value, 0.0f);
  }
  return values;
}

void check_names(const std::vector<std::string> &tokens, const std::string &path) {
  std::unordered_map<std::string, size_t> number_of;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const auto [found, is_new] = number_of.emplace(tokens[i], i);
    if (!is_new) {
      fail(ASR_BAD_FILE, "%s: tokens %zu and %zu are both '%.40s'", path.c_str(), found->second, i, tokens[i].c_str());
    }
  }
}

}  // namespace

TokenList read_token_list(const std::string &path) {
  const std::string text = read_text(path, {"a list of tokens"});
  const size_t first = text.find_first_not_of(" \t\n");
  const bool is_json = first != std::string::npos && (text[first] == '{' || (text[first] == '[' && text.back() != '\n')) &&
                       text.find_last_of("]}") != std::string::npos;
  TokenList list;
  if (is_json || std::filesystem::path(path).extension() == ".json") {
    const JsonText json(text, path, false);
    list = tokens_of_json(json.root(), path);
  } else {
    list = tokens_of_lines(text);
  }
  if (list.tokens.empty()) fail(ASR_BAD_FILE, "%s: has no tokens", path.c_str());
  for (size_t i = 0; i < list.tokens.size(); ++i) {
    list.tokens[i] = token_name(list.tokens[i]);
    if (list.tokens[i].empty() || list.tokens[i].find_first_of(" \t\r\n") != std::string::npos) {
      fail(ASR_BAD_FILE, "%s: token %zu is empty or has blanks", path.c_str(), i);
    }
  }
  check_names(list.tokens, path);
  return list;
}

HmmSet token_hmms(const std::vector<std::string> &tokens) {
  HmmSet set;
  set.topologies.push_back({1, {{0, 0, std::log(2.0f)}, {0, 1, std::log(2.0f)}, {kEntry, 0, 0}}});
  set.transitions.push_back({0, 0, 0, false, 0});
  for (uint32_t token = 0; token < tokens.size(); ++token) {
    set.phones.push_back({tokens[token], false, token});
    set.hmms.push_back({0, {token}});
    set.transitions.push_back({token, kAnyPosition, 0, false, token});
  }
  set.n_pdfs = static_cast<uint32_t>(tokens.size());
  return set;
}

FrontEnd front_end_of_rows(double frame_shift_ms) {
  constexpr double kRate = 16000;
  FrontEnd front_end;
  const double samples = kRate * frame_shift_ms / 1000;
  front_end.shift_samples = std::max(1u, static_cast<uint32_t>(std::lround(samples)));
  // The rate gives way where the shift is no whole number of samples.
  front_end.sample_rate_hz =
      std::abs(samples - front_end.shift_samples) < 1e-6 ? kRate : front_end.shift_samples * 1000.0 / frame_shift_ms;
  front_end.window_samples = std::max(2u, front_end.shift_samples);
  while (front_end.fft_samples < front_end.window_samples) front_end.fft_samples *= 2;
  front_end.high_hz = std::min(front_end.high_hz, front_end.sample_rate_hz / 2);
  return front_end;
}

ImportedModel import_tokens(const TokensOptions &options) {
  TokenList list = read_token_list(options.tokens);
  std::vector<std::string> &tokens = list.tokens;
  const bool is_ctc = options.topology != TokenTopology::kHmm;
  if (!is_ctc && !options.blank.empty()) fail(ASR_INVALID_ARGUMENT, "--blank does not go with --topology hmm");
  ScoreModel scores;
  scores.topology = options.topology;
  const uint32_t blank = is_ctc ? find_blank(options, &tokens) : kNoToken;
  ImportedModel model;
  std::vector<std::string> states = tokens;
  if (!options.classes.empty()) {
    Classes classes = read_classes(options.classes, tokens, blank);
    check_names(classes.names, options.classes);
    states = std::move(classes.names);
    scores.state_of_column = std::move(classes.of_token);
    if (classes.n_unused > 0) {
      model.notes.push_back(format("%zu of %zu tokens are in no class of %s and are not used", classes.n_unused, tokens.size(),
                                   options.classes.c_str()));
    }
  }
  if (options.classes.empty()) scores.piece_scores = list.scores;
  if (!scores.piece_scores.empty()) scores.piece_scores.resize(states.size(), 0);  // a blank behind them
  scores.n_states = static_cast<uint32_t>(states.size());
  if (is_ctc) scores.blank = find_token(states, tokens[blank], "--blank");
  if (!options.delimiter.empty()) scores.delimiter = find_token(states, options.delimiter, "--delimiter");
  if (!options.priors.empty()) scores.log_priors = read_log_priors(options.priors, states.size());
  scores.prior_scale = options.prior_scale;
  scores.blank_penalty = options.blank_penalty;
  if (options.prior_scale > 0 && options.priors.empty()) fail(ASR_INVALID_ARGUMENT, "--prior-scale needs --priors");
  if (!is_ctc && options.blank_penalty != 0) fail(ASR_INVALID_ARGUMENT, "--blank-penalty does not go with --topology hmm");
  model.hmms = token_hmms(states);
  model.bundle.name = std::filesystem::path(options.tokens).filename().string();
  model.bundle.source = is_ctc ? "tokens of CTC" : "tokens";
  model.bundle.front_end = front_end_of_rows(options.frame_shift_ms);
  model.bundle.decoding.acoustic_scale = 1;
  for (const uint32_t silent : {scores.blank, scores.delimiter}) {
    if (silent != kNoToken) model.bundle.filler_words.push_back({states[silent], {states[silent]}});
  }
  model.bundle.scores = std::move(scores);
  return model;
}

}  // namespace asr
