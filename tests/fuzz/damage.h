// SPDX-License-Identifier: Apache-2.0
// Damages good files at random, for replay.cc.
#pragma once

#include <random>
#include <string>
#include <vector>

namespace asr::fuzz {

using Random = std::mt19937_64;

// Makes one or a few random changes: bits, bytes, special integers, digits, cuts, repetitions, pieces of another good file.
std::string damage(const std::string &good, const std::vector<std::string> &others, Random &random);

}  // namespace asr::fuzz
