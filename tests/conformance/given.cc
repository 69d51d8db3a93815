// SPDX-License-Identifier: Apache-2.0
// Tests the extension "given": rows in memory of the device are searched as the same rows of the host are, bit for bit.
#include "core/backend/asr_backend_given.h"

#include <chrono>
#include <cmath>
#include <deque>
#include <limits>

#include "core/base/fused_rows.h"
#include "plugins/common/halves.h"
#include "tests/conformance/load_fixture.h"

namespace asr::test {
namespace {

constexpr float kClosed = -std::numeric_limits<float>::infinity();

// A map of columns to states; `columns` has those of each state, none for a map one to one.
struct Map {
  uint32_t n_columns, n_states;
  std::vector<std::vector<uint32_t>> columns;
  std::vector<float> offsets;

  std::vector<float> states_of(const float *row) const {
    std::vector<float> states(n_states);
    for (uint32_t s = 0; s < n_states; ++s) {
      states[s] = columns.empty() ? row[s] : sum_of_columns(row, columns[s].data(), columns[s].size());
      states[s] += offsets[s];
    }
    return states;
  }
};

Map one_to_one(uint32_t n) {
  Map map{n, n, {}, std::vector<float>(n, 0.0f)};
  for (uint32_t s = 0; s < n; s += 3) map.offsets[s] = 0.25f * static_cast<float>(s % 7) - 0.5f;
  return map;
}

// Rows as a caller describes them: values of a type, at a stride, behind some that are none of theirs.
struct Described {
  asr_value_type type = ASR_VALUE_FLOAT32;
  uint32_t n_between = 0, n_before = 0, delay_ms = 0;
};

class GivenTest : public LoadFixture {
 protected:
  void SetUp() override {
    LoadFixture::SetUp();
    if (IsSkipped()) return;
    given_ = extension_of<asr_backend_given_api>(api(), ASR_BACKEND_GIVEN);
    if (given_ == nullptr) GTEST_SKIP() << entry().id << ": has no memory of its own";
  }

  // Rows in memory of the device.
  class Rows {
   public:
    Rows(const GivenTest &test, const Device &device, const std::vector<float> &values, uint32_t n_columns,
         const Described &how)
        : api_(*test.given_), device_(device) {
      asr_engine_memory memory{sizeof memory, ASR_MEMORY_HOST, 0, {}, nullptr, nullptr};
      device.check(api_.describe(device.get(), &memory));
      const size_t n_rows = values.size() / n_columns, stride = n_columns + how.n_between;
      std::vector<float> floats(how.n_before, NAN);  // what must not be read
      for (size_t t = 0; t < n_rows; ++t) {
        floats.insert(floats.end(), values.begin() + static_cast<ptrdiff_t>(t * n_columns),
                      values.begin() + static_cast<ptrdiff_t>((t + 1) * n_columns));
        if (t + 1 < n_rows) floats.insert(floats.end(), how.n_between, NAN);
      }
      std::vector<uint16_t> halves;
      for (const float value : floats) halves.push_back(bits_of(value, how.type));
      const bool are_halves = how.type != ASR_VALUE_FLOAT32;
      const size_t n_bytes = are_halves ? halves.size() * 2 : floats.size() * 4;
      const void *const bytes = are_halves ? static_cast<const void *>(halves.data()) : floats.data();
      device.check(api_.make(&memory, bytes, n_bytes, how.delay_ms, &rows));
      rows.type = how.type;
      rows.offset = how.n_before * (are_halves ? 2 : 4);
      rows.stride = how.n_between > 0 ? stride : 0;
    }
    ~Rows() { api_.free_made(&rows); }
    Rows(const Rows &) = delete;
    Rows &operator=(const Rows &) = delete;

    void wait_until_ready() const {
      for (uint32_t is_ready = 0; is_ready == 0;) device_.check(api_.is_ready(device_.get(), &rows, &is_ready));
    }
    static uint16_t bits_of(float value, asr_value_type type) {
      uint32_t bits;
      memcpy(&bits, &value, sizeof bits);
      return type == ASR_VALUE_FLOAT16 ? half_bits(value) : static_cast<uint16_t>(bits >> 16);
    }

    asr_device_rows rows{};

   private:
    const asr_backend_given_api &api_;
    const Device &device_;
  };

  // Score buffers and a map on a device.
  struct Loaded {
    Loaded(const GivenTest &test, const Device &device, const Map &map) : given(*test.given_), api(test.api()) {
      device.check(given.load_buffers(device.get(), map.n_states, &buffers));
      std::vector<uint32_t> begins(1, 0), columns;
      for (const auto &of_state : map.columns) {
        columns.insert(columns.end(), of_state.begin(), of_state.end());
        begins.push_back(static_cast<uint32_t>(columns.size()));
      }
      const bool is_one_to_one = map.columns.empty();
      const asr_given_map_view view = {sizeof view,
                                       map.n_columns,
                                       map.n_states,
                                       is_one_to_one ? nullptr : begins.data(),
                                       is_one_to_one ? nullptr : columns.data(),
                                       map.offsets.data()};
      device.check(given.load_map(device.get(), &view, &loaded));
    }
    ~Loaded() {
      given.free_map(loaded);
      api.free_acoustic(buffers);
    }
    Loaded(const Loaded &) = delete;
    Loaded &operator=(const Loaded &) = delete;
    const asr_backend_given_api &given;
    const asr_backend_api &api;
    asr_backend_acoustic *buffers = nullptr;
    asr_backend_given_map *loaded = nullptr;
  };

  // Returns random rows, of which some values are -inf.
  static std::vector<float> draw_rows(uint32_t n_frames, uint32_t n_columns, std::mt19937 &random, bool closes = true) {
    std::vector<float> rows = recorded_rows(n_frames, n_columns, random);
    for (size_t i = 0; closes && i < rows.size(); ++i) {
      if (random() % 16 == 0 && i % n_columns != 0) rows[i] = kClosed;
    }
    return rows;
  }

  static std::vector<float> states_of(const Map &map, const std::vector<float> &rows) {
    std::vector<float> states;
    for (size_t at = 0; at < rows.size(); at += map.n_columns) {
      const std::vector<float> row = map.states_of(rows.data() + at);
      states.insert(states.end(), row.begin(), row.end());
    }
    return states;
  }

  // Decodes lanes of rows of the device at once, each in windows through both score buffers in turn.
  std::vector<Outcome> decode(const Device &device, const asr_graph_view &graph, const Map &map,
                              const std::vector<Utterance> &us, const std::vector<const asr_device_rows *> &rows) {
    const LoadFixture::Loaded searched(api(), device, graph);
    const Loaded loaded(*this, device, map);
    std::vector<std::unique_ptr<Channel>> channels;
    uint32_t n_frames = 0;
    for (const Utterance &u : us) {
      channels.push_back(std::make_unique<Channel>(api(), device, searched, u.options));
      n_frames = std::max(n_frames, u.n_frames);
    }
    std::deque<std::vector<uint32_t>> faults;  // of the windows, which stay until `wait`
    for (uint32_t t = 0, buffer = 0; t < n_frames; t += kWindow, buffer ^= 1) {
      std::vector<asr_given_job> given;
      std::vector<asr_advance_job> jobs;
      uint32_t n_rows = 0;
      for (size_t i = 0; i < us.size(); ++i) {
        const uint32_t n = std::min(kWindow, us[i].n_frames - std::min(t, us[i].n_frames));
        if (n == 0) continue;
        const uint32_t n_first = n / 3;  // two jobs for the rows of a lane
        given.push_back({loaded.loaded, rows[i], t + n_first, n_rows + n_first, n - n_first});
        given.push_back({loaded.loaded, rows[i], t, n_rows, n_first});
        jobs.push_back({channels[i]->channel, nullptr, buffer, n_rows, n, 0});
        n_rows += n;
      }
      faults.emplace_back(n_rows, 77);
      device.check(
          given_->read(device.get(), loaded.buffers, given.data(), given.size(), n_rows, buffer, faults.back().data()));
      device.check(api().advance(device.get(), loaded.buffers, jobs.data(), jobs.size()));
      if (t % (3 * kWindow) != 0) continue;  // else the next window is prepared while this one is searched
      device.check(api().wait(device.get(), 0));
      EXPECT_EQ(faults.back(), std::vector<uint32_t>(n_rows, 0));
    }
    device.check(api().wait(device.get(), 0));
    std::vector<Outcome> outcomes(us.size());
    for (size_t i = 0; i < us.size(); ++i) finish(device, *channels[i], us[i], &outcomes[i]);
    return outcomes;
  }

  Utterance utterance(const Map &map, const std::vector<float> &rows, float lattice_beam) const {
    Utterance u{states_of(map, rows), static_cast<uint32_t>(rows.size() / map.n_columns), search_options(9, 150, 10), true};
    u.options.lattice_beam = lattice_beam;
    return u;
  }

  void expect_host_bits(const Map &map, const Described &how, float lattice_beam = 6) {
    SCOPED_TRACE("type " + std::to_string(how.type) + ", " + std::to_string(how.n_between) + " between");
    std::mt19937 random(211);
    RandomGraph graph({60, map.n_states, 6, 3.0, 0.5, 0.3, false}, random);
    const auto device = open_with(0, 0);
    std::vector<Utterance> us;
    std::vector<std::unique_ptr<Rows>> made;
    std::vector<const asr_device_rows *> rows;
    for (const uint32_t n_frames : {1u, 64u, 150u, 331u}) {
      std::vector<float> values = draw_rows(n_frames, map.n_columns, random);
      if (how.type != ASR_VALUE_FLOAT32) {
        for (float &value : values) value = exactly(value, how.type);
      }
      us.push_back(utterance(map, values, lattice_beam));
      made.push_back(std::make_unique<Rows>(*this, *device, values, map.n_columns, how));
      made.back()->wait_until_ready();
      device->check(given_->check(device->get(), &made.back()->rows, n_frames, map.n_columns));
      rows.push_back(&made.back()->rows);
    }
    const std::vector<Outcome> outcomes = decode(*device, graph.view(), map, us, rows);
    for (size_t i = 0; i < us.size(); ++i) {
      SCOPED_TRACE("utterance " + std::to_string(i));
      expect_same(outcomes[i], reference_outcome(graph.view(), us[i]));
    }
  }

  // The value that 16 bits of a type have left of a float.
  static float exactly(float value, asr_value_type type) {
    const uint16_t bits = Rows::bits_of(value, type);
    if (type == ASR_VALUE_FLOAT16) return half_value(bits);
    const uint32_t wide = uint32_t{bits} << 16;
    float result;
    memcpy(&result, &wide, sizeof result);
    return result;
  }

  // Returns the faults of rows that are read in one call.
  std::vector<uint32_t> faults_of(const std::vector<float> &values, uint32_t n_columns) {
    const auto device = open_with(0, 0);
    const Map map = one_to_one(n_columns);
    const Loaded loaded(*this, *device, map);
    const Rows rows(*this, *device, values, n_columns, {});
    rows.wait_until_ready();
    Guarded<uint32_t> faults(values.size() / n_columns);
    const auto n_rows = static_cast<uint32_t>(faults.size());
    const asr_given_job job{loaded.loaded, &rows.rows, 0, 0, n_rows};
    device->check(given_->read(device->get(), loaded.buffers, &job, 1, n_rows, 1, faults.data()));
    device->check(api().wait(device->get(), 0));
    EXPECT_TRUE(faults.bands_intact());
    return {faults.data(), faults.data() + n_rows};
  }

  const asr_backend_given_api *given_ = nullptr;
};

TEST_P(GivenTest, RowsOfTheDeviceHaveTheBitsOfTheHosts) {
  for (const float lattice_beam : {0.0f, 6.0f}) expect_host_bits(one_to_one(24), {}, lattice_beam);
  expect_host_bits(one_to_one(1), {});
  expect_host_bits(one_to_one(300), {});
}

TEST_P(GivenTest, RowsAtAStride) {
  expect_host_bits(one_to_one(24), {ASR_VALUE_FLOAT32, 5, 3, 0});
  expect_host_bits(one_to_one(24), {ASR_VALUE_FLOAT16, 1, 7, 0});
}

TEST_P(GivenTest, ValuesOf16Bits) {
  expect_host_bits(one_to_one(24), {ASR_VALUE_FLOAT16, 0, 0, 0});
  expect_host_bits(one_to_one(24), {ASR_VALUE_BFLOAT16, 0, 0, 0});
}

// The device's memory is NaN until its producer is done.
TEST_P(GivenTest, AProducerIsWaitedFor) {
  constexpr std::chrono::milliseconds kDelay(400);
  const auto device = open_with(0, 0);
  std::mt19937 random(5);
  const auto begin = std::chrono::steady_clock::now();
  const Rows rows(*this, *device, draw_rows(4, 24, random), 24, {ASR_VALUE_FLOAT32, 0, 0, kDelay.count()});
  uint32_t is_ready = 7;
  check(given_->is_ready(device->get(), &rows.rows, &is_ready));
  const bool is_early = std::chrono::steady_clock::now() - begin < kDelay;
  EXPECT_TRUE(is_ready == 0 || !is_early);
  rows.wait_until_ready();
  expect_host_bits(one_to_one(24), {ASR_VALUE_FLOAT32, 0, 0, 60});
}

// States that have some columns, one, or none; columns of no state.
Map classes() {
  Map map{40, 12, {}, std::vector<float>(12, 0.0f)};
  map.columns = {{0}, {1, 2, 3}, {39, 17}, {4}, {5}, {}, {6, 7, 8, 9, 10, 11}, {12}, {13}, {14, 38}, {15}, {16}};
  for (uint32_t s = 0; s < map.n_states; ++s) map.offsets[s] = -0.125f * static_cast<float>(s);
  return map;
}

// OpenCL's division, of which a sum has one, is not exact: such costs are compared below.
TEST_P(GivenTest, ColumnsOfAStateAreAdded) {
  if (entry().id.rfind("ocl", 0) != 0) expect_host_bits(classes(), {});
  const Map map = classes();
  std::mt19937 random(9);
  const std::vector<float> values = draw_rows(50, map.n_columns, random, false);
  const auto device = open_with(0, 0);
  const Rows rows(*this, *device, values, map.n_columns, {});
  rows.wait_until_ready();
  for (const uint32_t state : {0u, 1u, 2u, 6u, 9u}) {  // a graph with one arc, of this state
    const uint32_t begins[] = {0, 1}, ends[] = {1, 1}, pdf_of[] = {0, state};
    const asr_graph_arc arc{0, 1, 0, 0};
    const float final_cost = 0;
    const asr_graph_view graph{sizeof graph, 1, 0, 1, map.n_states, 1, begins, ends, &arc, &final_cost, pdf_of, nullptr};
    const Outcome found = decode(*device, graph, map, {utterance(map, values, 0)}, {&rows.rows})[0];
    ASSERT_EQ(found.path.arcs.size(), 50u);
    for (size_t t = 0; t < 50; ++t) {
      double sum = 0;
      for (const uint32_t column : map.columns[state]) sum += std::exp(static_cast<double>(values[t * map.n_columns + column]));
      const double wanted = -std::log(sum) - static_cast<double>(map.offsets[state]);
      ASSERT_NEAR(found.path.arcs[t].acoustic_cost, wanted, 4e-6 * (1 + std::abs(wanted)))
          << "state " << state << ", row " << t;
    }
  }
}

TEST_P(GivenTest, RowsThatCannotBeSearchedAreNamed) {
  constexpr uint32_t kColumns = 200;
  std::mt19937 random(7);
  std::vector<float> values = draw_rows(9, kColumns, random);
  std::vector<uint32_t> wanted(9, 0);
  EXPECT_EQ(faults_of(values, kColumns), wanted);
  values[1 * kColumns + 199] = NAN, wanted[1] = 200;
  values[3 * kColumns + 150] = INFINITY, values[3 * kColumns + 151] = NAN, wanted[3] = 151;
  std::fill_n(values.begin() + 8 * kColumns, kColumns, kClosed), wanted[8] = ASR_GIVEN_ALL_CLOSED;
  values[0] = NAN, wanted[0] = 1;
  EXPECT_EQ(faults_of(values, kColumns), wanted);
}

TEST_P(GivenTest, MemoryThatIsNoneOfTheDeviceIsRefused) {
  const auto device = open_with(0, 0), other = open_with(0, 0);
  const std::vector<float> values(100, -1.0f);
  const Rows rows(*this, *device, values, 10, {});
  check(given_->check(device->get(), &rows.rows, 10, 10));
  const auto refused = [&](const Device &by, asr_device_rows described, uint64_t n_rows) {
    return given_->check(by.get(), &described, n_rows, 10) == ASR_INVALID_ARGUMENT;
  };
  asr_device_rows odd = rows.rows;
  odd.offset = 2;
  EXPECT_TRUE(refused(*device, odd, 1));
  if (rows.rows.memory == ASR_MEMORY_OPENCL) {
    EXPECT_TRUE(refused(*device, rows.rows, 11));
    EXPECT_TRUE(refused(*other, rows.rows, 10));
  } else {
    asr_device_rows host = rows.rows;
    host.rows = values.data();
    EXPECT_TRUE(refused(*device, host, 10));
  }
}

TEST_P(GivenTest, JobsMustFit) {
  const auto device = open_with(0, 0);
  const Loaded loaded(*this, *device, one_to_one(10));
  const Rows rows(*this, *device, std::vector<float>(100, -1.0f), 10, {});
  uint32_t faults[10] = {};
  const asr_given_job job{loaded.loaded, &rows.rows, 0, 5, 6};
  EXPECT_EQ(given_->read(device->get(), loaded.buffers, &job, 1, 10, 0, faults), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(given_->read(device->get(), loaded.buffers, &job, 1, 10, 2, faults), ASR_INVALID_ARGUMENT);
}

SENONE_INSTANTIATE(GivenTest);

}  // namespace
}  // namespace asr::test
