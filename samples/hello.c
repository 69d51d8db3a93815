/* SPDX-License-Identifier: Apache-2.0 */
/* hello BUNDLE FILE.raw: prints the words of a recording (16-bit mono samples at the model's rate). */
#include <asr.h>
#include <stdio.h>

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: hello BUNDLE FILE.raw\n");
    return 2;
  }
  asr_engine *engine = NULL;
  asr_stream *stream = NULL;
  FILE *audio = fopen(argv[2], "rb");
  if (audio == NULL) {
    perror(argv[2]);
    return 1;
  }
  if (asr_engine_load(argv[1], NULL, &engine) != ASR_OK || asr_open(engine, NULL, &stream) != ASR_OK) {
    fprintf(stderr, "hello: %s\n", asr_last_error());
    return 1;
  }
  int16_t samples[1600];
  for (size_t n; (n = fread(samples, sizeof(*samples), 1600, audio)) > 0;) asr_feed(stream, samples, n);
  asr_finish(stream);
  asr_event_kind kind = ASR_EVENT_READY;
  while (kind != ASR_EVENT_END && asr_wait(stream, -1) == ASR_OK) {
    asr_event *event = NULL;
    asr_result(stream, &event);
    kind = asr_event_get_kind(event);
    if (kind == ASR_EVENT_FINAL) puts(asr_event_text(event));
    asr_event_free(event);
  }
  asr_close(stream);
  asr_engine_close(engine);
  fclose(audio);
  return 0;
}
