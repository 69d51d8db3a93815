// SPDX-License-Identifier: Apache-2.0
// Small models of HTK and Julius, for tests of their importers.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

namespace asr::test {

// Two dimensions. Both HMMs use state "shared"; mixture 2 of the first state uses named parts.
constexpr char kSmallHmmdefs[] = R"(~o <VecSize> 2<NULLD><MFCC_0_D><DIAGC>
~v "floor" <VARIANCE> 2 0.1 0.1
~u "m" <MEAN> 2 5 6
~v "v" <VARIANCE> 2 4 8
~t "t" <TRANSP> 4
 0 1 0 0
 0 0.5 0.25 0.25
 0 0 0.75 0.25
 0 0 0 0
~m "mix" <MEAN> 2 7 8 <VARIANCE> 2 1 1 <GCONST> 3.6
~s "shared" <MEAN> 2 1 2 <VARIANCE> 2 0.5 0.25
~h "a-b+c" <BEGINHMM> <NUMSTATES> 4
<STATE> 2 <NUMMIXES> 3
<MIXTURE> 1 0.25 <MEAN> 2 3 4 <VARIANCE> 2 1 2
<MIXTURE> 2 0.5 ~u "m" ~v "v"
<MIXTURE> 3 0.25 ~m "mix"
<STATE> 3 ~s "shared"
~t "t" <ENDHMM>
~h sil <BEGINHMM> <NUMSTATES> 3 <STATE> 2 ~s "shared"
<TRANSP> 3 0 0.25 0.75 0 0.5 0.5 0 0 0 <ENDHMM>
~h a <BEGINHMM> <NUMSTATES> 4 <STATE> 2 ~s "shared" <STATE> 3 ~s "shared" ~t "t" <ENDHMM>
~h c <BEGINHMM> <NUMSTATES> 4 <STATE> 2 ~s "shared" <STATE> 3 ~s "shared" ~t "t" <ENDHMM>
)";

class BigEndian {
 public:
  const std::string &bytes() const { return out_; }
  BigEndian &text(const std::string &text) {
    out_ += text + '\0';
    return *this;
  }
  BigEndian &u8(uint8_t v) {
    out_ += static_cast<char>(v);
    return *this;
  }
  BigEndian &u16(uint16_t v) { return u8(static_cast<uint8_t>(v >> 8)).u8(static_cast<uint8_t>(v)); }
  BigEndian &u32(uint32_t v) { return u16(static_cast<uint16_t>(v >> 16)).u16(static_cast<uint16_t>(v)); }
  BigEndian &f32(float v) {
    uint32_t bits;
    memcpy(&bits, &v, sizeof(bits));
    return u32(bits);
  }

 private:
  std::string out_;
};

// One dimension, two densities, one or two states of both densities, HMMs "a" and "sil".
inline std::string small_binhmm(bool tied) {
  BigEndian b;
  b.text("JBINHMM\n").u16(1).u16(1);
  for (int i = 1; i < 50; ++i) b.u16(0);
  b.u16(1).u16(0).u16(0).u16(06);
  b.u8(tied ? 1 : 0).u32(2);
  b.u32(1).text("").u16(3);
  const double probs[9] = {0, 1, 0, 0, 0.75, 0.25, 0, 0, 0};
  for (const double p : probs) b.f32(p > 0 ? static_cast<float>(std::log10(p)) : -1e6f);
  b.u32(2).text("v").u16(1).f32(4).text("").u16(1).f32(0.5f);
  b.u32(2).text("").u16(1).f32(1).u32(1).f32(9).text("").u16(1).f32(-1).u32(0).f32(9);
  if (tied) b.u32(1).text("book").u32(2).u32(1).u32(0);
  b.u32(2);
  for (int s = 0; s < 2; ++s) {
    b.text("");
    if (tied) {
      b.u16(0xffff).u32(0);
    } else {
      b.u16(2).u32(0).u32(1);
    }
    b.f32(std::log(0.25f)).f32(s == 0 ? std::log(0.75f) : -1e6f);
  }
  b.u32(2).text("a").u16(3).u32(3).u32(0).u32(3).u32(0).text("sil").u16(3).u32(3).u32(1).u32(3).u32(0);
  return b.bytes();
}

}  // namespace asr::test
