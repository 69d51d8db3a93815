// SPDX-License-Identifier: Apache-2.0
// Tests that messages of the library come in the terms of the command.
#include "tools/command_terms.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

namespace asr::tool {
namespace {

TEST(CommandTerms, FieldsAreOptions) {
  EXPECT_EQ(in_command_terms("asr_open: asr_stream_config.lattice_beam is -1; its range is 0 to 1000"),
            "--lattice-beam is -1; its range is 0 to 1000");
  EXPECT_EQ(in_command_terms("asr_feed: frame 3: all are -inf"), "frame 3: all are -inf");
  EXPECT_EQ(in_command_terms("set asr_stream_config.cmn to ASR_CMN_LIVE (said once)"), "set --cmn to live (said once)");
  EXPECT_EQ(in_command_terms("/tmp/asr_model: asr_engine_config.cluster_share has no effect"),
            "/tmp/asr_model: --cluster-share has no effect");
  EXPECT_EQ(in_command_terms("a.wav: No such file"), "a.wav: No such file");
  EXPECT_EQ(in_command_terms(""), "");
}

TEST(CommandTerms, WhatUsersNameStaysAsItIs) {
  for (const char *message : {"asr_001.wav: is cut short", "ASR_001.wav: is cut short",
                              "asr_model.v1/senone.json: is not valid", "asr_model: does not exist", "asr_engine: is no bundle",
                              "my asr_1.2/a.wav: no", "say 'asr_stream_config.beam' (line 3)", "asr_open.wav: no",
                              "my-asr_open: no", "a.asr_open: no", "\"asr_feed\" is no word"}) {
    EXPECT_EQ(in_command_terms(message), message);
  }
  EXPECT_EQ(in_command_terms("asr_001.wav: set asr_stream_config.beam"), "asr_001.wav: set --beam");
  EXPECT_EQ(in_command_terms("asr_open: asr_002.wav is no bundle"), "asr_002.wav is no bundle");
}

// Every message of the library's sources, whatever it says.
TEST(CommandTerms, NoNameOfTheLibraryIsLeft) {
  const std::regex literal("\"([^\"\\\\]|\\\\.)*\"");
  size_t n = 0;
  for (const char *folder :
       {"/api", "/core/engine", "/core/stream", "/core/rows", "/core/session", "/core/step", "/builder/graph"}) {
    for (const auto &entry : std::filesystem::recursive_directory_iterator(std::string(SENONE_SOURCE_DIR) + folder)) {
      if (entry.path().extension() != ".cc") continue;
      std::ostringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      const std::string source = text.str();
      for (auto it = std::sregex_iterator(source.begin(), source.end(), literal); it != std::sregex_iterator(); ++it) {
        std::string message = it->str().substr(1, it->str().size() - 2);
        message = std::regex_replace(message, std::regex("config\\.%s"), "config.field");
        if (message.find(' ') == std::string::npos || message.find("ASR_VERSION") != std::string::npos) continue;
        n += message.find("asr_") != std::string::npos;
        const std::string said = in_command_terms(message);
        EXPECT_EQ(said.find("asr_"), std::string::npos) << said;
        EXPECT_EQ(said.find("ASR_"), std::string::npos) << said;
      }
    }
  }
  EXPECT_GT(n, 50u);
}

}  // namespace
}  // namespace asr::tool
