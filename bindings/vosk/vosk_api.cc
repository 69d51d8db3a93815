// SPDX-License-Identifier: Apache-2.0
// The functions of vosk_api.h. Nothing thrown leaves them; what went wrong is written to standard error.
#include "bindings/vosk/vosk_api.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>

#include "bindings/vosk/batch.h"
#include "bindings/vosk/model.h"
#include "bindings/vosk/recognizer.h"

namespace vosk = senone::vosk;

struct VoskModel {
  std::shared_ptr<vosk::Model> model;
};
struct VoskRecognizer {
  vosk::Recognizer recognizer;
};
struct VoskBatchModel {
  vosk::BatchModel model;
};
struct VoskBatchRecognizer {
  std::shared_ptr<vosk::BatchRecognizer> recognizer;
};

namespace {

constexpr const char *kNoResult = "{\n  \"text\" : \"\"\n}", *kNoPartial = "{\n  \"partial\" : \"\"\n}";

void say(const char *function, const char *what) { fprintf(stderr, "libvosk: %s: %s\n", function, what); }

// Returns what `call` returns, or `otherwise` if it throws.
template <typename Result, typename Call>
Result guarded(const char *function, Result otherwise, Call call) noexcept {
  try {
    return call();
  } catch (const std::exception &error) {
    say(function, error.what());
  } catch (...) {
    say(function, "unknown error");
  }
  return otherwise;
}

template <typename Call>
void guarded(const char *function, Call call) noexcept {
  guarded(function, 0, [&] {
    call();
    return 0;
  });
}

}  // namespace

extern "C" {

// ---- models ----

VoskModel *vosk_model_new(const char *model_path) {
  if (model_path == nullptr) return nullptr;
  return guarded<VoskModel *>("vosk_model_new", nullptr, [&] {
    vosk::begin_log();
    return new VoskModel{std::make_shared<vosk::Model>(model_path)};
  });
}

void vosk_model_free(VoskModel *model) { delete model; }

int vosk_model_find_word(VoskModel *model, const char *word) {
  if (model == nullptr || word == nullptr) return -1;
  return guarded("vosk_model_find_word", -1, [&] { return model->model->find_word(word); });
}

VoskSpkModel *vosk_spk_model_new(const char *) {
  say("vosk_spk_model_new", "there are no speaker models in Senone; recognise without one");
  return nullptr;
}

void vosk_spk_model_free(VoskSpkModel *) {}

// ---- recognizers ----

VoskRecognizer *vosk_recognizer_new(VoskModel *model, float sample_rate) {
  return vosk_recognizer_new_grm(model, sample_rate, "[]");
}

VoskRecognizer *vosk_recognizer_new_spk(VoskModel *, float, VoskSpkModel *) {
  say("vosk_recognizer_new_spk", "there are no speaker models in Senone; call vosk_recognizer_new");
  return nullptr;
}

VoskRecognizer *vosk_recognizer_new_grm(VoskModel *model, float sample_rate, const char *grammar) {
  if (model == nullptr || grammar == nullptr) return nullptr;
  return guarded<VoskRecognizer *>("vosk_recognizer_new", nullptr, [&] {
    return new VoskRecognizer{{model->model, sample_rate, model->model->search(grammar)}};
  });
}

void vosk_recognizer_free(VoskRecognizer *recognizer) { delete recognizer; }

void vosk_recognizer_set_spk_model(VoskRecognizer *, VoskSpkModel *) {
  say("vosk_recognizer_set_spk_model", "there are no speaker models in Senone; results have no \"spk\"");
}

void vosk_recognizer_set_grm(VoskRecognizer *recognizer, const char *grammar) {
  if (recognizer == nullptr || grammar == nullptr) return;
  guarded("vosk_recognizer_set_grm", [&] { recognizer->recognizer.set_search(grammar); });
}

void vosk_recognizer_set_max_alternatives(VoskRecognizer *recognizer, int max_alternatives) {
  if (recognizer == nullptr) return;
  guarded("vosk_recognizer_set_max_alternatives", [&] { recognizer->recognizer.set_max_alternatives(max_alternatives); });
}

void vosk_recognizer_set_words(VoskRecognizer *recognizer, int words) {
  if (recognizer == nullptr) return;
  guarded("vosk_recognizer_set_words", [&] { recognizer->recognizer.set_words(words != 0); });
}

void vosk_recognizer_set_partial_words(VoskRecognizer *recognizer, int partial_words) {
  if (recognizer == nullptr) return;
  guarded("vosk_recognizer_set_partial_words", [&] { recognizer->recognizer.set_partial_words(partial_words != 0); });
}

void vosk_recognizer_set_nlsml(VoskRecognizer *recognizer, int nlsml) {
  if (recognizer == nullptr) return;
  guarded("vosk_recognizer_set_nlsml", [&] { recognizer->recognizer.set_nlsml(nlsml != 0); });
}

void vosk_recognizer_set_endpointer_mode(VoskRecognizer *recognizer, int mode) {
  if (recognizer == nullptr) return;
  guarded("vosk_recognizer_set_endpointer_mode", [&] { recognizer->recognizer.set_endpointer_mode(mode); });
}

void vosk_recognizer_set_endpointer_delays(VoskRecognizer *recognizer, float t_start_max, float t_end, float t_max) {
  if (recognizer == nullptr) return;
  guarded("vosk_recognizer_set_endpointer_delays",
          [&] { recognizer->recognizer.set_endpointer_delays(t_start_max, t_end, t_max); });
}

int vosk_recognizer_accept_waveform(VoskRecognizer *recognizer, const char *data, int length) {
  if (recognizer == nullptr || length < 0 || (data == nullptr && length > 0)) return -1;
  return guarded("vosk_recognizer_accept_waveform", -1,
                 [&] { return recognizer->recognizer.accept_bytes(data, static_cast<size_t>(length)); });
}

int vosk_recognizer_accept_waveform_s(VoskRecognizer *recognizer, const short *data, int length) {
  if (recognizer == nullptr || length < 0 || (data == nullptr && length > 0)) return -1;
  return guarded("vosk_recognizer_accept_waveform_s", -1,
                 [&] { return recognizer->recognizer.accept(data, static_cast<size_t>(length)); });
}

int vosk_recognizer_accept_waveform_f(VoskRecognizer *recognizer, const float *data, int length) {
  if (recognizer == nullptr || length < 0 || (data == nullptr && length > 0)) return -1;
  return guarded("vosk_recognizer_accept_waveform_f", -1, [&] {
    std::vector<int16_t> samples;
    samples.reserve(static_cast<size_t>(length));
    for (int i = 0; i < length; ++i) {
      if (!std::isfinite(data[i])) throw senone::Error(ASR_BAD_AUDIO, "a sample is not finite");
      samples.push_back(static_cast<int16_t>(std::lround(std::fmin(std::fmax(data[i], INT16_MIN), INT16_MAX))));
    }
    return recognizer->recognizer.accept(samples.data(), samples.size());
  });
}

const char *vosk_recognizer_result(VoskRecognizer *recognizer) {
  if (recognizer == nullptr) return kNoResult;
  return guarded("vosk_recognizer_result", kNoResult, [&] { return recognizer->recognizer.result(false); });
}

const char *vosk_recognizer_final_result(VoskRecognizer *recognizer) {
  if (recognizer == nullptr) return kNoResult;
  return guarded("vosk_recognizer_final_result", kNoResult, [&] { return recognizer->recognizer.result(true); });
}

const char *vosk_recognizer_partial_result(VoskRecognizer *recognizer) {
  if (recognizer == nullptr) return kNoPartial;
  return guarded("vosk_recognizer_partial_result", kNoPartial, [&] { return recognizer->recognizer.partial_result(); });
}

void vosk_recognizer_reset(VoskRecognizer *recognizer) {
  if (recognizer == nullptr) return;
  guarded("vosk_recognizer_reset", [&] { recognizer->recognizer.reset(); });
}

// ---- the process ----

void vosk_set_log_level(int log_level) {
  guarded("vosk_set_log_level", [&] { vosk::set_log_level(log_level); });
}

void vosk_gpu_init(void) {}
void vosk_gpu_thread_init(void) {}

// ---- batches ----

VoskBatchModel *vosk_batch_model_new(const char *model_path) {
  if (model_path == nullptr) return nullptr;
  return guarded<VoskBatchModel *>("vosk_batch_model_new", nullptr, [&] {
    vosk::begin_log();
    return new VoskBatchModel{vosk::BatchModel(model_path)};
  });
}

void vosk_batch_model_free(VoskBatchModel *model) { delete model; }

void vosk_batch_model_wait(VoskBatchModel *model) {
  if (model == nullptr) return;
  guarded("vosk_batch_model_wait", [&] { model->model.wait(); });
}

VoskBatchRecognizer *vosk_batch_recognizer_new(VoskBatchModel *model, float sample_rate) {
  if (model == nullptr) return nullptr;
  return guarded<VoskBatchRecognizer *>("vosk_batch_recognizer_new", nullptr,
                                        [&] { return new VoskBatchRecognizer{model->model.add(sample_rate)}; });
}

void vosk_batch_recognizer_free(VoskBatchRecognizer *recognizer) { delete recognizer; }

void vosk_batch_recognizer_set_nlsml(VoskBatchRecognizer *recognizer, int nlsml) {
  if (recognizer == nullptr) return;
  guarded("vosk_batch_recognizer_set_nlsml", [&] { recognizer->recognizer->set_nlsml(nlsml != 0); });
}

void vosk_batch_recognizer_accept_waveform(VoskBatchRecognizer *recognizer, const char *data, int length) {
  if (recognizer == nullptr || length < 0 || (data == nullptr && length > 0)) return;
  guarded("vosk_batch_recognizer_accept_waveform",
          [&] { recognizer->recognizer->accept_bytes(data, static_cast<size_t>(length)); });
}

void vosk_batch_recognizer_finish_stream(VoskBatchRecognizer *recognizer) {
  if (recognizer == nullptr) return;
  guarded("vosk_batch_recognizer_finish_stream", [&] { recognizer->recognizer->finish(); });
}

const char *vosk_batch_recognizer_front_result(VoskBatchRecognizer *recognizer) {
  if (recognizer == nullptr) return "";
  return guarded("vosk_batch_recognizer_front_result", "", [&] { return recognizer->recognizer->front(); });
}

void vosk_batch_recognizer_pop(VoskBatchRecognizer *recognizer) {
  if (recognizer == nullptr) return;
  guarded("vosk_batch_recognizer_pop", [&] { recognizer->recognizer->pop(); });
}

int vosk_batch_recognizer_get_pending_chunks(VoskBatchRecognizer *recognizer) {
  if (recognizer == nullptr) return 0;
  return guarded("vosk_batch_recognizer_get_pending_chunks", 0, [&] { return recognizer->recognizer->n_pending(); });
}

// ---- texts ----

VoskTextProcessor *vosk_text_processor_new(const char *, const char *) {
  say("vosk_text_processor_new", "there is no inverse text normalisation in Senone; use the words as they are");
  return nullptr;
}

void vosk_text_processor_free(VoskTextProcessor *) {}

char *vosk_text_processor_itn(VoskTextProcessor *, const char *) { return nullptr; }

}  // extern "C"
