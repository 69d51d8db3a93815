// SPDX-License-Identifier: Apache-2.0
#include "builder/text/unicode.h"

#include <gtest/gtest.h>
#include <utf8proc.h>

#include "core/base/word_form.h"

namespace asr {
namespace {

TEST(Unicode, WordsGetNormalFormC) {
  const std::pair<const char *, const char *> kPairs[] = {
      {"e\u0301", "\u00e9"},                            // é
      {"A\u030a", "\u00c5"},                            // Å
      {"\u212b", "\u00c5"},                             // the sign of angstrom
      {"\u0438\u0306", "\u0439"},                       // й
      {"\u1112\u1161\u11ab", "\ud55c"},                 // 한 of jamo
      {"\u304b\u3099", "\u304c"},                       // が
      {"u\u0308\u0323", "\u1ee5\u0308"},                // marks in their order
      {"\u1100\u1161 x e\u0301t", "\uac00 x \u00e9t"},  // several words
      {"\u037e", ";"},
  };
  for (const auto &[given, normal] : kPairs) {
    EXPECT_EQ(to_nfc(given), normal) << given;
    EXPECT_EQ(to_nfc(normal), normal);
  }
  const std::string lines = "caf\u00e9 1\n\u0435\u0434\u0430\t2\r\n\u6f22\u5b57 3\n";
  EXPECT_EQ(to_nfc(lines), lines);
  EXPECT_EQ(to_nfc("one e\u0301 two e\u0301\nthree\n"), "one \u00e9 two \u00e9\nthree\n");
}

TEST(Unicode, Utf16BecomesUtf8) {
  const std::string little("a\0\xe9\0\x22\x6f\x3d\xd8\x00\xde", 10), big("\0a\0\xe9\x6f\x22\xd8\x3d\xde\x00", 10);
  const std::string text = "a\u00e9\u6f22\U0001f600";
  EXPECT_EQ(from_utf16(little, false), text);
  EXPECT_EQ(from_utf16(big, true), text);
  EXPECT_EQ(from_utf16("", true), "");
  const std::string halves("\xd8\x3d\0a\xde\x00\0", 7);  // of pairs, and of a unit
  EXPECT_EQ(from_utf16(halves, true), "\ufffda\ufffd\ufffd");
}

TEST(Unicode, WhatIsNoUtf8Stays) {
  const std::string latin1 = "caf\xe9 e\u0301\n", cut = "\xcc";
  EXPECT_EQ(to_nfc(latin1), "caf\xe9 \u00e9\n");
  EXPECT_EQ(to_nfc(cut), cut);
  EXPECT_EQ(to_upper("caf\xe9"), "CAF\xe9");
  EXPECT_EQ(to_upper("\xe9 i\u0307"), "\xe9 \u0130");
  EXPECT_EQ(to_lower("CAF\xe9"), "caf\xe9");
  EXPECT_EQ(fold_letters("CAF\xe9"), "caf\xe9");
}

TEST(Unicode, CaseOfAllLetters) {
  EXPECT_EQ(to_upper("\u00e9t\u00e9"), "\u00c9T\u00c9");
  EXPECT_EQ(to_lower("\u00c9T\u00c9"), "\u00e9t\u00e9");
  EXPECT_EQ(to_upper("stra\u00dfe"), "STRASSE");
  EXPECT_EQ(to_lower("STRASSE"), "strasse");
  EXPECT_EQ(to_upper("\u043f\u0440\u0438\u0432\u0435\u0442"), "\u041f\u0420\u0418\u0412\u0415\u0422");
  EXPECT_EQ(to_lower("\u041f\u0420\u0418\u0412\u0415\u0422"), "\u043f\u0440\u0438\u0432\u0435\u0442");
  EXPECT_EQ(to_lower("\u039f\u0394\u039f\u03a3"), "\u03bf\u03b4\u03bf\u03c2");  // a final sigma
  EXPECT_EQ(to_lower("\u03a3\u03a3\u0391"), "\u03c3\u03c3\u03b1");
  EXPECT_EQ(to_upper("\u03bf\u03b4\u03bf\u03c2"), "\u039f\u0394\u039f\u03a3");
  EXPECT_EQ(to_upper("\u0131i"), "II");
  EXPECT_EQ(to_lower("\u1e9e"), "\u00df");
  EXPECT_EQ(to_upper("don't_1"), "DON'T_1");
  EXPECT_EQ(to_upper("\u6f22\u5b57"), "\u6f22\u5b57");
}

TEST(Unicode, WordsThatDifferInCaseFoldToOne) {
  EXPECT_EQ(fold_letters("\u00c9t\u00e9"), fold_letters("\u00e9T\u00c9"));
  EXPECT_EQ(fold_letters("e\u0301"), fold_letters("\u00c9"));
  EXPECT_EQ(fold_letters("Stra\u00dfe"), fold_letters("STRASSE"));
  EXPECT_EQ(fold_letters("\u03bf\u03b4\u03bf\u03c2"), fold_letters("\u039f\u0394\u039f\u03a3"));
  EXPECT_NE(fold_letters("ete"), fold_letters("\u00e9t\u00e9"));
}

std::string utf8(utf8proc_int32_t code) {
  utf8proc_uint8_t bytes[4];
  const auto n = utf8proc_encode_char(code, bytes);
  return {reinterpret_cast<const char *>(bytes), static_cast<size_t>(n)};
}

std::string decomposed(utf8proc_int32_t code) {
  utf8proc_int32_t parts[8];
  int last_class = 0;
  const auto n = utf8proc_decompose_char(code, parts, 8, UTF8PROC_DECOMPOSE, &last_class);
  std::string text;
  for (utf8proc_ssize_t i = 0; i < n; ++i) text += utf8(parts[i]);
  return text;
}

bool is_ideograph_for_compatibility(utf8proc_int32_t code) { return code >= 0xf900 && code < 0xfb00; }

// The core's own tables, for all letters of the first plane that the library of Unicode knows.
TEST(Unicode, TheCoreTakesLettersApart) {
  for (utf8proc_int32_t code = 0x80; code < 0x10000; ++code) {
    const auto category = utf8proc_category(code);
    const bool is_letter = category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_ME;
    if (!is_letter || is_ideograph_for_compatibility(code)) continue;
    EXPECT_EQ(without_composites(utf8(code)), without_composites(decomposed(code))) << std::hex << code;
  }
  EXPECT_EQ(without_composites("\u1ec7"), "e\u0302\u0323");  // marks in one order, whatever it was
  EXPECT_EQ(without_composites("\u1eb9\u0302"), "e\u0302\u0323");
  EXPECT_EQ(without_composites("\u00ea\u0323x"), "e\u0302\u0323x");
  EXPECT_EQ(without_composites("\ud55c"), "\u1112\u1161\u11ab");
  EXPECT_EQ(without_composites("caf\xe9 \u00e9\xcc"), "caf\xe9 e\u0301\xcc");
}

TEST(Unicode, TheCoreKnowsSmallLetters) {
  const auto plain = [](utf8proc_int32_t code) { return without_case(without_composites(utf8(code))); };
  for (utf8proc_int32_t code = 1; code < 0x1f000; ++code) {
    if (code == 0x130 || utf8proc_category(code) == UTF8PROC_CATEGORY_CS) continue;  // a capital i with a dot
    EXPECT_EQ(plain(code), plain(utf8proc_tolower(code))) << std::hex << code;
  }
  EXPECT_EQ(without_case("O\u03a3\u0130\xc9"), "o\u03c3\u0130\xc9");
}

}  // namespace
}  // namespace asr
