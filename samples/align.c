/* SPDX-License-Identifier: Apache-2.0 */
/* align BUNDLE DICTIONARY FILE.raw TEXT: prints the times of the words of a recording whose text is known, and how well they
 * fit. Recordings are 16-bit mono samples at the model's rate. Built with libsenone_build:
 *   cc align.c $(pkg-config --cflags --libs senone_build) */
#include <asr_build.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed(void) {
  fprintf(stderr, "align: %s\n", asr_build_last_error());
  return 1;
}

static int print_words(const asr_alignment *alignment) {
  asr_alignment_info info;
  asr_aligned_word word;
  info.size = sizeof(info);
  word.size = sizeof(word);
  if (asr_alignment_get_info(alignment, &info) != ASR_OK) return failed();
  for (size_t i = 0; i < info.n_words; ++i) {
    if (asr_alignment_word(alignment, i, &word) != ASR_OK) return failed();
    printf("%7.2f %7.2f  %.2f  %s\n", word.start_s, word.end_s, (double)word.confidence, word.text);
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: align BUNDLE DICTIONARY FILE.raw TEXT\n");
    return 2;
  }
  const size_t most_samples = 16000 * 600;
  int16_t *samples = malloc(most_samples * sizeof(*samples));
  FILE *audio = fopen(argv[3], "rb");
  if (audio == NULL || samples == NULL) {
    perror(argv[3]);
    return 1;
  }
  const size_t n_samples = fread(samples, sizeof(*samples), most_samples, audio);
  fclose(audio);
  asr_aligner *aligner = NULL;
  asr_alignment *alignment = NULL;
  int status = 0;
  if (asr_aligner_open(argv[1], argv[2], NULL, &aligner) != ASR_OK ||
      asr_align(aligner, samples, n_samples, argv[4], strlen(argv[4]), NULL, &alignment) != ASR_OK) {
    status = failed();
  } else {
    status = print_words(alignment);
  }
  asr_alignment_free(alignment);
  asr_aligner_close(aligner);
  free(samples);
  return status;
}
