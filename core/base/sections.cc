// SPDX-License-Identifier: Apache-2.0
#include "core/base/sections.h"

namespace asr {

void SectionReader::check_magic(const char *magic, uint32_t version) const {
  if (size_ < 12 || memcmp(data_, magic, 8) != 0) {
    fail(ASR_BAD_FILE, "%s: does not begin with \"%.8s\", so it is packed or another kind of file; name the right one",
         source_.c_str(), magic);
  }
  uint32_t found;
  memcpy(&found, data_ + 8, sizeof(found));
  if (found != version) {
    fail(ASR_BAD_FILE, "%s: has version %u, but this program reads version %u; make the bundle again", source_.c_str(), found,
         version);
  }
}

void SectionReader::align() {
  const uint64_t aligned = (position_ + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
  for (uint64_t i = position_; data_ != nullptr && i < aligned && i < size_; ++i) {
    if (data_[i] != 0)
      fail(ASR_BAD_FILE, "%s: byte %llu between sections is not 0; the file is damaged", source_.c_str(),
           static_cast<unsigned long long>(i));
  }
  position_ = aligned;
}

const uint8_t *SectionReader::take(uint64_t count, uint64_t bytes_each, const char *name) {
  if (count == 0) return nullptr;
  if (position_ > size_ || count > (size_ - position_) / bytes_each) {
    fail(ASR_BAD_FILE, "%s: ends before the end of its %s; the file is damaged or truncated", source_.c_str(), name);
  }
  const uint8_t *const begin = data_ != nullptr ? data_ + position_ : nullptr;
  position_ += count * bytes_each;
  return begin;
}

void SectionReader::finish() const {
  if (position_ != size_ && (position_ < size_ || position_ - size_ >= kSectionAlignment)) {
    fail(ASR_BAD_FILE, "%s: has %llu bytes where its header announces %llu; the file is damaged", source_.c_str(),
         static_cast<unsigned long long>(size_), static_cast<unsigned long long>(position_));
  }
}

}  // namespace asr
