/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that the header compiles as C99, and calls its functions from C; header.cc runs it. */
#include "api/asr.h"

int header_from_c(void);

int header_from_c(void) {
  asr_engine_config engine_config;
  asr_stream_config stream_config;
  asr_engine *engine = 0;
  asr_engine_config_default(&engine_config);
  asr_stream_config_default(&stream_config);
  if (engine_config.size != sizeof(engine_config) || stream_config.size != sizeof(stream_config)) return 1;
  if (asr_engine_load("no such bundle", &engine_config, &engine) != ASR_NOT_FOUND || engine != 0) return 2;
  if (asr_last_error()[0] == '\0' || asr_version()[0] == '\0') return 3;
  return 0;
}
