// SPDX-License-Identifier: Apache-2.0
// The files of a CMU Sphinx model.
#include "core/base/file.h"
#include "core/model/import/sphinx_dictionary.h"
#include "core/model/import/sphinx_feat_params.h"
#include "core/model/import/sphinx_mdef.h"
#include "core/model/import/sphinx_s3.h"
#include "core/model/import/sphinx_sendump.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/import/sphinx_writer.h"
#include "tests/unit/model/small_model.h"

namespace asr::fuzz {
namespace {

using namespace sphinx;
using namespace test;

uint8_t some_weight(uint32_t stream, uint32_t density, uint32_t senone) {
  return static_cast<uint8_t>((stream * 7 + density * 3 + senone) % 16);
}

// Containers in both byte orders; without checksums, which would refuse nearly every damage before it is looked at.
std::vector<std::string> containers(const std::vector<uint32_t> &counts, const std::vector<float> &values) {
  return {s3_file(counts, values, false, false), s3_file(counts, values, true, false), s3_file(counts, values, false, true)};
}

MdefSource small_mdef() {
  return {8,
          6,
          2,
          {{"AA", "-", "-", '-', false, 0, {0, 1}},
           {"B", "-", "-", '-', false, 1, {2, 3}},
           {"SIL", "-", "-", '-', true, 0, {4, 5}},
           {"AA", "B", "SIL", 'e', false, 0, {6, 1}},
           {"B", "AA", "AA", 's', false, 1, {2, 7}}}};
}

}  // namespace

void add_sphinx_targets(std::vector<Target> &targets) {
  const std::vector<float> numbers = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  targets.push_back({"means", containers({2, 2, 2, 1, 2}, numbers), [](const std::string &p) { read_gaussians(p); }});
  targets.push_back(
      {"mixture_weights", containers({2, 2, 3}, numbers), [](const std::string &p) { read_mixture_weights(p, 1e-7); }});
  targets.push_back(
      {"transition_matrices", containers({2, 2, 3}, numbers), [](const std::string &p) { read_transition_matrices(p, 1e-4); }});
  targets.push_back(
      {"feature_transform", containers({2, 2, 3}, numbers), [](const std::string &p) { read_feature_transform(p); }});
  targets.push_back({"mdef",
                     {text_mdef(small_mdef()), binary_mdef(small_mdef()), binary_mdef(small_mdef(), true)},
                     [](const std::string &p) { read_mdef(p); }});
  targets.push_back({"sendump",
                     {sendump_8_bit({2, 3, 5, some_weight}), sendump_8_bit({2, 3, 5, some_weight, 3, true}),
                      sendump_4_bit({2, 3, 5, some_weight})},
                     [](const std::string &p) { read_sendump(p, 5, 2, 3); }});
  targets.push_back({"feat.params",
                     {"-lowerf 130\n-upperf 6800\n-nfilt 25\n-transform dct\n-lifter 22\n-feat 1s_c_d_dd\n"
                      "-svspec 0-12/13-25/26-38\n-agc none\n-cmn batch\n-cmninit 41.00,-5.29\n-wlen 0.025\n-samprate 16000\n",
                      "-feat s2_4x -nfft 512 -frate 100 -alpha 0.97 -ncep 13 -cmn none -varfloor 0.001 -remove_dc yes"},
                     [](const std::string &p) { read_feat_params(p, 0); }});
  targets.push_back({"noisedict", {"<s> SIL\n</s> SIL\n## comment\n[NOISE] A\n"}, [](const std::string &p) {
                       std::vector<std::string> notes;
                       parse_noisedict(read_file(p), p, small_hmm_set(), notes);
                     }});
}

}  // namespace asr::fuzz
