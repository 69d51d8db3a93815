// SPDX-License-Identifier: Apache-2.0
// UtteranceSource returns the inputs of `senone recognize` one after another: recordings, or the entries of an archive.
#pragma once

#include <memory>
#include <optional>

#include "builder/import/kaldi_archive.h"
#include "tools/archive_features.h"
#include "tools/recognize.h"

namespace asr::tool {

class UtteranceSource {
 public:
  // Throws UsageError unless the options name recordings, or one archive.
  explicit UtteranceSource(const RecognizeOptions &options);

  bool next(Utterance *utterance);                                 // false at the end; one thread at a time
  std::optional<size_t> size() const;                              // number of utterances, if known
  bool may_be_raw(const AudioOptions &options) const;              // false: no recording has the rate of --raw-rate
  void prepare(Utterance *utterance, const asr_engine_info &info)  // converts its rows to the streams' input; any thread
      const;

 private:
  void check_id(const std::string &id) const;
  void read_list(const std::string &path);

  const bool checks_ids_, checks_names_;  // for --hyp, and for files of speakers
  const char *const blank_separated_;     // the output whose lines are separated by blanks, "--ctm"; or nullptr
  std::vector<Utterance> recordings_;
  size_t next_ = 0, n_given_ = 0;
  std::string archive_path_;
  std::unique_ptr<kaldi::ArchiveReader> archive_;
  std::optional<ArchiveFeatures> features_;
};

}  // namespace asr::tool
