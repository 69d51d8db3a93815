// SPDX-License-Identifier: Apache-2.0
// Fuzzing of every reader of files: a target is a reader and good files for it; main.cc damages them in many ways, always
// the same ones, and a reader must succeed or throw asr::Error, in little time and memory.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace asr::fuzz {

struct Target {
  std::string name;
  std::vector<std::string> seeds;  // good files: their reading must succeed
  std::function<void(const std::string &path)> read;
};

// Adds the targets of one part; every targets_*.cc has one such function.
void add_bundle_targets(std::vector<Target> &targets);
void add_sphinx_targets(std::vector<Target> &targets);
void add_kaldi_targets(std::vector<Target> &targets);
void add_build_targets(std::vector<Target> &targets);
void add_lattice_targets(std::vector<Target> &targets);

using Random = std::mt19937_64;

// One or a few random changes: bits, bytes, telling integers, digits, cuts, repetitions, pieces of another good file.
std::string mutate(const std::string &seed, const std::vector<std::string> &others, Random &random);

}  // namespace asr::fuzz
