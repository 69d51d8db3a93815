// SPDX-License-Identifier: Apache-2.0
// Launches CUDA's kernel for GivenReader, and asks CUDA about the caller's memory. Threads of the caller keep their device.
#include "plugins/gpu/given/given.h"

#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include "core/base/error.h"
#include "plugins/cuda/given/given_launch.h"

namespace asr::gpu {
namespace {

// Makes a device that of the calling thread, until this goes.
class Borrowed {
 public:
  explicit Borrowed(int index) : index_(index), before_(index) {
    check(cudaGetDevice(&before_), "asking for the thread's device");
    if (before_ != index_) check(cudaSetDevice(index_), "choosing the device");
  }
  ~Borrowed() {
    if (before_ != index_) cudaSetDevice(before_);
  }
  Borrowed(const Borrowed &) = delete;
  Borrowed &operator=(const Borrowed &) = delete;

 private:
  const int index_;
  int before_;
};

// Returns true if what is asked about is done. CUDA also keeps the answer "not yet" as the thread's last error.
bool is_done(cudaError_t status) {
  if (status == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  check(status, "waiting for the producer of rows");
  return true;
}

// What make_given() made.
struct Made {
  ~Made() {
    if (stream != nullptr) cudaStreamSynchronize(stream);
    if (event != nullptr) cudaEventDestroy(event);
    if (stream != nullptr) cudaStreamDestroy(stream);
    cudaFree(memory);
    cudaFreeHost(host);
  }
  int index = 0;
  void *memory = nullptr, *host = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  std::chrono::milliseconds delay{0};
};

void CUDART_CB sleep_for(void *made) { std::this_thread::sleep_for(static_cast<Made *>(made)->delay); }

}  // namespace

void GivenReader::launch(const Launch &launch, const Array<GivenJob> &jobs, Array<float> &scores) {
  const cudaStream_t stream = device_.compute().get();
  const GivenMap &map = *launch.map;
  device_.clock().start(stream);
  launch_given({jobs.data() + launch.first, map.begins.data(), map.columns.data(), map.offsets.data(), scores.data(),
                reinterpret_cast<uint32_t *>(faults_.data()), map.n_columns, map.n_states, map.is_one_to_one ? 1u : 0u},
               launch.n_jobs, launch.max_rows, stream);
  device_.clock().stop(stream);
}

const void *memory_of(const asr_device_rows &) { return nullptr; }  // an address says all
uint64_t begin_of(const asr_device_rows &given) { return reinterpret_cast<uintptr_t>(given.rows) + given.offset; }

void check_given(const Device &device, const asr_device_rows &given, uint64_t, uint32_t) {
  const Borrowed borrowed(device.index());
  if (begin_of(given) % bytes_of(given.type) != 0) {
    fail(ASR_INVALID_ARGUMENT, "asr_feed_device: the address of the rows is not a multiple of the %u bytes of a value",
         bytes_of(given.type));
  }
  cudaPointerAttributes about{};
  const cudaError_t status = cudaPointerGetAttributes(&about, given.rows);
  if (status == cudaErrorInvalidValue) cudaGetLastError();
  const bool is_device = status == cudaSuccess && about.type == cudaMemoryTypeDevice;
  if (is_device && about.device != device.index()) {
    fail(ASR_INVALID_ARGUMENT,
         "asr_feed_device: the rows are in memory of CUDA device %d, but the engine is on device %d; copy "
         "them there, or load the engine on their device",
         about.device, device.index());
  }
  if (is_device || (status == cudaSuccess && about.type == cudaMemoryTypeManaged)) return;
  if (status != cudaErrorInvalidValue) check(status, "asking about the memory of rows");
  fail(ASR_INVALID_ARGUMENT, "asr_feed_device: the rows are not in memory of a CUDA device; it was freed, or is of the host");
}

bool is_given_ready(const Device &device, const asr_device_rows &given) {
  const Borrowed borrowed(device.index());
  if (given.event != nullptr && !is_done(cudaEventQuery(static_cast<cudaEvent_t>(given.event)))) return false;
  return given.stream == nullptr || is_done(cudaStreamQuery(static_cast<cudaStream_t>(given.stream)));
}

void describe_memory(const Device &device, asr_engine_memory *memory) {
  memory->memory = ASR_MEMORY_CUDA;
  memory->ordinal = static_cast<uint32_t>(device.index());
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, device.index()), "asking for the properties of the device");
  static_assert(sizeof properties.uuid == sizeof memory->uuid);
  memcpy(memory->uuid, &properties.uuid, sizeof memory->uuid);
}

void make_given(const asr_engine_memory &memory, const void *values, size_t n_bytes, uint32_t delay_ms,
                asr_device_rows *given) {
  constexpr const char *kWhat = "making rows in memory of the device";
  const Borrowed borrowed(static_cast<int>(memory.ordinal));
  auto made = std::make_unique<Made>();
  made->index = static_cast<int>(memory.ordinal);
  made->delay = std::chrono::milliseconds(delay_ms);
  check(cudaMalloc(&made->memory, n_bytes), kWhat);
  check(cudaMallocHost(&made->host, n_bytes), kWhat);
  memcpy(made->host, values, n_bytes);
  check(cudaStreamCreateWithFlags(&made->stream, cudaStreamNonBlocking), kWhat);
  check(cudaEventCreateWithFlags(&made->event, cudaEventDisableTiming), kWhat);
  check(cudaMemsetAsync(made->memory, 0xff, n_bytes, made->stream), kWhat);
  check(cudaStreamSynchronize(made->stream), kWhat);
  if (delay_ms > 0) check(cudaLaunchHostFunc(made->stream, sleep_for, made.get()), kWhat);
  check(cudaMemcpyAsync(made->memory, made->host, n_bytes, cudaMemcpyHostToDevice, made->stream), kWhat);
  check(cudaEventRecord(made->event, made->stream), kWhat);
  given->memory = ASR_MEMORY_CUDA;
  given->rows = made->memory;
  given->offset = 0;
  given->event = made->event;
  given->stream = nullptr;
  given->user = made.release();
}

void free_made_given(asr_device_rows *given) {
  auto *const made = static_cast<Made *>(given->user);
  const Borrowed borrowed(made->index);
  delete made;
}

}  // namespace asr::gpu
