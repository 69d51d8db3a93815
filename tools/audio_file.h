// SPDX-License-Identifier: Apache-2.0
// AudioFile reads a recording as one channel: a file, or standard input as it comes. core/audio/audio_decoder.h decodes WAV, AU
// and samples without a header; libsndfile reads the other formats (flac, Ogg, MP3, NIST SPHERE, ...).
#pragma once

#include <sndfile.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/audio/audio_decoder.h"
#include "core/base/descriptor.h"

namespace asr::tool {

// How recordings are to be read, from the options of a command.
struct AudioOptions {
  std::string raw_format;  // "s16le", ...: all of them are such samples without a header; "": only what is found to be
  uint32_t raw_rate_hz = 16000, raw_channels = 1;
  int32_t channel = kMixChannels;
};

// Returns true if raw_rate_hz may be the rate of this recording.
bool may_be_raw(const std::string &path, const AudioOptions &options);

class AudioFile {
 public:
  // Waits for the header. Without a raw_format, samples of 16 bits may be in a file named .raw and in the path "-", standard
  // input, if they do not begin like a file that is known. Throws asr::Error naming the file.
  AudioFile(const std::string &path, const AudioOptions &options);

  // The same for standard input that is recognised while it comes: read() returns after a short time. end: a descriptor that
  // becomes readable when the input is to end; -1: none.
  AudioFile(const AudioOptions &options, int end);

  uint32_t rate_hz() const { return rate_hz_; }
  uint32_t n_channels() const { return n_channels_; }  // of the recording
  double n_samples() const { return n_samples_; }      // about; 0: unknown

  // Reads the next samples, full scale -1..1. Fewer than n, unless it is recognised while it comes, only at the end.
  size_t read(float *samples, size_t n);
  bool has_ended() const { return has_ended_ && decoder_->n_ready() == 0; }

  // The following are complete at the end.
  // Why it is not complete, such as "is cut short: 500 bytes that its header tells of are missing"; empty if it is.
  const std::string &what_is_missing() const { return missing_; }
  bool has_shrunk() const;                   // the file is shorter than when it was opened
  std::vector<std::string> take_warnings();  // new messages about the recording

 private:
  AudioFile(const std::string &path, const AudioOptions &options, bool is_live, int end);
  void open_with_library(const AudioOptions &options, const Error &refused);
  void keep_standard_input();
  bool read_more();
  bool read_library();
  void end_library(const std::string &damage);
  bool read_bytes();
  void push(const void *bytes, size_t n);  // 0 bytes: the end
  void end();

  const std::string path_;
  const bool is_live_;
  const int end_;
  Descriptor file_;       // -1: standard input
  uint64_t n_bytes_ = 0;  // size of the file when it was opened
  std::string begin_;     // bytes read so far, until the header is known
  std::unique_ptr<AudioDecoder> decoder_;
  std::unique_ptr<SNDFILE, int (*)(SNDFILE *)> library_;  // nullptr: the decoder reads it alone
  std::vector<char> buffer_;
  uint32_t rate_hz_ = 0, n_channels_ = 0;
  double n_samples_ = 0;
  bool has_ended_ = false;
  bool is_ogg_ = false;
  uint64_t n_library_samples_ = 0;  // that libsndfile has decoded
  std::string missing_;
  std::vector<std::string> warnings_;
};

}  // namespace asr::tool
