// SPDX-License-Identifier: Apache-2.0
#include "builder/import/htk.h"

#include <algorithm>
#include <filesystem>

#include "builder/import/htk_model.h"
#include "builder/import/text_lines.h"
#include "builder/text/text_file.h"
#include "core/base/error.h"

namespace asr {
namespace {

std::vector<std::pair<std::string, std::string>> read_hmm_list(const std::string &path) {
  std::vector<std::pair<std::string, std::string>> names;
  if (path.empty()) return names;
  const std::string text = read_text(path, {"a list of HMMs"});
  TextLines lines(text, path);
  std::vector<std::string_view> words;
  while (lines.next(words, "\n")) {
    if (words.size() > 2) lines.fail_line("is not a phone and the HMM it stands for");
    names.emplace_back(std::string(words.front()), std::string(words.back()));
  }
  if (names.empty()) fail(ASR_BAD_FILE, "%s: names no HMMs", path.c_str());
  return names;
}

FrontEnd features_front_end(uint32_t n_dims) {
  FrontEnd f = htk_front_end();
  f.dynamic = DynamicKind::kNone;
  f.from_archives = true;
  f.n_ceps = n_dims;
  f.n_mel = std::max(f.n_mel, n_dims);
  return f;
}

ImportedModel assemble(const htk::ModelSet &set, const HtkOptions &options, const char *kind) {
  const std::string &source = options.models.back();
  ImportedModel model;
  model.acoustic = htk::make_acoustic_model(set, source);
  model.hmms = htk::make_hmm_set(set, read_hmm_list(options.hmm_list), options.hmm_list.empty() ? source : options.hmm_list);
  const uint32_t n_dims = model.acoustic.n_dims;
  model.bundle.front_end =
      options.features_only ? features_front_end(n_dims) : htk_front_end_of(set.kind, n_dims, options, model.notes);
  model.bundle.name = std::filesystem::path(source).filename().string();
  model.bundle.source = format("%s, %s", kind, set.covariance == ASR_COVARIANCE_FULL ? "full covariance" : "diagonal");
  if (model.hmms.silence != kNoPhone) model.bundle.filler_words = {{"<sil>", {model.hmms.phones[model.hmms.silence].name}}};
  return model;
}

}  // namespace

ImportedModel import_htk(const HtkOptions &options) { return assemble(htk::read_hmmdefs(options.models), options, "HTK"); }

ImportedModel import_julius(const HtkOptions &options) {
  return assemble(htk::read_binhmm(options.models.back()), options, "Julius");
}

}  // namespace asr
