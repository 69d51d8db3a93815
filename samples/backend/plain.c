/* SPDX-License-Identifier: Apache-2.0 */
/* The back end "plain", to copy and to learn from (docs/backend.md): a small one that passes the conformance suite, in scalar
 * C. It computes on the calling thread, in double where docs/search.md does not prescribe float. It has no capability, so it
 * makes best paths only. It keeps all paths of a channel, so that an hour of audio needs much memory. */
#include <asr_backend.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static _Thread_local char sentence[256];
static const char *last_error(void) { return sentence; }
static asr_status fail(asr_status status, const char *text) {
  return snprintf(sentence, sizeof sentence, "plain: %s", text), status;
}
static const char kNoMemory[] = "there is no memory left", kCycle[] = "a cycle of epsilon arcs has a negative cost";
static asr_status no_memory(void) { return fail(ASR_OUT_OF_MEMORY, kNoMemory); }
/* Objects begin with the arrays that are freed with them. */
struct arrays {
  void *blocks[16];
  int n, failed;
};
/* Returns an array of n elements: a copy, or zeros if `from` is NULL. After a failure, `failed` is set. */
static void *take(struct arrays *all, const void *from, size_t n, size_t size) {
  void *block = calloc(n + 1, size);
  if (block == NULL) return all->failed = 1, NULL;
  if (from != NULL && n > 0) memcpy(block, from, n * size);
  return all->blocks[all->n++] = block;
}
static void destroy(void *object) {
  for (struct arrays *all = object; all != NULL && all->n > 0;) free(all->blocks[--all->n]);
  free(object);
}
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define COPY(object, member, n) (object)->v.member = take(&(object)->arrays, view->member, n, sizeof *view->member)

/* ---- the device ---------------------------------------------------------------------------------------------------- */
struct asr_backend_device {
  size_t max_rows;
};
static asr_status probe(asr_backend_device_info *infos, size_t capacity, size_t *n_devices) {
  *n_devices = 1; /* its score is less than that of the CPU back end, so that it is used only by name */
  if (capacity > 0) infos->score = 1, snprintf(infos->name, sizeof infos->name, "scalar C");
  return ASR_OK;
}
static asr_status open_device(uint32_t index, const asr_backend_options *options, asr_backend_device **device) {
  if (index != 0) return fail(ASR_NO_DEVICE, "there is one device, plain:0");
  if ((*device = malloc(sizeof **device)) == NULL) return no_memory();
  return (*device)->max_rows = (size_t)options->max_lanes * options->window_frames, ASR_OK;
}
static void close_device(asr_backend_device *device) { free(device); }

/* ---- front end: F1 to F8 of docs/equations.md ---------------------------------------------------------------------- */
struct asr_backend_features {
  struct arrays arrays;
  asr_features_view v;                                          /* arrays are copies */
  double cosine[8192], x[8192 + 1], power[4097], log_mel[4097]; /* for the longest transform */
};
static void free_features(asr_backend_features *f) { destroy(f); }
static asr_status load_features(asr_backend_device *device, const asr_features_view *view, asr_backend_features **features) {
  const uint32_t n = view->fft_samples, n_bins = n / 2, n_bands = view->n_warps * view->n_mel;
  int fits = n >= 64 && n <= 8192 && (n & (n - 1)) == 0 && view->window_samples > 0 && view->window_samples <= n;
  size_t n_weights = 0;
  for (const asr_mel_band *b = view->mel_bands; b < view->mel_bands + n_bands; ++b) {
    fits = fits && view->n_mel < 4097 && b->n_bins <= n_bins && b->first_bin <= n_bins - b->n_bins;
    n_weights = MAX(n_weights, (size_t)b->first_weight + b->n_bins);
  }
  if (!fits) return fail(ASR_INVALID_ARGUMENT, "features: the window or a mel band does not fit the transform");
  asr_backend_features *f = calloc(1, sizeof *f);
  if (f == NULL) return no_memory();
  f->v = *view;
  COPY(f, window, view->window_samples), COPY(f, mel_bands, n_bands), COPY(f, mel_weights, n_weights);
  COPY(f, dct, (size_t)view->n_ceps * view->n_mel);
  if (f->arrays.failed) return free_features(f), no_memory();
  for (uint32_t i = 0; i < n; ++i) f->cosine[i] = cos(2 * acos(-1) * i / n);
  return *features = f, ASR_OK;
}
static uint64_t mixed(uint64_t bits) {
  bits = (bits ^ bits >> 33) * 0xff51afd7ed558ccdu, bits = (bits ^ bits >> 33) * 0xc4ceb9fe1a85ec53u;
  return bits ^ bits >> 33;
}
static double noise(uint64_t seed, uint64_t frame, uint64_t sample) { /* a number of mean 0 and deviation 1 */
  const uint64_t bits = mixed(mixed((seed << 32) + frame) + sample);
  const uint64_t sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
  return ((double)sum - 2 * 65535) * sqrt(3) / 65536;
}
static void subtract_mean(double *x, uint32_t n) { /* from x[1 ... n]; x[0] is the sample before the frame */
  double sum = 0;
  for (uint32_t i = 1; i <= n; ++i) sum += x[i];
  for (uint32_t i = 0; i <= n; ++i) x[i] -= sum / n;
}
static double log_energy(const double *x, uint32_t n, double floor) {
  double sum = 0;
  for (uint32_t i = 1; i <= n; ++i) sum += x[i] * x[i];
  return log(fmax(sum, floor));
}
static void extract_frame(asr_backend_features *f, const asr_extract_job *job, uint32_t t) {
  const asr_features_view *v = &f->v;
  const uint32_t n = v->window_samples, mask = v->fft_samples - 1;
  double *x = f->x, energy;
  for (uint32_t i = 0; i <= n; ++i) x[i] = (job->samples + (size_t)t * v->shift_samples - 1)[i];
  for (uint32_t i = 0; i < n && v->dither > 0; ++i) x[i + 1] += v->dither * noise(v->dither_seed, job->first_frame + t, i);
  if (v->preemphasis_in_frame) x[0] = x[1];
  if (v->dc_removal == ASR_DC_BEFORE_PREEMPHASIS) subtract_mean(x, n);
  energy = log_energy(x, n, v->log_floor);
  for (uint32_t i = n; i > 0; --i) x[i] -= v->preemphasis * x[i - 1];
  if (v->dc_removal == ASR_DC_AFTER_PREEMPHASIS) subtract_mean(x, n);
  for (uint32_t i = 0; i < n; ++i) x[i + 1] *= v->window[i];
  if (v->energy_windowed) energy = log_energy(x, n, v->log_floor);
  for (uint32_t k = 0; k <= v->fft_samples / 2; ++k) { /* the transform as F3 writes it */
    double re = 0, im = 0;
    for (uint32_t i = 0, at = 0; i < n; ++i, at = (at + k) & mask) {
      re += x[i + 1] * f->cosine[at];
      im += x[i + 1] * f->cosine[(at + v->fft_samples / 4) & mask]; /* - sin */
    }
    f->power[k] = v->magnitude ? sqrt(re * re + im * im) : re * re + im * im;
  }
  for (uint32_t m = 0; m < v->n_mel; ++m) {
    const asr_mel_band *b = &v->mel_bands[(size_t)job->warp * v->n_mel + m];
    double sum = 0;
    for (uint32_t k = 0; k < b->n_bins; ++k) sum += v->mel_weights[b->first_weight + k] * f->power[b->first_bin + k];
    f->log_mel[m] = log(fmax(sum, v->log_floor) + v->log_add);
  }
  for (uint32_t i = 0; i < v->n_ceps; ++i) {
    double sum = 0;
    for (uint32_t m = 0; m < v->n_mel; ++m) sum += v->dct[(size_t)i * v->n_mel + m] * f->log_mel[m];
    job->cepstra[(size_t)t * v->n_ceps + i] = (float)((int64_t)i == v->energy_row ? energy : sum);
  }
}
static asr_status extract(asr_backend_device *device, asr_backend_features *f, const asr_extract_job *jobs, size_t n_jobs) {
  for (const asr_extract_job *job = jobs; job < jobs + n_jobs; ++job)
    for (uint32_t t = 0; t < job->n_frames; ++t) extract_frame(f, job, t);
  return ASR_OK;
}

/* ---- acoustic model: G1 to G3 -------------------------------------------------------------------------------------- */
struct asr_backend_acoustic {
  struct arrays arrays;
  asr_acoustic_view v;                      /* arrays are copies; the precision of a Gaussian follows its mean */
  double *constants, *log_densities, *diff; /* per Gaussian: constants of ln N, ln N of the scored row; scratch */
  float *scores[2];                         /* [max_rows][n_states] */
  uint32_t n_rows[2];
};
static void free_acoustic(asr_backend_acoustic *a) { destroy(a); }
/* Returns (ln |P| - d ln 2 pi) / 2 of n values, by elimination in p if P is full; NaN if P is not positive definite. */
static double constant_of(const float *precision, size_t d, size_t n, double *p) {
  double sum = -(double)d * log(2 * acos(-1));
  for (size_t i = 0; i < n; ++i) p[i] = precision[i];
  for (size_t i = 0, at = 0; i < d; at += n == d ? 1 : i + 2, ++i) {
    sum += log(p[at]);
    for (size_t r = i + 1, row = at + i + 1; r < d && n != d; row += ++r)
      for (size_t j = i + 1, column = at + i + 1; j <= r; column += ++j) p[row + j - i] -= p[row] * p[column] / p[at];
  }
  return sum / 2;
}
static asr_status load_acoustic(asr_backend_device *device, const asr_acoustic_view *view, asr_backend_acoustic **acoustic) {
  const int is_full = view->covariance == ASR_COVARIANCE_FULL;
  const size_t n_lists = (size_t)view->n_states * view->n_streams, n_gaussians = view->n_gaussians;
  size_t n_dims = 0, n_weights = 0;
  for (uint32_t s = 0; s < view->n_streams; ++s) n_dims += view->streams[s].n_dims;
  for (size_t i = 0; i < n_lists; ++i)
    n_weights = MAX(n_weights, view->state_weight[i] + view->codebooks[view->state_codebook[i]].n_gaussians);
  asr_backend_acoustic *a = calloc(1, sizeof *a);
  if (a == NULL) return no_memory();
  a->v = *view;
  COPY(a, state_codebook, n_lists), COPY(a, state_weight, n_lists), COPY(a, log_weights, n_weights);
  asr_gmm_codebook *codebooks = take(&a->arrays, view->codebooks, view->n_codebooks, sizeof *codebooks);
  asr_gmm_stream *streams = take(&a->arrays, view->streams, view->n_streams, sizeof *streams);
  uint32_t *dims = take(&a->arrays, NULL, n_dims, sizeof *dims);
  const size_t most = is_full ? n_dims * (n_dims + 1) / 2 : n_dims; /* values of a precision */
  float *values = take(&a->arrays, NULL, n_gaussians * (n_dims + most), sizeof *values), *to = values;
  a->constants = take(&a->arrays, NULL, 2 * n_gaussians + most, sizeof(double));
  for (int b = 0; b < 2; ++b) a->scores[b] = take(&a->arrays, NULL, device->max_rows * view->n_states, sizeof(float));
  if (a->arrays.failed) return free_acoustic(a), no_memory();
  a->log_densities = a->constants + n_gaussians, a->diff = a->log_densities + n_gaussians;
  for (uint32_t s = 0; s < view->n_streams; dims += streams[s++].n_dims)
    streams[s].dims = memcpy(dims, view->streams[s].dims, streams[s].n_dims * sizeof *dims);
  for (asr_gmm_codebook *c = codebooks; c < codebooks + view->n_codebooks; ++c) {
    const size_t d = streams[c->stream].n_dims, n = is_full ? d * (d + 1) / 2 : d;
    const float *mean = view->means + c->first_mean;
    c->first_mean = (size_t)(to - values);
    for (size_t g = c->first_gaussian; g < c->first_gaussian + c->n_gaussians; ++g, mean += d, to += d + n) {
      memcpy(to, mean, d * sizeof *to);
      memcpy(to + d, view->precisions + view->precision_at[view->covariance_of[g]], n * sizeof *to);
      a->constants[g] = constant_of(to + d, d, n, a->diff);
      if (isnan(a->constants[g])) return free_acoustic(a), fail(ASR_BAD_FILE, "a precision is not positive definite");
    }
  }
  a->v.codebooks = codebooks, a->v.streams = streams, a->v.means = values;
  return *acoustic = a, ASR_OK;
}
static void score_row(asr_backend_acoustic *a, const float *row, float *loglikes) {
  for (const asr_gmm_codebook *c = a->v.codebooks; c < a->v.codebooks + a->v.n_codebooks; ++c) { /* G1 or G2 */
    const asr_gmm_stream *s = &a->v.streams[c->stream];
    const float *mean = a->v.means + c->first_mean, *p = mean + s->n_dims;
    for (size_t g = c->first_gaussian; g < c->first_gaussian + c->n_gaussians; ++g, mean = p, p += s->n_dims) {
      double distance = 0;
      for (uint32_t i = 0; i < s->n_dims; ++i) {
        const double x = a->diff[i] = (double)row[s->dims[i]] - mean[i];
        for (uint32_t j = 0; j < i && a->v.covariance == ASR_COVARIANCE_FULL; ++j) distance += 2 * x * *p++ * a->diff[j];
        distance += x * *p++ * x;
      }
      a->log_densities[g] = a->constants[g] - distance / 2;
    }
  }
  for (size_t s = 0, list = 0; s < a->v.n_states; ++s) { /* G3 */
    double total = 0;
    for (uint32_t j = 0; j < a->v.n_streams; ++j, ++list) {
      const asr_gmm_codebook *c = &a->v.codebooks[a->v.state_codebook[list]];
      const float *weights = a->v.log_weights + a->v.state_weight[list];
      double *terms = a->log_densities + c->first_gaussian, most = -INFINITY, sum = 0;
      for (uint32_t k = 0; k < c->n_gaussians; ++k) most = fmax(most, weights[k] + terms[k]);
      for (uint32_t k = 0; k < c->n_gaussians; ++k) sum += exp(weights[k] + terms[k] - most);
      total += most > -INFINITY ? most + log(sum) : most;
    }
    loglikes[s] = (float)total;
  }
}
static asr_status score(asr_backend_device *device, const asr_score_job *jobs, size_t n_jobs) {
  for (const asr_score_job *j = jobs; j < jobs + n_jobs; ++j) {
    asr_backend_acoustic *a = j->acoustic;
    if (j->buffer > 1 || j->n_rows > device->max_rows) return fail(ASR_INVALID_ARGUMENT, "score: a wrong buffer, or rows");
    a->n_rows[j->buffer] = j->n_rows;
    float *to = a->scores[j->buffer];
    for (size_t t = 0; t < j->n_rows; ++t, to += a->v.n_states) score_row(a, j->features + t * a->v.n_dims, to);
    if (j->loglikes != NULL) memcpy(j->loglikes, a->scores[j->buffer], (size_t)j->n_rows * a->v.n_states * sizeof *to);
  }
  return ASR_OK;
}

/* ---- search: docs/search.md ---------------------------------------------------------------------------------------- */
enum { CUT_PERIOD = 1024, CUT_DISTANCE = 4096 }; /* frames: "Paths that do not join" */
struct path {                                    /* from the start to a state; paths[0] is the start itself */
  float cost, acoustic_cost;
  uint32_t state, arc, frame, number, before, n_arcs; /* before: the number of the path without its last arc, `arc` */
  double total_cost;
};
struct asr_backend_channel {
  struct arrays arrays;
  asr_graph_view v; /* its arrays stay in use */
  asr_search_options o;
  struct path *paths, *tokens, *offers; /* tokens: the best paths; offers: those that may become so */
  uint32_t *token_of, *offer_of, *fell; /* per state: 1 + number of its token, its offer; fell: tokens */
  uint32_t n_paths, max_paths, n_tokens, n_offers, n_fell;
  asr_path path;     /* with the counts so far */
  asr_status status; /* why it consumes no more */
};
static asr_status load_graph(asr_backend_device *device, const asr_graph_view *v, asr_backend_graph **graph, uint32_t *in_use) {
  if ((*graph = malloc(sizeof *v)) == NULL) return no_memory();
  return memcpy(*graph, v, sizeof *v), ASR_OK;
}
static void free_graph(asr_backend_graph *graph) { free(graph); }
static float cost_of(const asr_backend_channel *c, uint32_t arc) {
  return c->v.arcs[arc].graph_cost + (c->v.arcs[arc].word != 0 ? c->o.word_insertion_cost : 0.0f);
}
static void offer(asr_backend_channel *c, const struct path *from, uint32_t arc, float cost, float acoustic_cost) {
  const uint32_t state = c->v.arcs[arc].next_state, slot = c->offer_of[state] > 0 ? c->offer_of[state] : c->n_offers + 1;
  struct path *o = &c->offers[slot - 1];
  if (slot <= c->n_offers && (cost > o->cost || (cost == o->cost && arc > o->arc))) return;
  if (slot > c->n_offers) c->n_offers = c->offer_of[state] = slot;
  *o = (struct path){cost, acoustic_cost, state, arc, c->path.n_frames, 0, from->number, from->n_arcs, from->total_cost};
}
/* Makes tokens of the offers up to `bound` that cost less than their states' tokens. These tokens fell. */
static void accept_offers(asr_backend_channel *c, float bound) {
  c->n_fell = 0;
  for (struct path *o = c->offers; o < c->offers + c->n_offers; ++o) {
    const asr_graph_arc *arc = &c->v.arcs[o->arc];
    uint32_t *slot = &c->token_of[o->state];
    c->offer_of[o->state] = 0;
    if (o->cost > bound || (*slot > 0 && o->cost >= c->tokens[*slot - 1].cost)) continue;
    if (c->n_paths == c->max_paths) {
      struct path *more = realloc(c->paths, 2 * (size_t)c->max_paths * sizeof *more);
      if (more == NULL && (c->status = no_memory()) != ASR_OK) continue;
      c->paths = more, c->max_paths *= 2;
    }
    o->total_cost += arc->graph_cost + (double)c->o.acoustic_scale * o->acoustic_cost;
    if (arc->word != 0) o->total_cost += c->o.word_insertion_cost;
    o->n_arcs += arc->transition_id != 0 || arc->word != 0;
    o->number = c->n_paths++;
    if (*slot == 0) *slot = ++c->n_tokens;
    c->tokens[*slot - 1] = c->paths[o->number] = *o;
    c->fell[c->n_fell++] = *slot - 1;
  }
  c->n_offers = 0;
}
static void follow_epsilons(asr_backend_channel *c, float bound) { /* step 3 */
  for (uint32_t round = 0; c->n_fell > 0 && c->status == ASR_OK; ++round) {
    if (round > c->n_tokens) c->status = fail(ASR_INVALID_ARGUMENT, kCycle);
    for (uint32_t i = 0; i < c->n_fell; ++i) {
      const struct path *t = &c->tokens[c->fell[i]];
      for (uint32_t a = c->v.epsilon_begin[t->state]; a < c->v.epsilon_begin[t->state + 1]; ++a, ++c->path.n_arcs_expanded)
        if (t->cost + cost_of(c, a) <= bound) offer(c, t, a, t->cost + cost_of(c, a), 0);
    }
    accept_offers(c, bound);
  }
}
/* Removes the tokens whose paths have another arc than the best token's in the row number `frame`. */
static const struct path *arc_of(const asr_backend_channel *c, const struct path *p, uint32_t frame) {
  while (c->v.arcs[p->arc].transition_id == 0 || p->frame != frame) p = &c->paths[p->before];
  return p;
}
static void cut_paths(asr_backend_channel *c, uint32_t frame) {
  const struct path *best = c->tokens;
  for (const struct path *t = c->tokens; t < c->tokens + c->n_tokens; ++t)
    if (t->cost < best->cost || (t->cost == best->cost && t->state < best->state)) best = t;
  const uint32_t arc = arc_of(c, best, frame)->arc, n = c->n_tokens;
  c->n_tokens = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const struct path *t = &c->tokens[i];
    c->token_of[t->state] = 0;
    if (arc_of(c, t, frame)->arc != arc) continue;
    c->tokens[c->n_tokens] = *t;
    c->token_of[t->state] = ++c->n_tokens;
  }
}
static int compare_tokens(const void *left, const void *right) {
  const struct path *a = left, *b = right;
  return a->cost < b->cost || (a->cost == b->cost && a->state < b->state) ? -1 : 1;
}
static void consume(asr_backend_channel *c, const float *row) {
  qsort(c->tokens, c->n_tokens, sizeof *c->tokens, compare_tokens); /* step 1 */
  const float least = c->tokens[0].cost;
  const uint32_t min_active = c->o.min_active, most = MAX(c->o.max_active, min_active);
  uint32_t n = 0;
  while (n < c->n_tokens && n < most && (n < min_active || c->tokens[n].cost <= least + c->o.beam)) ++n;
  c->path.n_tokens += n;
  float best = INFINITY;
  for (const struct path *t = c->tokens; t < c->tokens + n; ++t) { /* step 2 */
    for (uint32_t a = c->v.emitting_begin[t->state]; a < c->v.emitting_begin[t->state + 1]; ++a, ++c->path.n_arcs_expanded) {
      const float loglike = row[c->v.pdf_of[c->v.arcs[a].transition_id]], scaled = -c->o.acoustic_scale * loglike;
      const float cost = ((t->cost - least) + cost_of(c, a)) + scaled;
      if (!isfinite(scaled) || !isfinite(cost)) continue;
      offer(c, t, a, cost, -loglike);
      best = fminf(best, cost);
    }
  }
  if ((c->path.beam_died = c->n_offers == 0)) return;
  while (c->n_tokens > 0) c->token_of[c->tokens[--c->n_tokens].state] = 0;
  accept_offers(c, best + c->o.beam);
  ++c->path.n_frames;
  follow_epsilons(c, best + c->o.beam);
  if (c->path.n_frames % CUT_PERIOD == 0 && c->path.n_frames > CUT_DISTANCE) cut_paths(c, c->path.n_frames - CUT_DISTANCE - 1);
}
static void channel_end(asr_backend_channel *c) {
  if (c != NULL) free(c->paths), free((void *)c->path.arcs);
  destroy(c);
}
static asr_status channel_begin(asr_backend_device *device, asr_backend_graph *graph, const asr_search_options *o,
                                asr_backend_channel **channel) {
  const int is_finite = isfinite(o->beam) && isfinite(o->acoustic_scale) && isfinite(o->word_insertion_cost);
  if (!is_finite || o->beam <= 0 || o->acoustic_scale < 0 || o->max_active == 0)
    return fail(ASR_INVALID_ARGUMENT, "channel_begin: beam, acoustic_scale, word_insertion_cost or max_active is out of range");
  asr_backend_channel *c = calloc(1, sizeof *c);
  if (c == NULL) return no_memory();
  c->v = *(asr_graph_view *)graph, c->o = *o;
  const size_t n = c->v.n_states;
  c->tokens = take(&c->arrays, NULL, 2 * n, sizeof *c->tokens);
  c->token_of = take(&c->arrays, NULL, 3 * n, sizeof *c->token_of);
  c->paths = calloc(c->max_paths = 64, sizeof *c->paths);
  if (c->arrays.failed || c->paths == NULL) return channel_end(c), no_memory();
  c->offers = c->tokens + n, c->offer_of = c->token_of + n, c->fell = c->offer_of + n;
  c->tokens[0].state = c->paths[0].state = c->v.start_state;
  c->n_paths = c->n_tokens = c->n_fell = c->token_of[c->v.start_state] = 1;
  follow_epsilons(c, o->beam);
  const asr_status status = c->status;
  if (status != ASR_OK) channel_end(c), c = NULL;
  return *channel = c, status;
}
static asr_status outcome(asr_backend_device *device, asr_backend_channel *c) {
  return c->status == ASR_OK ? ASR_OK : fail(c->status, c->status == ASR_OUT_OF_MEMORY ? kNoMemory : kCycle);
}
static asr_status advance(asr_backend_device *device, asr_backend_acoustic *a, const asr_advance_job *jobs, size_t n_jobs) {
  for (const asr_advance_job *j = jobs; j < jobs + n_jobs; ++j) {
    asr_backend_channel *c = j->channel;
    const float *rows = j->loglikes;
    size_t stride = c->v.n_pdfs;
    if (rows == NULL && j->n_frames > 0) {
      if (a == NULL || j->buffer > 1 || a->v.n_states < c->v.n_pdfs ||
          a->n_rows[j->buffer] < (size_t)j->first_row + j->n_frames)
        return fail(ASR_INVALID_ARGUMENT, "advance: there are no such rows");
      stride = a->v.n_states, rows = a->scores[j->buffer] + j->first_row * stride;
    }
    for (size_t t = 0; t < j->n_frames && c->status == ASR_OK && !c->path.beam_died; ++t) consume(c, rows + t * stride);
  }
  return ASR_OK;
}
static asr_status best_path(asr_backend_channel *c, int with_final, asr_path *path) {
  if (c->status != ASR_OK) return outcome(NULL, c);
  const struct path *best = NULL;
  float least = INFINITY;
  for (const struct path *t = c->tokens; t < c->tokens + c->n_tokens; ++t) {
    const float cost = t->cost + (with_final ? c->v.final_costs[t->state] : 0);
    if (cost < least || (best != NULL && cost == least && t->state < best->state)) best = t, least = cost;
  }
  if (best == NULL) return best_path(c, 0, path); /* no token is in a final state */
  asr_path_arc *arcs = realloc((void *)c->path.arcs, (best->n_arcs + 1) * sizeof *arcs);
  if (arcs == NULL) return no_memory();
  for (const struct path *p = best; p->number != 0; p = &c->paths[p->before]) {
    const asr_graph_arc *arc = &c->v.arcs[p->arc];
    if (p->n_arcs == c->paths[p->before].n_arcs) continue;
    arcs[p->n_arcs - 1] = (asr_path_arc){p->frame, arc->transition_id, arc->word, arc->graph_cost, p->acoustic_cost};
  }
  c->path.arcs = arcs, c->path.n_arcs = best->n_arcs, c->path.reached_final = (uint32_t)with_final;
  c->path.total_cost = best->total_cost + (c->path.final_cost = with_final ? c->v.final_costs[best->state] : 0);
  return *path = c->path, ASR_OK;
}
static asr_status best_paths(asr_backend_device *d, asr_backend_channel *const *c, size_t n, uint32_t wants, asr_path *paths) {
  asr_status status = ASR_OK;
  for (size_t i = 0; i < n && status == ASR_OK; ++i) status = best_path(c[i], (wants & ASR_WANTS_FINAL) != 0, &paths[i]);
  return status;
}
static asr_status wait(asr_backend_device *device, uint32_t n_left) { return ASR_OK; }
static const void *extension(const char *name) { return NULL; }
__attribute__((visibility("default"))) const asr_backend_api *asr_backend_entry(uint32_t host_abi, const asr_host_api *host) {
  static const asr_backend_api table = {
      ASR_BACKEND_ABI, sizeof table,  "plain",       probe,      open_device, close_device, last_error, load_features,
      free_features,   load_acoustic, free_acoustic, load_graph, free_graph,  extract,      score,      channel_begin,
      channel_end,     advance,       best_paths,    NULL,       outcome,     wait,         extension};
  return host_abi == ASR_BACKEND_ABI ? &table : NULL;
}
