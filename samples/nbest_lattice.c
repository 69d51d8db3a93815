/* SPDX-License-Identifier: Apache-2.0 */
/* nbest_lattice BUNDLE FILE.raw: prints the likeliest sentences of a recording with their costs, and the words of the
 * best with their confidences. Prints every word of the lattice with its times and posterior, too. */
#include <asr.h>
#include <stdio.h>

static void print_alternatives(const asr_event *event, double acoustic_scale) {
  for (size_t a = 0; a < asr_event_n_alternatives(event); ++a) {
    double graph_cost, acoustic_cost;
    if (asr_event_alternative_costs(event, a, &graph_cost, &acoustic_cost) != ASR_OK) return;
    printf("%2zu %12.3f  %s\n", a + 1, graph_cost + acoustic_scale * acoustic_cost, asr_event_alternative_text(event, a));
  }
}

static void print_confidences(const asr_event *event) {
  for (size_t i = 0; i < asr_event_n_words(event, 0); ++i) {
    asr_word word = {0};
    word.size = sizeof(word);
    if (asr_event_word(event, 0, i, &word) != ASR_OK) return;
    printf("%7.2f %7.2f  %.3f  %s\n", word.start_s, word.end_s, word.confidence, word.text);
  }
}

static void print_final(const asr_event *event) {
  asr_lattice lattice = {0};
  lattice.size = sizeof(lattice);
  if (asr_event_lattice(event, &lattice) != ASR_OK) {
    fprintf(stderr, "nbest_lattice: %s\n", asr_last_error());
    return;
  }
  print_alternatives(event, lattice.acoustic_scale);
  print_confidences(event);
  printf("lattice of %u states and %llu arcs\n", lattice.n_states, (unsigned long long)lattice.n_arcs);
  for (uint64_t a = 0; a < lattice.n_arcs; ++a) {
    printf("%7.2f %7.2f  %.3f  %u -> %u  %s\n", lattice.arc_start_s[a], lattice.arc_end_s[a], lattice.arc_posterior[a],
           lattice.arc_from[a], lattice.arc_to[a], lattice.arc_word[a]);
  }
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: nbest_lattice BUNDLE FILE.raw\n");
    return 2;
  }
  asr_engine *engine = NULL;
  asr_stream *stream = NULL;
  asr_stream_config config;
  asr_stream_config_default(&config);
  config.lattice_beam = 8;
  config.n_best = 10;
  FILE *audio = fopen(argv[2], "rb");
  if (audio == NULL) {
    perror(argv[2]);
    return 1;
  }
  if (asr_engine_load(argv[1], NULL, &engine) != ASR_OK || asr_open(engine, &config, &stream) != ASR_OK) {
    fprintf(stderr, "nbest_lattice: %s\n", asr_last_error());
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
    if (kind == ASR_EVENT_FINAL) print_final(event);
    asr_event_free(event);
  }
  asr_close(stream);
  asr_engine_close(engine);
  fclose(audio);
  return 0;
}
