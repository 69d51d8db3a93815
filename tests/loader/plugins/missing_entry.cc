// SPDX-License-Identifier: Apache-2.0
// A shared object that is not a back end.
#include "api/asr.h"

extern "C" ASR_API int some_other_function() { return 0; }
