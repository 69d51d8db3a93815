// SPDX-License-Identifier: Apache-2.0
// The back end of faulty.cc with overlapping advances: it makes lattices, and workers of the engine read its results.
#define FAULTY_OVERLAPS true
#define FAULTY_NAME "overlapping"
#include "tests/api/plugins/faulty.cc"  // NOLINT(bugprone-suspicious-include): built in
