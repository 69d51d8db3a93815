// SPDX-License-Identifier: Apache-2.0
// Fuzzes what all readers of files that people bring have in common: unpacking, the formats known by their first bytes, and
// text.
#include "builder/text/text_file.h"
#include "builder/text/unicode.h"
#include "builder/text/unpack.h"
#include "core/base/error.h"
#include "tests/fuzz/target.h"
#include "tests/unit/text/packed.h"

namespace asr::fuzz {
namespace {

const WantedText kWanted{"a text", {Format::kArpa, Format::kJsgf, Format::kHtkHmms}};

// Text that was read is read again as it is, except that letters that became others may make it a file of a known format.
void check_text(const std::string &text) {
  if (text.find('\0') != std::string::npos || begin_of_text(text) > 0) finding("the text is not clean");
  std::string again = text;
  try {
    again = text_of(text, "text", kWanted);
  } catch (const Error &) {
  }
  if (again != text) finding("the text changes when it is read again");
  for (const std::string &changed : {to_upper(text), to_lower(text)}) {
    if (to_nfc(changed) != changed) finding("a change of case leaves the normal form");
  }
  if (fold_letters(fold_letters(text)) != fold_letters(text)) finding("folded letters fold again");
}

}  // namespace

std::vector<std::string> seeds() {
  std::vector<std::string> all = {"one\ntwo\n", "\xce\rVi\u0307"};  // no UTF-8 beside a letter that becomes one with its mark
  for (const test::TextForm &form : test::forms_of("one\ncaf\u00e9 \u03a3\u00df\n\ntwo\n")) all.push_back(form.bytes);
  return all;
}

}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  const fuzz::Budget budget{400, 4096, 4, 100};
  return fuzz::run(data, size, budget, [](const std::string &bytes) {
    const std::string path = fuzz::file("text", bytes);
    const UnpackedFile file(path);
    if (unpack(bytes, "text") != file.bytes()) fuzz::finding("a file is unpacked to something else than its bytes");
    FormatFound found;
    find_format(file.bytes(), &found);
    fuzz::check_text(read_text(path, fuzz::kWanted));
  });
}
