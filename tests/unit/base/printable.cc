// SPDX-License-Identifier: Apache-2.0
#include "core/base/printable.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/limits.h"
#include "core/base/log.h"

namespace asr {
namespace {

// Decodes a character without the rules of the function under test: by trying all lengths. Returns its bytes; 0 if there is
// none.
size_t character_at(const std::string &text, size_t i, uint32_t *code) {
  const auto byte = [&](size_t k) { return static_cast<uint8_t>(text[k]); };
  if (byte(i) < 0x80) return *code = byte(i), 1;
  const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  for (size_t n = 2; n <= 4 && i + n <= text.size(); ++n) {
    const uint32_t mark = 0xffU << (8 - n) & 0xffU, mask = 0xffU << (7 - n) & 0xffU;
    if ((byte(i) & mask) != mark) continue;
    uint32_t value = byte(i) & ~mask;
    bool is_whole = true;
    for (size_t k = 1; k < n; ++k) {
      is_whole = is_whole && (byte(i + k) & 0xc0) == 0x80;
      value = value << 6 | (byte(i + k) & 0x3fU);
    }
    if (!is_whole || value < smallest[n] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return 0;
    return *code = value, n;
  }
  return 0;
}

void expect_printable(const std::string &text) {
  for (size_t i = 0; i < text.size();) {
    uint32_t code = 0;
    const size_t n = character_at(text, i, &code);
    ASSERT_GT(n, 0u) << "no UTF-8 at byte " << i;
    EXPECT_FALSE(code < 0x20 || (code >= 0x7f && code < 0xa0)) << code;
    EXPECT_FALSE((code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)) << code;
    i += n;
  }
}

TEST(Printable, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(printable("plain text, größer, 語, 🎤 and \\n"), "plain text, größer, 語, 🎤 and \\n");
  EXPECT_EQ(printable("a\nb\rc\td"), "a\\nb\\rc\\td");
  EXPECT_EQ(printable("\033[31m\a\x7f"), "\\x1b[31m\\x07\\x7f");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\xc2\x85|\xc2\x9b"
                      "31m"),
            "\\u0085|\\u009b31m");
  EXPECT_EQ(printable("\u202e\u2066\u2069\u2028\u2029"), "\\u202e\\u2066\\u2069\\u2028\\u2029");
  EXPECT_EQ(printable("go\u00a0on\u200b\u3000\ufeff\u00ad\u2009"), "go\\u00a0on\\u200b\\u3000\\ufeff\\u00ad\\u2009");
  EXPECT_EQ(printable("go\u00a0on\u200b\u3000\ufeff\u202e\u2067\u2028\u0085\n\x1b\xff", Unseen::kKeep),
            "go\u00a0on\u200b\u3000\ufeff\\u202e\\u2067\\u2028\\u0085\\n\\x1b\\xff");
  EXPECT_EQ(printable("می\u200cخواهم क्\u200dष"), "می\u200cخواهم क्\u200dष");  // words have joiners
  EXPECT_EQ(printable("\x80\xff\xc0\xaf\xe2\x82"), "\\x80\\xff\\xc0\\xaf\\xe2\\x82");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // over U+10FFFF
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, EveryCharacterAndEveryByte) {
  for (int i = 0; i < 256; ++i) {
    const std::string text(1, static_cast<char>(i));
    expect_printable(printable(text));
    EXPECT_EQ(printable(text) == text, i >= 0x20 && i < 0x7f) << i;
  }
  for (uint32_t code = 0x80; code < 0x10ffff; code += code < 0x3000 ? 1 : 97) {
    if (code >= 0xd800 && code < 0xe000) continue;
    std::string text;
    const int n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    text += static_cast<char>((0xf00U >> n & 0xffU) | code >> 6 * (n - 1));
    for (int k = n - 2; k >= 0; --k) text += static_cast<char>(0x80 | (code >> 6 * k & 0x3fU));
    const bool is_joiner = code == 0x200c || code == 0x200d;
    const bool is_hidden = code <= 0xa0 || code == 0xad || code == 0x1680 || (code >= 0x2000 && code <= 0x200f && !is_joiner) ||
                           (code >= 0x2028 && code <= 0x202f) || (code >= 0x205f && code <= 0x2060) ||
                           (code >= 0x2066 && code <= 0x2069) || code == 0x3000 || code == 0xfeff;
    EXPECT_EQ(printable(text) == text, !is_hidden) << code;
  }
}

// Random bytes, half of them from those that begin and continue characters.
std::string random_text(std::mt19937 *random, size_t n) {
  static const unsigned char kBytes[] = {'\n', 0x1b, 'x',  0x7f, 0x80, 0x85, 0xa8, 0xbf,
                                         0xc2, 0xe2, 0xed, 0xf0, 0xf4, 0xff, '\\'};
  std::string text(n, '\0');
  for (char &byte : text) {
    const uint32_t r = (*random)();
    byte = static_cast<char>(r & 1 ? kBytes[(r >> 8) % sizeof(kBytes)] : r >> 8);
  }
  return text;
}

TEST(Printable, RandomTextIsOneLineAndStays) {
  std::mt19937 random(38);
  for (int i = 0; i < 3000; ++i) {
    const std::string once = printable(random_text(&random, random() % 200));
    expect_printable(once);
    EXPECT_EQ(printable(once), once);
  }
}

TEST(Printable, RoomIsKeptAndCharactersStayWhole) {
  std::mt19937 random(39);
  for (int i = 0; i < 2000; ++i) {
    const std::string text = random_text(&random, random() % 60), whole = printable(text);
    const size_t capacity = 1 + random() % 100;
    std::string room(capacity + 1, '#');
    const size_t n = print_into(room.data(), capacity, text);
    ASSERT_LT(n, capacity);
    EXPECT_EQ(room[n], '\0');
    EXPECT_EQ(room.back(), '#') << "wrote beyond its room";
    EXPECT_EQ(room.substr(0, n), whole.substr(0, n));
    expect_printable(room.substr(0, n));
    if (whole.size() < capacity) {
      EXPECT_EQ(n, whole.size());
    } else {
      EXPECT_GT(n + sizeof("\\u0085"), capacity);
    }
  }
}

TEST(Printable, MessagesOfErrorsAreOneLine) {
  const Error error(ASR_NOT_FOUND, "/no/such\n[0] forged \033[2J: no bundle");
  EXPECT_STREQ(error.what(), "/no/such\\n[0] forged \\x1b[2J: no bundle");
  EXPECT_STREQ(Error(ASR_NOT_FOUND, error.what()).what(), error.what());
  std::mt19937 random(40);
  for (const size_t n : {100, 900, 1100, 4000, 5000, 100000}) {
    const std::string message = Error(ASR_BAD_FILE, random_text(&random, n)).what();
    expect_printable(message);
    EXPECT_LE(message.size(), kMaxMessageBytes + 5);
    EXPECT_EQ(printable(message), message);
  }
}

TEST(Printable, LogMessagesAreOneLine) {
  std::vector<std::string> lines;
  set_log([](asr_log_level, const char *message, void *to) { static_cast<std::vector<std::string> *>(to)->push_back(message); },
          ASR_LOG_DEBUG, &lines);
  log(ASR_LOG_INFO, "%s: read", "a\nb\033");
  for (size_t i = 0; i < 5; ++i) {  // characters of three bytes and escapes at every offset of the cut
    std::string text(i, 'x');
    while (text.size() < 2000) text += "語\n";
    log(ASR_LOG_INFO, "%s", text.c_str());
  }
  set_log(nullptr, ASR_LOG_ERROR, nullptr);
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0], "a\\nb\\x1b: read");
  for (size_t i = 0; i < 5; ++i) {
    const std::string &line = lines[1 + i];
    expect_printable(line);
    EXPECT_LE(line.size(), 1023u);
    EXPECT_GE(line.size(), 1020u);
    EXPECT_TRUE(line.size() < 5 || line.back() == 'n' || line.substr(line.size() - 3) == "語") << line;
  }
}

}  // namespace
}  // namespace asr
