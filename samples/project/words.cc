// SPDX-License-Identifier: Apache-2.0
// words BUNDLE FILE.raw: prints the words of a recording (16-bit mono samples at the model's rate), a sentence a line, as soon as
// each has ended. CMakeLists.txt beside it is the example of a project that uses an installed Senone.
#include <fstream>
#include <iostream>
#include <senone.hpp>

int main(int argc, char **argv) try {
  if (argc != 3) throw std::invalid_argument("usage: words BUNDLE FILE.raw");
  std::ifstream audio(argv[2], std::ios::binary);
  if (!audio) throw std::runtime_error(std::string(argv[2]) + ": cannot be opened");
  senone::Engine engine(argv[1]);
  senone::StreamConfig config;
  config.endpoint = ASR_ENDPOINT_DICTATION;
  senone::Stream stream = engine.open(config);
  std::int16_t samples[1600];
  while (audio.read(reinterpret_cast<char *>(samples), sizeof(samples)), audio.gcount() > 0) {
    stream.feed(samples, static_cast<std::size_t>(audio.gcount()) / sizeof(*samples));
  }
  stream.finish();
  for (;;) {
    const senone::Event event = stream.next();
    if (event.kind() == senone::EventKind::kFinal && !event.text().empty()) std::cout << event.text() << std::endl;
    if (event.kind() == senone::EventKind::kError) throw std::runtime_error(std::string(event.text()));
    if (event.kind() == senone::EventKind::kEnd) return 0;
  }
} catch (const std::exception &error) {
  std::cerr << "words: " << error.what() << '\n';
  return 1;
}
