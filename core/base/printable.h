// SPDX-License-Identifier: Apache-2.0
// Text of unknown origin - paths, names and words in files, texts of drivers - becomes one line that a terminal shows as it is.
// Messages (Error), the log and commands that print what files hold use it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace asr {

// Returns the text with visible escapes in place of all that is no printable UTF-8: "\n", "\r" and "\t"; "\x1b" for other
// control characters of ASCII and for bytes that are no UTF-8; "\u0085" for those beyond ASCII, for the separators of lines and
// paragraphs, for the characters that change the direction of text, and for those that nobody sees: a no-break space looks
// like the end of a word. Backslashes stay, so that applying it twice gives the same.
// unseen: kKeep leaves what nobody sees as it is, for text that is compared and not only read, such as ids.
enum class Unseen { kEscape, kKeep };
std::string printable(std::string_view text, Unseen unseen = Unseen::kEscape);

// Writes the same into room for `capacity` > 0 bytes, with a NUL at its end, and allocates nothing. Leaves out what has no
// room: no character or escape is cut. Returns the length.
size_t print_into(char *out, size_t capacity, std::string_view text) noexcept;

}  // namespace asr
