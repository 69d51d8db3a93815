// SPDX-License-Identifier: Apache-2.0
// The common part of the benchmarks `senone bench <name>`. A benchmark is one file tools/bench_<name>.cc that registers itself:
//   static const Benchmark kBenchMfcc{"mfcc", add_mfcc};
// add_mfcc(bench) adds a subcommand to the command `bench`. Its callback measures through the back-end table of the chosen
// device, as the engine would, and prints one BenchReport.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/backend/asr_backend_bench.h"
#include "core/backend/registry.h"
#include "tools/tool.h"

namespace asr::tool {

struct Benchmark {
  Benchmark(const char *name, AddFunction add);
};

// Options of every benchmark: --device, --threads, --repeats, --json.
struct BenchOptions {
  std::string device;
  uint32_t n_threads = 1;
  uint32_t n_repeats = 20;
  bool json = false;

  void add_to(Command app);
};

// Returns the options with which a benchmark opens its device: n_threads, and capacity for one channel of window_frames.
asr_backend_options backend_options(const BenchOptions &options, uint32_t window_frames, uint32_t max_lanes = 1,
                                    uint32_t model_bits = 0);

struct Timing {
  double min_s = 0, median_s = 0;
};

// Returns the time of the device's kernels, without copies, in each of n_repeats calls of body after one to warm up. nullopt if
// the back end does not measure it.
std::optional<Timing> time_kernels(const Device &device, uint32_t n_repeats, const std::function<void()> &body);

// Calls body once to warm up, then times n_repeats calls.
Timing time_repeats(uint32_t n_repeats, const std::function<void()> &body);

// A table of results for people or, with --json, one object: benchmark, device, driver, cpu, date, version, options, results.
class BenchReport {
 public:
  struct Column {
    const char *key;    // key in JSON
    const char *title;  // column title in the table, including units
    int n_decimals;     // decimals of a number that is not an integer; negative: that many digits in exponent form
  };

  BenchReport(std::string name, const BenchOptions &options, const DeviceEntry &device, std::vector<Column> columns);
  void option(const std::string &key, const nlohmann::json &value) { options_[key] = value; }
  void row(std::vector<nlohmann::json> values);  // one value per column; null is shown as "-"
  void note(const std::string &text);            // below the table; "notes" in JSON
  void print() const;                            // prints to stdout

 private:
  void print_table() const;

  std::string name_;
  bool json_;
  DeviceEntry device_;
  std::vector<Column> columns_;
  nlohmann::ordered_json options_;
  std::vector<std::vector<nlohmann::json>> rows_;
  std::vector<std::string> notes_;
};

std::string cpu_name();  // name given by the operating system

}  // namespace asr::tool
