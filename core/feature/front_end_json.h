// SPDX-License-Identifier: Apache-2.0
// Writes a front end as part of a JSON text. The writer of bundles calls it.
#pragma once

#include "core/base/json_writer.h"
#include "core/feature/front_end.h"

namespace asr {

// Writes an object; front_end_to_json returns it alone.
void write_front_end(const FrontEnd &front_end, JsonWriter *json);

}  // namespace asr
