// SPDX-License-Identifier: Apache-2.0
#include "builder/import/imported_model.h"

#include "core/base/error.h"
#include "core/base/file.h"

namespace asr {
namespace {

void write_without_gaussians(const ImportedModel &model, const std::string &path) {
  const std::string &source = model.bundle.source;
  model.bundle.scores->validate(source);
  if (model.hmms.n_pdfs != model.bundle.scores->n_states) {
    fail(ASR_BAD_FILE, "%s: its HMMs use %u pdfs, but its rows have %u", source.c_str(), model.hmms.n_pdfs,
         model.bundle.scores->n_states);
  }
  OutputDirectory directory(path);
  write_hmm_set(model.hmms, directory.file("hmms.bin"));
  write_bundle_index(model.bundle, directory, {"hmms.bin"});
  directory.commit();
}

}  // namespace

void write_imported_model(const ImportedModel &model, const std::string &path) {
  const std::string &source = model.bundle.source;
  model.bundle.front_end.validate(source);
  if (model.bundle.scores) return write_without_gaussians(model, path);
  if (model.bundle.front_end.n_dims() != model.acoustic.n_dims) {
    fail(ASR_BAD_FILE, "%s: its features have %u dimensions, but its Gaussians %u", source.c_str(),
         model.bundle.front_end.n_dims(), model.acoustic.n_dims);
  }
  if (model.hmms.n_pdfs != model.acoustic.n_states) {
    fail(ASR_BAD_FILE, "%s: its HMMs use %u pdfs, but there are %u", source.c_str(), model.hmms.n_pdfs,
         model.acoustic.n_states);
  }
  OutputDirectory directory(path);
  write_acoustic_model(model.acoustic, directory.file("acoustic.bin"));
  write_hmm_set(model.hmms, directory.file("hmms.bin"));
  write_bundle_index(model.bundle, directory, {"acoustic.bin", "hmms.bin"});
  directory.commit();
}

}  // namespace asr
