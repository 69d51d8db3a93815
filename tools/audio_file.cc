// SPDX-License-Identifier: Apache-2.0
#include "tools/audio_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/error.h"

namespace asr::tool {
namespace {

bool ends_with(const std::string &text, const std::string &tail) {
  return text.size() >= tail.size() && text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
}

}  // namespace

AudioFile::AudioFile(const std::string &path, uint32_t raw_rate_hz) : path_(path), file_(nullptr, sf_close) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe without a writer must not wait
  if (descriptor < 0) {
    fail(errno == ENOENT ? ASR_NOT_FOUND : ASR_IO, "%s: %s; check the path", path.c_str(), strerror(errno));
  }
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(descriptor);
    fail(ASR_IO, "%s: is not a regular file but a directory, pipe or device; name a file", path.c_str());
  }
  if (ends_with(path, ".raw")) {
    info_.format = SF_FORMAT_RAW | SF_FORMAT_PCM_16 | SF_ENDIAN_LITTLE;
    info_.samplerate = static_cast<int>(raw_rate_hz);
    info_.channels = 1;
  }
  file_.reset(sf_open_fd(descriptor, SFM_READ, &info_, SF_TRUE));
  if (file_ == nullptr) {
    fail(ASR_BAD_FILE, "%s: not readable as audio: %s; headerless samples must be named .raw", path.c_str(),
         sf_strerror(nullptr));
  }
}

size_t AudioFile::read(float *samples, size_t n) {
  const sf_count_t n_read = sf_readf_float(file_.get(), samples, static_cast<sf_count_t>(n));
  if (sf_error(file_.get()) != SF_ERR_NO_ERROR) {
    fail(ASR_BAD_FILE, "%s: damaged audio: %s", path_.c_str(), sf_strerror(file_.get()));
  }
  return static_cast<size_t>(n_read);
}

}  // namespace asr::tool
