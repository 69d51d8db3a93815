// SPDX-License-Identifier: Apache-2.0
// Unpacks gzip, xz and bzip2 in memory, as files of language models, lattices and word lists are published.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace asr {

enum class Packing { kNone, kGzip, kXz, kBzip2 };

// Tells by the first bytes.
Packing packing_of(std::string_view bytes);

// Returns what was packed, or the bytes themselves if nothing was. Throws ASR_BAD_FILE naming `source` if the data is damaged
// or ends too early, or if it unpacks to more than max_bytes or to more than any real file would (kBaseUnpackedBytes,
// kMaxUnpackedRatio).
std::string unpack(std::string bytes, const std::string &source, size_t max_bytes = SIZE_MAX);

}  // namespace asr
