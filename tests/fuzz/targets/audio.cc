// SPDX-License-Identifier: Apache-2.0
// Fuzzes recordings, as the tools read them: the first byte decides whether the name ends in .raw.
#include "tests/fuzz/target.h"
#include "tests/unit/import/sphinx_writer.h"
#include "tools/audio_file.h"

namespace asr::fuzz {

namespace {

// Makes a RIFF file: format 1 = integers, 3 = floats, 7 = mu-law.
std::string wav(uint16_t kind, uint16_t n_bits, uint16_t n_channels, const std::string &samples) {
  test::Bytes out;
  const auto block = static_cast<uint16_t>(n_channels * n_bits / 8);
  out.raw("RIFF");
  out.u32(static_cast<uint32_t>(36 + samples.size()));
  out.raw("WAVEfmt ");
  out.u32(16);
  out.u16(kind);
  out.u16(n_channels);
  out.u32(16000);
  out.u32(16000u * block);
  out.u16(block);
  out.u16(n_bits);
  out.raw("data");
  out.u32(static_cast<uint32_t>(samples.size()));
  out.raw(samples);
  return out.text;
}

}  // namespace

std::vector<std::string> seeds() {
  const std::string samples(64, '\1');
  return {"r" + samples, "w" + wav(1, 16, 1, samples), "w" + wav(3, 32, 2, samples), "w" + wav(7, 8, 1, samples)};
}
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {32, 1024, 2, 100}, [](const std::string &bytes) {
    const bool raw = !bytes.empty() && bytes[0] == 'r';
    tool::AudioFile audio(fuzz::file(raw ? "a.raw" : "a.wav", bytes.substr(bytes.empty() ? 0 : 1)), {});
    std::vector<float> samples(1024);
    for (int i = 0; i < 100 && audio.read(samples.data(), 1024) == 1024; ++i) {
    }
  });
}
