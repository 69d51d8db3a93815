// SPDX-License-Identifier: Apache-2.0
#include "tools/audio_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr::tool {
namespace {

constexpr size_t kReadBytes = 1 << 16;
constexpr int kWait_ms = 50;  // for the next samples of live input
constexpr sf_count_t kLibrarySamples = 4096;

bool ends_with(const std::string &text, const std::string &tail) {
  return text.size() >= tail.size() && text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
}

SampleCode code_of(const std::string &raw_format) {
  if (raw_format == "s16be") return {Encoding::kSigned, 2, true};
  if (raw_format == "f32le") return {Encoding::kFloat, 4, false};
  if (raw_format == "mulaw") return {Encoding::kUlaw, 1, false};
  if (raw_format == "alaw") return {Encoding::kAlaw, 1, false};
  return {};
}

AudioInput input_of(const std::string &path, const AudioOptions &options) {
  AudioInput input;
  using Header = AudioInput::Header;
  input.header = !options.raw_format.empty() ? Header::kNone
                 : may_be_raw(path, options) ? Header::kOptional
                                             : Header::kRequired;
  input.code = code_of(options.raw_format);
  input.rate_hz = options.raw_rate_hz;
  input.n_channels = options.raw_channels;
  input.channel = options.channel;
  return input;
}

Descriptor open_recording(const std::string &path) {
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a pipe without a writer must not block
  if (file.get() < 0) {
    fail(errno == ENOENT ? ASR_NOT_FOUND : ASR_IO, "%s: %s; check the path", path.c_str(), strerror(errno));
  }
  struct stat status {};
  if (fstat(file.get(), &status) != 0) fail(ASR_IO, "%s: %s; check the path", path.c_str(), strerror(errno));
  if (S_ISDIR(status.st_mode)) fail(ASR_IO, "%s: is a directory; name a recording", path.c_str());
  if (!S_ISREG(status.st_mode)) fail(ASR_IO, "%s: is a pipe or device, not a file; \"-\" is standard input", path.c_str());
  if (status.st_size == 0) fail(ASR_BAD_FILE, "%s: is an empty file; check how it was recorded", path.c_str());
  return file;
}

uint64_t size_of(int file) {
  struct stat status {};
  return fstat(file, &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
}

[[noreturn]] void fail_to_keep() {
  fail(ASR_OUT_OF_MEMORY, "-: standard input cannot be kept: %s; recognise a file instead", strerror(errno));
}

// Returns libsndfile's last error with a remedy. Errors in terms of its programming interface are reworded.
std::string reason_of_library(SNDFILE *file) {
  std::string reason = sf_strerror(file);
  while (!reason.empty() && (reason.back() == '.' || reason.back() == '\n')) reason.pop_back();
  if (reason.rfind("Error : ", 0) == 0) reason.erase(0, strlen("Error : "));
  if (reason.find("SF_INFO") != std::string::npos) reason = "its header has no channels, or no sample rate";
  return reason + "; check how it was recorded and copied";
}

}  // namespace

bool may_be_raw(const std::string &path, const AudioOptions &options) {
  return !options.raw_format.empty() || path == "-" || ends_with(path, ".raw");
}

AudioFile::AudioFile(const std::string &path, const AudioOptions &options) : AudioFile(path, options, false, -1) {}
AudioFile::AudioFile(const AudioOptions &options, int end) : AudioFile("-", options, true, end) {}

AudioFile::AudioFile(const std::string &path, const AudioOptions &options, bool is_live, int end)
    : path_(path),
      is_live_(is_live),
      end_(end),
      decoder_(std::make_unique<AudioDecoder>(input_of(path, options))),
      library_(nullptr, sf_close),
      buffer_(kReadBytes) {
  if (path != "-") {
    file_ = open_recording(path);
    n_bytes_ = size_of(file_.get());
  }
  try {
    while (!decoder_->is_known() && !has_ended_) read_bytes();
  } catch (const Error &error) {
    if (!decoder_->is_for_sndfile()) throw;
    open_with_library(options, error);
  }
  if (path == "-" && begin_.empty()) fail(ASR_BAD_FILE, "-: standard input is empty; pipe a recording into the command");
  begin_ = {};
  if (library_ != nullptr) return;
  rate_hz_ = decoder_->rate_hz();
  n_channels_ = decoder_->n_channels();
  n_samples_ = static_cast<double>(n_bytes_) / static_cast<double>(decoder_->sample_bytes());
}

// Opens a file of a format that the decoder has refused. libsndfile's samples go through a decoder, too, for their channels.
void AudioFile::open_with_library(const AudioOptions &options, const Error &refused) {
  if (is_live_ && decoder_->kind() != nullptr) {
    const bool is_codec = decoder_->kind()->reader == FileKind::Reader::kDecoder;
    warnings_.push_back("is " + std::string(decoder_->kind()->name) + (is_codec ? " of a codec" : "") +
                        ", which cannot be decoded while it comes: there are no words before its end; pipe WAV or samples "
                        "without a header instead, such as those of ffmpeg -i - -f wav -");
  }
  if (path_ == "-") keep_standard_input();
  lseek(file_.get(), 0, SEEK_SET);
  SF_INFO info{};
  // A copy, which libsndfile owns: a failed sf_open_fd may close the descriptor in spite of SF_FALSE.
  library_.reset(sf_open_fd(dup(file_.get()), SFM_READ, &info, SF_TRUE));
  if (library_ == nullptr && decoder_->kind() == nullptr) throw refused;
  if (library_ == nullptr && sf_error(nullptr) == SF_ERR_UNRECOGNISED_FORMAT) {
    fail(ASR_UNSUPPORTED, "%s: is %s, which the installed libsndfile does not read; convert it: ffmpeg -i FILE -ac 1 out.wav",
         path_.c_str(), decoder_->kind()->name);
  }
  if (library_ == nullptr) {
    fail(ASR_BAD_FILE, "%s: not readable as audio: %s", path_.c_str(), reason_of_library(nullptr).c_str());
  }
  rate_hz_ = static_cast<uint32_t>(info.samplerate);
  n_channels_ = static_cast<uint32_t>(info.channels);
  has_ended_ = false;
  is_ogg_ = (info.format & SF_FORMAT_TYPEMASK) == SF_FORMAT_OGG;
  if (info.frames < SF_COUNT_MAX) n_samples_ = static_cast<double>(info.frames);
  if (options.channel >= info.channels) {
    fail(ASR_INVALID_ARGUMENT, "%s: has %d channels, of which number %d was asked for; they are numbered from 0", path_.c_str(),
         info.channels, options.channel);
  }
  AudioInput input;
  input.header = AudioInput::Header::kNone;
  input.code = {Encoding::kFloat, 4, false};
  input.rate_hz = rate_hz_;
  input.n_channels = n_channels_;
  input.channel = options.channel;
  decoder_ = std::make_unique<AudioDecoder>(input);
}

// Copies standard input to a file in memory, in which libsndfile can seek. Formats with a header need that.
void AudioFile::keep_standard_input() {
  Descriptor file(memfd_create("standard input", MFD_CLOEXEC));
  if (file.get() < 0) fail(ASR_IO, "-: standard input cannot be kept: %s", strerror(errno));
  const auto keep = [&](const char *bytes, size_t n) {
    n_bytes_ += n;
    if (n_bytes_ > kMaxStandardInputBytes) {
      fail(ASR_UNSUPPORTED, "-: standard input has over 1 GiB, which is kept in memory; recognise a file instead");
    }
    if (write(file.get(), bytes, n) != static_cast<ssize_t>(n)) fail_to_keep();
  };
  keep(begin_.data(), begin_.size());
  for (;;) {
    const ssize_t n = ::read(STDIN_FILENO, buffer_.data(), buffer_.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(ASR_IO, "-: standard input cannot be read: %s", strerror(errno));
    if (n == 0) break;
    keep(buffer_.data(), static_cast<size_t>(n));
  }
  file_ = std::move(file);
}

bool AudioFile::has_shrunk() const { return file_.get() >= 0 && size_of(file_.get()) < n_bytes_; }

// Reads bytes into the decoder. Returns false if live input has none yet.
bool AudioFile::read_bytes() {
  if (is_live_) {
    pollfd inputs[] = {{STDIN_FILENO, POLLIN, 0}, {end_, POLLIN, 0}};
    const int n_ready = poll(inputs, end_ >= 0 ? 2 : 1, decoder_->is_known() ? kWait_ms : -1);
    if (n_ready == 0 || (n_ready < 0 && errno == EINTR)) return false;
    if (inputs[1].revents != 0) {
      end();
      return true;
    }
  }
  const ssize_t n = ::read(file_.get() >= 0 ? file_.get() : STDIN_FILENO, buffer_.data(), buffer_.size());
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return false;
  if (n < 0 && path_ == "-") fail(ASR_IO, "-: standard input cannot be read: %s", strerror(errno));
  if (n < 0) fail(ASR_IO, "%s: cannot be read: %s; check the disk", path_.c_str(), strerror(errno));
  if (n == 0) {
    end();
    return true;
  }
  if (!decoder_->is_known() && path_ == "-") begin_.append(buffer_.data(), static_cast<size_t>(n));
  push(buffer_.data(), static_cast<size_t>(n));
  return true;
}

void AudioFile::push(const void *bytes, size_t n) {
  try {
    n > 0 ? decoder_->push(bytes, n) : decoder_->finish();
  } catch (const Error &error) {
    throw Error(error.code(), path_ + ": " + error.what());
  }
}

void AudioFile::end() {
  has_ended_ = true;
  push(nullptr, 0);
  if (const uint64_t n = decoder_->n_missing_bytes(); n > 0) {
    missing_ = format("is cut short: %llu bytes that its header tells of are missing; check how it was copied",
                      static_cast<unsigned long long>(n));
  }
}

bool AudioFile::read_more() { return library_ == nullptr ? read_bytes() : read_library(); }

// libsndfile ends at the first damage, also with samples that it has read already.
bool AudioFile::read_library() {
  std::vector<float> samples(static_cast<size_t>(kLibrarySamples) * n_channels_);
  const sf_count_t n = std::max<sf_count_t>(0, sf_readf_float(library_.get(), samples.data(), kLibrarySamples));
  const bool is_damaged = sf_error(library_.get()) != SF_ERR_NO_ERROR;
  const std::string damage = is_damaged ? reason_of_library(library_.get()) : "";
  n_library_samples_ += static_cast<uint64_t>(n);
  if (is_damaged && n_library_samples_ == 0) fail(ASR_BAD_FILE, "%s: damaged audio: %s", path_.c_str(), damage.c_str());
  if (n > 0) push(samples.data(), static_cast<size_t>(n) * n_channels_ * sizeof(float));
  if (is_damaged || n < kLibrarySamples) end_library(damage);
  return true;
}

// Says if the samples end before those that the header tells of. Headers of MP3 may be some frames off.
void AudioFile::end_library(const std::string &damage) {
  constexpr double kTolerance_s = 0.1;
  const double heard_s = static_cast<double>(n_library_samples_) / rate_hz_, told_s = n_samples_ / rate_hz_;
  const bool is_short = n_samples_ > 0 && heard_s + kTolerance_s < told_s;
  if (!damage.empty()) {
    missing_ = format("is damaged or cut short at %.3f s", heard_s) + (is_short ? format(" of %.3f s", told_s) : "") +
               ", what follows is not heard: " + damage;
  } else if (is_short) {
    missing_ = format("is cut short: it ends at %.3f s of the %.3f s that its header tells of; check how it was copied",
                      heard_s, told_s);
  } else if (is_ogg_ && n_samples_ == 0) {
    missing_ =
        format("has no end of a stream, so that it may be cut short at %.3f s; check how it was recorded and copied", heard_s);
  }
  if (!missing_.empty()) warnings_.push_back(missing_);
  end();
}

size_t AudioFile::read(float *samples, size_t n) {
  size_t n_read = decoder_->read(samples, n);
  while (n_read < n && !has_ended_) {
    if (is_live_ && n_read > 0) break;
    const bool is_more = read_more();
    n_read += decoder_->read(samples + n_read, n - n_read);
    if (is_live_ && !is_more) break;
  }
  return n_read;
}

std::vector<std::string> AudioFile::take_warnings() {
  for (std::string message; decoder_->next_warning(&message);) warnings_.push_back(message);
  for (std::string &message : warnings_) message = path_ + ": " + message;
  return std::exchange(warnings_, {});
}

}  // namespace asr::tool
