// SPDX-License-Identifier: Apache-2.0
// Launches OpenCL's kernel for GivenReader, and asks OpenCL about the caller's memory.
#include "plugins/gpu/given/given.h"

#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include "core/base/error.h"
#include "plugins/ocl/runtime/kernels.h"

namespace asr::gpu {
namespace {

cl_mem buffer_of(const asr_device_rows &given) { return static_cast<cl_mem>(const_cast<void *>(given.rows)); }

// What make_given() made.
struct Made {
  ~Made() {
    if (delaying.joinable()) delaying.join();
    if (queue.get() != nullptr) api().Finish(queue.get());
  }
  std::vector<char> host;
  Handle<cl_command_queue, &Api::ReleaseCommandQueue> queue;
  Handle<cl_mem, &Api::ReleaseMemObject> memory;
  Event delayed, written;
  std::thread delaying;
};

}  // namespace

void GivenReader::launch(const Launch &launch, const Array<GivenJob> &jobs, Array<float> &scores) {
  const Kernel kernel = device_.program(kernel_given).kernel("given");
  const GivenMap &map = *launch.map;
  const BorrowedMemory rows{static_cast<cl_mem>(const_cast<void *>(launch.memory))};
  kernel.set(rows, jobs, launch.first, map.begins, map.columns, map.offsets, scores, faults_, map.n_columns, map.n_states,
             map.is_one_to_one ? 1u : 0u);
  device_.launch(kernel, {launch.max_rows, launch.n_jobs}, {kGivenThreads});
}

const void *memory_of(const asr_device_rows &given) { return given.rows; }
uint64_t begin_of(const asr_device_rows &given) { return given.offset; }

void check_given(const Device &device, const asr_device_rows &given, uint64_t n_rows, uint32_t n_columns) {
  cl_context context = nullptr;
  size_t n_bytes = 0;
  cl_int status = api().GetMemObjectInfo(buffer_of(given), CL_MEM_CONTEXT, sizeof context, &context, nullptr);
  if (status == CL_SUCCESS) status = api().GetMemObjectInfo(buffer_of(given), CL_MEM_SIZE, sizeof n_bytes, &n_bytes, nullptr);
  if (status != CL_SUCCESS) {
    fail(ASR_INVALID_ARGUMENT, "asr_feed_device: rows->rows is no cl_mem (%s); it was released, or is an address",
         error_name(status));
  }
  if (context != device.context().get()) {
    fail(ASR_INVALID_ARGUMENT,
         "asr_feed_device: the buffer is of another cl_context; make it in that of asr_engine_get_memory");
  }
  const uint32_t n_of_value = bytes_of(given.type);
  if (given.offset % n_of_value != 0) {
    fail(ASR_INVALID_ARGUMENT, "asr_feed_device: rows->offset is not a multiple of the %u bytes of a value", n_of_value);
  }
  const uint64_t n_needed = given.offset + (n_rows - 1) * stride_bytes(given, n_columns) + uint64_t{n_columns} * n_of_value;
  if (n_needed <= n_bytes) return;
  fail(ASR_INVALID_ARGUMENT, "asr_feed_device: the rows end at byte %llu of a buffer of %zu",
       static_cast<unsigned long long>(n_needed), n_bytes);
}

bool is_given_ready(const Device &, const asr_device_rows &given) {
  if (given.event == nullptr) return true;
  cl_int state = CL_COMPLETE;
  check(
      api().GetEventInfo(static_cast<cl_event>(given.event), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr),
      "asking about the producer's event");
  if (state < 0) fail(ASR_DEVICE_LOST, "asr_feed_device: the producer's command failed with %s", error_name(state));
  return state == CL_COMPLETE;
}

void describe_memory(const Device &device, asr_engine_memory *memory) {
  memory->memory = ASR_MEMORY_OPENCL;
  memory->context = device.context().get();
  memory->device = device.context().device();
}

void make_given(const asr_engine_memory &memory, const void *values, size_t n_bytes, uint32_t delay_ms,
                asr_device_rows *given) {
  constexpr const char *kWhat = "making rows in memory of the device";
  const auto context = static_cast<cl_context>(memory.context);
  auto made = std::make_unique<Made>();
  made->host.assign(n_bytes, '\xff');
  cl_int status = CL_SUCCESS;
  made->queue = Handle<cl_command_queue, &Api::ReleaseCommandQueue>(
      api().CreateCommandQueue(context, static_cast<cl_device_id>(memory.device), 0, &status));
  check(status, kWhat);
  made->memory =
      Handle<cl_mem, &Api::ReleaseMemObject>(api().CreateBuffer(context, CL_MEM_READ_WRITE, n_bytes, nullptr, &status));
  check(status, kWhat);
  const auto write = [&](cl_bool blocks, cl_event after, cl_event *event) {
    check(api().EnqueueWriteBuffer(made->queue.get(), made->memory.get(), blocks, 0, n_bytes, made->host.data(),
                                   after != nullptr ? 1 : 0, after != nullptr ? &after : nullptr, event),
          kWhat);
  };
  write(CL_TRUE, nullptr, nullptr);
  memcpy(made->host.data(), values, n_bytes);
  if (delay_ms > 0) {
    made->delayed = Event(api().CreateUserEvent(context, &status));
    check(status, kWhat);
    made->delaying = std::thread([event = made->delayed.get(), delay_ms] {
      std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
      api().SetUserEventStatus(event, CL_COMPLETE);
    });
  }
  cl_event written = nullptr;
  write(CL_FALSE, made->delayed.get(), &written);
  made->written = Event(written);
  check(api().Flush(made->queue.get()), kWhat);
  given->memory = ASR_MEMORY_OPENCL;
  given->rows = made->memory.get();
  given->offset = 0;
  given->event = written;
  given->stream = nullptr;
  given->user = made.release();
}

void free_made_given(asr_device_rows *given) { delete static_cast<Made *>(given->user); }

}  // namespace asr::gpu
