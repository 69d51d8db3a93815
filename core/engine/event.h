// SPDX-License-Identifier: Apache-2.0
// What a stream tells its user; api/asr.h hands it out as asr_event.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "asr.h"

namespace asr {

struct Word {
  std::string text;
  uint32_t id = 0;
  double start_s = 0, end_s = 0;
  float confidence = -1;
};

struct Alternative {
  std::string text;  // words joined by blanks
  std::vector<Word> words;
  double graph_cost = 0, acoustic_cost = 0;
};

struct Event {
  asr_event_kind kind = ASR_EVENT_READY;
  asr_status status = ASR_OK;
  uint32_t flags = 0;
  double time_s = 0;
  std::string message;                    // of an ERROR
  std::vector<Alternative> alternatives;  // of PARTIAL and FINAL
};

}  // namespace asr
