// SPDX-License-Identifier: Apache-2.0
// Fuzzes files of log-likelihoods, as `senone bench search --loglikes` reads them.
#include "tests/fuzz/target.h"
#include "tests/unit/import/sphinx_writer.h"
#include "tools/loglike_file.h"

namespace asr::fuzz {

std::vector<std::string> seeds() {
  test::Bytes out;
  out.raw("SenoneLL");
  for (const uint32_t value : {1u, 3u, 2u, 0u, 5u, 0u}) out.u32(value);  // version, pdfs, utterances, rows
  out.text.resize(64);
  for (const uint32_t length : {2u, 3u}) out.u32(length);
  out.text.resize(128);
  for (int i = 0; i < 15; ++i) out.f32(-1.5f);
  return {out.text};
}

}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {}, [](const std::string &bytes) {
    const tool::LoglikeFile rows(fuzz::file("loglikes", bytes), 3);
    double sum = 0;
    size_t n = 0;
    for (const uint32_t length : rows.n_frames()) n += length;
    for (size_t i = 0; i < 3 * n; ++i) sum += double(rows.rows()[i]);
    static volatile double sink;
    sink = sum;
    (void)sink;
  });
}
