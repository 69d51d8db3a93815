// SPDX-License-Identifier: Apache-2.0
// AudioFile reads recordings through libsndfile: flac, wav, NIST SPHERE and its other formats, headerless .raw files, standard
// input.
#pragma once

#include <sndfile.h>

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/descriptor.h"

namespace asr::tool {

// Returns true if raw_rate_hz may be the rate of this recording.
bool may_be_raw(const std::string &path);

class AudioFile {
 public:
  // A path ending in .raw holds 16-bit little-endian mono samples at raw_rate_hz. The path "-" is standard input: the same
  // samples, unless it begins like a file of another format. Throws asr::Error naming the file. begin: bytes already read from
  // standard input.
  AudioFile(const std::string &path, uint32_t raw_rate_hz, const std::string &begin = {});

  uint32_t rate_hz() const { return static_cast<uint32_t>(info_.samplerate); }
  uint32_t n_channels() const { return static_cast<uint32_t>(info_.channels); }
  double n_samples() const { return info_.frames < SF_COUNT_MAX ? double(info_.frames) : 0; }  // by the header; 0: unknown

  // Returns the bytes of samples that a WAV header announces and the file lacks.
  uint64_t n_missing_bytes() const { return n_missing_bytes_; }

  bool has_shrunk() const;  // the file is shorter than when it was opened

  // Reads the next samples of each channel, interleaved, full scale -1..1; fewer than n only at the end.
  size_t read(float *samples, size_t n);

 private:
  std::string path_;
  const Descriptor descriptor_;
  const uint64_t n_bytes_;  // size of the file when it was opened
  const uint64_t n_missing_bytes_;
  SF_INFO info_{};
  std::unique_ptr<SNDFILE, int (*)(SNDFILE *)> file_;
};

// Returns true if a file with this beginning of at least 4 bytes has one of libsndfile's usual formats.
bool has_audio_header(const std::string &begin);

}  // namespace asr::tool
