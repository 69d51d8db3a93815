// SPDX-License-Identifier: Apache-2.0
// `senone bench <name>`: collects the benchmarks of the bench_*.cc files; timing and reports for all of them.
#include "tools/bench.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>

#include "tools/progress.h"

namespace asr::tool {
namespace {

std::map<std::string, AddFunction> &benchmarks() {
  static std::map<std::string, AddFunction> all;
  return all;
}

void add_bench(Command app) {
  Command bench = app.command("bench", "Measure speed and accuracy on random data");
  bench.requires_command();
  for (const auto &[name, add] : benchmarks()) add(bench);
}

const Subcommand kBench{"bench", add_bench};

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string cell(const nlohmann::json &value, const BenchReport::Column &column) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number_float()) return value.dump();
  const bool exponent = column.n_decimals < 0;
  return exponent ? format("%.*e", -column.n_decimals, value.get<double>())
                  : format("%.*f", column.n_decimals, value.get<double>());
}

}  // namespace

Benchmark::Benchmark(const char *name, AddFunction add) { benchmarks()[name] = add; }

void BenchOptions::add_to(Command app) {
  app.option("--device", device, "Device id (see `senone devices`); default: the best one");
  app.option("--threads", n_threads, "Host threads of the back end; 0 = one for each core").shows_default();
  app.option("--repeats", n_repeats, "Timed repeats").range(1, 1000000).shows_default();
  app.flag("--json", json, "Print one JSON object");
  add_quiet(app);
}

asr_backend_options backend_options(const BenchOptions &options, uint32_t window_frames, uint32_t max_lanes,
                                    uint32_t model_bits) {
  asr_backend_options result{};
  result.size = sizeof result;
  result.max_lanes = max_lanes;
  result.window_frames = window_frames;
  result.n_threads = options.n_threads;
  result.model_bits = model_bits;
  return result;
}

namespace {

Timing timing_of(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return {seconds.front(), seconds[seconds.size() / 2]};
}

void show_repeats(Progress *progress, size_t n_done, size_t n_repeats) {
  progress->update(static_cast<double>(n_done) / static_cast<double>(n_repeats),
                   format("%zu of %zu repeats", n_done, n_repeats));
}

}  // namespace

Timing time_repeats(uint32_t n_repeats, const std::function<void()> &body) {
  Progress progress("measuring");
  progress.update(-1, "warming up");
  body();
  std::vector<double> seconds(n_repeats);
  for (size_t i = 0; i < n_repeats; ++i) {
    show_repeats(&progress, i, n_repeats);
    const double begin = wall_seconds();
    body();
    seconds[i] = wall_seconds() - begin;
  }
  return timing_of(std::move(seconds));
}

std::optional<Timing> time_kernels(const Device &device, uint32_t n_repeats, const std::function<void()> &body) {
  const auto *const bench = extension_of<asr_backend_bench_api>(*device.api(), ASR_BACKEND_BENCH);
  if (bench == nullptr || bench->kernel_seconds == nullptr) return std::nullopt;
  Progress progress("measuring kernels");
  progress.update(-1, "warming up");
  double warm_up = 0;
  device.check(bench->kernel_seconds(device.get(), &warm_up));
  body();
  device.check(bench->kernel_seconds(device.get(), &warm_up));
  std::vector<double> seconds(n_repeats);
  for (size_t i = 0; i < n_repeats; ++i) {
    show_repeats(&progress, i, n_repeats);
    body();
    device.check(bench->kernel_seconds(device.get(), &seconds[i]));
  }
  return timing_of(std::move(seconds));
}

BenchReport::BenchReport(std::string name, const BenchOptions &options, const DeviceEntry &device, std::vector<Column> columns)
    : name_(std::move(name)), json_(options.json), device_(device), columns_(std::move(columns)) {
  option("threads", options.n_threads);
  option("repeats", options.n_repeats);
}

void BenchReport::row(std::vector<nlohmann::json> values) {
  if (values.size() != columns_.size()) fail(ASR_INTERNAL, "bench %s: a row does not fit its columns", name_.c_str());
  rows_.push_back(std::move(values));
}

void BenchReport::note(const std::string &text) { notes_.push_back(text); }

void BenchReport::print() const {
  if (!json_) return print_table();
  nlohmann::ordered_json report;
  report["benchmark"] = name_;
  report["device"] = device_.id;
  report["driver"] = device_.info.name;
  report["cpu"] = cpu_name();
  report["date"] = utc_now();
  report["version"] = asr_version();
  report["options"] = options_;
  report["results"] = nlohmann::ordered_json::array();
  for (const auto &values : rows_) {
    nlohmann::ordered_json row;
    for (size_t i = 0; i < columns_.size(); ++i) row[columns_[i].key] = values[i];
    report["results"].push_back(std::move(row));
  }
  report["notes"] = notes_;
  printf("%s\n", report.dump(2).c_str());
}

void BenchReport::print_table() const {
  printf("bench %s on %s (%s)", name_.c_str(), device_.id.c_str(), device_.info.name);
  for (const auto &[key, value] : options_.items()) printf(", %s %s", key.c_str(), value.dump().c_str());
  printf("\n");
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = std::string(columns_[i].title).size();
    for (const auto &values : rows_) width = std::max(width, cell(values[i], columns_[i]).size());
    widths.push_back(width + 2);
  }
  for (size_t i = 0; i < columns_.size(); ++i) printf("%*s", int(widths[i]), columns_[i].title);
  printf("\n");
  for (const auto &values : rows_) {
    for (size_t i = 0; i < columns_.size(); ++i) printf("%*s", int(widths[i]), cell(values[i], columns_[i]).c_str());
    printf("\n");
  }
  for (const std::string &text : notes_) printf("%s\n", text.c_str());
}

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace asr::tool
