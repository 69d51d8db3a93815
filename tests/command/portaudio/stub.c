/* SPDX-License-Identifier: Apache-2.0 */
/* A libportaudio.so.2 for the test of `senone listen`. Its microphones play the samples of the file STUB_RECORDING (16 bits, at
 * 16 kHz), and then silence. STUB_PORTAUDIO: "none": there is no microphone; "gone": it stops with the recording; "rate": it
 * knows only its own rate, and plays at that; "lost": some audio is lost; "no rate": it
 * says that its rate is 0. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int version;
  const char *name;
  int host_api, n_inputs, n_outputs;
  double latencies[4], rate;
} DeviceInfo;

static DeviceInfo devices[] = {{2, "Loudspeaker", 0, 0, 2, {0, 0, 0, 0}, 48000},
                               {2, "Headset", 0, 1, 0, {0.01, 0, 0.1, 0}, 16000},
                               {2, "Desk microphone", 0, 2, 0, {0.01, 0, 0.1, 0}, 16000}};
static FILE *recording = NULL;
static int n_reads = 0;

static int is(const char *what) {
  const char *const kind = getenv("STUB_PORTAUDIO");
  return kind != NULL && strcmp(kind, what) == 0;
}

int Pa_Initialize(void) {
  if (is("no rate")) devices[2].rate = 0;
  fprintf(stderr, "stub: noise as ALSA makes it\n");
  return 0;
}
int Pa_Terminate(void) { return 0; }
const char *Pa_GetErrorText(int error) { return error == -9985 ? "Device unavailable" : "Some error"; }
int Pa_GetDeviceCount(void) { return is("none") ? 1 : 3; }
int Pa_GetDefaultInputDevice(void) { return is("none") ? -1 : 2; }
const DeviceInfo *Pa_GetDeviceInfo(int device) { return device >= 0 && device < 3 ? &devices[device] : NULL; }

int Pa_OpenStream(void **stream, const void *input, const void *output, double rate, unsigned long n_frames,
                  unsigned long flags, void *callback, void *user_data) {
  (void)input, (void)n_frames, (void)flags, (void)user_data;
  if (output != NULL || callback != NULL) return -9996;
  if ((is("rate") && rate != 16000) || is("no rate")) return -9997;
  const char *const path = getenv("STUB_RECORDING");
  recording = path == NULL ? NULL : fopen(path, "rb");
  *stream = &recording;
  return 0;
}
int Pa_StartStream(void *stream) { return stream == &recording ? 0 : -9988; }
int Pa_ReadStream(void *stream, void *buffer, unsigned long n) {
  const size_t n_read = recording == NULL ? 0 : fread(buffer, 2, n, recording);
  if (stream != &recording) return -9988;
  if (n_read == 0 && is("gone")) return -9985;
  memset((char *)buffer + 2 * n_read, 0, 2 * (n - n_read));
  return is("lost") && ++n_reads == 3 ? -9981 : 0;
}
int Pa_CloseStream(void *stream) {
  if (recording != NULL) fclose(recording);
  recording = NULL;
  return stream == &recording ? 0 : -9988;
}
