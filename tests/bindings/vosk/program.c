/* SPDX-License-Identifier: Apache-2.0 */
/* vosk_program TONES uses libvosk as a C program does: TONES is a folder of make_tone_bundle, with the dictionary tones.dict as
 * lexicon.dict in its bundle "model". Results are looked at as texts. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "vosk_api.h"

enum { kRate = 16000, kMaxSamples = 10 * kRate, kPiece = 1600, kThreads = 8 };

static int n_failures = 0;

#define CHECK(condition)                                           \
  do {                                                             \
    if (!(condition)) {                                            \
      fprintf(stderr, "program.c:%d: %s\n", __LINE__, #condition); \
      ++n_failures;                                                \
    }                                                              \
  } while (0)
#define CHECK_HAS(text, part)                                                   \
  do {                                                                          \
    const char *const got = (text);                                             \
    if (strstr(got, part) == NULL) {                                            \
      fprintf(stderr, "program.c:%d: %s is not in: %s\n", __LINE__, part, got); \
      ++n_failures;                                                             \
    }                                                                           \
  } while (0)

static int16_t recording[kMaxSamples]; /* "low mid high" */
static int n_samples;
static const int16_t silence[kPiece] = {0};

static char *in_folder(const char *folder, const char *name) {
  char *const path = malloc(strlen(folder) + strlen(name) + 2);
  sprintf(path, "%s/%s", folder, name);
  return path;
}

static void read_recording(const char *folder) {
  char *const path = in_folder(folder, "low_mid_high.raw");
  FILE *const file = fopen(path, "rb");
  if (file == NULL) exit(2);
  n_samples = (int)fread(recording, 2, kMaxSamples, file);
  fclose(file);
  free(path);
}

/* Feeds the recording in pieces. Returns the number of calls that said that a result is ready, or -1. */
static int feed(VoskRecognizer *recognizer) {
  int n_ready = 0;
  for (int i = 0; i < n_samples; i += kPiece) {
    const int n = n_samples - i < kPiece ? n_samples - i : kPiece;
    const int ready = vosk_recognizer_accept_waveform_s(recognizer, recording + i, n);
    if (ready < 0) return -1;
    n_ready += ready;
  }
  return n_ready;
}

/* Feeds silence until a result is ready, for a minute at most. */
static int feed_silence(VoskRecognizer *recognizer) {
  for (int i = 0; i < 600; ++i) {
    if (vosk_recognizer_accept_waveform_s(recognizer, silence, kPiece) != 0) return 1;
  }
  return 0;
}

/* Returns whether the partial result comes to have the text, within a minute: where the machine is busy it may be late. */
static int has_partial(VoskRecognizer *recognizer, const char *part) {
  const struct timespec pause = {0, 10000000};
  for (int i = 0; i < 6000; ++i) {
    if (strstr(vosk_recognizer_partial_result(recognizer), part) != NULL) return 1;
    nanosleep(&pause, NULL);
  }
  return 0;
}

static void misuse(VoskModel *model) {
  CHECK(vosk_model_new(NULL) == NULL);
  CHECK(vosk_model_new("/no/such/bundle") == NULL);
  CHECK(vosk_batch_model_new("/no/such/bundle") == NULL);
  CHECK(vosk_spk_model_new("model") == NULL);
  CHECK(vosk_text_processor_new("tagger", "verbalizer") == NULL);
  CHECK(vosk_text_processor_itn(NULL, "one") == NULL);
  CHECK(vosk_recognizer_new(NULL, kRate) == NULL);
  CHECK(vosk_recognizer_new(model, 0) == NULL);
  CHECK(vosk_recognizer_new(model, -1e30f) == NULL);
  CHECK(vosk_recognizer_new_spk(model, kRate, NULL) == NULL);
  CHECK(vosk_recognizer_new_grm(model, kRate, NULL) == NULL);
  CHECK(vosk_recognizer_new_grm(model, kRate, "low mid") == NULL);
  CHECK(vosk_recognizer_new_grm(model, kRate, "[\"low\", 3]") == NULL);
  CHECK(vosk_recognizer_new_grm(model, kRate, "[\"[unk]\"]") == NULL);
  CHECK(vosk_model_find_word(NULL, "low") == -1);
  CHECK(vosk_model_find_word(model, NULL) == -1);
  CHECK(vosk_recognizer_accept_waveform(NULL, "", 0) == -1);
  CHECK_HAS(vosk_recognizer_result(NULL), "\"text\" : \"\"");
  CHECK_HAS(vosk_recognizer_final_result(NULL), "\"text\" : \"\"");
  CHECK_HAS(vosk_recognizer_partial_result(NULL), "\"partial\" : \"\"");
  CHECK(*vosk_batch_recognizer_front_result(NULL) == 0);
  CHECK(vosk_batch_recognizer_get_pending_chunks(NULL) == 0);
  vosk_recognizer_set_grm(NULL, "[]");
  vosk_recognizer_set_words(NULL, 1);
  vosk_recognizer_reset(NULL);
  vosk_batch_model_wait(NULL);
  vosk_batch_recognizer_pop(NULL);
  vosk_model_free(NULL);
  vosk_spk_model_free(NULL);
  vosk_recognizer_free(NULL);
  vosk_batch_model_free(NULL);
  vosk_batch_recognizer_free(NULL);
  vosk_text_processor_free(NULL);

  VoskRecognizer *const recognizer = vosk_recognizer_new(model, kRate);
  const float infinite = 1e30f * 1e30f;
  CHECK(vosk_recognizer_accept_waveform(recognizer, NULL, 2) == -1);
  CHECK(vosk_recognizer_accept_waveform(recognizer, "ab", -2) == -1);
  CHECK(vosk_recognizer_accept_waveform_f(recognizer, &infinite, 1) == -1);
  CHECK(vosk_recognizer_accept_waveform(recognizer, NULL, 0) == 0);
  vosk_recognizer_set_grm(recognizer, "nonsense");
  vosk_recognizer_set_spk_model(recognizer, NULL);
  vosk_recognizer_set_endpointer_mode(recognizer, 99);
  vosk_recognizer_set_endpointer_delays(recognizer, infinite - infinite, 0, 0);
  vosk_recognizer_set_max_alternatives(recognizer, -5);
  CHECK(feed(recognizer) >= 0);
  CHECK_HAS(vosk_recognizer_final_result(recognizer), "\"text\" : \"low mid high\"");
  vosk_recognizer_free(recognizer);
}

static void results(VoskModel *model) {
  VoskRecognizer *recognizer = vosk_recognizer_new(model, kRate);
  CHECK_HAS(vosk_recognizer_result(recognizer), "\"text\" : \"\"");
  CHECK(feed(recognizer) >= 0);
  CHECK(has_partial(recognizer, "\"partial\" : \"low mid"));
  CHECK(feed_silence(recognizer) == 1); /* an endpoint */
  const char *text = vosk_recognizer_result(recognizer);
  CHECK(strcmp(text, "{\n  \"text\" : \"low mid high\"\n}") == 0); /* as Vosk lays it out */
  CHECK_HAS(vosk_recognizer_partial_result(recognizer), "\"partial\" : \"\"");

  vosk_recognizer_set_words(recognizer, 1);
  vosk_recognizer_set_partial_words(recognizer, 1);
  CHECK(feed(recognizer) >= 0);
  CHECK(has_partial(recognizer, "\"partial_result\" : [{\n      \"end\" : "));
  text = vosk_recognizer_final_result(recognizer);
  CHECK_HAS(text, "\"result\" : [{\n      \"conf\" : ");
  CHECK_HAS(text, "\"word\" : \"mid\"\n    }, {\n");
  CHECK_HAS(text, "\"text\" : \"low mid high\"");
  /* Times run on: the second recording begins after the first and the silence that ended it. */
  const char *const start = strstr(text, "\"start\" : ");
  CHECK(start != NULL && atof(start + 10) > (double)n_samples / kRate);

  vosk_recognizer_set_max_alternatives(recognizer, 3);
  CHECK(feed(recognizer) >= 0);
  text = vosk_recognizer_final_result(recognizer);
  CHECK_HAS(text, "\"alternatives\" : [{\n      \"confidence\" : ");
  CHECK_HAS(text, "      \"text\" : \"low mid high\"");
  vosk_recognizer_set_nlsml(recognizer, 1);
  CHECK_HAS(vosk_recognizer_final_result(recognizer), "<noinput/>");
  CHECK(feed(recognizer) >= 0);
  CHECK_HAS(vosk_recognizer_result(recognizer), "<instance>low mid high</instance>");
  vosk_recognizer_free(recognizer);
}

/* Settings that change while somebody speaks cost no words. */
static void changes(VoskModel *model) {
  VoskRecognizer *const recognizer = vosk_recognizer_new(model, kRate);
  for (int i = 0, n = 0; i < n_samples; i += n) {
    n = n_samples - i < kPiece ? n_samples - i : kPiece;
    vosk_recognizer_set_words(recognizer, i / kPiece % 2);
    CHECK(vosk_recognizer_accept_waveform_s(recognizer, recording + i, n) == 0);
  }
  CHECK_HAS(vosk_recognizer_final_result(recognizer), "\"text\" : \"low mid high\"");
  vosk_recognizer_free(recognizer);
}

static void reset(VoskModel *model) {
  VoskRecognizer *const recognizer = vosk_recognizer_new(model, kRate);
  CHECK(feed(recognizer) >= 0);
  vosk_recognizer_reset(recognizer);
  CHECK_HAS(vosk_recognizer_partial_result(recognizer), "\"partial\" : \"\"");
  CHECK_HAS(vosk_recognizer_final_result(recognizer), "\"text\" : \"\"");
  CHECK(feed(recognizer) >= 0);
  CHECK_HAS(vosk_recognizer_final_result(recognizer), "\"text\" : \"low mid high\"");
  vosk_recognizer_free(recognizer);
}

static void inputs(VoskModel *model) {
  VoskRecognizer *const recognizer = vosk_recognizer_new(model, kRate);
  const char *const bytes = (const char *)recording; /* pieces of an odd number of bytes */
  for (int i = 0; i < 2 * n_samples; i += 1001) {
    const int n = 2 * n_samples - i < 1001 ? 2 * n_samples - i : 1001;
    CHECK(vosk_recognizer_accept_waveform(recognizer, bytes + i, n) >= 0);
  }
  CHECK_HAS(vosk_recognizer_final_result(recognizer), "\"text\" : \"low mid high\"");
  float *const floats = malloc(sizeof(float) * (size_t)n_samples);
  for (int i = 0; i < n_samples; ++i) floats[i] = recording[i];
  CHECK(vosk_recognizer_accept_waveform_f(recognizer, floats, n_samples) >= 0);
  CHECK_HAS(vosk_recognizer_final_result(recognizer), "\"text\" : \"low mid high\"");
  free(floats);
  vosk_recognizer_free(recognizer);
}

/* Nobody speaks: an empty result after the delay, which is 5 s unless it is set. */
static void no_input(VoskModel *model) {
  VoskRecognizer *const recognizer = vosk_recognizer_new(model, kRate);
  vosk_recognizer_set_endpointer_delays(recognizer, 20, 0.5f, 30);
  int n = 1;
  while (n < 600 && vosk_recognizer_accept_waveform_s(recognizer, silence, kPiece) == 0) ++n;
  CHECK(n >= 200 && n < 600); /* pieces of 0.1 s */
  CHECK_HAS(vosk_recognizer_result(recognizer), "\"text\" : \"\"");
  vosk_recognizer_free(recognizer);
}

static void grammars(const char *folder) {
  char *const path = in_folder(folder, "model");
  VoskModel *const model = vosk_model_new(path);
  free(path);
  CHECK(model != NULL);
  if (model == NULL) return;
  CHECK(vosk_model_find_word(model, "mid") >= 0);
  CHECK(vosk_model_find_word(model, "middle") == -1);
  CHECK(vosk_model_find_word(model, "mid") != vosk_model_find_word(model, "low"));
  CHECK(vosk_recognizer_new(model, kRate) == NULL); /* the bundle has no graph of its own */
  CHECK(vosk_recognizer_new_grm(model, kRate, "[\"LOW\"]") == NULL);
  VoskRecognizer *const recognizer = vosk_recognizer_new_grm(model, kRate, "[\"low mid\", \"high\", \"unheard of\"]");
  CHECK(recognizer != NULL);
  CHECK(feed(recognizer) >= 0);
  CHECK_HAS(vosk_recognizer_final_result(recognizer), "\"text\" : \"low mid high\"");
  vosk_recognizer_set_grm(recognizer, "[\"low high\", \"[unk]\"]");
  CHECK(feed(recognizer) >= 0);
  CHECK(strstr(vosk_recognizer_final_result(recognizer), "mid") == NULL);
  vosk_recognizer_set_grm(recognizer, "[\"high mid low\"]"); /* words in another order */
  CHECK(feed(recognizer) >= 0);
  CHECK_HAS(vosk_recognizer_final_result(recognizer), "\"text\" : \"low mid high\"");
  vosk_model_free(model); /* the recognizer keeps it */
  CHECK(feed(recognizer) >= 0);
  CHECK_HAS(vosk_recognizer_final_result(recognizer), "\"text\" : \"low mid high\"");
  vosk_recognizer_free(recognizer);
}

static void *recognise(void *model) {
  for (int i = 0; i < 3; ++i) {
    VoskRecognizer *const recognizer = vosk_recognizer_new(model, kRate);
    feed(recognizer);
    const int is_right = strstr(vosk_recognizer_final_result(recognizer), "\"text\" : \"low mid high\"") != NULL;
    vosk_recognizer_free(recognizer);
    if (!is_right) return "wrong words";
  }
  return NULL;
}

static void threads(VoskModel *model) {
  pthread_t all[kThreads];
  for (int i = 0; i < kThreads; ++i) CHECK(pthread_create(&all[i], NULL, recognise, model) == 0);
  for (int i = 0; i < kThreads; ++i) {
    void *failure = NULL;
    pthread_join(all[i], &failure);
    CHECK(failure == NULL);
  }
}

static void batches(const char *folder) {
  char *const path = in_folder(folder, "bundle");
  VoskBatchModel *const model = vosk_batch_model_new(path);
  free(path);
  VoskBatchRecognizer *all[4];
  CHECK(model != NULL);
  CHECK(vosk_batch_recognizer_new(model, 1) == NULL);
  for (int i = 0; i < 4; ++i) {
    all[i] = vosk_batch_recognizer_new(model, kRate);
    CHECK(*vosk_batch_recognizer_front_result(all[i]) == 0);
    vosk_batch_recognizer_accept_waveform(all[i], (const char *)recording, 2 * n_samples);
    vosk_batch_recognizer_finish_stream(all[i]);
  }
  vosk_batch_model_wait(model);
  for (int i = 0; i < 4; ++i) {
    CHECK(vosk_batch_recognizer_get_pending_chunks(all[i]) == 0);
    CHECK_HAS(vosk_batch_recognizer_front_result(all[i]), "\"text\" : \"low mid high\"");
    vosk_batch_recognizer_pop(all[i]);
    CHECK(*vosk_batch_recognizer_front_result(all[i]) == 0);
    vosk_batch_recognizer_accept_waveform(all[i], (const char *)recording, 2); /* refused */
    vosk_batch_recognizer_free(all[i]);
  }
  vosk_batch_model_free(model);
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  read_recording(argv[1]);
  vosk_set_log_level(-1);
  vosk_gpu_init();
  vosk_gpu_thread_init();
  char *const path = in_folder(argv[1], "bundle");
  VoskModel *const model = vosk_model_new(path);
  free(path);
  if (model == NULL) return 2;
  misuse(model);
  results(model);
  changes(model);
  reset(model);
  inputs(model);
  no_input(model);
  grammars(argv[1]);
  threads(model);
  batches(argv[1]);
  vosk_model_free(model);
  if (n_failures == 0) puts("libvosk: all is as expected");
  return n_failures == 0 ? 0 : 1;
}
