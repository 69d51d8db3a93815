// SPDX-License-Identifier: Apache-2.0
// A front end as a part of a JSON text. Called by the writer of bundles.
#pragma once

#include "core/base/json_writer.h"
#include "core/feature/front_end.h"

namespace asr {

// An object; front_end_to_json gives it alone.
void write_front_end(const FrontEnd &front_end, JsonWriter *json);

}  // namespace asr
