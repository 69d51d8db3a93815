// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/damage.h"

#include <algorithm>
#include <cstring>

namespace asr::fuzz {
namespace {

constexpr size_t kMaxFile = 1 << 20;
constexpr size_t kMaxPiece = 64;
constexpr uint64_t kRepetitionEvery = 16;  // one in this many damaged files has a repetition
constexpr size_t kMaxRepetition = 1 << 18;
constexpr size_t kEdge = 192;  // headers and last words are damaged more often than the long middle

size_t below(size_t n, Random &random) { return n == 0 ? 0 : static_cast<size_t>(random() % n); }

size_t place(const std::string &bytes, Random &random) {
  switch (random() % 4) {
    case 0:
      return below(std::min(bytes.size(), kEdge), random);
    case 1:
      return bytes.size() - std::min(bytes.size(), 1 + below(kEdge, random));
    default:
      return below(bytes.size(), random);
  }
}

void overwrite_integer(std::string &bytes, Random &random) {
  static constexpr uint32_t kTelling[] = {0,           1,           2,           0xff,        0x100,       0xffff,     0x10000,
                                          0x7fffffffu, 0x80000000u, 0xfffffffeu, 0xffffffffu, 0x7f800000u, 0x7fc00000u};
  if (bytes.size() < 4) return;
  size_t at = std::min(place(bytes, random), bytes.size() - 4);
  if (random() % 2 == 0) at = at / 4 * 4;
  uint32_t value;
  memcpy(&value, &bytes[at], 4);
  value = random() % 3 == 0 ? value + static_cast<uint32_t>(random() % 7) - 3 : kTelling[random() % std::size(kTelling)];
  memcpy(&bytes[at], &value, 4);
}

// Replaces a run of digits near a random offset by another number, as in text formats.
void overwrite_number(std::string &bytes, Random &random) {
  static const char *const kNumbers[] = {"0", "1", "-1", "4294967295", "99999999999999999999", "1e999", "nan", "0.5", ""};
  const size_t begin = bytes.find_first_of("0123456789", place(bytes, random));
  if (begin == std::string::npos) return;
  const size_t end = std::min(bytes.find_first_not_of("0123456789.e-", begin), bytes.size());
  bytes.replace(begin, end - begin, kNumbers[random() % std::size(kNumbers)]);
}

// Repeats a line, or any few bytes: readers must take linear time and memory.
void repeat(std::string &bytes, Random &random) {
  if (bytes.empty()) return;
  size_t begin = below(bytes.size(), random), end = std::min(bytes.size(), begin + 1 + below(kMaxPiece, random));
  if (random() % 2 == 0) {
    const size_t before = bytes.rfind('\n', begin);
    begin = before == std::string::npos ? 0 : before + 1;
    end = std::min(bytes.find('\n', begin), bytes.size() - 1) + 1;
  }
  const std::string piece = bytes.substr(begin, end - begin);
  const size_t most = kMaxRepetition / (piece.size() + 1);
  std::string many;
  for (size_t n = size_t{1} << below(20, random); n > 0 && many.size() / (piece.size() + 1) < most; --n) many += piece;
  bytes.insert(end, many);
}

void damage_once(std::string &bytes, const std::vector<std::string> &others, Random &random) {
  const size_t at = place(bytes, random);
  const size_t n = std::min(below(kMaxPiece, random), bytes.size() - at);
  switch (random() % 10) {
    case 0:
    case 1:
      if (!bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
      break;
    case 2:
      if (!bytes.empty()) bytes[at] = static_cast<char>(random());
      break;
    case 3:
    case 4:
      overwrite_integer(bytes, random);
      break;
    case 5:
      overwrite_number(bytes, random);
      break;
    case 6:
      bytes.resize(at);
      break;
    case 7:
      bytes.erase(at, n);
      break;
    case 8:
      bytes.insert(below(bytes.size() + 1, random), bytes.substr(at, n));
      break;
    case 9: {
      const std::string &other = others[below(others.size(), random)];
      bytes.insert(at, other.substr(below(other.size(), random), kMaxPiece));
      break;
    }
  }
  if (bytes.size() > kMaxFile) bytes.resize(kMaxFile);
}

}  // namespace

std::string damage(const std::string &good, const std::vector<std::string> &others, Random &random) {
  std::string bytes = good;
  if (random() % kRepetitionEvery == 0) repeat(bytes, random);
  for (size_t n = 1 + below(4, random); n > 0; --n) damage_once(bytes, others, random);
  return bytes;
}

}  // namespace asr::fuzz
