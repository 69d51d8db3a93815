// SPDX-License-Identifier: Apache-2.0
#include "tools/loglike_file.h"

#include <numeric>

#include "builder/text/text_file.h"
#include "core/base/error.h"
#include "core/base/sections.h"

namespace asr::tool {
namespace {

struct Header {
  char magic[8];
  uint32_t version, n_pdfs;
  uint64_t n_utterances, n_rows;
};

}  // namespace

LoglikeFile::LoglikeFile(const std::string &path, uint32_t n_pdfs) : file_(path) {
  check_format(file_.bytes(), path, "a file of log-likelihoods", {Format::kSenoneLoglikes});
  SectionReader reader(file_.data(), file_.size(), path);
  const auto header = reader.header<Header>("SenoneLL", 1);
  if (header.n_pdfs != n_pdfs) {
    fail(ASR_BAD_FILE, "%s: has %u columns but the graph %u pdfs; give scores of the graph's model", path.c_str(),
         header.n_pdfs, n_pdfs);
  }
  n_frames_ = reader.copy<uint32_t>(header.n_utterances, "lengths");
  const uint64_t n_frames = std::accumulate(n_frames_.begin(), n_frames_.end(), uint64_t{0});
  if (n_frames != header.n_rows || header.n_rows == 0 || header.n_rows > file_.size()) {
    fail(ASR_BAD_FILE, "%s: the lengths do not add up to the number of rows", path.c_str());
  }
  rows_ = reader.section<float>(header.n_rows * n_pdfs, "rows");
  reader.finish();
}

}  // namespace asr::tool
