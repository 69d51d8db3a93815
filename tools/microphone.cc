// SPDX-License-Identifier: Apache-2.0
#include "tools/microphone.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "core/base/descriptor.h"
#include "core/base/error.h"
#include "core/base/limits.h"
#include "core/base/printable.h"

namespace asr::tool {
namespace {

// The part of PortAudio's interface, version 19, that is used.
using PaError = int;
using PaStream = void;
constexpr PaError kNoError = 0, kInvalidSampleRate = -9997, kInputOverflowed = -9981;
constexpr unsigned long kInt16 = 8, kAnyFrames = 0, kNoFlags = 0;

struct PaDeviceInfo {
  int struct_version;
  const char *name;
  int host_api, max_input_channels, max_output_channels;
  double low_input_latency_s, low_output_latency_s, high_input_latency_s, high_output_latency_s;
  double sample_rate_hz;
};

struct PaStreamParameters {
  int device, n_channels;
  unsigned long sample_format;
  double latency_s;
  void *host_api_info;
};

// PortAudio is the loaded library, between Pa_Initialize and Pa_Terminate.
class PortAudio {
 public:
  PortAudio() {
    constexpr const char *kLibrary = "libportaudio.so.2";
    void *const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);  // stays loaded, as its threads may
    if (library == nullptr) {
      fail(ASR_NOT_FOUND, "listen: %s cannot be loaded (%s); install PortAudio (Debian: libportaudio2)", kLibrary, dlerror());
    }
    const auto find = [&](auto *function, const char *name) {
      *reinterpret_cast<void **>(function) = dlsym(library, name);
      if (*function == nullptr) fail(ASR_UNSUPPORTED, "listen: %s has no %s; install PortAudio 19", kLibrary, name);
    };
    find(&initialize, "Pa_Initialize");
    find(&terminate, "Pa_Terminate");
    find(&error_text, "Pa_GetErrorText");
    find(&device_count, "Pa_GetDeviceCount");
    find(&default_input, "Pa_GetDefaultInputDevice");
    find(&device_info, "Pa_GetDeviceInfo");
    find(&open_stream, "Pa_OpenStream");
    find(&start_stream, "Pa_StartStream");
    find(&read_stream, "Pa_ReadStream");
    find(&close_stream, "Pa_CloseStream");
    check(initialize_quietly(), "PortAudio does not start");
  }
  ~PortAudio() { terminate(); }
  PortAudio(const PortAudio &) = delete;
  PortAudio &operator=(const PortAudio &) = delete;

  void check(PaError error, const std::string &what) const {
    if (error >= kNoError) return;
    const char *const text = error_text(error);
    fail(ASR_IO, "listen: %s: %s; check the sound settings of the system, or choose another one of `senone listen --list`",
         what.c_str(), text == nullptr ? "unknown error" : text);
  }

  PaError (*initialize)();
  PaError (*terminate)();
  const char *(*error_text)(PaError);
  int (*device_count)();
  int (*default_input)();
  const PaDeviceInfo *(*device_info)(int);
  PaError (*open_stream)(PaStream **, const PaStreamParameters *, const PaStreamParameters *, double, unsigned long,
                         unsigned long, void *, void *);
  PaError (*start_stream)(PaStream *);
  PaError (*read_stream)(PaStream *, void *, unsigned long);
  PaError (*close_stream)(PaStream *);

 private:
  // ALSA and JACK write about every device that they cannot use.
  PaError initialize_quietly() const {
    fflush(stderr);
    const Descriptor kept(dup(STDERR_FILENO)), nowhere(open("/dev/null", O_WRONLY | O_CLOEXEC));
    if (kept.get() >= 0 && nowhere.get() >= 0) dup2(nowhere.get(), STDERR_FILENO);
    const PaError error = initialize();
    if (kept.get() >= 0) dup2(kept.get(), STDERR_FILENO);
    return error;
  }
};

std::vector<MicrophoneInfo> microphones_of(const PortAudio &audio) {
  std::vector<MicrophoneInfo> found;
  const int n_devices = audio.device_count(), default_device = audio.default_input();
  for (int i = 0; i < n_devices; ++i) {
    const PaDeviceInfo *const info = audio.device_info(i);
    if (info == nullptr || info->max_input_channels < 1) continue;
    found.push_back({i, info->name == nullptr ? "" : info->name, i == default_device});
  }
  if (found.empty()) fail(ASR_NO_DEVICE, "listen: PortAudio finds no microphone; connect one, and check that you may use it");
  return found;
}

MicrophoneInfo choose(const std::vector<MicrophoneInfo> &all, const std::string &chosen) {
  for (const MicrophoneInfo &each : all) {
    if (chosen.empty() ? each.is_default : chosen == std::to_string(each.number)) return each;
  }
  if (chosen.empty()) return all.front();
  for (const MicrophoneInfo &each : all) {
    if (each.name.find(chosen) != std::string::npos) return each;
  }
  fail(ASR_NOT_FOUND, "listen: --input %s: no microphone has this number or name; `senone listen --list` lists them",
       printable(chosen).c_str());
}

}  // namespace

struct Microphone::State {
  PortAudio audio;
  PaStream *stream = nullptr;
  MicrophoneInfo info{};
  uint32_t rate_hz = 0;

  ~State() {
    if (stream != nullptr) audio.close_stream(stream);
  }
};

std::vector<MicrophoneInfo> microphones() { return microphones_of(PortAudio()); }

Microphone::Microphone(const std::string &chosen, uint32_t rate_hz) : state_(std::make_unique<State>()) {
  State &state = *state_;
  state.info = choose(microphones_of(state.audio), chosen);
  const PaDeviceInfo &info = *state.audio.device_info(state.info.number);
  const PaStreamParameters parameters{state.info.number, 1, kInt16, info.high_input_latency_s, nullptr};
  const auto open = [&](double rate) {
    if (!(rate >= kMinSampleRateHz && rate <= kMaxSampleRateHz)) return kInvalidSampleRate;
    state.rate_hz = static_cast<uint32_t>(std::lround(rate));
    return state.audio.open_stream(&state.stream, &parameters, nullptr, rate, kAnyFrames, kNoFlags, nullptr, nullptr);
  };
  PaError error = open(rate_hz);
  if (error == kInvalidSampleRate) error = open(info.sample_rate_hz);
  state.audio.check(error, "the microphone " + printable(state.info.name) + " cannot be opened");
  state.audio.check(state.audio.start_stream(state.stream), "the microphone " + printable(state.info.name) + " does not start");
}

Microphone::~Microphone() = default;

const std::string &Microphone::name() const { return state_->info.name; }
uint32_t Microphone::rate_hz() const { return state_->rate_hz; }

bool Microphone::read(int16_t *samples, size_t n) {
  const PaError error = state_->audio.read_stream(state_->stream, samples, static_cast<unsigned long>(n));
  if (error == kInputOverflowed) return false;
  state_->audio.check(error, "the microphone " + printable(state_->info.name) + " has stopped");
  return true;
}

}  // namespace asr::tool
