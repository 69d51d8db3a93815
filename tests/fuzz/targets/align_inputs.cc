// SPDX-License-Identifier: Apache-2.0
// Fuzzes tables and TextGrids, as `senone align` reads them.
#include "tests/fuzz/target.h"
#include "tools/csv.h"
#include "tools/text_grid.h"

namespace asr::fuzz {

std::vector<std::string> seeds() {
  const std::string grid = tool::text_grid({{"words", {{0.25, 0.5, "a \"b\""}, {0.5, 1, "c"}}}, {"phones", {}}}, 1.5);
  std::string wide = "\xff\xfe";
  for (const char c : grid) wide += {c, '\0'};
  return {grid, wide,
          "\"ooTextFile\" \"TextGrid\" 0 1 <exists> 2 \"TextTier\" \"clicks\" 0 1 1 0.7 \"click\" \"IntervalTier\" \"said\" 0 "
          "1 1 0 1 \"yes\"",
          "path,text\na.wav,\"one, \"\"two\"\"\nthree\"\n\n,\n", "id;path;text\n1;a.wav;one\n"};
}
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {8, 512, 0.2, 20}, [](const std::string &bytes) {
    if (bytes.find("TextGrid") < bytes.size() || bytes[0] == '\xff') {
      tool::parse_text_grid(bytes, "t");
      return;
    }
    size_t line = 0;
    for (const tool::CsvRow &row : tool::parse_csv(bytes, "t")) {
      if (row.line <= line || row.fields.empty()) fuzz::finding("line %zu after line %zu", row.line, line);
      line = row.line;
    }
  });
}
