// SPDX-License-Identifier: Apache-2.0
// Unicode for the words of texts that users bring: normal form C, and the case of all letters. The readers of text
// (builder/text/text_file.h), --case and the comparison of transcripts use it. Bytes that are no UTF-8 stay as they are.
#pragma once

#include <string>
#include <string_view>

namespace asr {

// Returns the text in normal form C, in which equal words have equal bytes however their accents were typed.
std::string to_nfc(std::string text);

// Returns text in UTF-16 as UTF-8. Surrogates that stand alone, and half a unit at the end, become U+FFFD.
std::string from_utf16(std::string_view bytes, bool is_big_endian);

// Words in normal form C, with all letters in upper or lower case. "ß" becomes "SS", and a sigma that ends a word its final
// form.
std::string to_upper(std::string_view word);
std::string to_lower(std::string_view word);

// Returns the form that all words have which differ in case alone.
std::string fold_letters(std::string_view word);

}  // namespace asr
