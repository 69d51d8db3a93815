// SPDX-License-Identifier: Apache-2.0
// Common code of the tests of the C ABI: handles that free themselves, and one call from samples to events.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/asr.h"
#include "tests/sanitized.h"

namespace asr::test {

using EnginePointer = std::unique_ptr<asr_engine, void (*)(asr_engine *)>;
using StreamPointer = std::unique_ptr<asr_stream, void (*)(asr_stream *)>;

#define ASSERT_OK(call) ASSERT_EQ((call), ASR_OK) << asr_last_error()
#define EXPECT_OK(call) EXPECT_EQ((call), ASR_OK) << asr_last_error()

// Loads an engine with n_threads 2; the tone bundle if `bundle` is empty.
EnginePointer load_engine(uint32_t max_lanes = 8, uint32_t window_frames = 32, const std::string &bundle = "",
                          const std::string &device = "cpu");

asr_stream_config default_stream();
StreamPointer open_stream(asr_engine *engine, const asr_stream_config &config = default_stream());

// Returns the whole content of an event as text.
std::string shown(const asr_event *event);

// Polls until END; returns shown() of every event.
std::vector<std::string> poll_every(asr_stream *stream);

// Keeps only the last of consecutive PARTIAL events, which nothing replaces. It depends on timing whether the earlier ones were
// read before they were replaced.
std::vector<std::string> without_replaced(const std::vector<std::string> &events);

// Returns without_replaced(poll_every(stream)).
std::vector<std::string> poll_all(asr_stream *stream);

// Feeds in chunks of `chunk` samples of each channel.
void feed(asr_stream *stream, const std::vector<int16_t> &samples, size_t chunk, uint32_t n_channels = 1);

// Feeds in chunks, finishes and polls all events.
std::vector<std::string> recognize(asr_engine *engine, const asr_stream_config &config, const std::vector<int16_t> &samples,
                                   size_t chunk);

// What a stream with an output gives, until END. Frames of consecutive events must follow each other.
struct GivenRows {
  std::vector<float> values;  // [n_rows][n_values]
  size_t n_rows = 0;
  uint32_t n_values = 0, flags = 0;  // flags: those that any event has
  asr_status status = ASR_OK;        // of an ERROR
};
GivenRows poll_rows(asr_stream *stream);
// Adds the rows of one event.
void add_rows(const asr_event *event, GivenRows *given);

// Feeds in chunks, finishes and polls.
GivenRows rows_of(asr_engine *engine, const asr_stream_config &config, const std::vector<int16_t> &samples, size_t chunk);
asr_stream_config giving(asr_output output);

// Returns the ids of a back end's devices, at least one, whose names contain `part`.
std::vector<std::string> devices_named(const std::string &backend, const std::string &part);

// The result of a program of this build, run by the shell: its text on stdout and stderr, and its exit code.
struct Outcome {
  std::string output;
  int exit_code;
};
Outcome run_program(const std::string &name, const std::string &arguments);

// Returns the resident memory of this process.
size_t resident_bytes();

// Returns the text of the FINAL event.
std::string final_text(const std::vector<std::string> &events);

}  // namespace asr::test
