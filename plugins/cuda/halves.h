// SPDX-License-Identifier: Apache-2.0
// Halves of numbers for the tables of mfcc.cc: those of plugins/common.
#pragma once

#include "plugins/common/halves.h"
