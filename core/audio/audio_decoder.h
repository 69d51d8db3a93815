// SPDX-License-Identifier: Apache-2.0
// AudioDecoder turns the bytes of a recording into samples as they come: WAV (RIFF, RIFX, RF64) and AU of integers, floats and
// G.711, and samples without a header. It is the only reader of these in the project: the command's files and pipes, live input
// and, as asr_audio, Python and other programs use it, so that the same bytes have the same samples everywhere. Other
// formats are libsndfile's; what that has decoded passes through here, too, for its channels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/audio/channel_mixer.h"
#include "core/audio/file_kind.h"
#include "core/base/error.h"

namespace asr {

enum class Encoding { kSigned, kUnsigned, kFloat, kUlaw, kAlaw };

struct SampleCode {
  Encoding encoding = Encoding::kSigned;
  uint32_t n_bytes = 2;  // of a sample of one channel
  bool is_big_endian = false;

  bool is_possible() const;
};

// What is known about the bytes before they come.
struct AudioInput {
  enum class Header { kRequired, kOptional, kNone };
  Header header = Header::kRequired;
  SampleCode code;  // the following are those of an input without a header
  uint32_t rate_hz = 16000;
  uint32_t n_channels = 1;
  int32_t channel = kMixChannels;  // the one to decode, kMixChannels or kAllChannels
};

class AudioDecoder {
 public:
  explicit AudioDecoder(const AudioInput &input);

  // Takes the next bytes, in pieces of any sizes. The samples do not depend on the pieces. Throws asr::Error, whose message
  // has no subject ("is FLAC, ..."), if this is no input for the decoder; kind() tells then what it is.
  void push(const void *bytes, size_t n);
  void finish();  // the input has ended

  // Moves at most n decoded samples to samples[n][n_out_channels()], full scale -1..1; returns their number.
  size_t read(float *samples, size_t n);
  size_t n_ready() const { return (ready_.size() - begin_) / n_out_channels(); }

  bool is_known() const { return format_.rate_hz != 0; }  // the header has been read, so that these are known:
  bool has_header() const { return kind_ != nullptr; }
  const SampleCode &code() const { return format_.code; }
  uint32_t rate_hz() const { return format_.rate_hz; }
  uint32_t n_channels() const { return format_.n_channels; }  // of the input
  uint32_t n_out_channels() const { return mixer_.n_out(); }
  size_t sample_bytes() const { return size_t{format_.code.n_bytes} * format_.n_channels; }  // of all channels

  const FileKind *kind() const { return kind_ != nullptr ? kind_ : other_; }  // nullptr: no header, or none that is known
  bool is_for_sndfile() const { return is_for_sndfile_; }                     // it was refused, but libsndfile may read it
  uint64_t n_missing_bytes() const { return n_missing_; }  // that the header tells of and the ended input lacks
  bool next_warning(std::string *message);                 // a message without a subject; false: no further one yet

 private:
  enum class State {
    kKind,     // the first bytes, which tell what the input is
    kHeader,   // the chunks of a WAV file before its samples
    kSamples,  // samples
    kBehind,   // what follows the samples that the header tells of
    kIgnored   // the rest is not decoded
  };
  struct Format {
    SampleCode code;
    uint32_t rate_hz = 0, n_channels = 0;  // 0: not known yet
  };

  void run();
  bool step();
  bool find_kind();
  bool read_au();
  void read_riff();
  bool read_chunk();
  void read_format(size_t n);
  void begin_samples(uint64_t n_bytes, bool is_sure);
  bool read_samples();
  bool look_behind();
  bool read_chunk_behind(size_t at);
  void begin_next();
  void end_samples(size_t n_present);
  void decode(size_t n_bytes);
  void silence_bad_values();
  bool skip();
  void ignore(const std::string &why);
  [[noreturn]] void refuse(asr_status status, bool is_for_sndfile, const std::string &why);
  uint32_t number(size_t at, size_t n_bytes) const;
  bool begins_riff(size_t at) const;
  bool is_chunk(size_t at) const;
  bool is_wav() const;
  void take(size_t n_bytes) { at_ += n_bytes, position_ += n_bytes; }
  size_t n_left() const { return bytes_.size() - at_; }
  const unsigned char *here() const { return reinterpret_cast<const unsigned char *>(bytes_.data()) + at_; }

  const AudioInput input_;
  State state_ = State::kKind;
  std::string bytes_;  // not yet used from at_ on
  size_t at_ = 0;
  uint64_t position_ = 0;  // of at_ in the input
  bool has_ended_ = false;
  const FileKind *kind_ = nullptr, *other_ = nullptr;
  bool is_for_sndfile_ = false;

  Format format_;  // of the samples
  ChannelMixer mixer_;
  std::vector<float> decoded_, ready_;  // ready_ from begin_ on is not yet read
  size_t begin_ = 0;

  // The header that is being read
  Format found_;
  bool is_big_endian_ = false;
  uint64_t skip_ = 0;                    // bytes of chunks that tell nothing
  uint64_t riff_end_ = 0;                // position of the end of the RIFF chunk; 0: unknown
  uint64_t data_64_ = 0;                 // bytes of samples by an RF64 file's ds64; 0: unknown
  uint64_t n_data_ = 0, data_left_ = 0;  // bytes of samples by the header, and those to come
  bool is_sure_ = false;                 // the header knows n_data_
  bool is_surplus_ = false;              // more samples than n_data_ are being read
  bool has_chunks_behind_ = false;       // chunks came behind the samples
  uint64_t n_surplus_ = 0;               // bytes
  uint64_t n_decoded_ = 0;               // samples of each channel
  uint64_t n_bad_ = 0;                   // values that were not finite
  bool has_samples_ = false;             // some were decoded
  bool is_within_ = false;               // the first header is followed by another in the place of samples

  uint32_t n_recordings_ = 0;  // whose samples were decoded
  uint64_t n_missing_ = 0;
  std::deque<std::string> warnings_;
};

}  // namespace asr
