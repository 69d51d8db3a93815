/* SPDX-License-Identifier: Apache-2.0 */
/* own_decoder BUNDLE FILE.raw [COST]: a decoder of its own over the log-likelihoods of Senone, for 16-bit mono samples at the
 * model's rate. It finds the likeliest sequence of senones, where each may follow each at a cost, and prints a line for each:
 * begin and end in seconds, and the number of the senone. The bundle needs no graph. */
#include <asr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed(const char *message) {
  fprintf(stderr, "own_decoder: %s\n", message);
  return 1;
}

/* Viterbi over frames: cost[s] of the best path that ends in senone s, and before[t][s], the senone of that path a frame
 * earlier. */
typedef struct {
  size_t n_senones, n_frames, capacity;
  float *cost, switch_cost;
  uint32_t *before;
} Decoder;

static int begin(Decoder *decoder, size_t n_senones, float switch_cost) {
  memset(decoder, 0, sizeof(*decoder));
  decoder->n_senones = n_senones;
  decoder->switch_cost = switch_cost;
  decoder->cost = calloc(n_senones, sizeof(float));
  return decoder->cost != NULL;
}

static size_t cheapest(const Decoder *decoder) {
  size_t best = 0;
  for (size_t s = 1; s < decoder->n_senones; ++s) {
    if (decoder->cost[s] < decoder->cost[best]) best = s;
  }
  return best;
}

static int advance(Decoder *decoder, const float *loglikes) {
  if (decoder->n_frames == decoder->capacity) {
    decoder->capacity = 2 * decoder->capacity + 256;
    uint32_t *grown = realloc(decoder->before, decoder->capacity * decoder->n_senones * sizeof(uint32_t));
    if (grown == NULL) return 0;
    decoder->before = grown;
  }
  uint32_t *before = decoder->before + decoder->n_frames++ * decoder->n_senones;
  const size_t best = cheapest(decoder);
  const float switched = decoder->cost[best] + decoder->switch_cost;
  const float least = decoder->cost[best]; /* subtracted, so that costs stay small */
  for (size_t s = 0; s < decoder->n_senones; ++s) {
    const int stays = decoder->cost[s] <= switched;
    before[s] = (uint32_t)(stays ? s : best);
    decoder->cost[s] = (stays ? decoder->cost[s] : switched) - least - loglikes[s];
  }
  return 1;
}

static int print_path(const Decoder *decoder, double frame_s) {
  uint32_t *path = malloc((decoder->n_frames + 1) * sizeof(uint32_t));
  if (path == NULL) return 0;
  size_t senone = cheapest(decoder);
  for (size_t t = decoder->n_frames; t-- > 0;) {
    path[t] = (uint32_t)senone;
    senone = decoder->before[t * decoder->n_senones + senone];
  }
  for (size_t first = 0, t = 1; t <= decoder->n_frames; ++t) {
    if (t < decoder->n_frames && path[t] == path[first]) continue;
    printf("%.2f\t%.2f\t%u\n", (double)first * frame_s, (double)t * frame_s, path[first]);
    first = t;
  }
  free(path);
  return 1;
}

/* Takes the rows that are there, or waits for all that follow. Returns 0 if the stream has failed. */
static int take(asr_stream *stream, Decoder *decoder, int waits) {
  for (asr_event_kind kind = ASR_EVENT_READY; kind != ASR_EVENT_END;) {
    asr_event *event = NULL;
    if (waits && asr_wait(stream, -1) != ASR_OK) return !failed(asr_last_error());
    if (asr_result(stream, &event) != ASR_OK) return !failed(asr_last_error());
    if (event == NULL) return 1;
    kind = asr_event_get_kind(event);
    int is_good = kind != ASR_EVENT_ERROR || !failed(asr_event_text(event));
    asr_rows rows = {.size = sizeof(rows)};
    if (kind == ASR_EVENT_ROWS && asr_event_rows(event, &rows) != ASR_OK) is_good = !failed(asr_last_error());
    for (uint32_t t = 0; is_good && t < rows.n_rows; ++t) {
      if (!advance(decoder, rows.values + (size_t)t * rows.n_values)) is_good = !failed("out of memory");
    }
    asr_event_free(event);
    if (!is_good) return 0;
  }
  return 1;
}

static int decode(asr_stream *stream, FILE *audio, Decoder *decoder) {
  int16_t samples[1600];
  for (size_t n; (n = fread(samples, sizeof(*samples), 1600, audio)) > 0;) {
    if (asr_feed(stream, samples, n) != ASR_OK) return !failed(asr_last_error());
    if (!take(stream, decoder, 0)) return 0;
  }
  if (ferror(audio)) return !failed("the recording cannot be read");
  if (asr_finish(stream) != ASR_OK) return !failed(asr_last_error());
  return take(stream, decoder, 1);
}

int main(int argc, char **argv) {
  if (argc < 3 || argc > 4) {
    fprintf(stderr, "usage: own_decoder BUNDLE FILE.raw [COST]\n");
    return 2;
  }
  FILE *audio = fopen(argv[2], "rb");
  if (audio == NULL) {
    perror(argv[2]);
    return 1;
  }
  asr_engine *engine = NULL;
  asr_stream *stream = NULL;
  asr_engine_info info = {.size = sizeof(info)};
  asr_stream_config config;
  asr_stream_config_default(&config);
  config.output = ASR_OUTPUT_LOGLIKES;
  if (asr_engine_load(argv[1], NULL, &engine) != ASR_OK) return failed(asr_last_error());
  if (asr_engine_get_info(engine, &info) != ASR_OK) return failed(asr_last_error());
  if (asr_open(engine, &config, &stream) != ASR_OK) return failed(asr_last_error());
  Decoder decoder;
  if (!begin(&decoder, info.n_states, argc > 3 ? (float)atof(argv[3]) : 20)) return failed("out of memory");
  int is_good = decode(stream, audio, &decoder);
  if (is_good && !print_path(&decoder, info.frame_shift_ms / 1000)) is_good = !failed("out of memory");
  free(decoder.cost);
  free(decoder.before);
  asr_close(stream);
  asr_engine_close(engine);
  fclose(audio);
  return is_good ? 0 : 1;
}
