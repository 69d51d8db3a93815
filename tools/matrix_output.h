// SPDX-License-Identifier: Apache-2.0
// MatrixOutput writes matrices as an archive of Kaldi. `senone features` and `senone score` use it.
#pragma once

#include <memory>
#include <string>

#include "core/base/file.h"

namespace asr::tool {

class MatrixOutput {
 public:
  // specifier: "ark:FILE", "ark,t:FILE" for text, or "ark,scp:FILE,LIST", which writes a list of places in the archive, too.
  // FILE may be "-", standard output. compressed: matrices of more than 8 rows have one byte a value, others two, in Kaldi's
  // formats CM and CM2. Throws UsageError for other specifiers; `command` names the command in its message.
  MatrixOutput(const std::string &command, const std::string &specifier, bool compressed);

  // values: [n_rows][n_cols]. Compressed values must be finite.
  void write(const std::string &key, const float *values, uint32_t n_rows, uint32_t n_cols);
  void commit();

 private:
  std::string path_;
  bool is_text_ = false;
  const bool compressed_;
  std::unique_ptr<OutputFile> archive_, list_;
};

// Kaldi's compressed matrix, from the token "CM" or "CM2" on.
std::string compressed_matrix(const float *values, uint32_t n_rows, uint32_t n_cols);

}  // namespace asr::tool
