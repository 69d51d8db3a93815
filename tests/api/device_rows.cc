// SPDX-License-Identifier: Apache-2.0
// Tests asr_feed_device: rows in memory of the engine's device give what the same rows of the host give, and their memory is
// given back once. Runs on each device that reads such rows; the rows of its producer are made by its back end.
#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "core/backend/asr_backend_given.h"
#include "core/backend/registry.h"
#include "tests/api/recognizer.h"
#include "tests/api/token_bundle.h"

namespace asr::test {
namespace {

const char *const kFrames = "....lll....mm..hH..ll.ll......?.....mmmm....hhh...";

std::vector<float> rows_of(const std::string &frames) { return token_rows(frames); }

asr_stream_config of_rows(asr_memory memory, float lattice_beam = 8) {
  asr_stream_config config = default_stream();
  config.input = ASR_INPUT_LOGLIKES;
  config.rows_memory = memory;
  config.lattice_beam = lattice_beam;
  config.n_best = lattice_beam > 0 ? 5 : 1;
  return config;
}

// Counts the calls of `release`.
struct Released {
  std::atomic<int> n{0};
  static void count(void *released) { ++static_cast<Released *>(released)->n; }
  // Waits for the engine's thread, which gives memory back on its own time.
  void expect(int wanted) const {
    for (int i = 0; i < 20000 && n < wanted; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(n, wanted);
  }
};

class DeviceRows : public testing::TestWithParam<const char *> {
 protected:
  void SetUp() override {
    asr_engine_config config;
    asr_engine_config_default(&config);
    config.device = GetParam();
    asr_engine *engine = nullptr;
    const asr_status status = asr_engine_load(token_bundle().c_str(), &config, &engine);
    if (status == ASR_NO_DEVICE) GTEST_SKIP() << asr_last_error();
    ASSERT_OK(status);
    engine_ = {engine, asr_engine_close};
    memory_.size = sizeof(memory_);
    ASSERT_OK(asr_engine_get_memory(engine, &memory_));
    api_ = extension_of<asr_backend_given_api>(*choose_device(GetParam()).api, ASR_BACKEND_GIVEN);
    ASSERT_NE(api_, nullptr);
  }

  // Rows of a producer, who is done delay_ms from now.
  struct Made {
    Made(const DeviceRows &test, const std::vector<float> &rows, uint32_t delay_ms = 0) : api(*test.api_) {
      asr_device_rows_default(&described);
      EXPECT_EQ(api.make(&test.memory_, rows.data(), rows.size() * sizeof(float), delay_ms, &described), ASR_OK);
      made = described;
    }
    ~Made() { api.free_made(&made); }
    asr_device_rows at(size_t row, Released *released) const {
      asr_device_rows result = described;
      result.offset = row * kTokenColumns * sizeof(float);
      result.release = Released::count;
      result.user = released;
      return result;
    }
    const asr_backend_given_api &api;
    asr_device_rows described, made;
  };

  asr_engine *engine() const { return engine_.get(); }

  std::vector<std::string> hear_host(const std::vector<float> &rows, const asr_stream_config &config, size_t chunk) const {
    const StreamPointer stream = open_stream(engine(), config);
    const size_t n = rows.size() / kTokenColumns;
    for (size_t row = 0; row < n; row += chunk) {
      EXPECT_OK(asr_feed(stream.get(), rows.data() + row * kTokenColumns, std::min(chunk, n - row)));
    }
    EXPECT_OK(asr_finish(stream.get()));
    return poll_all(stream.get());
  }

  std::vector<std::string> hear_device(const Made &made, size_t n, const asr_stream_config &config, size_t chunk,
                                       Released *released) const {
    const StreamPointer stream = open_stream(engine(), config);
    for (size_t row = 0; row < n; row += chunk) {
      const asr_device_rows rows = made.at(row, released);
      EXPECT_OK(asr_feed_device(stream.get(), &rows, std::min(chunk, n - row)));
    }
    EXPECT_OK(asr_finish(stream.get()));
    return poll_all(stream.get());
  }

  void expect_open_refused(const asr_stream_config &config, const std::string &part, asr_status wanted) const {
    asr_stream *stream = nullptr;
    EXPECT_EQ(asr_open(engine(), &config, &stream), wanted);
    EXPECT_NE(std::string(asr_last_error()).find(part), std::string::npos) << asr_last_error();
  }

  EnginePointer engine_{nullptr, asr_engine_close};
  asr_engine_memory memory_{};
  const asr_backend_given_api *api_ = nullptr;
};

TEST_P(DeviceRows, EventsAreThoseOfRowsOfTheHost) {
  const std::vector<float> rows = rows_of(kFrames);
  const size_t n = rows.size() / kTokenColumns;
  const Made made(*this, rows);
  for (const float lattice_beam : {0.0f, 8.0f}) {
    for (const size_t chunk : {n, size_t{7}, size_t{1}}) {
      asr_stream_config config = of_rows(ASR_MEMORY_HOST, lattice_beam);
      config.blank_penalty = 0.5f;
      config.prior_scale = 0.3f;
      const std::vector<std::string> wanted = hear_host(rows, config, chunk);
      EXPECT_EQ(final_text(wanted), "low mid high low low mid high");
      config.rows_memory = memory_.memory;
      Released released;
      EXPECT_EQ(hear_device(made, n, config, chunk, &released), wanted);
      released.expect(static_cast<int>((n + chunk - 1) / chunk));
    }
  }
}

TEST_P(DeviceRows, EndpointsWithLattices) {
  asr_stream_config config = of_rows(ASR_MEMORY_HOST);
  config.endpoint = ASR_ENDPOINT_COMMAND;
  config.silence_at_end_ms = config.silence_after_words_ms = 500;
  const std::vector<float> rows = rows_of(".....lll" + std::string(50, '.') + "mm" + std::string(50, '.'));
  const std::vector<std::string> wanted = hear_host(rows, config, 9);
  config.rows_memory = memory_.memory;
  Released released;
  const Made made(*this, rows);
  EXPECT_EQ(hear_device(made, rows.size() / kTokenColumns, config, 9, &released), wanted);
}

TEST_P(DeviceRows, AProducerThatIsLateIsWaitedFor) {
  const std::vector<float> rows = rows_of(kFrames);
  const Made made(*this, rows, 300);
  Released released;
  const std::vector<std::string> events = hear_device(made, 30, of_rows(memory_.memory), 30, &released);
  EXPECT_EQ(final_text(events), "low mid high low low");
}

// asr_cancel ends the wait.
TEST_P(DeviceRows, CancelWhileAProducerIsLate) {
  const Made made(*this, rows_of(kFrames), 2000);
  const StreamPointer stream = open_stream(engine(), of_rows(memory_.memory));
  Released released;
  const asr_device_rows rows = made.at(0, &released);
  asr_status status = ASR_OK;
  const auto begin = std::chrono::steady_clock::now();
  std::thread feeder([&] { status = asr_feed_device(stream.get(), &rows, 20); });
  asr_cancel(stream.get());
  feeder.join();
  const bool was_late = std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(1900);
  EXPECT_TRUE(status == ASR_CANCELLED || !was_late) << status;
  EXPECT_EQ(released.n, 1);
}

TEST_P(DeviceRows, RowsThatCannotBeSearchedEndTheStream) {
  std::vector<float> rows = rows_of(kFrames);
  rows[33 * kTokenColumns + 2] = NAN;
  const Made made(*this, rows);
  const auto expect_error = [&](const std::string &what) {
    Released released;
    const std::vector<std::string> events =
        hear_device(made, rows.size() / kTokenColumns, of_rows(memory_.memory), 50, &released);
    const bool has =
        std::any_of(events.begin(), events.end(), [&](const auto &e) { return e.find(what) != std::string::npos; });
    EXPECT_TRUE(has) << testing::PrintToString(events);
    released.expect(1);
  };
  expect_error("frame 33: value 2 is not a number, or infinite");
  const std::vector<std::string> before = [&] {  // other streams of the engine go on
    Released released;
    return hear_device(made, 30, of_rows(memory_.memory), 30, &released);
  }();
  EXPECT_EQ(final_text(before), "low mid high low low");
}

TEST_P(DeviceRows, MemoryIsGivenBackOnceAlsoAfterFailures) {
  const Made made(*this, rows_of(kFrames));
  Released released;
  asr_device_rows rows = made.at(0, &released);
  EXPECT_EQ(asr_feed_device(nullptr, &rows, 10), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(released.n, 1);
  {
    const StreamPointer host = open_stream(engine(), of_rows(ASR_MEMORY_HOST));
    EXPECT_EQ(asr_feed_device(host.get(), &rows, 10), ASR_INVALID_ARGUMENT);
    EXPECT_EQ(released.n, 2);
  }
  {
    const StreamPointer stream = open_stream(engine(), of_rows(memory_.memory));
    EXPECT_OK(asr_feed_device(stream.get(), &rows, 5));  // too few to be searched yet
    EXPECT_EQ(released.n, 2);
    asr_cancel(stream.get());
    released.expect(3);
    EXPECT_EQ(asr_feed_device(stream.get(), &rows, 5), ASR_CANCELLED);
    EXPECT_EQ(released.n, 4);
  }
  asr_stream *const closed = open_stream(engine(), of_rows(memory_.memory)).release();
  EXPECT_OK(asr_feed_device(closed, &rows, 50));
  asr_close(closed);
  released.expect(5);
}

TEST_P(DeviceRows, WhatDoesNotGoTogetherIsRefused) {
  asr_stream_config config = of_rows(memory_.memory);
  config.blank_skip = 0.99f;
  expect_open_refused(config, "blank_skip", ASR_UNSUPPORTED);
  config = of_rows(memory_.memory, 0);
  config.endpoint = ASR_ENDPOINT_COMMAND;
  expect_open_refused(config, "lattice_beam", ASR_UNSUPPORTED);
  config = of_rows(memory_.memory == ASR_MEMORY_CUDA ? ASR_MEMORY_OPENCL : ASR_MEMORY_CUDA);
  expect_open_refused(config, "searches rows in ASR_MEMORY_", ASR_UNSUPPORTED);
  const StreamPointer stream = open_stream(engine(), of_rows(memory_.memory));
  const std::vector<float> rows = rows_of("....");
  EXPECT_EQ(asr_feed(stream.get(), rows.data(), 4), ASR_INVALID_ARGUMENT);
  asr_device_rows host;
  asr_device_rows_default(&host);
  host.rows = rows.data();
  EXPECT_EQ(asr_feed_device(stream.get(), &host, 4), ASR_INVALID_ARGUMENT);
  Released released;
  const Made made(*this, rows);
  asr_device_rows odd = made.at(0, &released);
  odd.stride = kTokenColumns - 1;
  EXPECT_EQ(asr_feed_device(stream.get(), &odd, 2), ASR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(asr_last_error()).find("stride"), std::string::npos) << asr_last_error();
}

// 16 threads open, feed, cancel and close streams of one engine.
TEST_P(DeviceRows, ManyStreamsFromManyThreads) {
  const std::vector<float> rows = rows_of(kFrames);
  const size_t n = rows.size() / kTokenColumns;
  const Made made(*this, rows);
  Released released;
  std::atomic<int> n_fed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 4; ++i) {
        const StreamPointer stream = open_stream(engine(), of_rows(memory_.memory, (t + i) % 2 != 0 ? 8.0f : 0.0f));
        for (size_t row = 0; row < n; row += 10) {
          const asr_device_rows part = made.at(row, &released);
          EXPECT_OK(asr_feed_device(stream.get(), &part, std::min<size_t>(10, n - row)));
          ++n_fed;
        }
        if ((t + i) % 3 == 0) {
          asr_cancel(stream.get());
          continue;
        }
        EXPECT_OK(asr_finish(stream.get()));
        EXPECT_EQ(final_text(poll_all(stream.get())), "low mid high low low mid high");
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  released.expect(n_fed);
}

INSTANTIATE_TEST_SUITE_P(, DeviceRows, testing::Values("cuda:0", "ocl_nvidia:0", "ocl_amd:0"), [](const auto &info) {
  const std::string id = info.param;
  return id.substr(0, id.find(':'));
});

// Engines on the host take the same call, so that callers have one path.
TEST(HostRows, AtAStrideAndIn16Bits) {
  const EnginePointer engine = load_engine(8, 32, token_bundle());
  asr_engine_memory memory{};
  memory.size = sizeof(memory);
  ASSERT_OK(asr_engine_get_memory(engine.get(), &memory));
  EXPECT_EQ(memory.memory, ASR_MEMORY_HOST);
  constexpr size_t kStride = kTokenColumns + 2;
  const std::vector<float> rows = rows_of(kFrames);
  const size_t n = rows.size() / kTokenColumns;
  std::vector<float> floats(3 + n * kStride, NAN);
  std::vector<uint16_t> bfloats(3 + n * kStride, 0x7fc0);  // NaN
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t at = 3 + i / kTokenColumns * kStride + i % kTokenColumns;
    uint32_t bits;
    memcpy(&bits, &rows[i], sizeof bits);
    floats[at] = rows[i], bfloats[at] = static_cast<uint16_t>(bits >> 16);
  }
  for (const asr_value_type type : {ASR_VALUE_FLOAT32, ASR_VALUE_BFLOAT16}) {
    Released released;
    asr_device_rows described;
    asr_device_rows_default(&described);
    described.type = type;
    described.rows = type == ASR_VALUE_FLOAT32 ? static_cast<const void *>(floats.data()) : bfloats.data();
    described.offset = 3 * (type == ASR_VALUE_FLOAT32 ? 4 : 2);
    described.stride = kStride;
    described.release = Released::count;
    described.user = &released;
    const StreamPointer stream = open_stream(engine.get(), of_rows(ASR_MEMORY_HOST));
    EXPECT_OK(asr_feed_device(stream.get(), &described, n));
    EXPECT_EQ(released.n, 1);
    EXPECT_OK(asr_finish(stream.get()));
    EXPECT_EQ(final_text(poll_all(stream.get())), "low mid high low low mid high");
  }
}

TEST(HostRows, ACpuHasNoMemoryOfADevice) {
  const EnginePointer engine = load_engine(8, 32, token_bundle());
  const asr_stream_config config = of_rows(ASR_MEMORY_CUDA);
  asr_stream *stream = nullptr;
  EXPECT_EQ(asr_open(engine.get(), &config, &stream), ASR_UNSUPPORTED);
  EXPECT_NE(std::string(asr_last_error()).find("cpu:0"), std::string::npos) << asr_last_error();
}

}  // namespace
}  // namespace asr::test
