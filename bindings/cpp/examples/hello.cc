// SPDX-License-Identifier: Apache-2.0
// hello_cpp BUNDLE FILE.raw: prints the words of a recording (16-bit mono samples at the model's rate) with their times.
#include <fstream>
#include <iostream>
#include <senone.hpp>
#include <vector>

int main(int argc, char **argv) try {
  if (argc != 3) throw std::invalid_argument("usage: hello_cpp BUNDLE FILE.raw");
  std::ifstream audio(argv[2], std::ios::binary | std::ios::ate);
  if (!audio) throw std::runtime_error(std::string(argv[2]) + ": cannot be opened");
  std::vector<std::int16_t> samples(static_cast<std::size_t>(audio.tellg()) / sizeof(std::int16_t));
  audio.seekg(0);
  audio.read(reinterpret_cast<char *>(samples.data()), static_cast<std::streamsize>(samples.size() * sizeof(std::int16_t)));

  senone::Engine engine(argv[1]);
  senone::Stream stream = engine.open();
  stream.feed(samples);
  stream.finish();
  const senone::Event final = stream.final_event();
  std::cout << final.text() << '\n';
  for (const senone::Word word : final.words()) std::cout << word.start_s << ' ' << word.end_s << ' ' << word.text << '\n';
} catch (const std::exception &error) {
  std::cerr << "hello_cpp: " << error.what() << '\n';
  return 1;
}
