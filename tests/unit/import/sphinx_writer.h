// SPDX-License-Identifier: Apache-2.0
// Writes files in the formats of CMU Sphinx, for tests of the importer: little and big endian, with and without checksums.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace asr::test {

// Collects bytes in one byte order.
class Bytes {
 public:
  explicit Bytes(bool big_endian = false) : big_endian_(big_endian) {}
  void u32(uint32_t v) {
    for (int i = 0; i < 4; ++i) text.push_back(static_cast<char>(v >> 8 * (big_endian_ ? 3 - i : i)));
  }
  void u16(uint16_t v) {
    for (int i = 0; i < 2; ++i) text.push_back(static_cast<char>(v >> 8 * (big_endian_ ? 1 - i : i)));
  }
  void f32(float v) {
    uint32_t bits;
    memcpy(&bits, &v, 4);
    u32(bits);
  }
  void raw(const std::string &bytes) { text += bytes; }

  std::string text;

 private:
  bool big_endian_;
};

// Makes an s3 container: text header, byte-order mark, counts, the number of values, the values, and the checksum.
inline std::string s3_file(const std::vector<uint32_t> &counts, const std::vector<float> &values, bool big_endian = false,
                           bool with_checksum = true) {
  std::vector<uint32_t> words = counts;
  words.push_back(static_cast<uint32_t>(values.size()));
  for (const float value : values) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    words.push_back(bits);
  }
  Bytes out(big_endian);
  out.raw(std::string("s3\nversion 1.0\n") + (with_checksum ? "chksum0 yes\n" : "") + "      endhdr\n");
  out.u32(0x11223344);
  uint32_t sum = 0;
  for (const uint32_t word : words) {
    out.u32(word);
    sum = (sum << 20 | sum >> 12) + word;
  }
  if (with_checksum) out.u32(sum);
  return out.text;
}

struct PhoneLine {
  std::string base, left, right;
  char position;
  bool filler;
  uint32_t matrix;
  std::vector<uint32_t> senones;
};

// A model definition: phones in the order of the file, base phones (left "-") first.
struct MdefSource {
  uint32_t n_senones, n_ci_senones, n_matrices;
  std::vector<PhoneLine> phones;

  uint32_t n_base() const {
    uint32_t n = 0;
    for (const PhoneLine &phone : phones) n += phone.left == "-";
    return n;
  }
  uint32_t n_emitting() const { return static_cast<uint32_t>(phones[0].senones.size()); }
  uint8_t number(const std::string &name) const {
    uint8_t i = 0;
    while (phones[i].base != name) ++i;
    return i;
  }
};

inline std::string text_mdef(const MdefSource &mdef) {
  const size_t n = mdef.phones.size();
  std::string text = "# made for a test\n0.3\n";
  const auto line = [&](size_t count, const char *tag) { text += std::to_string(count) + " " + tag + "\n"; };
  line(mdef.n_base(), "n_base");
  line(n - mdef.n_base(), "n_tri");
  line(n * (mdef.n_emitting() + 1), "n_state_map");
  line(mdef.n_senones, "n_tied_state");
  line(mdef.n_ci_senones, "n_tied_ci_state");
  line(mdef.n_matrices, "n_tied_tmat");
  text += "#\n# base lft rt p attrib tmat ... state id's ...\n";
  for (const PhoneLine &phone : mdef.phones) {
    text += phone.base + " " + phone.left + " " + phone.right + " " + phone.position + (phone.filler ? " filler " : " n/a ") +
            std::to_string(phone.matrix);
    for (const uint32_t senone : phone.senones) text += " " + std::to_string(senone);
    text += " N\n";
  }
  return text;
}

inline std::string binary_mdef(const MdefSource &mdef, bool big_endian = false) {
  const uint32_t n = static_cast<uint32_t>(mdef.phones.size());
  Bytes out(big_endian);
  out.raw(big_endian ? "FDMB" : "BMDF");
  out.u32(1);
  out.u32(8);
  out.raw("describe");
  for (const uint32_t value : {mdef.n_base(), n, mdef.n_emitting(), mdef.n_ci_senones, mdef.n_senones, mdef.n_matrices, n, 3u,
                               2u, uint32_t{mdef.number("SIL")}}) {
    out.u32(value);
  }
  std::string names;
  for (uint32_t i = 0; i < mdef.n_base(); ++i) names += mdef.phones[i].base + '\0';
  names.resize((names.size() + 3) / 4 * 4, '\0');
  out.raw(names);
  for (int node = 0; node < 2; ++node) {  // the importer does not use the tree
    out.u16(0);
    out.u16(0);
    out.u32(0xffffffffu);
  }
  for (uint32_t i = 0; i < n; ++i) {
    const PhoneLine &phone = mdef.phones[i];
    out.u32(i);
    out.u32(phone.matrix);
    if (phone.left == "-") {
      out.raw(std::string{static_cast<char>(phone.filler), '\0', '\0', '\0'});
    } else {
      out.raw(std::string{static_cast<char>(std::string("ibes").find(phone.position)),
                          static_cast<char>(mdef.number(phone.base)), static_cast<char>(mdef.number(phone.left)),
                          static_cast<char>(mdef.number(phone.right))});
    }
  }
  out.u32(n * mdef.n_emitting());
  for (const PhoneLine &phone : mdef.phones) {
    for (const uint32_t senone : phone.senones) out.u16(static_cast<uint16_t>(senone));
  }
  return out.text;
}

// Returns the quantised weight of (stream, density, senone).
using QuantisedWeight = uint8_t (*)(uint32_t stream, uint32_t density, uint32_t senone);

struct SendumpSource {
  uint32_t n_streams, n_densities, n_senones;
  QuantisedWeight weight;
  uint32_t n_padding = 0;  // senones added to each row of the 8-bit form
  bool big_endian = false;
};

inline void sendump_string(Bytes &out, const std::string &text) {
  out.u32(static_cast<uint32_t>(text.size() + 1));
  out.raw(text + '\0');
}

inline std::string sendump_8_bit(const SendumpSource &source) {
  Bytes out(source.big_endian);
  sendump_string(out, "free text of the header");
  sendump_string(out, "feature_count " + std::to_string(source.n_streams));
  sendump_string(out, "cluster_count 0");
  out.u32(0);
  out.u32(source.n_densities);
  out.u32(source.n_senones + source.n_padding);
  for (uint32_t j = 0; j < source.n_streams; ++j) {
    for (uint32_t k = 0; k < source.n_densities; ++k) {
      for (uint32_t s = 0; s < source.n_senones + source.n_padding; ++s) {
        out.raw(std::string(1, static_cast<char>(s < source.n_senones ? source.weight(j, k, s) : 255)));
      }
    }
  }
  return out.text;
}

// Weights are codes 0 ... 15 into a table of 10 * code + 3.
inline std::string sendump_4_bit(const SendumpSource &source) {
  Bytes out(source.big_endian);
  sendump_string(out, "feature_count " + std::to_string(source.n_streams));
  sendump_string(out, "mixture_count " + std::to_string(source.n_densities));
  sendump_string(out, "model_count " + std::to_string(source.n_senones));
  sendump_string(out, "cluster_count 15");
  sendump_string(out, "cluster_bits 4");
  out.u32(0);
  for (int code = 0; code < 16; ++code) out.raw(std::string(1, static_cast<char>(10 * code + 3)));
  for (uint32_t j = 0; j < source.n_streams; ++j) {
    for (uint32_t k = 0; k < source.n_densities; ++k) {
      for (uint32_t s = 0; s < source.n_senones; s += 2) {
        const int even = source.weight(j, k, s), odd = s + 1 < source.n_senones ? source.weight(j, k, s + 1) : 0;
        out.raw(std::string(1, static_cast<char>(even | odd << 4)));
      }
    }
  }
  return out.text;
}

}  // namespace asr::test
