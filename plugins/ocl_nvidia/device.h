// SPDX-License-Identifier: Apache-2.0
// What this back end is: its devices, kernels and their tuning. Used by entry.cc.
#pragma once

#include "plugins/common/ocl/variant.h"

namespace asr::ocl_nvidia {

const ocl::Variant &variant();

}  // namespace asr::ocl_nvidia
