// SPDX-License-Identifier: Apache-2.0
// A fuzz target is one file of tests/fuzz/targets with seeds() and LLVMFuzzerTestOneInput. Linked with libFuzzer it
// searches for inputs that break a reader or a program. Linked with replay.cc it is a test that replays the kept
// inputs.
//
//   std::vector<std::string> asr::fuzz::seeds() { return {"a good file\n"}; }
//   extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
//     return asr::fuzz::run(data, size, {}, [](const std::string &bytes) { read(asr::fuzz::file("name", bytes)); });
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace asr::fuzz {

// Valid inputs, which the target must accept; made anew in every process, so that they follow the formats.
std::vector<std::string> seeds();

// Limits on memory and processor time of an input of n bytes: a constant for the fixed limits of docs/limits.md, and a share
// per byte. Seconds are those of an optimised build; a sanitized one gets kSlowness times as many.
struct Budget {
  double megabytes = 8, bytes_each = 256;
  double seconds = 0.2, microseconds_each = 4;
};

// Runs `action` on the input. It must return or throw asr::Error with a message, within the budget. Anything else is a
// finding: a line on stderr, and abort(). Returns 0, as libFuzzer expects.
int run(const uint8_t *data, size_t size, const Budget &budget, const std::function<void(const std::string &bytes)> &action);

// Returns true if the latest input was refused with an asr::Error.
bool was_refused();

// Reports a finding detected by the target itself.
[[noreturn]] void finding(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Writes a file of this name into a directory of this process, which is removed at its end; returns the path.
std::string file(const std::string &name, const std::string &bytes);
const std::string &directory();

// Several files in one input, for programs that read more than one: join() inserts a mark that split() looks for. Missing
// pieces are empty.
std::string join(const std::vector<std::string> &pieces);
std::vector<std::string> split(const std::string &bytes, size_t n_pieces);

// Dice returns numbers from the bytes of an input one after the other; 0 once they are used up.
class Dice {
 public:
  explicit Dice(const std::string &bytes) : bytes_(bytes) {}
  bool empty() const { return at_ >= bytes_.size(); }
  uint8_t byte() { return empty() ? uint8_t{0} : static_cast<uint8_t>(bytes_[at_++]); }
  uint32_t below(uint32_t n) { return n <= 256 ? byte() % n : (byte() | uint32_t{byte()} << 8) % n; }
  float pick(const std::vector<float> &values) { return values[below(static_cast<uint32_t>(values.size()))]; }

 private:
  const std::string &bytes_;
  size_t at_ = 0;
};

}  // namespace asr::fuzz
