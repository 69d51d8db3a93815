// SPDX-License-Identifier: Apache-2.0
// Upper limits of a file, a configuration or a stream, one constant each. Everything else that a reader accepts is linear in
// the bytes of the file. docs/limits.md gives the reason of each limit, and tests/install/limits.sh compares the two. A reader
// refuses input beyond a limit and names the limit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace asr {

// senone.json
constexpr size_t kMaxIndexBytes = size_t{1} << 26;
constexpr int kMaxJsonDepth = 32;

// Audio and front ends
constexpr uint32_t kMinSampleRateHz = 1000, kMaxSampleRateHz = 768000;
constexpr uint32_t kMaxChannels = 64;
constexpr uint32_t kMaxFftSamples = 8192;
constexpr uint32_t kMaxDeltaOrder = 4;
constexpr uint32_t kMaxDeltaWindow = 16;
constexpr uint32_t kMaxSplice = 64;
constexpr uint32_t kMaxCmnLookahead = 1000;
constexpr uint32_t kMaxMel = 512;
constexpr uint32_t kMaxLpcOrder = 64;
constexpr uint32_t kMaxTransformInputs = 8192;

// Acoustic models
constexpr uint32_t kMaxDims = 4096;
constexpr uint32_t kMaxFullDims = 512;
constexpr uint32_t kMaxStreams = 64;
constexpr uint32_t kMaxPdfs = 1u << 22;
constexpr double kMaxBlankPenalty = 1e6, kMaxPriorScale = 100;
constexpr uint64_t kMaxSharedFloats = uint64_t{1} << 26;

// HMMs and contexts
constexpr uint32_t kMaxPhones = 65534;
constexpr uint32_t kMaxHmmStates = 128;
constexpr uint32_t kMaxHmmPaths = 1024;
constexpr uint64_t kMaxContexts = uint64_t{1} << 24;
constexpr uint32_t kMaxTreeDepth = 1000;
constexpr uint32_t kMaxTreePhones = 16;

// Language models, grammars, dictionaries, graphs
constexpr size_t kMaxNgramOrder = 8;
constexpr double kMaxLogProbability = 1e10;
constexpr int kMaxRuleNesting = 200;
constexpr int kMaxJsgfMarks = 8;
constexpr uint32_t kMaxRuleDepth = 2000;
constexpr size_t kMaxTextBytes = size_t{1} << 30;
constexpr size_t kMaxWordTags = 64;
constexpr uint32_t kMaxRuleRepeats = 10000;
constexpr uint32_t kMaxGrammarStates = 1000000;
constexpr uint64_t kMaxGrammarArcs = 4000000;
constexpr uint32_t kMaxJoinedStates = 10000000;
constexpr uint32_t kMaxJoinedArcs = 25000000;
constexpr size_t kMaxClassNameBytes = 255;
constexpr size_t kMaxSymbolBytes = size_t{1} << 26;
constexpr uint32_t kBaseDeterministicStates = 20000;
constexpr uint32_t kMaxDeterministicRatio = 16;
constexpr uint64_t kMaxSubsetArcs = uint64_t{1} << 25;
constexpr size_t kMaxWordPhones = 1000;
constexpr size_t kMaxPronunciations = 256;
constexpr uint32_t kMaxUnitOrder = 16;
constexpr size_t kMaxSpelledLetters = 100;
constexpr size_t kMaxSpellingArcs = size_t{1} << 18;
constexpr size_t kMaxSpellingSteps = size_t{1} << 20;
constexpr uint64_t kBaseSpelledArcs = uint64_t{1} << 20, kMaxSpelledRatio = 64;
constexpr uint64_t kBaseExpandedArcs = uint64_t{1} << 23, kMaxExpandedRatio = 512;
constexpr uint64_t kMaxMinimisingSteps = uint64_t{1} << 28;
constexpr uint32_t kBaseMinimisingRounds = 32;
constexpr uint32_t kMaxGraphStates = 0xfffffffe;
constexpr uint32_t kMaxGraphArcs = 0xfffffffe;
constexpr uint32_t kMaxTransitionIds = 0xfffffffe;
constexpr uint32_t kMaxGraphUnits = 0x7ffffffe;

// Packed files
constexpr size_t kBaseUnpackedBytes = size_t{1} << 26, kMaxUnpackedRatio = 200;
constexpr size_t kMaxUnpackingBytes = size_t{1} << 30;

// Configurations of engines and streams
constexpr size_t kMaxStateBytes = 16384;
constexpr uint32_t kMaxLanes = 1024;
constexpr uint32_t kMinWindowFrames = 8, kMaxWindowFrames = 256;
constexpr uint32_t kMaxThreads = 256, kMaxCallbackThreads = 1024;
constexpr uint32_t kMaxBestGaussians = 65536;
constexpr uint64_t kMaxFeedBytes = uint64_t{1} << 40;
constexpr uint64_t kMaxStandardInputBytes = uint64_t{1} << 30;
constexpr uint32_t kMaxAlternatives = 10000;
constexpr size_t kMaxPathBytes = size_t{1} << 28;
constexpr float kMaxBeam = 1e6f;
constexpr float kMaxWordInsertionCost = 1e6f;
constexpr float kMinWarp = 0.8f, kMaxWarp = 1.25f;
constexpr uint32_t kMinEndpointMs = 100, kMaxEndpointMs = 600000;
constexpr uint32_t kMaxUtteranceS = 10000000, kUsualUtteranceS = 86400;
constexpr uint32_t kMaxHeldCepstraS = 3600;
constexpr uint32_t kMinPreRollMs = 20, kMaxPreRollMs = 5000;
constexpr size_t kMaxBoostBytes = size_t{1} << 20;
constexpr double kMaxBoostBonus = 1000;
constexpr size_t kMaxBoostedStates = size_t{1} << 20, kMaxBoostedArcs = size_t{1} << 22;
constexpr size_t kMaxRescoredStates = size_t{1} << 22, kMaxRescoredArcs = size_t{1} << 23;
constexpr size_t kMinSpeakerRows = 100, kMaxSpeakerRows = 20000, kMaxUtteranceRows = 60000;
constexpr uint32_t kMaxSpeakerDims = 96;
constexpr size_t kMaxModels = 32;
constexpr float kMinModelWeight = 1e-6f, kMaxModelWeight = 1e6f;
constexpr uint32_t kMinFusionMs = 10, kMaxFusionMs = 600000;
constexpr size_t kMaxDevices = 64;
constexpr size_t kMaxStructBytes = 4096;
constexpr size_t kMaxMessageBytes = 4000;

// Tools that read lattices, and lists of archives
constexpr uint64_t kMaxOracleCells = uint64_t{1} << 24;
constexpr uint64_t kMaxAlignedCells = 10000000000;
constexpr uint64_t kMaxComparedSteps = uint64_t{1} << 28;
constexpr uint64_t kMaxListRepeats = 16;
constexpr uint64_t kBaseListBytes = uint64_t{1} << 28;

// Lattices of a stream
constexpr uint64_t kMaxDeterminiseWork = uint64_t{1} << 28;
constexpr size_t kMaxDeterminiseBytes = size_t{1} << 28;
constexpr size_t kMaxFoldStateValues = size_t{1} << 24;
constexpr size_t kMaxFoldArcValues = size_t{1} << 26;

}  // namespace asr
