// SPDX-License-Identifier: Apache-2.0
#include "tools/audio_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr::tool {
namespace {

bool ends_with(const std::string &text, const std::string &tail) {
  return text.size() >= tail.size() && text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
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

[[noreturn]] void fail_to_keep() {
  fail(ASR_OUT_OF_MEMORY, "-: standard input cannot be kept: %s; recognise a file instead", strerror(errno));
}

// Copies standard input to a file in memory, in which libsndfile can seek. Formats with a header need that.
Descriptor read_standard_input(const std::string &begin) {
  Descriptor file(memfd_create("standard input", MFD_CLOEXEC));
  if (file.get() < 0) fail(ASR_IO, "-: standard input cannot be kept: %s", strerror(errno));
  std::vector<char> buffer(1 << 16);
  uint64_t n_bytes = begin.size();
  if (write(file.get(), begin.data(), begin.size()) != static_cast<ssize_t>(begin.size())) fail_to_keep();
  for (;;) {
    const ssize_t n = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(ASR_IO, "-: standard input cannot be read: %s", strerror(errno));
    if (n == 0) break;
    n_bytes += static_cast<uint64_t>(n);
    if (n_bytes > kMostStandardInputBytes) {
      fail(ASR_UNSUPPORTED, "-: standard input has over 1 GiB, which is kept in memory; recognise a file instead");
    }
    if (write(file.get(), buffer.data(), static_cast<size_t>(n)) != n) fail_to_keep();
  }
  if (n_bytes == 0) fail(ASR_BAD_FILE, "-: standard input is empty; pipe a recording into the command");
  lseek(file.get(), 0, SEEK_SET);
  return file;
}

// Returns true if a file begins like one of libsndfile's usual formats.
bool has_header(int file) {
  char begin[4] = {};
  return pread(file, begin, sizeof(begin), 0) == sizeof(begin) && has_audio_header(std::string(begin, sizeof(begin)));
}

uint32_t little_endian_32(const unsigned char *bytes) {
  return bytes[0] | uint32_t{bytes[1]} << 8 | uint32_t{bytes[2]} << 16 | uint32_t{bytes[3]} << 24;
}

uint64_t size_of(int file) {
  struct stat status {};
  return fstat(file, &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
}

// Returns the number of bytes missing in the data chunk of a WAV file. A program that writes to a pipe does not know the length
// and writes 0 or the highest value. Returns 0 if very many other chunks come first.
uint64_t missing_wav_bytes(int file) {
  unsigned char header[12];
  if (pread(file, header, 12, 0) != 12) return 0;
  if (memcmp(header, "RIFF", 4) != 0 || memcmp(header + 8, "WAVE", 4) != 0) return 0;
  const uint64_t size = size_of(file);
  uint64_t at = 12;
  for (uint32_t i = 0; i < kMostWavChunks && pread(file, header, 8, static_cast<off_t>(at)) == 8; ++i) {
    const uint64_t n = little_endian_32(header + 4);
    if (memcmp(header, "data", 4) == 0) return n < 0x7ffff000 && at + 8 + n > size ? at + 8 + n - size : 0;
    at += 8 + n + n % 2;
  }
  return 0;
}

// Returns libsndfile's last error with a remedy. Errors in terms of its programming interface are reworded.
std::string reason_of_library(SNDFILE *file) {
  std::string reason = sf_strerror(file);
  while (!reason.empty() && (reason.back() == '.' || reason.back() == '\n')) reason.pop_back();
  if (reason.find("SF_INFO") != std::string::npos) reason = "its header has no channels, or no sample rate";
  if (sf_error(file) == SF_ERR_UNRECOGNISED_FORMAT) return reason + "; headerless samples must be named .raw";
  return reason + "; check how it was recorded and copied";
}

}  // namespace

bool has_audio_header(const std::string &begin) {
  for (const char *magic : {"RIFF", "RIFX", "RF64", "fLaC", "OggS", "FORM", ".snd", "NIST", "caff", "riff"}) {
    if (begin.compare(0, 4, magic) == 0) return true;
  }
  const auto byte = [&](int i) { return static_cast<unsigned char>(begin[i]); };
  return begin.compare(0, 3, "ID3") == 0 || (byte(0) == 0xff && (byte(1) & 0xe6) == 0xe2);  // MP3
}

bool may_be_raw(const std::string &path) { return path == "-" || ends_with(path, ".raw"); }

AudioFile::AudioFile(const std::string &path, uint32_t raw_rate_hz, const std::string &begin)
    : path_(path),
      descriptor_(path == "-" ? read_standard_input(begin) : open_recording(path)),
      n_bytes_(size_of(descriptor_.get())),
      n_missing_bytes_(missing_wav_bytes(descriptor_.get())),
      file_(nullptr, sf_close) {
  if (may_be_raw(path) && !(path == "-" && has_header(descriptor_.get()))) {
    info_.format = SF_FORMAT_RAW | SF_FORMAT_PCM_16 | SF_ENDIAN_LITTLE;
    info_.samplerate = static_cast<int>(raw_rate_hz);
    info_.channels = 1;
  }
  file_.reset(sf_open_fd(descriptor_.get(), SFM_READ, &info_, SF_FALSE));
  if (file_ == nullptr) {
    fail(ASR_BAD_FILE, "%s: not readable as audio: %s", path.c_str(), reason_of_library(nullptr).c_str());
  }
}

bool AudioFile::has_shrunk() const { return size_of(descriptor_.get()) < n_bytes_; }

size_t AudioFile::read(float *samples, size_t n) {
  const sf_count_t n_read = sf_readf_float(file_.get(), samples, static_cast<sf_count_t>(n));
  if (sf_error(file_.get()) != SF_ERR_NO_ERROR) {
    fail(ASR_BAD_FILE, "%s: damaged audio: %s", path_.c_str(), reason_of_library(file_.get()).c_str());
  }
  return static_cast<size_t>(n_read);
}

}  // namespace asr::tool
