/* SPDX-License-Identifier: Apache-2.0 */
/* The common code of cuda_gpu.c, ocl_nvidia_gpu.c and ocl_amd_gpu.c. */
#define _POSIX_C_SOURCE 199309L
#include "gpu_sample.h"

#include <asr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kStreams = 64 }; /* simultaneous streams: a GPU is made for many */

typedef struct audio {
  int16_t *samples;
  size_t n;
} audio;

static double now_s(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int read_audio(const char *path, audio *audio) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return perror(path), 0;
  size_t capacity = 1 << 20;
  while ((audio->samples = realloc(audio->samples, capacity * sizeof(int16_t))) != NULL) {
    audio->n += fread(audio->samples + audio->n, sizeof(int16_t), capacity - audio->n, file);
    if (audio->n < capacity) break;
    capacity *= 2;
  }
  fclose(file);
  return audio->samples != NULL;
}

/* Copies the id of the back end's first usable device ("cuda:0"), and prints the others. A device of another kind, such as a
 * CPU under OpenCL, has a score of 1 and is only used if it is named. */
static int find_device(const gpu_sample *sample, const char *wanted, char *id, size_t size) {
  asr_device_list *list = NULL;
  const size_t length = strlen(sample->back_end);
  if (asr_devices(&list) != ASR_OK) return 0;
  id[0] = '\0';
  for (size_t i = 0; i < asr_device_list_count(list); ++i) {
    asr_device device = {0};
    device.size = sizeof(device);
    if (asr_device_list_get(list, i, &device) != ASR_OK || strncmp(device.id, sample->back_end, length) != 0) continue;
    const int usable = device.reason[0] == '\0' && device.id[length] == ':';
    const int chosen = usable && id[0] == '\0' && (wanted != NULL ? strcmp(wanted, device.id) == 0 : device.score > 1);
    if (usable) {
      printf("%s %s: %s, %.1f GB, %u cores or multiprocessors\n", chosen ? "*" : " ", device.id, device.name,
             (double)device.memory_bytes / 1e9, device.n_cores);
    } else {
      printf("  %s: %s\n", device.id, device.reason);
    }
    if (chosen) snprintf(id, size, "%s", device.id);
  }
  asr_device_list_free(list);
  return id[0] != '\0';
}

/* Feeds the whole file; its words are collected later, so that all streams advance together. */
static asr_stream *start(asr_engine *engine, const audio *audio) {
  asr_stream *stream = NULL;
  asr_stream_config config;
  asr_stream_config_default(&config);
  config.max_backlog_ms = 0; /* one thread feeds all streams and must not wait for one of them */
  if (asr_open(engine, &config, &stream) == ASR_OK && asr_feed(stream, audio->samples, audio->n) == ASR_OK &&
      asr_finish(stream) == ASR_OK) {
    return stream;
  }
  fprintf(stderr, "%s\n", asr_last_error());
  asr_close(stream);
  return NULL;
}

/* Takes events up to the end, prints the words if `prints` is set, and frees the stream. */
static int collect(asr_stream *stream, int prints) {
  asr_event_kind kind = ASR_EVENT_READY;
  int ok = 1;
  while (kind != ASR_EVENT_END && asr_wait(stream, -1) == ASR_OK) {
    asr_event *event = NULL;
    if (asr_result(stream, &event) != ASR_OK) break;
    kind = asr_event_get_kind(event);
    if (kind == ASR_EVENT_FINAL && prints) printf("%s\n", asr_event_text(event));
    if (kind == ASR_EVENT_ERROR) {
      fprintf(stderr, "%s\n", asr_event_text(event));
      ok = 0;
    }
    asr_event_free(event);
  }
  asr_close(stream);
  return ok && kind == ASR_EVENT_END;
}

/* Recognises the file on many streams at once and prints the speed. Returns an exit code. */
static int measure(const char *bundle, const char *device, const audio *audio, int prints) {
  asr_engine *engine = NULL;
  asr_stream *streams[kStreams] = {NULL};
  asr_engine_config config;
  asr_engine_config_default(&config);
  config.device = device;
  config.max_lanes = kStreams;
  asr_engine_info info = {0};
  info.size = sizeof(info);
  if (asr_engine_load(bundle, &config, &engine) != ASR_OK || asr_engine_get_info(engine, &info) != ASR_OK) {
    fprintf(stderr, "%s\n", asr_last_error());
    return 1;
  }
  asr_stream *first = start(engine, audio); /* warms up the device */
  int ok = first != NULL && collect(first, prints);
  const double begin_s = now_s();
  for (int i = 0; i < kStreams && ok; ++i) ok = (streams[i] = start(engine, audio)) != NULL;
  for (int i = 0; i < kStreams && streams[i] != NULL; ++i) ok = collect(streams[i], 0) && ok;
  const double seconds = now_s() - begin_s;
  if (ok) {
    printf("%-12s %8.1f times real time, %d streams at once (%s)\n", info.device_id,
           kStreams * (double)audio->n / info.sample_rate_hz / seconds, kStreams, info.device_name);
  }
  asr_engine_close(engine);
  return ok ? 0 : 1;
}

int gpu_sample_run(const gpu_sample *sample, int argc, char **argv) {
  if (argc != 3 && argc != 4) {
    fprintf(stderr, "usage: %s BUNDLE FILE.raw [DEVICE]\n", sample->name);
    return 2;
  }
  char device[64];
  if (!find_device(sample, argc == 4 ? argv[3] : NULL, device, sizeof(device))) {
    printf("%s: no device %s here: %s\n", sample->name, argc == 4 ? argv[3] : sample->back_end, sample->needs);
    return 0;
  }
  audio audio = {NULL, 0};
  int status = read_audio(argv[2], &audio) ? 0 : 1;
  if (status == 0) status = measure(argv[1], device, &audio, 1);
  if (status == 0) status = measure(argv[1], "cpu", &audio, 0);
  free(audio.samples);
  return status;
}
