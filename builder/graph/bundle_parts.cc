// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/bundle_parts.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/base/error.h"

namespace asr {

HmmSet read_hmms(const Bundle &bundle) {
  if (!bundle.has("hmms.bin"))
    fail(ASR_NOT_FOUND, "%s: no hmms.bin in this bundle; make it with senone import", bundle.path.c_str());
  return read_hmm_set(bundle.file("hmms.bin"));
}

bool has_pdfs_of_first_frames(const HmmSet &set) {
  std::vector<bool> leaves(set.n_pdfs, false);
  for (const Transition &transition : set.transitions) {
    if (!transition.self_loop) leaves[transition.pdf] = true;
  }
  return std::any_of(set.transitions.begin(), set.transitions.end(),
                     [&](const Transition &transition) { return transition.self_loop && !leaves[transition.pdf]; });
}

void check_contexts(const Bundle &bundle, const HmmSet &set) {
  if (set.knows_contexts()) return;
  if (has_pdfs_of_first_frames(set)) {
    fail(ASR_UNSUPPORTED,
         "%s: the model's HMM states have two pdfs, one for the first frame and one for the others, as chain models have; no "
         "graphs are built for those: give `senone graph` one of Kaldi with --hclg",
         bundle.path.c_str());
  }
  fail(ASR_UNSUPPORTED, "%s: the model's contexts were not imported; give `senone graph` one made for it with --hclg",
       bundle.path.c_str());
}

std::vector<uint32_t> filler_phones(const Bundle &bundle, const HmmSet &set) {
  std::vector<uint32_t> phones;
  std::unordered_map<std::string, uint32_t> number_of;
  for (uint32_t i = 0; i < set.phones.size(); ++i) number_of.emplace(set.phones[i].name, i);
  for (const auto &[word, pronunciation] : bundle.filler_words) {
    if (pronunciation.size() != 1) {
      fail(ASR_UNSUPPORTED, "%s: the filler word '%s' has %zu phones; a filler must be one phone", bundle.path.c_str(),
           word.c_str(), pronunciation.size());
    }
    const auto phone = number_of.find(pronunciation[0]);
    if (phone == number_of.end()) {
      fail(ASR_BAD_FILE, "%s: the filler word '%s' has the phone '%s', which the model lacks; import the model again",
           bundle.path.c_str(), word.c_str(), pronunciation[0].c_str());
    }
    phones.push_back(phone->second);
  }
  return phones;
}

TokenFrames token_frames(const Bundle &bundle) {
  TokenFrames frames;
  if (!bundle.scores) return frames;
  frames.topology = bundle.scores->topology;
  frames.blank = bundle.scores->blank;
  frames.delimiter = bundle.scores->delimiter;
  return frames;
}

std::vector<std::string> phone_symbols(const HmmSet &set) {
  std::vector<std::string> phones = {"<eps>"};
  for (const BasePhone &phone : set.phones) phones.push_back(phone.name);
  return phones;
}

bool has_background_phones(const HmmSet &set) {
  constexpr auto kMinPhones = 16;
  const auto is_speech = [](const BasePhone &phone) { return !phone.filler; };
  return std::count_if(set.phones.begin(), set.phones.end(), is_speech) >= kMinPhones;
}

void note_results(const Grammar &grammar, const HmmSet &set, DecodingDefaults *decoding) {
  decoding->reject_threshold = has_background_phones(set) || !grammar.keywords.empty() ? 0.5 : 1;
  decoding->has_garbage = grammar.garbage != 0;
  decoding->keywords = grammar.keywords;
}

void note_graph_step(Bundle *bundle, BundleStep step) {
  const auto is_graph = [](const BundleStep &other) { return !other.arguments.empty() && other.arguments[0] == "graph"; };
  std::vector<BundleStep> &steps = bundle->made_by;
  steps.erase(std::remove_if(steps.begin(), steps.end(), is_graph), steps.end());
  steps.push_back(std::move(step));
}

}  // namespace asr
