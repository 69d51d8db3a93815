/* SPDX-License-Identifier: Apache-2.0 */
/* callback BUNDLE FILE.raw: feeds a recording like a microphone, in pieces of 100 ms. A thread of the library prints the
 * words heard so far, then every word with its times. */
#include <asr.h>
#include <stdio.h>

static void print_words(const asr_event *event) {
  for (size_t i = 0; i < asr_event_n_words(event, 0); ++i) {
    asr_word word = {0};
    word.size = sizeof(word);
    if (asr_event_word(event, 0, i, &word) == ASR_OK) printf("%7.2f %7.2f  %s\n", word.start_s, word.end_s, word.text);
  }
}

static void on_event(asr_stream *stream, asr_event *event, void *user_data) {
  asr_status *outcome = user_data;
  (void)stream;
  switch (asr_event_get_kind(event)) {
    case ASR_EVENT_PARTIAL:
      printf("%7.2f ... %s\n", asr_event_time_s(event), asr_event_text(event));
      break;
    case ASR_EVENT_FINAL:
      print_words(event);
      break;
    case ASR_EVENT_ERROR:
      fprintf(stderr, "callback: %s\n", asr_event_text(event));
      *outcome = asr_event_status(event);
      break;
    default:
      break;
  }
  asr_event_free(event);
}

static int fail(void) {
  fprintf(stderr, "callback: %s\n", asr_last_error());
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: callback BUNDLE FILE.raw\n");
    return 2;
  }
  FILE *audio = fopen(argv[2], "rb");
  if (audio == NULL) {
    perror(argv[2]);
    return 1;
  }
  asr_engine *engine = NULL;
  if (asr_engine_load(argv[1], NULL, &engine) != ASR_OK) return fail();

  asr_status outcome = ASR_OK;
  asr_stream_config config;
  asr_stream_config_default(&config);
  config.cmn = ASR_CMN_LIVE; /* gives words while audio is fed */
  config.partial_interval_ms = 500;
  config.callback = on_event;
  config.user_data = &outcome;
  asr_stream *stream = NULL;
  if (asr_open(engine, &config, &stream) != ASR_OK) return fail();
  asr_engine_close(engine); /* the stream keeps a reference */

  int16_t samples[1600];
  for (size_t n; (n = fread(samples, sizeof(*samples), 1600, audio)) > 0;) {
    if (asr_feed(stream, samples, n) != ASR_OK) break;
  }
  asr_finish(stream);
  asr_wait(stream, -1); /* returns after END was delivered */
  asr_close(stream);
  fclose(audio);
  return outcome == ASR_OK ? 0 : 1;
}
