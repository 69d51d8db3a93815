// SPDX-License-Identifier: Apache-2.0
// UtteranceSource returns the inputs of `senone recognize` one after another: recordings, or the entries of an archive.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "builder/import/kaldi_archive.h"
#include "tools/archive_features.h"
#include "tools/recognize.h"

namespace asr::tool {

class UtteranceSource {
 public:
  // Throws UsageError unless the options name recordings, or one archive.
  explicit UtteranceSource(const RecognizeOptions &options);

  // Returns false at the end. An utterance that cannot be read has an error; the others come nevertheless. One thread at a
  // time.
  bool next(Utterance *utterance);
  std::optional<size_t> size() const;                                       // number of utterances, if known
  const std::vector<Utterance> &recordings() const { return recordings_; }  // none of an archive's entries
  bool may_be_raw(const AudioOptions &options) const;                       // false: no recording has the rate of --raw-rate
  void prepare(Utterance *utterance, const asr_engine_info &info)  // converts its rows to the streams' input; any thread
      const;

 private:
  void check_id(const std::string &id) const;
  void refuse_second(const std::string &id, const std::string &place, const char *remedy);
  void refuse_ids_named_twice(const RecognizeOptions &options);

  const bool checks_ids_, checks_names_;  // for --hyp, and for files of speakers
  const char *const blank_separated_;     // the output whose lines are separated by blanks, "--ctm"; or nullptr
  std::vector<Utterance> recordings_;
  std::map<std::string, std::string> place_of_;  // by id
  size_t next_ = 0, n_given_ = 0;
  std::string archive_path_;
  std::unique_ptr<kaldi::ArchiveReader> archive_;
  std::optional<ArchiveFeatures> features_;
};

}  // namespace asr::tool
