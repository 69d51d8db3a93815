// SPDX-License-Identifier: Apache-2.0
// A directory for one test, removed with its content at the end; and small helpers for files.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace asr::test {

class Scratch {
 public:
  Scratch() {
    std::error_code error;  // in memory if possible: some tests write thousands of files
    const bool in_memory = access("/dev/shm", W_OK) == 0;
    const std::filesystem::path parent = in_memory ? "/dev/shm" : std::filesystem::temp_directory_path(error);
    std::string pattern = (parent / "senone-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory: " + pattern);
    path_ = pattern;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;

  const std::string &path() const { return path_; }
  std::string operator/(const std::string &name) const { return path_ + "/" + name; }

  size_t n_entries() const {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator()));
  }

 private:
  std::string path_;
};

inline void spill(const std::string &path, const std::string &bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << bytes;
  ASSERT_TRUE(out.flush()) << path;
}

inline std::string slurp(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// The status and the message of the asr::Error that `action` throws; ASR_OK and "" if it throws none.
struct Outcome {
  asr_status code = ASR_OK;
  std::string message;
};

template <typename Action>
Outcome outcome_of(Action &&action) {
  try {
    action();
    return {};
  } catch (const Error &error) {
    return {error.code(), error.what()};
  }
}

// Expects an asr::Error of this code whose message contains `part`.
template <typename Action>
void expect_error(Action &&action, asr_status code, const std::string &part) {
  const Outcome outcome = outcome_of(action);
  EXPECT_EQ(outcome.code, code) << outcome.message;
  EXPECT_NE(outcome.message.find(part), std::string::npos)
      << "\"" << outcome.message << "\" does not mention \"" << part << "\"";
}

// Calls read() on every truncation of a file and on copies with each byte changed; any exception other than asr::Error fails
// the test. Returns the number of refused files.
template <typename Read>
size_t count_refused_damages(const std::string &path, Read &&read) {
  const std::string good = slurp(path);
  size_t refused = 0;
  const auto attempt = [&](const std::string &bytes, const char *how, size_t at) {
    spill(path, bytes);
    try {
      read();
    } catch (const Error &error) {
      ++refused;
      EXPECT_STRNE(error.what(), "");
    } catch (const std::exception &error) {
      ADD_FAILURE() << how << " " << at << ": " << error.what();
    }
  };
  for (size_t size = 0; size < good.size(); ++size) attempt(good.substr(0, size), "cut at", size);
  for (size_t at = 0; at < good.size(); ++at) {
    constexpr int kFlips[] = {0x01, 0x80, 0xff};
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ kFlips[at % 3]);
    attempt(bytes, "changed at", at);
  }
  spill(path, good);
  return refused;
}

}  // namespace asr::test
