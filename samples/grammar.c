/* SPDX-License-Identifier: Apache-2.0 */
/* grammar BUNDLE DICTIONARY GRAMMAR.jsgf FILE.raw: compiles a grammar for the bundle's model and prints the words
 * recognised in a recording. Recordings are 16-bit mono samples at the model's rate. Built with libsenone and
 * libsenone_build:
 *   cc grammar.c $(pkg-config --cflags --libs senone senone_build) */
#include <asr_build.h>
#include <stdio.h>

static int failed(const char *message) {
  fprintf(stderr, "grammar: %s\n", message);
  return 1;
}

/* Compiles the grammar and adds it to the engine under the name "grammar". */
static int add_grammar(asr_engine *engine, const char *bundle, const char *dictionary, const char *name, const char *text,
                       size_t n_bytes) {
  int status = 0;
  asr_builder *builder = NULL;
  asr_build_result *result = NULL;
  asr_build_config config;
  asr_build_info info;
  asr_build_config_default(&config);
  config.name = name;
  info.size = sizeof(info);
  if (asr_builder_open(bundle, &builder) != ASR_OK || asr_builder_add_lexicon(builder, dictionary) != ASR_OK ||
      asr_build_jsgf(builder, text, n_bytes, &config, &result) != ASR_OK || asr_build_get_info(result, &info) != ASR_OK) {
    status = failed(asr_build_last_error());
  } else if (asr_engine_add_graph_bytes(engine, "grammar", info.bytes, info.n_bytes) != ASR_OK) {
    status = failed(asr_last_error());
  }
  asr_build_free(result);
  asr_builder_close(builder);
  return status;
}

static int recognise(asr_engine *engine, FILE *audio) {
  asr_stream *stream = NULL;
  asr_stream_config config;
  asr_stream_config_default(&config);
  config.graph = "grammar";
  if (asr_open(engine, &config, &stream) != ASR_OK) return failed(asr_last_error());
  int16_t samples[1600];
  for (size_t n; (n = fread(samples, sizeof(*samples), 1600, audio)) > 0;) asr_feed(stream, samples, n);
  asr_finish(stream);
  int status = 0;
  asr_event_kind kind = ASR_EVENT_READY;
  while (kind != ASR_EVENT_END && asr_wait(stream, -1) == ASR_OK) {
    asr_event *event = NULL;
    asr_result(stream, &event);
    kind = asr_event_get_kind(event);
    if (kind == ASR_EVENT_FINAL) puts(asr_event_text(event));
    if (kind == ASR_EVENT_ERROR) status = failed(asr_event_text(event));
    asr_event_free(event);
  }
  asr_close(stream);
  return status;
}

int main(int argc, char **argv) {
  static char text[1 << 20];
  if (argc != 5) {
    fprintf(stderr, "usage: grammar BUNDLE DICTIONARY GRAMMAR.jsgf FILE.raw\n");
    return 2;
  }
  FILE *grammar = fopen(argv[3], "rb"), *audio = fopen(argv[4], "rb");
  if (grammar == NULL || audio == NULL) {
    perror(grammar == NULL ? argv[3] : argv[4]);
    return 1;
  }
  const size_t n_bytes = fread(text, 1, sizeof(text), grammar);
  if (n_bytes == sizeof(text)) return failed("the grammar has more than 1 MB");
  asr_engine *engine = NULL;
  int status = asr_engine_load(argv[1], NULL, &engine) == ASR_OK ? 0 : failed(asr_last_error());
  if (status == 0) status = add_grammar(engine, argv[1], argv[2], argv[3], text, n_bytes);
  if (status == 0) status = recognise(engine, audio);
  asr_engine_close(engine);
  fclose(grammar);
  fclose(audio);
  return status;
}
