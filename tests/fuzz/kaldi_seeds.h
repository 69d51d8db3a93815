// SPDX-License-Identifier: Apache-2.0
// Valid files of Kaldi and OpenFst that several targets start from.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "tests/unit/import/sphinx_writer.h"

namespace asr::fuzz {

using test::Bytes;

inline constexpr char kKaldiTextModel[] =
    "<TransitionModel> <Topology> <TopologyEntry> <ForPhones> 1 2 </ForPhones>\n"
    "<State> 0 <PdfClass> 0 <Transition> 0 0.5 <Transition> 1 0.5 </State> <State> 1 </State> </TopologyEntry> </Topology>\n"
    "<Triples> 2\n1 0 0\n2 0 1\n</Triples>\n<LogProbs> [ 0 -0.7 -0.7 -0.7 -0.7 ]\n</LogProbs> </TransitionModel>\n"
    "<DIMENSION> 2 <NUMPDFS> 2\n"
    "<DiagGMM> <GCONSTS> [ -2 -2 ] <WEIGHTS> [ 0.5 0.5 ] <MEANS_INVVARS> [ 0 1\n 1 0 ] <INV_VARS> [ 1 1\n 2 2 ] </DiagGMM>\n"
    "<DiagGMM> <GCONSTS> [ -2 ] <WEIGHTS> [ 1 ] <MEANS_INVVARS> [ 0 1 ] <INV_VARS> [ 1 1 ] </DiagGMM>\n";

inline void binary_int(Bytes &out, uint32_t value) {
  out.raw("\x04");
  out.u32(value);
}

inline void binary_float(Bytes &out, float value) {
  out.raw("\x04");
  out.f32(value);
}

inline void binary_vector(Bytes &out, const std::vector<float> &values) {
  out.raw("FV ");
  binary_int(out, static_cast<uint32_t>(values.size()));
  for (const float value : values) out.f32(value);
}

inline void binary_matrix(Bytes &out, uint32_t n_rows, const std::vector<float> &values) {
  out.raw("FM ");
  binary_int(out, n_rows);
  binary_int(out, static_cast<uint32_t>(values.size()) / n_rows);
  for (const float value : values) out.f32(value);
}

inline void binary_ints(Bytes &out, const std::vector<uint32_t> &values) {
  binary_int(out, static_cast<uint32_t>(values.size()));
  for (const uint32_t value : values) out.u32(value);
}

// One phone of one state, one full-covariance Gaussian of two dimensions.
inline std::string kaldi_binary_model() {
  Bytes out;
  out.raw(std::string("\0B", 2) + "<TransitionModel> <Topology> ");
  binary_ints(out, {1});
  binary_ints(out, {0xffffffffu, 0});
  binary_int(out, 1);
  binary_int(out, 2);
  binary_int(out, 0);
  binary_int(out, 2);
  for (const uint32_t to : {0u, 1u}) {
    binary_int(out, to);
    binary_float(out, 0.5f);
  }
  binary_int(out, 0xffffffffu);
  binary_int(out, 0);
  out.raw("</Topology> <Triples> ");
  for (const uint32_t value : {1u, 1u, 0u, 0u}) binary_int(out, value);
  out.raw("</Triples> <LogProbs> ");
  binary_vector(out, {0, -0.7f, -0.7f});
  out.raw("</LogProbs> </TransitionModel> <DIMENSION> ");
  binary_int(out, 2);
  out.raw("<NUMPDFS> ");
  binary_int(out, 1);
  out.raw("<FullGMM> <GCONSTS> ");
  binary_vector(out, {-2});
  out.raw("<WEIGHTS> ");
  binary_vector(out, {1});
  out.raw("<MEANS_INVCOVARS> ");
  binary_matrix(out, 1, {0.5f, 1});
  out.raw("<INV_COVARS> FP ");
  binary_int(out, 2);
  for (const float value : {1.0f, 0.25f, 2.0f}) out.f32(value);
  out.raw("</FullGMM> ");
  return out.text;
}

inline std::string kaldi_archive() {
  Bytes out;
  for (const char *key : {"utterance-1 ", "utterance-2 "}) {
    out.raw(key + std::string("\0B", 2));
    binary_matrix(out, 2, {1, 2, 3, 4, 5, 6});
  }
  return out.text;
}

// Three states, starting in the second; the labels are the small HmmSet's two transition-ids. Type "vector" or "const".
inline std::string openfst(bool constant) {
  Bytes out;
  const auto text = [&](const std::string &s) {
    out.u32(static_cast<uint32_t>(s.size()));
    out.raw(s);
  };
  const auto u64 = [&](uint64_t v) {
    out.u32(static_cast<uint32_t>(v));
    out.u32(static_cast<uint32_t>(v >> 32));
  };
  out.u32(2125659606);
  text(constant ? "const" : "vector");
  text("standard");
  out.u32(2);
  out.u32(0);
  u64(0);
  u64(1);
  u64(3);
  u64(constant ? 3 : 0);
  const uint32_t arcs[3][3] = {{1, 0, 2}, {2, 1, 0}, {0, 2, 2}};  // input, output, next state; one of each state
  const float final_costs[] = {INFINITY, INFINITY, 0.5f};
  const auto write_arc = [&](uint32_t i) {
    out.u32(arcs[i][0]);
    out.u32(arcs[i][1]);
    out.f32(0.25f);
    out.u32(arcs[i][2]);
  };
  for (uint32_t s = 0; s < 3; ++s) {
    out.f32(final_costs[s]);
    if (constant) {
      for (const uint32_t field : {s, 1u, s == 2 ? 1u : 0u, s == 0 ? 1u : 0u}) out.u32(field);
    } else {
      u64(1);
      write_arc(s);
    }
  }
  for (uint32_t s = 0; constant && s < 3; ++s) write_arc(s);
  return out.text;
}

inline constexpr char kKaldiTree[] =
    "ContextDependency 3 1 ToPdf TE 1 2 ( NULL SE 0 [ 1 2 ]\n{ TE -1 2 ( CE 0 CE 1 ) CE 2 } )\nEndContextDependency\n";

}  // namespace asr::fuzz
