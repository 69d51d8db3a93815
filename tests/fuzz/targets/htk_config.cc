// SPDX-License-Identifier: Apache-2.0
// Fuzzes HTK's configuration of the front end (HCopy), and the tables of the described front end.
#include "builder/import/htk.h"
#include "builder/import/htk_model.h"
#include "core/feature/mfcc_tables.h"
#include "tests/fuzz/target.h"

namespace asr::fuzz {

std::vector<std::string> seeds() {
  return {"# features\nHCOPY: NUMCHANS = 26\nSOURCERATE=1250\nENORMALISE = F\nTRACE = 1\n",
          "TARGETRATE = 100000.0\nWINDOWSIZE = 250000.0\nUSEHAMMING = T\nPREEMCOEF = 0.97\nCEPLIFTER = 22\nNUMCEPS = 12\n",
          "TARGETKIND = PLP_0_D\nLPCORDER = 12\nCOMPRESSFACT = 0.33\nUSEPOWER = T\nCEPSCALE = 10\nNUMCHANS = 24\n"};
}
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {64, 1024, 2, 100}, [](const std::string &bytes) {
    HtkOptions options;
    options.models = {"hmmdefs"};
    options.config = fuzz::file("config", bytes);
    std::vector<std::string> notes;
    const uint16_t base = bytes.find("LPCORDER") != std::string::npos ? htk::kPlp : htk::kMfcc;
    FeatureTables(htk_front_end_of(base | htk::kC0 | htk::kDelta, 26, options, notes), {1.0});
  });
}
