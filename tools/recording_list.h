// SPDX-License-Identifier: Apache-2.0
// Reads lists of recordings for `senone recognize --list` and `senone train`: the command's own, lines "path [id]", and Kaldi's
// wav.scp, lines "id path".
#pragma once

#include <string>
#include <vector>

#include "tools/recognize.h"

namespace asr::tool {

// In a list of its own form a path with blanks stands in double quotes, or has a tab behind it; it may also be the whole line.
// In wav.scp it is the rest of the line. The list is a wav.scp if its name is "scp:FILE" or ends in .scp, or if its first line
// with two words names a file only with the second. '#' begins a comment line. A line that names no recording becomes an
// utterance with an error. Throws asr::Error if the list cannot be read.
std::vector<Utterance> read_recording_list(const std::string &path);

}  // namespace asr::tool
