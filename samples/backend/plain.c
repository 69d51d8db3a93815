/* SPDX-License-Identifier: Apache-2.0 */
/* The back end "plain", to copy and to learn from (docs/backend.md): all three parts of a back end in scalar C, without a
 * capability. It passes the conformance suite. It computes on the calling thread, in double wherever docs/search.md does not
 * prescribe float, and makes best paths only. Because it keeps all paths of a channel, an hour of audio needs much memory.
 * scores_only.c is a smaller back end, for those who have a good kernel for scores and want to begin with that. */
#include <asr_backend.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX(a, b) ((a) > (b) ? (a) : (b))

static const char kNoMemory[] = "there is no memory left";
static const char kCycle[] = "a cycle of epsilon arcs has a negative cost";

/* The message of the calling thread's last failure. */
static _Thread_local char message[256];

static const char *last_error(void) { return message; }

static asr_status fail(asr_status status, const char *text) {
  snprintf(message, sizeof message, "plain: %s", text);
  return status;
}

static asr_status no_memory(void) { return fail(ASR_OUT_OF_MEMORY, kNoMemory); }

/* The arrays of an object, which are freed with it. Objects begin with this member. */
enum { MAX_ARRAYS = 16 };
struct arrays {
  void *blocks[MAX_ARRAYS];
  int n;
  int failed; /* 1: there was no memory for one of them */
};

/* Returns an array of n elements, which are copies of those at `from`, or zeros if that is NULL. NULL if there is no memory. */
static void *take(struct arrays *all, const void *from, size_t n, size_t size) {
  void *block = calloc(n + 1, size);
  if (block == NULL) {
    all->failed = 1;
    return NULL;
  }
  if (from != NULL && n > 0) memcpy(block, from, n * size);
  all->blocks[all->n] = block;
  ++all->n;
  return block;
}

static void destroy(void *object) {
  struct arrays *all = object;
  if (all == NULL) return;
  for (int i = 0; i < all->n; ++i) free(all->blocks[i]);
  free(object);
}

/* ---- the device ---------------------------------------------------------------------------------------------------- */

struct asr_backend_device {
  size_t max_rows; /* of a score buffer */
};

/* The score is less than that of the CPU back end, so that the device is used only by name. */
static asr_status probe(asr_backend_device_info *infos, size_t capacity, size_t *n_devices) {
  *n_devices = 1;
  if (capacity == 0) return ASR_OK;
  infos[0].score = 1;
  snprintf(infos[0].name, sizeof infos[0].name, "scalar C");
  return ASR_OK;
}

static asr_status open_device(uint32_t index, const asr_backend_options *options, asr_backend_device **device) {
  if (index != 0) return fail(ASR_NO_DEVICE, "there is one device, plain:0");
  *device = malloc(sizeof **device);
  if (*device == NULL) return no_memory();
  (*device)->max_rows = (size_t)options->max_lanes * options->window_frames;
  return ASR_OK;
}

static void close_device(asr_backend_device *device) { free(device); }

/* Everything is done when a call returns. */
static asr_status wait(asr_backend_device *device, uint32_t n_left) {
  (void)device;
  (void)n_left;
  return ASR_OK;
}

static const void *extension(const char *name) {
  (void)name;
  return NULL;
}

/* ---- front end: F1 to F8 of docs/equations.md ---------------------------------------------------------------------- */

enum { MAX_FFT = 8192, MAX_MEL = 4096 };

struct asr_backend_features {
  struct arrays arrays;
  asr_features_view view;        /* its arrays are copies */
  double cosine[MAX_FFT];        /* cos(2 pi i / fft_samples) */
  double x[MAX_FFT + 1];         /* the frame's samples; x[0] is the sample before it */
  double power[MAX_FFT / 2 + 1]; /* the spectrum */
  double log_mel[MAX_MEL + 1];
};

static void free_features(asr_backend_features *f) { destroy(f); }

/* Returns 1 if the window fits the transform, and every mel band the spectrum. */
static int tables_fit(const asr_features_view *view) {
  const uint32_t n = view->fft_samples;
  const uint32_t n_bins = n / 2;
  const int is_power_of_two = (n & (n - 1)) == 0;
  if (n < 64 || n > MAX_FFT || !is_power_of_two || view->n_mel > MAX_MEL) return 0;
  if (view->window_samples == 0 || view->window_samples > n) return 0;
  for (uint32_t m = 0; m < view->n_warps * view->n_mel; ++m) {
    const asr_mel_band *band = &view->mel_bands[m];
    if (band->n_bins > n_bins || band->first_bin > n_bins - band->n_bins) return 0;
  }
  return 1;
}

static asr_status load_features(asr_backend_device *device, const asr_features_view *view, asr_backend_features **features) {
  (void)device;
  if (!tables_fit(view)) return fail(ASR_INVALID_ARGUMENT, "features: the window or a mel band does not fit the transform");
  const size_t n_bands = (size_t)view->n_warps * view->n_mel;
  size_t n_weights = 0;
  for (size_t m = 0; m < n_bands; ++m) {
    n_weights = MAX(n_weights, (size_t)view->mel_bands[m].first_weight + view->mel_bands[m].n_bins);
  }
  asr_backend_features *f = calloc(1, sizeof *f);
  if (f == NULL) return no_memory();
  f->view = *view;
  f->view.window = take(&f->arrays, view->window, view->window_samples, sizeof *view->window);
  f->view.mel_bands = take(&f->arrays, view->mel_bands, n_bands, sizeof *view->mel_bands);
  f->view.mel_weights = take(&f->arrays, view->mel_weights, n_weights, sizeof *view->mel_weights);
  f->view.dct = take(&f->arrays, view->dct, (size_t)view->n_ceps * view->n_mel, sizeof *view->dct);
  if (f->arrays.failed) {
    free_features(f);
    return no_memory();
  }
  const double pi = acos(-1);
  for (uint32_t i = 0; i < view->fft_samples; ++i) f->cosine[i] = cos(2 * pi * i / view->fft_samples);
  *features = f;
  return ASR_OK;
}

static uint64_t mixed(uint64_t bits) {
  bits = (bits ^ bits >> 33) * 0xff51afd7ed558ccdu;
  bits = (bits ^ bits >> 33) * 0xc4ceb9fe1a85ec53u;
  return bits ^ bits >> 33;
}

/* Returns a number of mean 0 and deviation 1: the sum of four 16-bit numbers. */
static double noise(uint64_t seed, uint64_t frame, uint64_t sample) {
  const uint64_t bits = mixed(mixed((seed << 32) + frame) + sample);
  const uint64_t sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
  return ((double)sum - 2 * 65535) * sqrt(3) / 65536;
}

/* Subtracts the mean of x[1 ... n] from these and x[0]. */
static void subtract_mean(double *x, uint32_t n) {
  double sum = 0;
  for (uint32_t i = 1; i <= n; ++i) sum += x[i];
  for (uint32_t i = 0; i <= n; ++i) x[i] -= sum / n;
}

static double log_energy(const double *x, uint32_t n, double floor) {
  double sum = 0;
  for (uint32_t i = 1; i <= n; ++i) sum += x[i] * x[i];
  return log(fmax(sum, floor));
}

/* Turns the samples of frame t into the windowed frame f->x, and returns its log energy: F1, F2. */
static double window_frame(asr_backend_features *f, const asr_extract_job *job, uint32_t t) {
  const asr_features_view *v = &f->view;
  const uint32_t n = v->window_samples;
  const float *samples = job->samples + (size_t)t * v->shift_samples;
  double *x = f->x;
  for (uint32_t i = 0; i <= n; ++i) x[i] = (samples - 1)[i];
  if (v->dither > 0) {
    for (uint32_t i = 0; i < n; ++i) x[i + 1] += v->dither * noise(v->dither_seed, job->first_frame + t, i);
  }
  if (v->preemphasis_in_frame) x[0] = x[1];
  if (v->dc_removal == ASR_DC_BEFORE_PREEMPHASIS) subtract_mean(x, n);
  const double raw_energy = log_energy(x, n, v->log_floor);
  for (uint32_t i = n; i > 0; --i) x[i] -= v->preemphasis * x[i - 1];
  if (v->dc_removal == ASR_DC_AFTER_PREEMPHASIS) subtract_mean(x, n);
  for (uint32_t i = 0; i < n; ++i) x[i + 1] *= v->window[i];
  return v->energy_windowed ? log_energy(x, n, v->log_floor) : raw_energy;
}

/* The spectrum of f->x, as F3 writes it. The sine is the cosine a quarter of the circle on. */
static void transform(asr_backend_features *f) {
  const asr_features_view *v = &f->view;
  const uint32_t mask = v->fft_samples - 1;
  const uint32_t quarter = v->fft_samples / 4;
  for (uint32_t k = 0; k <= v->fft_samples / 2; ++k) {
    double re = 0;
    double im = 0;
    for (uint32_t i = 0; i < v->window_samples; ++i) {
      const uint32_t at = i * k & mask;
      re += f->x[i + 1] * f->cosine[at];
      im += f->x[i + 1] * f->cosine[(at + quarter) & mask];
    }
    const double power = re * re + im * im;
    f->power[k] = v->magnitude ? sqrt(power) : power;
  }
}

static void extract_frame(asr_backend_features *f, const asr_extract_job *job, uint32_t t) {
  const asr_features_view *v = &f->view;
  const double energy = window_frame(f, job, t);
  transform(f);
  for (uint32_t m = 0; m < v->n_mel; ++m) {
    const asr_mel_band *band = &v->mel_bands[(size_t)job->warp * v->n_mel + m];
    double sum = 0;
    for (uint32_t k = 0; k < band->n_bins; ++k) {
      sum += v->mel_weights[band->first_weight + k] * f->power[band->first_bin + k];
    }
    f->log_mel[m] = log(fmax(sum, v->log_floor) + v->log_add);
  }
  for (uint32_t i = 0; i < v->n_ceps; ++i) {
    double sum = 0;
    for (uint32_t m = 0; m < v->n_mel; ++m) sum += v->dct[(size_t)i * v->n_mel + m] * f->log_mel[m];
    const int is_energy = (int64_t)i == v->energy_row;
    job->cepstra[(size_t)t * v->n_ceps + i] = (float)(is_energy ? energy : sum);
  }
}

static asr_status extract(asr_backend_device *device, asr_backend_features *f, const asr_extract_job *jobs, size_t n_jobs) {
  (void)device;
  for (size_t i = 0; i < n_jobs; ++i) {
    for (uint32_t t = 0; t < jobs[i].n_frames; ++t) extract_frame(f, &jobs[i], t);
  }
  return ASR_OK;
}

/* ---- acoustic model: G1 to G3 -------------------------------------------------------------------------------------- */

struct asr_backend_acoustic {
  struct arrays arrays;
  asr_acoustic_view view; /* its arrays are copies, but for those of covariances that load_acoustic needs alone */
  size_t *precision_of;   /* [n_gaussians]: where the precision of a Gaussian begins */
  double *constants;      /* [n_gaussians]: the constant of ln N */
  double *log_densities;  /* [n_gaussians]: ln N of the row that is being scored */
  double *scratch;        /* [n_dims^2] */
  float *scores[2];       /* [max_rows][n_states] */
  uint32_t n_rows[2];
};

static void free_acoustic(asr_backend_acoustic *a) { destroy(a); }

/* Returns ln |P| of a full precision, by a Cholesky decomposition in l[d][d]; NaN if P is not positive definite. */
static double log_determinant(const float *precision, size_t d, double *l) {
  double sum = 0;
  for (size_t i = 0; i < d; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double value = *precision++;
      for (size_t k = 0; k < j; ++k) value -= l[i * d + k] * l[j * d + k];
      l[i * d + j] = i == j ? sqrt(value) : value / l[j * d + j];
    }
    sum += 2 * log(l[i * d + i]);
  }
  return sum;
}

/* Returns (ln |P| - d ln 2 pi) / 2. */
static double constant_of(const asr_backend_acoustic *a, const float *precision, size_t d) {
  double log_det = 0;
  if (a->view.covariance == ASR_COVARIANCE_FULL) {
    log_det = log_determinant(precision, d, a->scratch);
  } else {
    for (size_t i = 0; i < d; ++i) log_det += log(precision[i]);
  }
  return (log_det - (double)d * log(2 * acos(-1))) / 2;
}

/* Copies the view's arrays, whose lengths the indices into them give. */
static void copy_model(asr_backend_acoustic *a, const asr_acoustic_view *v) {
  const int is_full = v->covariance == ASR_COVARIANCE_FULL;
  const size_t n_lists = (size_t)v->n_states * v->n_streams;
  size_t n_means = 0;
  size_t n_precisions = 0;
  size_t n_weights = 0;
  size_t max_dims = 0;
  a->view = *v;
  a->precision_of = take(&a->arrays, NULL, v->n_gaussians, sizeof *a->precision_of);
  for (uint32_t c = 0; c < v->n_codebooks && !a->arrays.failed; ++c) {
    const asr_gmm_codebook *book = &v->codebooks[c];
    const size_t d = v->streams[book->stream].n_dims;
    const size_t n_values = is_full ? d * (d + 1) / 2 : d;
    n_means = MAX(n_means, book->first_mean + book->n_gaussians * d);
    max_dims = MAX(max_dims, d);
    for (size_t g = book->first_gaussian; g < book->first_gaussian + book->n_gaussians; ++g) {
      a->precision_of[g] = v->precision_at[v->covariance_of[g]];
      n_precisions = MAX(n_precisions, a->precision_of[g] + n_values);
    }
  }
  for (size_t i = 0; i < n_lists; ++i) {
    n_weights = MAX(n_weights, v->state_weight[i] + v->codebooks[v->state_codebook[i]].n_gaussians);
  }
  a->view.codebooks = take(&a->arrays, v->codebooks, v->n_codebooks, sizeof *v->codebooks);
  a->view.means = take(&a->arrays, v->means, n_means, sizeof *v->means);
  a->view.precisions = take(&a->arrays, v->precisions, n_precisions, sizeof *v->precisions);
  a->view.log_weights = take(&a->arrays, v->log_weights, n_weights, sizeof *v->log_weights);
  a->view.state_codebook = take(&a->arrays, v->state_codebook, n_lists, sizeof *v->state_codebook);
  a->view.state_weight = take(&a->arrays, v->state_weight, n_lists, sizeof *v->state_weight);
  a->constants = take(&a->arrays, NULL, v->n_gaussians, sizeof *a->constants);
  a->log_densities = take(&a->arrays, NULL, v->n_gaussians, sizeof *a->log_densities);
  a->scratch = take(&a->arrays, NULL, max_dims * max_dims, sizeof *a->scratch);
}

/* Copies the streams, and the dimensions of all of them into one array. */
static void copy_streams(asr_backend_acoustic *a, const asr_acoustic_view *v) {
  size_t n_dims = 0;
  for (uint32_t s = 0; s < v->n_streams; ++s) n_dims += v->streams[s].n_dims;
  asr_gmm_stream *streams = take(&a->arrays, v->streams, v->n_streams, sizeof *streams);
  uint32_t *dims = take(&a->arrays, NULL, n_dims, sizeof *dims);
  a->view.streams = streams;
  for (uint32_t s = 0; s < v->n_streams && !a->arrays.failed; ++s) {
    memcpy(dims, v->streams[s].dims, v->streams[s].n_dims * sizeof *dims);
    streams[s].dims = dims;
    dims += streams[s].n_dims;
  }
}

static asr_status load_acoustic(asr_backend_device *device, const asr_acoustic_view *view, asr_backend_acoustic **acoustic) {
  asr_backend_acoustic *a = calloc(1, sizeof *a);
  if (a == NULL) return no_memory();
  copy_model(a, view);
  copy_streams(a, view);
  for (int b = 0; b < 2; ++b) a->scores[b] = take(&a->arrays, NULL, device->max_rows * view->n_states, sizeof(float));
  if (a->arrays.failed) {
    free_acoustic(a);
    return no_memory();
  }
  for (uint32_t c = 0; c < view->n_codebooks; ++c) {
    const asr_gmm_codebook *book = &a->view.codebooks[c];
    for (size_t g = book->first_gaussian; g < book->first_gaussian + book->n_gaussians; ++g) {
      a->constants[g] = constant_of(a, a->view.precisions + a->precision_of[g], a->view.streams[book->stream].n_dims);
      if (!isnan(a->constants[g])) continue;
      free_acoustic(a);
      return fail(ASR_BAD_FILE, "a precision is not positive definite");
    }
  }
  *acoustic = a;
  return ASR_OK;
}

/* Returns (x - mean)' P (x - mean) for the dimensions of a stream: G1, or G2 if P is full. */
static double distance_of(const asr_backend_acoustic *a, const asr_gmm_stream *stream, const float *row, const float *mean,
                          const float *precision) {
  const int is_full = a->view.covariance == ASR_COVARIANCE_FULL;
  double *x = a->scratch;
  double distance = 0;
  for (uint32_t i = 0; i < stream->n_dims; ++i) {
    x[i] = (double)row[stream->dims[i]] - mean[i];
    if (is_full) {
      for (uint32_t j = 0; j < i; ++j) distance += 2 * x[i] * *precision++ * x[j];
    }
    distance += x[i] * *precision++ * x[i];
  }
  return distance;
}

/* Returns ln sum_k exp(weights[k] + log_densities[k]). */
static double log_sum(const float *weights, const double *log_densities, uint32_t n) {
  double max = -INFINITY;
  double sum = 0;
  for (uint32_t k = 0; k < n; ++k) max = fmax(max, weights[k] + log_densities[k]);
  if (max == -INFINITY) return max;
  for (uint32_t k = 0; k < n; ++k) sum += exp(weights[k] + log_densities[k] - max);
  return max + log(sum);
}

static void score_row(asr_backend_acoustic *a, const float *row, float *loglikes) {
  const asr_acoustic_view *v = &a->view;
  for (uint32_t c = 0; c < v->n_codebooks; ++c) {
    const asr_gmm_codebook *book = &v->codebooks[c];
    const asr_gmm_stream *stream = &v->streams[book->stream];
    for (uint32_t k = 0; k < book->n_gaussians; ++k) {
      const size_t g = book->first_gaussian + k;
      const float *mean = v->means + book->first_mean + (size_t)k * stream->n_dims;
      const double distance = distance_of(a, stream, row, mean, v->precisions + a->precision_of[g]);
      a->log_densities[g] = a->constants[g] - distance / 2;
    }
  }
  for (size_t s = 0; s < v->n_states; ++s) { /* G3 */
    double total = 0;
    for (uint32_t j = 0; j < v->n_streams; ++j) {
      const size_t list = s * v->n_streams + j;
      const asr_gmm_codebook *book = &v->codebooks[v->state_codebook[list]];
      const float *weights = v->log_weights + v->state_weight[list];
      total += log_sum(weights, a->log_densities + book->first_gaussian, book->n_gaussians);
    }
    loglikes[s] = (float)total;
  }
}

static asr_status score(asr_backend_device *device, const asr_score_job *jobs, size_t n_jobs) {
  for (size_t i = 0; i < n_jobs; ++i) {
    const asr_score_job *job = &jobs[i];
    asr_backend_acoustic *a = job->acoustic;
    const size_t n_states = a->view.n_states;
    if (job->buffer > 1) return fail(ASR_INVALID_ARGUMENT, "score: there are two buffers");
    if (job->n_rows > device->max_rows) return fail(ASR_INVALID_ARGUMENT, "score: there are more rows than the buffer holds");
    float *scores = a->scores[job->buffer];
    for (size_t t = 0; t < job->n_rows; ++t) score_row(a, job->features + t * a->view.n_dims, scores + t * n_states);
    a->n_rows[job->buffer] = job->n_rows;
    if (job->loglikes != NULL) memcpy(job->loglikes, scores, job->n_rows * n_states * sizeof *scores);
  }
  return ASR_OK;
}

/* ---- search: docs/search.md ---------------------------------------------------------------------------------------- */

enum { CUT_PERIOD = 1024, CUT_DISTANCE = 4096 }; /* frames: "Paths that do not join" */

/* A path from the start to a state. A token is the best path to its state. */
struct path {
  float cost;
  float acoustic_cost; /* of its last arc */
  uint32_t state;
  uint32_t arc;    /* the last arc */
  uint32_t frame;  /* frames consumed before that arc */
  uint32_t number; /* its index in `paths`; 0 is the start itself, which has no arc */
  uint32_t before; /* the number of the path without the last arc */
  uint32_t n_arcs; /* those that asr_path lists */
  double total_cost;
};

struct asr_backend_channel {
  struct arrays arrays;
  asr_graph_view graph; /* its arrays stay in use */
  asr_search_options options;

  struct path *paths; /* all tokens that ever were */
  uint32_t n_paths;
  uint32_t max_paths;

  struct path *tokens; /* [n_states] */
  uint32_t n_tokens;
  uint32_t *token_of; /* [n_states]: 1 + the index of a state's token; 0: it has none */

  struct path *offers; /* [n_states]: the best new path to each state, which may become its token */
  uint32_t n_offers;
  uint32_t *offer_of; /* [n_states]: 1 + the index of a state's offer; 0: it has none */

  uint32_t *fell; /* [n_states]: tokens whose cost fell, and whose epsilon arcs are to be followed */
  uint32_t n_fell;

  asr_path path;     /* the latest result, with the counts so far */
  asr_status status; /* why it consumes no more frames */
};

/* Copies the view alone: the core keeps the graph's arrays, because *in_use stays 1. */
static asr_status load_graph(asr_backend_device *device, const asr_graph_view *view, asr_backend_graph **graph,
                             uint32_t *in_use) {
  (void)device;
  (void)in_use;
  *graph = malloc(sizeof *view);
  if (*graph == NULL) return no_memory();
  memcpy(*graph, view, sizeof *view);
  return ASR_OK;
}

static void free_graph(asr_backend_graph *graph) { free(graph); }

static float cost_of(const asr_backend_channel *c, uint32_t arc) {
  const asr_graph_arc *a = &c->graph.arcs[arc];
  return a->graph_cost + (a->word != 0 ? c->options.word_insertion_cost : 0.0f);
}

/* Offers the path `from` with one arc more to the arc's state. Of equal costs the lower arc wins. */
static void offer(asr_backend_channel *c, const struct path *from, uint32_t arc, float cost, float acoustic_cost) {
  const uint32_t state = c->graph.arcs[arc].next_state;
  uint32_t *slot = &c->offer_of[state];
  if (*slot > 0) {
    const struct path *other = &c->offers[*slot - 1];
    if (cost > other->cost || (cost == other->cost && arc > other->arc)) return;
  } else {
    ++c->n_offers;
    *slot = c->n_offers;
  }
  struct path *o = &c->offers[*slot - 1];
  o->cost = cost;
  o->acoustic_cost = acoustic_cost;
  o->state = state;
  o->arc = arc;
  o->frame = c->path.n_frames;
  o->number = 0;
  o->before = from->number;
  o->n_arcs = from->n_arcs;
  o->total_cost = from->total_cost;
}

/* Makes room for one path more. Returns 0 if there is no memory, which the channel's status then says. */
static int reserve_path(asr_backend_channel *c) {
  if (c->n_paths < c->max_paths) return 1;
  struct path *more = realloc(c->paths, 2 * (size_t)c->max_paths * sizeof *more);
  if (more == NULL) {
    c->status = no_memory();
    return 0;
  }
  c->paths = more;
  c->max_paths *= 2;
  return 1;
}

/* Makes tokens of the offers that cost at most `bound` and less than the tokens of their states. */
static void accept_offers(asr_backend_channel *c, float bound) {
  c->n_fell = 0;
  for (uint32_t i = 0; i < c->n_offers; ++i) {
    struct path *o = &c->offers[i];
    const asr_graph_arc *arc = &c->graph.arcs[o->arc];
    uint32_t *slot = &c->token_of[o->state];
    c->offer_of[o->state] = 0;
    if (o->cost > bound) continue;
    if (*slot > 0 && o->cost >= c->tokens[*slot - 1].cost) continue;
    if (!reserve_path(c)) continue;
    o->total_cost += arc->graph_cost + (double)c->options.acoustic_scale * o->acoustic_cost;
    if (arc->word != 0) o->total_cost += c->options.word_insertion_cost;
    if (arc->transition_id != 0 || arc->word != 0) ++o->n_arcs;
    o->number = c->n_paths;
    c->paths[o->number] = *o;
    ++c->n_paths;
    if (*slot == 0) {
      ++c->n_tokens;
      *slot = c->n_tokens;
    }
    c->tokens[*slot - 1] = *o;
    c->fell[c->n_fell] = *slot - 1;
    ++c->n_fell;
  }
  c->n_offers = 0;
}

/* Step 3. A round follows the epsilon arcs of the tokens that fell in the round before. */
static void follow_epsilons(asr_backend_channel *c, float bound) {
  for (uint32_t round = 0; c->n_fell > 0 && c->status == ASR_OK; ++round) {
    if (round > c->n_tokens) c->status = fail(ASR_INVALID_ARGUMENT, kCycle);
    for (uint32_t i = 0; i < c->n_fell; ++i) {
      const struct path *t = &c->tokens[c->fell[i]];
      for (uint32_t a = c->graph.epsilon_begin[t->state]; a < c->graph.epsilon_begin[t->state + 1]; ++a) {
        const float cost = t->cost + cost_of(c, a);
        if (cost <= bound) offer(c, t, a, cost, 0);
        ++c->path.n_arcs_expanded;
      }
    }
    accept_offers(c, bound);
  }
}

/* Returns the path up to the emitting arc that consumed row number `frame`. */
static const struct path *path_to(const asr_backend_channel *c, const struct path *p, uint32_t frame) {
  while (c->graph.arcs[p->arc].transition_id == 0 || p->frame != frame) p = &c->paths[p->before];
  return p;
}

static int is_better(const struct path *a, const struct path *b) {
  return a->cost < b->cost || (a->cost == b->cost && a->state < b->state);
}

/* Removes the tokens whose paths consumed row number `frame` by another arc than the best token's. */
static void cut_paths(asr_backend_channel *c, uint32_t frame) {
  const struct path *best = c->tokens;
  for (uint32_t i = 1; i < c->n_tokens; ++i) {
    if (is_better(&c->tokens[i], best)) best = &c->tokens[i];
  }
  const uint32_t arc = path_to(c, best, frame)->arc;
  uint32_t n_left = 0;
  for (uint32_t i = 0; i < c->n_tokens; ++i) {
    const struct path token = c->tokens[i];
    c->token_of[token.state] = 0;
    if (path_to(c, &token, frame)->arc != arc) continue;
    c->tokens[n_left] = token;
    ++n_left;
    c->token_of[token.state] = n_left;
  }
  c->n_tokens = n_left;
}

static int compare_tokens(const void *left, const void *right) { return is_better(left, right) ? -1 : 1; }

/* Step 1: sorts the tokens, and returns how many of them go on. */
static uint32_t select_tokens(asr_backend_channel *c) {
  qsort(c->tokens, c->n_tokens, sizeof *c->tokens, compare_tokens);
  const float bound = c->tokens[0].cost + c->options.beam;
  const uint32_t min_active = c->options.min_active;
  const uint32_t max_active = MAX(c->options.max_active, min_active);
  uint32_t n = 0;
  while (n < c->n_tokens && n < max_active && (n < min_active || c->tokens[n].cost <= bound)) ++n;
  return n;
}

/* Step 2: offers the emitting arcs of the first n tokens. Returns the least cost. */
static float expand(asr_backend_channel *c, uint32_t n, const float *row) {
  const float least = c->tokens[0].cost;
  float best = INFINITY;
  for (uint32_t i = 0; i < n; ++i) {
    const struct path *t = &c->tokens[i];
    for (uint32_t a = c->graph.emitting_begin[t->state]; a < c->graph.emitting_begin[t->state + 1]; ++a) {
      const float loglike = row[c->graph.pdf_of[c->graph.arcs[a].transition_id]];
      const float scaled = -c->options.acoustic_scale * loglike;
      const float cost = ((t->cost - least) + cost_of(c, a)) + scaled;
      ++c->path.n_arcs_expanded;
      if (!isfinite(scaled) || !isfinite(cost)) continue;
      offer(c, t, a, cost, -loglike);
      best = fminf(best, cost);
    }
  }
  return best;
}

/* Advances the channel over one frame. */
static void consume(asr_backend_channel *c, const float *row) {
  const uint32_t n = select_tokens(c);
  c->path.n_tokens += n;
  const float bound = expand(c, n, row) + c->options.beam;
  if (c->n_offers == 0) {
    c->path.beam_died = 1;
    return;
  }
  for (uint32_t i = 0; i < c->n_tokens; ++i) c->token_of[c->tokens[i].state] = 0;
  c->n_tokens = 0;
  accept_offers(c, bound);
  ++c->path.n_frames;
  follow_epsilons(c, bound);
  const uint32_t n_frames = c->path.n_frames;
  if (n_frames % CUT_PERIOD == 0 && n_frames > CUT_DISTANCE) cut_paths(c, n_frames - CUT_DISTANCE - 1);
}

static void channel_end(asr_backend_channel *c) {
  if (c == NULL) return;
  free(c->paths);
  free((void *)c->path.arcs);
  destroy(c);
}

static int options_fit(const asr_search_options *o) {
  if (!isfinite(o->beam) || !isfinite(o->acoustic_scale) || !isfinite(o->word_insertion_cost)) return 0;
  return o->beam > 0 && o->acoustic_scale >= 0 && o->max_active > 0;
}

static asr_status channel_begin(asr_backend_device *device, asr_backend_graph *graph, const asr_search_options *options,
                                asr_backend_channel **channel) {
  (void)device;
  if (!options_fit(options)) {
    return fail(ASR_INVALID_ARGUMENT, "channel_begin: beam, acoustic_scale, word_insertion_cost or max_active is out of range");
  }
  asr_backend_channel *c = calloc(1, sizeof *c);
  if (c == NULL) return no_memory();
  memcpy(&c->graph, graph, sizeof c->graph);
  c->options = *options;
  const size_t n = c->graph.n_states;
  c->tokens = take(&c->arrays, NULL, n, sizeof *c->tokens);
  c->offers = take(&c->arrays, NULL, n, sizeof *c->offers);
  c->token_of = take(&c->arrays, NULL, n, sizeof *c->token_of);
  c->offer_of = take(&c->arrays, NULL, n, sizeof *c->offer_of);
  c->fell = take(&c->arrays, NULL, n, sizeof *c->fell);
  c->max_paths = 64;
  c->paths = calloc(c->max_paths, sizeof *c->paths);
  if (c->arrays.failed || c->paths == NULL) {
    channel_end(c);
    return no_memory();
  }
  const uint32_t start = c->graph.start_state;
  c->paths[0].state = start;
  c->n_paths = 1;
  c->tokens[0].state = start;
  c->n_tokens = 1;
  c->token_of[start] = 1;
  c->n_fell = 1; /* fell[0] is 0, the token of the start */
  follow_epsilons(c, options->beam);
  if (c->status != ASR_OK) {
    const asr_status status = c->status;
    channel_end(c);
    return status;
  }
  *channel = c;
  return ASR_OK;
}

static asr_status outcome(asr_backend_device *device, asr_backend_channel *c) {
  (void)device;
  if (c->status == ASR_OK) return ASR_OK;
  return fail(c->status, c->status == ASR_OUT_OF_MEMORY ? kNoMemory : kCycle);
}

static asr_status advance(asr_backend_device *device, asr_backend_acoustic *a, const asr_advance_job *jobs, size_t n_jobs) {
  (void)device;
  for (size_t i = 0; i < n_jobs; ++i) {
    const asr_advance_job *job = &jobs[i];
    asr_backend_channel *c = job->channel;
    const float *rows = job->loglikes;
    size_t row_length = c->graph.n_pdfs;
    if (rows == NULL && job->n_frames > 0) { /* they are in a score buffer */
      if (a == NULL || job->buffer > 1 || a->view.n_states < c->graph.n_pdfs ||
          a->n_rows[job->buffer] < (size_t)job->first_row + job->n_frames) {
        return fail(ASR_INVALID_ARGUMENT, "advance: there are no such rows");
      }
      row_length = a->view.n_states;
      rows = a->scores[job->buffer] + job->first_row * row_length;
    }
    for (size_t t = 0; t < job->n_frames; ++t) {
      if (c->status != ASR_OK || c->path.beam_died) break;
      consume(c, rows + t * row_length);
    }
  }
  return ASR_OK;
}

/* Returns the token with the least cost, in which the cost of its state as the final one counts if with_final is 1. Only a
 * token in a final state then counts; NULL if there is none. */
static const struct path *best_token(const asr_backend_channel *c, int with_final) {
  const struct path *best = NULL;
  float least = INFINITY;
  for (uint32_t i = 0; i < c->n_tokens; ++i) {
    const struct path *t = &c->tokens[i];
    const float cost = t->cost + (with_final ? c->graph.final_costs[t->state] : 0);
    if (cost < least || (best != NULL && cost == least && t->state < best->state)) {
      best = t;
      least = cost;
    }
  }
  return best;
}

static asr_status best_path(asr_backend_channel *c, int wants_final, asr_path *path) {
  if (c->status != ASR_OK) return outcome(NULL, c);
  const struct path *best = wants_final ? best_token(c, 1) : NULL;
  const int is_final = best != NULL;
  if (!is_final) best = best_token(c, 0);
  asr_path_arc *arcs = realloc((void *)c->path.arcs, (best->n_arcs + 1) * sizeof *arcs);
  if (arcs == NULL) return no_memory();
  c->path.arcs = arcs;
  c->path.n_arcs = best->n_arcs;
  for (const struct path *p = best; p->number != 0; p = &c->paths[p->before]) {
    const asr_graph_arc *arc = &c->graph.arcs[p->arc];
    if (p->n_arcs == c->paths[p->before].n_arcs) continue; /* an epsilon arc without a word */
    asr_path_arc *to = &arcs[p->n_arcs - 1];
    to->frame = p->frame;
    to->transition_id = arc->transition_id;
    to->word = arc->word;
    to->graph_cost = arc->graph_cost;
    to->acoustic_cost = p->acoustic_cost;
  }
  c->path.reached_final = (uint32_t)is_final;
  c->path.final_cost = is_final ? c->graph.final_costs[best->state] : 0;
  c->path.total_cost = best->total_cost + c->path.final_cost;
  *path = c->path;
  return ASR_OK;
}

static asr_status best_paths(asr_backend_device *device, asr_backend_channel *const *channels, size_t n_channels,
                             uint32_t wants, asr_path *paths) {
  (void)device;
  for (size_t i = 0; i < n_channels; ++i) {
    const asr_status status = best_path(channels[i], (wants & ASR_WANTS_FINAL) != 0, &paths[i]);
    if (status != ASR_OK) return status;
  }
  return ASR_OK;
}

/* ---- the table ----------------------------------------------------------------------------------------------------- */

__attribute__((visibility("default"))) const asr_backend_api *asr_backend_entry(uint32_t host_abi, const asr_host_api *host) {
  static const asr_backend_api table = {
      .abi = ASR_BACKEND_ABI,
      .size = sizeof table,
      .name = "plain",
      .probe = probe,
      .open = open_device,
      .close = close_device,
      .last_error = last_error,
      .load_features = load_features,
      .free_features = free_features,
      .load_acoustic = load_acoustic,
      .free_acoustic = free_acoustic,
      .load_graph = load_graph,
      .free_graph = free_graph,
      .extract = extract,
      .score = score,
      .channel_begin = channel_begin,
      .channel_end = channel_end,
      .advance = advance,
      .best_paths = best_paths,
      .lattices = NULL, /* no device has ASR_BACKEND_LATTICES */
      .outcome = outcome,
      .wait = wait,
      .extension = extension,
  };
  (void)host;
  return host_abi == ASR_BACKEND_ABI ? &table : NULL;
}
