// SPDX-License-Identifier: Apache-2.0
// Writes small Kaldi objects for the tests, binary or text.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace asr::test {

class KaldiWriter {
 public:
  explicit KaldiWriter(bool binary) : binary_(binary) {
    if (binary) out_ = std::string("\0B", 2);
  }

  const std::string &bytes() const { return out_; }

  KaldiWriter &token(const std::string &token) {
    out_ += token + " ";
    return *this;
  }
  KaldiWriter &integer(int32_t value) {
    if (binary_) {
      out_ += '\4';
      raw(value);
    } else {
      out_ += std::to_string(value) + " ";
    }
    return *this;
  }
  KaldiWriter &real(float value) {
    if (binary_) {
      out_ += '\4';
      raw(value);
    } else {
      out_ += number(value);
    }
    return *this;
  }
  KaldiWriter &integers(const std::vector<int32_t> &values) {  // binary only: the text topology has no such vectors
    out_ += '\4';
    raw(static_cast<int32_t>(values.size()));
    for (const int32_t value : values) raw(value);
    return *this;
  }
  KaldiWriter &vector(const std::vector<float> &values) {
    if (!binary_) {
      out_ += " [ ";
      for (const float value : values) out_ += number(value);
      out_ += "]\n";
      return *this;
    }
    token("FV").integer(static_cast<int32_t>(values.size()));
    for (const float value : values) raw(value);
    return *this;
  }
  KaldiWriter &matrix(uint32_t n_rows, const std::vector<float> &values) {
    const auto n_cols = static_cast<int32_t>(n_rows == 0 ? 0 : values.size() / n_rows);
    if (!binary_) {
      out_ += " [";
      for (size_t i = 0; i < values.size(); ++i)
        out_ += (i % static_cast<size_t>(n_cols) == 0 ? "\n  " : "") + number(values[i]);
      out_ += "]\n";
      return *this;
    }
    token("FM").integer(static_cast<int32_t>(n_rows)).integer(n_cols);
    for (const float value : values) raw(value);
    return *this;
  }
  KaldiWriter &packed(uint32_t n_rows, const std::vector<float> &values) {
    if (!binary_) {
      out_ += " [";
      for (size_t r = 0, i = 0; r < n_rows; ++r) {
        out_ += "\n ";
        for (size_t c = 0; c <= r; ++c) out_ += number(values[i++]);
      }
      out_ += "]\n";
      return *this;
    }
    token("FP").integer(static_cast<int32_t>(n_rows));
    for (const float value : values) raw(value);
    return *this;
  }
  template <typename T>
  KaldiWriter &raw(T value) {
    char bytes[sizeof(T)];
    memcpy(bytes, &value, sizeof(T));
    out_.append(bytes, sizeof(T));
    return *this;
  }

 private:
  bool binary_;
  std::string out_;

  static std::string number(float value) { return format("%.9g ", static_cast<double>(value)); }
};

// Two phones: 1 has one emitting state, 2 has two with a skip over the second. Three pdfs of two, one and one Gaussians in two
// dimensions. `extended`: the format with separate self-loop pdfs (the self-loop of phone 1 has pdf 2).
inline std::string small_kaldi_model(bool binary, bool extended, bool full) {
  KaldiWriter w(binary);
  const auto state = [&](int32_t forward, int32_t self_loop, const std::vector<std::pair<int32_t, float>> &arcs) {
    w.integer(forward);
    if (extended) w.integer(self_loop);
    w.integer(static_cast<int32_t>(arcs.size()));
    for (const auto &[to, p] : arcs) w.integer(to).real(p);
  };
  const auto text_state = [&](int32_t number, int32_t forward, int32_t self_loop,
                              const std::vector<std::pair<int32_t, float>> &arcs) {
    w.token("<State>").integer(number);
    if (extended && forward >= 0) w.token("<ForwardPdfClass>").integer(forward).token("<SelfLoopPdfClass>").integer(self_loop);
    if (!extended && forward >= 0) w.token("<PdfClass>").integer(forward);
    for (const auto &[to, p] : arcs) w.token("<Transition>").integer(to).real(p);
    w.token("</State>");
  };
  w.token("<TransitionModel>").token("<Topology>");
  if (binary) {
    w.integers({1, 2}).integers({-1, 0, 1});
    if (extended) w.integer(-1);
    w.integer(2);
    w.integer(2);
    state(0, 1, {{0, 0.5f}, {1, 0.5f}});
    state(-1, -1, {});
    w.integer(3);
    state(0, 0, {{0, 0.5f}, {1, 0.25f}, {2, 0.25f}});
    state(1, 1, {{1, 0.5f}, {2, 0.5f}});
    state(-1, -1, {});
  } else {
    w.token("\n<TopologyEntry>").token("<ForPhones>").integer(1).token("</ForPhones>");
    text_state(0, 0, 1, {{0, 0.5f}, {1, 0.5f}});
    text_state(1, -1, -1, {});
    w.token("</TopologyEntry>\n<TopologyEntry>").token("<ForPhones>").integer(2).token("</ForPhones>");
    text_state(0, 0, 0, {{0, 0.5f}, {1, 0.25f}, {2, 0.25f}});
    text_state(1, 1, 1, {{1, 0.5f}, {2, 0.5f}});
    text_state(2, -1, -1, {});
    w.token("</TopologyEntry>\n");
  }
  w.token("</Topology>").token(extended ? "<Tuples>" : "<Triples>").integer(3);
  const int32_t tuples[3][4] = {{1, 0, 0, extended ? 2 : 0}, {2, 0, 1, 1}, {2, 1, 2, 2}};
  for (const auto &t : tuples) {
    w.integer(t[0]).integer(t[1]).integer(t[2]);
    if (extended) w.integer(t[3]);
  }
  w.token(extended ? "</Tuples>" : "</Triples>").token("<LogProbs>");
  // ln of 3/4 and 1/4; 1/2, 1/4 and 1/4; 1/8 and 7/8
  w.vector({0, -0.28768f, -1.38629f, -0.69315f, -1.38629f, -1.38629f, -2.07944f, -0.13353f})
      .token("</LogProbs>")
      .token("</TransitionModel>");

  w.token("<DIMENSION>").integer(2).token("<NUMPDFS>").integer(3);
  for (int pdf = 0; pdf < 3; ++pdf) {
    const uint32_t n = pdf == 0 ? 2 : 1;
    w.token(full ? "<FullGMM>" : "<DiagGMM>");
    w.token("<GCONSTS>").vector(std::vector<float>(n, -1));
    w.token("<WEIGHTS>").vector(n == 2 ? std::vector<float>{0.25f, 0.75f} : std::vector<float>{1});
    const std::vector<float> means = {2, 1, 4, -1};  // diagonal precisions 2, 0.5: means 1, 2 and 2, -2
    const std::vector<float> some(means.begin(), means.begin() + 2L * n);
    if (full) {
      w.token("<MEANS_INVCOVARS>").matrix(n, some).token("<INV_COVARS>");
      for (uint32_t k = 0; k < n; ++k) w.packed(2, {2, 0.5f, 1});
    } else {
      const std::vector<float> precisions = {2, 0.5f, 2, 0.5f};
      w.token("<MEANS_INVVARS>").matrix(n, some);
      w.token("<INV_VARS>").matrix(n, std::vector<float>(precisions.begin(), precisions.begin() + 2L * n));
    }
    w.token(full ? "</FullGMM>" : "</DiagGMM>");
  }
  return w.bytes();
}

}  // namespace asr::test
