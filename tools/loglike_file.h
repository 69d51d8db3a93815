// SPDX-License-Identifier: Apache-2.0
// LoglikeFile is a file of log-likelihoods. The header is "SenoneLL", u32 version 1, u32 n_pdfs, u64 n_utterances, u64 n_rows.
// Then follow, each at a multiple of 64 bytes, u32 n_frames[n_utterances] and f32 loglike[n_rows][n_pdfs], with the rows of all
// utterances concatenated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "builder/text/text_file.h"

namespace asr::tool {

class LoglikeFile {
 public:
  LoglikeFile() = default;
  LoglikeFile(const std::string &path, uint32_t n_pdfs);               // throws asr::Error unless the file has n_pdfs columns
  const float *rows() const { return rows_; }                          // [sum of n_frames()][n_pdfs]
  const std::vector<uint32_t> &n_frames() const { return n_frames_; }  // frames of each utterance

 private:
  UnpackedFile file_;
  const float *rows_ = nullptr;
  std::vector<uint32_t> n_frames_;
};

}  // namespace asr::tool
