// SPDX-License-Identifier: Apache-2.0
// Microphone records by PortAudio, which is loaded when it is first needed, so that the command does not depend on it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace asr::tool {

struct MicrophoneInfo {
  int number;
  std::string name;
  bool is_default;
};

// Returns the devices that record, of which there is one at least. Throws asr::Error without one, or without PortAudio.
std::vector<MicrophoneInfo> microphones();

class Microphone {
 public:
  // Opens a microphone, and begins to record samples of 16 bits of one channel.
  //
  // chosen: its number or a part of its name; "": the default one.
  // rate_hz: the rate to record at; microphones that cannot have their own.
  explicit Microphone(const std::string &chosen, uint32_t rate_hz);
  ~Microphone();
  Microphone(const Microphone &) = delete;
  Microphone &operator=(const Microphone &) = delete;

  const std::string &name() const;
  uint32_t rate_hz() const;

  // Waits for n samples. Returns false if samples were lost before them, because they were not read in time. Throws asr::Error
  // if the microphone has gone.
  bool read(int16_t *samples, size_t n);

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace asr::tool
