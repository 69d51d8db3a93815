// SPDX-License-Identifier: Apache-2.0
// A small dictionary with silent letters, a letter of two phones and a word spelled by letter names, and a model of it.
#pragma once

#include <string>

#include "builder/g2p/train.h"

namespace asr::test {

inline const std::string &toy_dictionary() {
  static const std::string text =
      "back B AE K\nbox B AA K S\nbib B IH B\ncab K AE B\ncat K AE T\nfix F IH K S\nfax F AE K S\nkick K IH K\nkit K IH T\n"
      "knit N IH T\nknob N AA B\nknot N AA T\nsick S IH K\nsax S AE K S\ntack T AE K\ntax T AE K S\ntic T IH K\nxi Z IY\n"
      "w D AH B Y UW\nbass B AE S\nbass(2) B EY S\nb\xc3\xa9 B EY\n";
  return text;
}

inline G2pModel toy_model(uint32_t order = 3, const std::string &text = toy_dictionary()) {
  G2pTraining training;
  return train_g2p(
      parse_pronunciations(text, "toy"), {}, order, "toy", [](double) {}, &training);
}

}  // namespace asr::test
