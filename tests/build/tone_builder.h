// SPDX-License-Identifier: Apache-2.0
// Builders for the model of the tone bundle.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "api/asr_build.h"
#include "tests/build/tone_model.h"

namespace asr::test {

using BuilderPointer = std::unique_ptr<asr_builder, void (*)(asr_builder *)>;
using ResultPointer = std::unique_ptr<asr_build_result, void (*)(asr_build_result *)>;

#define ASSERT_BUILT(call) ASSERT_EQ((call), ASR_OK) << asr_build_last_error()
#define EXPECT_BUILT(call) EXPECT_EQ((call), ASR_OK) << asr_build_last_error()

BuilderPointer tone_builder();

using Build = asr_status (*)(const asr_builder *, const char *, size_t, const asr_build_config *, asr_build_result **);
ResultPointer build(Build function, const asr_builder *builder, const std::string &text,
                    const asr_build_config *config = nullptr);

asr_build_config default_config();
asr_build_info info_of(const asr_build_result *result);
std::string archive_of(const asr_build_result *result);

// Returns the message of a build that fails with this status.
std::string refusal(Build function, const asr_builder *builder, const std::string &text, asr_status status,
                    const asr_build_config *config = nullptr);

// Returns a JSGF grammar with these rules.
std::string jsgf(const std::string &rules);

}  // namespace asr::test
