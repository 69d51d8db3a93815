// SPDX-License-Identifier: Apache-2.0
// The channels of a device and the advance under way, by the name that plugins/gpu/slots.cc uses. OpenCL has one flight; CUDA
// has two, above which its own class of this name stands.
#pragma once

#include "plugins/ocl/search/search_flight.h"

namespace asr::gpu {

using SearchLanes = SearchFlight;

}  // namespace asr::gpu
