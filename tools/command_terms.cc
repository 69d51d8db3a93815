// SPDX-License-Identifier: Apache-2.0
#include "tools/command_terms.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>

#include "api_names.h"

namespace asr::tool {
namespace {

// Options of `senone recognize` by fields that have another name.
const std::map<std::string, std::string> &options() {
  static const std::map<std::string, std::string> kOptions = {
      {"n_best", "--nbest"},
      {"vtln_warp", "--vtln"},
      {"max_utterance_s", "--max-hours"},
      {"reject_threshold", "--reject"},
      {"speaker", "the speaker (--adapt, --vtln search, --transforms, --warps)"},
      {"max_lanes", "--jobs"},
      {"n_threads", "--threads"},
      {"input", "the kind of input"},
      {"sample_rate_hz", "--raw-rate"},
      {"rule", "--fuse-rule"},
      {"models", "--fuse"},
      {"weights", "the weights of --fuse"},
      {"follow_ms", "--fuse-ms"},
      {"select_ms", "--fuse-ms"},
      {"fusion", "--fuse"},
      {"unknown", "--drop-unknown"},
      {"letter_case", "--case"},
  };
  return kOptions;
}

std::string with_dashes(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string in_words(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

// Returns the name of a token such as "asr_stream_config.beam", "asr_fusion.rule", "asr_finish" or "ASR_CMN_LIVE".
std::string renamed(const std::string &token) {
  if (token[0] == 'A') {
    std::string value = token.substr(token.find('_', 4) == std::string::npos ? 4 : token.find('_', 4) + 1);
    std::transform(value.begin(), value.end(), value.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return with_dashes(value);
  }
  const size_t dot = token.find('.');
  if (dot == std::string::npos) return in_words(token.substr(4));
  const std::string field = token.substr(dot + 1);
  const auto found = options().find(field);
  return found != options().end() ? found->second : "--" + with_dashes(field);
}

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool is_of_api(const std::string &name) {
  return std::find(std::begin(kApiNames), std::end(kApiNames), name) != std::end(kApiNames);
}

// Whether a name begins here. Within a path or quotes it is the user's.
bool begins_name(const std::string &message, size_t at) {
  if (message.compare(at, 4, "asr_") != 0 && message.compare(at, 4, "ASR_") != 0) return false;
  return at == 0 || (!is_name(message[at - 1]) && std::string("/\\.-'\"").find(message[at - 1]) == std::string::npos);
}

// Returns the end of the name that begins here, with the field after it.
size_t end_of_name(const std::string &message, size_t at) {
  while (at < message.size() && is_name(message[at])) ++at;
  if (at + 1 < message.size() && message[at] == '.' && is_name(message[at + 1])) {
    for (++at; at < message.size() && is_name(message[at]);) ++at;
  }
  return at;
}

}  // namespace

std::string in_command_terms(const std::string &message) {
  std::string result;
  for (size_t at = 0; at < message.size();) {
    if (!begins_name(message, at)) {
      result += message[at++];
      continue;
    }
    const size_t end = end_of_name(message, at);
    const std::string token = message.substr(at, end - at);
    const size_t dot = token.find('.');
    const bool is_function = is_of_api(token + "(");
    const bool is_ours = is_function || is_of_api(dot == std::string::npos ? token : token.substr(0, dot + 1));
    if (at == 0 && is_function && message.compare(end, 2, ": ") == 0) {
      at = end + 2;
      continue;
    }
    result += is_ours ? renamed(token) : token;
    at = end;
  }
  return result;
}

}  // namespace asr::tool
