// SPDX-License-Identifier: Apache-2.0
#include "builder/import/silence_phones.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "builder/text/text_file.h"
#include "core/base/error.h"

namespace asr {
namespace {

std::vector<std::string> split(const std::string &text, const char *separators) {
  std::vector<std::string> fields;
  for (size_t at = text.find_first_not_of(separators); at != std::string::npos;) {
    const size_t end = std::min(text.find_first_of(separators, at), text.size());
    fields.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(separators, end);
  }
  return fields;
}

// Returns the phone of a name, or of its stem without a word position; kNoPhone if there is neither.
uint32_t find_phone(const HmmSet &set, const std::string &name) {
  const uint32_t phone = set.find_phone(name);
  if (phone != kNoPhone || name.size() < 3 || name[name.size() - 2] != '_') return phone;
  const bool has_position = std::string("BEIS").find(name.back()) != std::string::npos;
  return has_position ? set.find_phone(name.substr(0, name.size() - 2)) : kNoPhone;
}

}  // namespace

std::vector<std::string> read_silence_names(const std::string &names_or_file, const std::vector<std::string> &symbols,
                                            const char *remedy) {
  std::error_code error;
  const std::string extension = std::filesystem::path(names_or_file).extension();
  const bool is_file = extension == ".csl" || extension == ".txt" || std::filesystem::is_regular_file(names_or_file, error);
  const std::string text = is_file ? read_text(names_or_file, {"a list of silence phones"}) : names_or_file;
  std::vector<std::string> names = split(text, is_file ? ": \t\r\n" : ",");
  const char *const source = is_file ? names_or_file.c_str() : "--silence";
  if (names.empty()) fail(ASR_INVALID_ARGUMENT, "%s: names no phones; name them, as in --silence pau,sp", source);
  for (std::string &name : names) {
    if (!is_file || name.find_first_not_of("0123456789") != std::string::npos) continue;
    uint32_t number = 0;
    const auto [stop, failure] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (failure != std::errc() || number >= symbols.size() || symbols[number].empty()) {
      fail(ASR_INVALID_ARGUMENT, "%s: has phone %s, which no list of phones names; %s", source, name.c_str(),
           symbols.empty() ? remedy : "give the phones.txt of its model");
    }
    name = symbols[number];
  }
  return names;
}

std::vector<uint32_t> name_silence(HmmSet *set, const std::vector<std::string> &names, const std::string &source) {
  std::vector<uint32_t> phones;
  for (const std::string &name : names) {
    const uint32_t phone = find_phone(*set, name);
    if (phone == kNoPhone) {
      fail(ASR_INVALID_ARGUMENT, "%s: has no phone '%s'; --silence names phones of the model", source.c_str(), name.c_str());
    }
    if (std::find(phones.begin(), phones.end(), phone) == phones.end()) phones.push_back(phone);
  }
  set->silence = kNoPhone;
  for (const uint32_t phone : phones) {
    BasePhone &base = set->phones[phone];
    base.filler = true;
    if (set->silence == kNoPhone && (base.name == "SIL" || base.name == "sil")) set->silence = phone;
  }
  if (set->silence == kNoPhone) set->silence = phones.front();
  return phones;
}

}  // namespace asr
