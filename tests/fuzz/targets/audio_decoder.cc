// SPDX-License-Identifier: Apache-2.0
// Fuzzes the decoder of recordings. The first two bytes choose what is known about the input and the pieces in which it comes;
// samples, warnings and refusals must not depend on the pieces.
#include "core/audio/audio_decoder.h"
#include "tests/fuzz/target.h"
#include "tests/unit/audio/wav_writer.h"

namespace asr::fuzz {
namespace {

struct Decoded {
  std::vector<float> samples;
  std::string said;  // warnings, and the refusal
};

AudioInput input_of(uint8_t choice) {
  static const SampleCode kCodes[] = {
      {}, {Encoding::kSigned, 2, true}, {Encoding::kFloat, 4, false}, {Encoding::kUlaw, 1, false}};
  AudioInput input;
  input.header = static_cast<AudioInput::Header>(choice % 3);
  input.code = kCodes[choice / 3 % 4];
  input.channel = choice / 12 % 4 - 2;
  input.n_channels = choice / 48 % 3 + 1;
  return input;
}

// Decodes the bytes in pieces of piece bytes.
Decoded decode(const std::string &bytes, const AudioInput &input, size_t piece) {
  AudioDecoder decoder(input);
  Decoded result;
  const auto take = [&] {
    const size_t old = result.samples.size(), n = decoder.n_ready();
    result.samples.resize(old + n * decoder.n_out_channels());
    if (decoder.read(result.samples.data() + old, n + 1) != n) finding("the decoder has not the samples it tells of");
  };
  try {
    for (size_t at = 0; at < bytes.size(); at += piece) {
      decoder.push(bytes.data() + at, std::min(piece, bytes.size() - at));
      take();
    }
    decoder.finish();
    take();
  } catch (const Error &error) {
    take();
    result.said = std::string(error.what()) + "\n";
    if (result.said.size() < 10) finding("a refusal without a message");
  }
  for (std::string warning; decoder.next_warning(&warning);) result.said += warning + "\n";
  return result;
}

}  // namespace

std::vector<std::string> seeds() {
  const std::vector<int> samples = {0, 1000, -1000, 32767, -32768, 5, 6, 7, 8, 9};
  const std::string begin("\0\7", 2);
  std::vector<std::string> all;
  for (const SampleCode &code :
       {SampleCode{}, SampleCode{Encoding::kUnsigned, 1, false}, SampleCode{Encoding::kFloat, 8, false},
        SampleCode{Encoding::kAlaw, 1, false}, SampleCode{Encoding::kSigned, 3, true}}) {
    test::WavWriter writer;
    writer.code = code;
    writer.behind = "LIST" + test::number(4, 4) + "abcd";
    writer.n_channels = 2;
    all.push_back(begin + writer.file(samples));
    all.push_back(begin + writer.file(samples) + writer.file(samples));
    writer.data_size = 4;
    writer.behind = "";
    all.push_back(begin + writer.file(samples));
  }
  test::WavWriter large;
  large.is_rf64 = true;
  all.push_back(begin + large.file(samples));
  all.push_back(begin + test::au_file({Encoding::kUlaw, 1, true}, 1, 0xffffffff, samples));
  all.push_back(std::string("\2\1", 2) + test::samples_in({}, samples));
  return all;
}

}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {16, 256, 0.2, 50}, [](const std::string &input) {
    if (input.size() < 2) return;
    const AudioInput known = fuzz::input_of(static_cast<uint8_t>(input[0]));
    const std::string bytes = input.substr(2);
    const fuzz::Decoded whole = fuzz::decode(bytes, known, SIZE_MAX / 2);
    const fuzz::Decoded pieces = fuzz::decode(bytes, known, static_cast<uint8_t>(input[1]) + size_t{1});
    if (whole.said != pieces.said) {
      fuzz::finding("whole: \"%s\", in pieces: \"%s\"", whole.said.c_str(), pieces.said.c_str());
    }
    if (whole.samples.size() != pieces.samples.size() ||
        (!whole.samples.empty() &&
         memcmp(whole.samples.data(), pieces.samples.data(), whole.samples.size() * sizeof(float)) != 0)) {
      fuzz::finding("%zu samples, in pieces %zu, or others", whole.samples.size(), pieces.samples.size());
    }
  });
}
