// SPDX-License-Identifier: Apache-2.0
#include "tools/command_terms.h"

#include <algorithm>
#include <map>

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

}  // namespace

std::string in_command_terms(const std::string &message) {
  const auto is_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  std::string result;
  for (size_t at = 0; at < message.size();) {
    const bool begins = (message.compare(at, 4, "asr_") == 0 || message.compare(at, 4, "ASR_") == 0) &&
                        (at == 0 || (!is_name(message[at - 1]) && message[at - 1] != '/'));
    if (!begins) {
      result += message[at++];
      continue;
    }
    size_t end = at;
    while (end < message.size() && is_name(message[end])) ++end;
    if (at == 0 && message.compare(end, 2, ": ") == 0) {  // the function that failed
      at = end + 2;
      continue;
    }
    if (end + 1 < message.size() && message[end] == '.' && is_name(message[end + 1])) {
      for (++end; end < message.size() && is_name(message[end]);) ++end;
    }
    result += renamed(message.substr(at, end - at));
    at = end;
  }
  return result;
}

}  // namespace asr::tool
