// SPDX-License-Identifier: Apache-2.0
// Upper limits of a file, a configuration or a stream, one constant each. Everything else that a reader accepts is linear in
// the bytes of the file. docs/limits.md gives the reason of each limit, and tests/install/limits.sh compares the two. A reader
// refuses input beyond a limit and names the limit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace asr {

// senone.json
constexpr size_t kMostIndexBytes = size_t{1} << 26;
constexpr int kMostJsonDepth = 32;

// Audio and front ends
constexpr uint32_t kLeastSampleRateHz = 1000, kMostSampleRateHz = 768000;
constexpr uint32_t kMostChannels = 64;
constexpr uint32_t kMostFftSamples = 8192;
constexpr uint32_t kMostDeltaOrder = 4;
constexpr uint32_t kMostDeltaWindow = 16;
constexpr uint32_t kMostSplice = 64;
constexpr uint32_t kMostCmnLookahead = 1000;
constexpr uint32_t kMostMel = 512;
constexpr uint32_t kMostLpcOrder = 64;
constexpr uint32_t kMostTransformInputs = 8192;

// Acoustic models
constexpr uint32_t kMostDims = 4096;
constexpr uint32_t kMostFullDims = 512;
constexpr uint32_t kMostStreams = 64;
constexpr uint32_t kMostPdfs = 1u << 22;
constexpr uint64_t kMostSharedFloats = uint64_t{1} << 26;

// HMMs and contexts
constexpr uint32_t kMostPhones = 65534;
constexpr uint32_t kMostHmmStates = 128;
constexpr uint32_t kMostHmmPaths = 1024;
constexpr uint64_t kMostContexts = uint64_t{1} << 24;
constexpr uint32_t kMostTreeDepth = 1000;
constexpr uint32_t kMostTreePhones = 16;

// Language models, grammars, dictionaries, graphs
constexpr size_t kMostNgramOrder = 8;
constexpr double kMostLogProbability = 1e10;
constexpr int kMostRuleNesting = 200;
constexpr int kMostJsgfMarks = 8;
constexpr uint32_t kMostRuleDepth = 2000;
constexpr size_t kMostTextBytes = size_t{1} << 30;
constexpr size_t kMostWordTags = 64;
constexpr uint32_t kMostRuleRepeats = 10000;
constexpr uint32_t kMostGrammarStates = 1000000;
constexpr uint64_t kMostGrammarArcs = 4000000;
constexpr uint32_t kMostJoinedStates = 10000000;
constexpr uint32_t kMostJoinedArcs = 25000000;
constexpr size_t kMostClassNameBytes = 255;
constexpr size_t kMostSymbolBytes = size_t{1} << 26;
constexpr uint32_t kSureDeterministicStates = 20000;
constexpr uint32_t kMostDeterministicRatio = 16;
constexpr uint64_t kMostSubsetArcs = uint64_t{1} << 25;
constexpr size_t kMostWordPhones = 1000;
constexpr size_t kMostPronunciations = 256;
constexpr uint32_t kMostUnitOrder = 16;
constexpr size_t kMostSpelledLetters = 100;
constexpr size_t kMostSpellingArcs = size_t{1} << 18;
constexpr size_t kMostSpellingSteps = size_t{1} << 20;
constexpr uint64_t kSureSpelledArcs = uint64_t{1} << 20, kMostSpelledRatio = 64;
constexpr uint64_t kSureExpandedArcs = uint64_t{1} << 23, kMostExpandedRatio = 512;
constexpr uint64_t kMostMinimisingSteps = uint64_t{1} << 28;
constexpr uint32_t kSureMinimisingRounds = 32;
constexpr uint32_t kMostGraphStates = 0xfffffffe;
constexpr uint32_t kMostGraphArcs = 0xfffffffe;
constexpr uint32_t kMostTransitionIds = 0xfffffffe;
constexpr uint32_t kMostGraphUnits = 0x7ffffffe;

// Packed files
constexpr size_t kSureUnpackedBytes = size_t{1} << 26, kMostUnpackedRatio = 200;
constexpr size_t kMostUnpackingBytes = size_t{1} << 30;

// Configurations of engines and streams
constexpr size_t kMostStateBytes = 16384;
constexpr uint32_t kMostLanes = 1024;
constexpr uint32_t kLeastWindowFrames = 8, kMostWindowFrames = 256;
constexpr uint32_t kMostThreads = 256;
constexpr uint32_t kMostBestGaussians = 65536;
constexpr uint64_t kMostFeedBytes = uint64_t{1} << 40;
constexpr uint64_t kMostStandardInputBytes = uint64_t{1} << 30;
constexpr uint32_t kMostAlternatives = 10000;
constexpr size_t kMostPathBytes = size_t{1} << 28;
constexpr float kMostBeam = 1e6f;
constexpr float kMostWordInsertionCost = 1e6f;
constexpr float kLeastWarp = 0.8f, kMostWarp = 1.25f;
constexpr uint32_t kLeastEndpointMs = 100, kMostEndpointMs = 600000;
constexpr uint32_t kMostUtteranceS = 10000000, kUsualUtteranceS = 86400;
constexpr uint32_t kLeastPreRollMs = 20, kMostPreRollMs = 5000;
constexpr size_t kMostBoostBytes = size_t{1} << 20;
constexpr double kMostBoostBonus = 1000;
constexpr size_t kMostBoostedStates = size_t{1} << 20, kMostBoostedArcs = size_t{1} << 22;
constexpr size_t kMostRescoredStates = size_t{1} << 22, kMostRescoredArcs = size_t{1} << 23;
constexpr size_t kLeastSpeakerRows = 100, kMostSpeakerRows = 20000, kMostUtteranceRows = 60000;
constexpr uint32_t kMostSpeakerDims = 96;
constexpr size_t kMostModels = 32;
constexpr float kLeastModelWeight = 1e-6f, kMostModelWeight = 1e6f;
constexpr uint32_t kLeastFusionMs = 10, kMostFusionMs = 600000;
constexpr size_t kMostDevices = 64;
constexpr size_t kMostStructBytes = 4096;
constexpr size_t kMostMessageBytes = 4000;

// Tools that read lattices, and lists of archives
constexpr uint64_t kMostOracleCells = uint64_t{1} << 24;
constexpr uint64_t kMostAlignedCells = 10000000000;
constexpr uint64_t kMostComparedSteps = uint64_t{1} << 28;
constexpr uint64_t kMostListRepeats = 16;
constexpr uint64_t kSureListBytes = uint64_t{1} << 28;

// Lattices of a stream
constexpr uint64_t kMostDeterminiseWork = uint64_t{1} << 28;
constexpr size_t kMostDeterminiseBytes = size_t{1} << 28;
constexpr size_t kMostFoldStateValues = size_t{1} << 24;
constexpr size_t kMostFoldArcValues = size_t{1} << 26;

}  // namespace asr
