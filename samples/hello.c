/* SPDX-License-Identifier: Apache-2.0 */
/* hello BUNDLE FILE.raw: prints the words of a recording (16-bit mono samples at the model's rate). */
#include <asr.h>
#include <stdio.h>

static int failed(const char *message) {
  fprintf(stderr, "hello: %s\n", message);
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: hello BUNDLE FILE.raw\n");
    return 2;
  }
  FILE *audio = fopen(argv[2], "rb");
  if (audio == NULL) {
    perror(argv[2]);
    return 1;
  }
  asr_engine *engine = NULL;
  asr_stream *stream = NULL;
  if (asr_engine_load(argv[1], NULL, &engine) != ASR_OK) return failed(asr_last_error());
  if (asr_open(engine, NULL, &stream) != ASR_OK) return failed(asr_last_error());
  int16_t samples[1600];
  for (size_t n; (n = fread(samples, sizeof(*samples), 1600, audio)) > 0;) {
    if (asr_feed(stream, samples, n) != ASR_OK) return failed(asr_last_error());
  }
  if (ferror(audio)) return failed("the recording cannot be read");
  if (asr_finish(stream) != ASR_OK) return failed(asr_last_error());
  int status = 0;
  for (asr_event_kind kind = ASR_EVENT_READY; kind != ASR_EVENT_END;) {
    asr_event *event = NULL;
    if (asr_wait(stream, -1) != ASR_OK || asr_result(stream, &event) != ASR_OK) return failed(asr_last_error());
    kind = asr_event_get_kind(event);
    if (kind == ASR_EVENT_FINAL) puts(asr_event_text(event));
    if (kind == ASR_EVENT_ERROR) status = failed(asr_event_text(event)); /* END follows */
    asr_event_free(event);
  }
  asr_close(stream);
  asr_engine_close(engine);
  fclose(audio);
  return status;
}
