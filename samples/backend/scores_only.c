/* SPDX-License-Identifier: Apache-2.0 */
/* The back end "scores_only": the smallest one there can be (docs/backend.md). It computes log-likelihoods, in scalar C and in
 * double, and leaves the front end and the search to the CPU by leaving their slots NULL. Replace score_row by a kernel of your
 * own to see what it does for recognition. */
#include <asr_backend.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A set of Gaussians over some dimensions of a row. */
struct codebook {
  uint32_t stream;
  uint32_t n_gaussians;
  float *means;          /* [n_gaussians][d] */
  float *precisions;     /* [n_gaussians][n_values]: d values, or a lower triangle by rows if the covariance is full */
  double *constants;     /* [n_gaussians]: (ln |P| - d ln 2 pi) / 2 */
  double *log_densities; /* [n_gaussians]: ln N of the row that is being scored */
};

/* Memory of a model, freed with it. */
struct block {
  struct block *next;
  double data[];
};

struct asr_backend_acoustic {
  asr_acoustic_view view; /* of its arrays, these are copies: streams, log_weights, state_codebook, state_weight */
  struct codebook *codebooks;
  double *scratch; /* [n_dims^2] */
  struct block *blocks;
};

static _Thread_local char message[256];

static const char *last_error(void) { return message; }

static asr_status fail(asr_status status, const char *text) {
  snprintf(message, sizeof message, "scores_only: %s", text);
  return status;
}

/* Returns a copy of n elements at `from`, or as many zeros if that is NULL. NULL, and sets *failed, if there is no memory. */
static void *take(asr_backend_acoustic *a, const void *from, size_t n, size_t size, int *failed) {
  struct block *block = calloc(1, sizeof *block + n * size);
  if (block == NULL) {
    *failed = 1;
    return NULL;
  }
  if (from != NULL && n > 0) memcpy(block->data, from, n * size);
  block->next = a->blocks;
  a->blocks = block;
  return block->data;
}

static void free_acoustic(asr_backend_acoustic *a) {
  if (a == NULL) return;
  while (a->blocks != NULL) {
    struct block *next = a->blocks->next;
    free(a->blocks);
    a->blocks = next;
  }
  free(a);
}

/* ---- loading ------------------------------------------------------------------------------------------------------- */

/* Returns ln |P|; NaN if P is not positive definite. A full P is decomposed (Cholesky) in l[d][d]. */
static double log_determinant(const float *p, size_t d, int is_full, double *l) {
  double sum = 0;
  for (size_t i = 0; i < d; ++i) {
    if (!is_full) {
      sum += log(p[i]);
      continue;
    }
    for (size_t j = 0; j <= i; ++j) {
      double value = *p++;
      for (size_t k = 0; k < j; ++k) value -= l[i * d + k] * l[j * d + k];
      l[i * d + j] = i == j ? sqrt(value) : value / l[j * d + j];
    }
    sum += 2 * log(l[i * d + i]);
  }
  return sum;
}

/* Copies a codebook's Gaussians, each with its precision, which others may share. Returns 1 if all are proper. */
static int load_codebook(asr_backend_acoustic *a, const asr_acoustic_view *view, uint32_t number, int *failed) {
  const asr_gmm_codebook *from = &view->codebooks[number];
  struct codebook *to = &a->codebooks[number];
  const int is_full = view->covariance == ASR_COVARIANCE_FULL;
  const size_t d = view->streams[from->stream].n_dims;
  const size_t n_values = is_full ? d * (d + 1) / 2 : d;
  const size_t n = from->n_gaussians;
  to->stream = from->stream;
  to->n_gaussians = from->n_gaussians;
  to->means = take(a, view->means + from->first_mean, n * d, sizeof(float), failed);
  to->precisions = take(a, NULL, n * n_values, sizeof(float), failed);
  to->constants = take(a, NULL, n, sizeof(double), failed);
  to->log_densities = take(a, NULL, n, sizeof(double), failed);
  for (size_t g = 0; g < n && !*failed; ++g) {
    const size_t covariance = view->covariance_of[from->first_gaussian + g];
    float *precision = to->precisions + g * n_values;
    memcpy(precision, view->precisions + view->precision_at[covariance], n_values * sizeof(float));
    to->constants[g] = (log_determinant(precision, d, is_full, a->scratch) - (double)d * log(2 * acos(-1))) / 2;
    if (isnan(to->constants[g])) return 0;
  }
  return 1;
}

static asr_status load_acoustic(asr_backend_device *device, const asr_acoustic_view *view, asr_backend_acoustic **acoustic) {
  (void)device;
  const size_t n_lists = (size_t)view->n_states * view->n_streams;
  asr_backend_acoustic *a = calloc(1, sizeof *a);
  int failed = a == NULL;
  int is_proper = 1;
  if (failed) return fail(ASR_OUT_OF_MEMORY, "there is no memory left");
  size_t n_weights = 0;
  for (size_t i = 0; i < n_lists; ++i) {
    const size_t end = view->state_weight[i] + view->codebooks[view->state_codebook[i]].n_gaussians;
    if (end > n_weights) n_weights = end;
  }
  a->view = *view;
  a->view.log_weights = take(a, view->log_weights, n_weights, sizeof *view->log_weights, &failed);
  a->view.state_codebook = take(a, view->state_codebook, n_lists, sizeof *view->state_codebook, &failed);
  a->view.state_weight = take(a, view->state_weight, n_lists, sizeof *view->state_weight, &failed);
  a->codebooks = take(a, NULL, view->n_codebooks, sizeof *a->codebooks, &failed);
  a->scratch = take(a, NULL, (size_t)view->n_dims * view->n_dims, sizeof *a->scratch, &failed);
  asr_gmm_stream *streams = take(a, view->streams, view->n_streams, sizeof *streams, &failed);
  a->view.streams = streams;
  for (uint32_t s = 0; s < view->n_streams && !failed; ++s) {
    streams[s].dims = take(a, view->streams[s].dims, view->streams[s].n_dims, sizeof(uint32_t), &failed);
  }
  for (uint32_t c = 0; c < view->n_codebooks && !failed && is_proper; ++c) is_proper = load_codebook(a, view, c, &failed);
  if (failed || !is_proper) {
    free_acoustic(a);
    if (failed) return fail(ASR_OUT_OF_MEMORY, "there is no memory left");
    return fail(ASR_BAD_FILE, "a precision is not positive definite");
  }
  *acoustic = a;
  return ASR_OK;
}

/* ---- scoring: G1 to G3 of docs/equations.md ------------------------------------------------------------------------ */

/* ln N of the row for every Gaussian of a codebook. */
static void score_codebook(asr_backend_acoustic *a, const struct codebook *book, const float *row) {
  const asr_gmm_stream *stream = &a->view.streams[book->stream];
  const float *mean = book->means;
  const float *precision = book->precisions;
  double *x = a->scratch;
  for (uint32_t g = 0; g < book->n_gaussians; ++g) {
    double distance = 0; /* x' P x, of which a triangle has each product once */
    for (uint32_t i = 0; i < stream->n_dims; ++i) {
      x[i] = (double)row[stream->dims[i]] - *mean++;
      const uint32_t first = a->view.covariance == ASR_COVARIANCE_FULL ? 0 : i;
      for (uint32_t j = first; j <= i; ++j) distance += (j < i ? 2 : 1) * x[i] * *precision++ * x[j];
    }
    book->log_densities[g] = book->constants[g] - distance / 2;
  }
}

/* Returns ln sum_k exp(weights[k]) N_k. */
static double mix(const struct codebook *book, const float *weights) {
  double max = -INFINITY;
  double sum = 0;
  for (uint32_t k = 0; k < book->n_gaussians; ++k) max = fmax(max, weights[k] + book->log_densities[k]);
  if (max == -INFINITY) return max;
  for (uint32_t k = 0; k < book->n_gaussians; ++k) sum += exp(weights[k] + book->log_densities[k] - max);
  return max + log(sum);
}

static void score_row(asr_backend_acoustic *a, const float *row, float *loglikes) {
  const asr_acoustic_view *v = &a->view;
  for (uint32_t c = 0; c < v->n_codebooks; ++c) score_codebook(a, &a->codebooks[c], row);
  for (size_t s = 0; s < v->n_states; ++s) {
    double total = 0;
    for (size_t list = s * v->n_streams; list < (s + 1) * v->n_streams; ++list) {
      total += mix(&a->codebooks[v->state_codebook[list]], v->log_weights + v->state_weight[list]);
    }
    loglikes[s] = (float)total;
  }
}

/* There are no score buffers, since only a search or a fusion on the device would read them. */
static asr_status score(asr_backend_device *device, const asr_score_job *jobs, size_t n_jobs) {
  (void)device;
  for (size_t i = 0; i < n_jobs; ++i) {
    if (jobs[i].loglikes == NULL) continue;
    const asr_acoustic_view *v = &jobs[i].acoustic->view;
    for (size_t t = 0; t < jobs[i].n_rows; ++t) {
      score_row(jobs[i].acoustic, jobs[i].features + t * v->n_dims, jobs[i].loglikes + t * v->n_states);
    }
  }
  return ASR_OK;
}

/* ---- the device and the table -------------------------------------------------------------------------------------- */

static char the_device; /* it has no state */

static asr_status probe(asr_backend_device_info *infos, size_t capacity, size_t *n_devices) {
  *n_devices = 1;
  if (capacity == 0) return ASR_OK;
  infos[0].score = 1; /* less than that of the CPU back end, so that it is used only by name */
  snprintf(infos[0].name, sizeof infos[0].name, "scalar C");
  return ASR_OK;
}

static asr_status open_device(uint32_t index, const asr_backend_options *options, asr_backend_device **device) {
  (void)options;
  if (index != 0) return fail(ASR_NO_DEVICE, "there is one device, scores_only:0");
  *device = (asr_backend_device *)&the_device;
  return ASR_OK;
}

static void close_device(asr_backend_device *device) { (void)device; }

static asr_status wait(asr_backend_device *device, uint32_t n_left) {
  (void)device;
  (void)n_left;
  return ASR_OK;
}

static const void *extension(const char *name) {
  (void)name;
  return NULL;
}

__attribute__((visibility("default"))) const asr_backend_api *asr_backend_entry(uint32_t host_abi, const asr_host_api *host) {
  static const asr_backend_api table = {
      .abi = ASR_BACKEND_ABI,
      .size = sizeof table,
      .name = "scores_only",
      .probe = probe,
      .open = open_device,
      .close = close_device,
      .last_error = last_error,
      .load_acoustic = load_acoustic,
      .free_acoustic = free_acoustic,
      .score = score,
      .wait = wait,
      .extension = extension,
  };
  (void)host;
  return host_abi == ASR_BACKEND_ABI ? &table : NULL;
}
