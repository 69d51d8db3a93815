// SPDX-License-Identifier: Apache-2.0
// Fuzzes HTK's macro files and hmmdefs, and the list of its models.
#include "builder/import/htk.h"
#include "tests/fuzz/target.h"
#include "tests/unit/import/htk_writer.h"

namespace asr::fuzz {

std::vector<std::string> seeds() {
  const std::string streams = R"(~o <STREAMINFO> 2 2 1 <VECSIZE> 3 <USER>
~h x <BEGINHMM> <NUMSTATES> 3 <STATE> 2 <NUMMIXES> 1 2 <SWEIGHTS> 2 1 1
<STREAM> 1 <MEAN> 2 1 2 <VARIANCE> 2 1 1
<STREAM> 2 <MIXTURE> 1 0.5 <MEAN> 1 3 <VARIANCE> 1 1 <MIXTURE> 2 0.5 <MEAN> 1 4 <VARIANCE> 1 1
<TRANSP> 3 0 1 0 0 0.5 0.5 0 0 0 <ENDHMM>)";
  const std::string full = R"(~o <VECSIZE> 3 <FULLC> <USER>
~h x <BEGINHMM> <NUMSTATES> 3 <STATE> 2 <MEAN> 3 1 2 3 <INVCOVAR> 3 10 1 2 11 3 12
<TRANSP> 3 0 1 0 0 0.5 0.5 0 0 0 <ENDHMM>)";
  return {test::kSmallHmmdefs, streams, full, join({test::kSmallHmmdefs, "b a-b+c\na a\nb+a a-b+c\n"})};
}
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {600, 4096, 2, 50}, [](const std::string &bytes) {
    const std::vector<std::string> pieces = fuzz::split(bytes, 2);
    HtkOptions options;
    options.models = {fuzz::file("hmmdefs", pieces[0])};
    if (!pieces[1].empty()) options.hmm_list = fuzz::file("tiedlist", pieces[1]);
    options.features_only = true;
    import_htk(options);
  });
}
