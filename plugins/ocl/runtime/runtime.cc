// SPDX-License-Identifier: Apache-2.0
#include "plugins/ocl/runtime/runtime.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/kept_signals.h"

namespace asr::gpu {
namespace {

struct ErrorName {
  cl_int status;
  const char *name;
  asr_status code;
};
#define ASR_OCL_ERROR(name, code) \
  { name, #name, code }
constexpr ErrorName kErrors[] = {
    ASR_OCL_ERROR(CL_DEVICE_NOT_FOUND, ASR_NO_DEVICE),
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR", ASR_NO_DEVICE},
    ASR_OCL_ERROR(CL_COMPILER_NOT_AVAILABLE, ASR_UNSUPPORTED),
    ASR_OCL_ERROR(CL_BUILD_PROGRAM_FAILURE, ASR_UNSUPPORTED),
    ASR_OCL_ERROR(CL_MEM_OBJECT_ALLOCATION_FAILURE, ASR_OUT_OF_MEMORY),
    ASR_OCL_ERROR(CL_OUT_OF_HOST_MEMORY, ASR_OUT_OF_MEMORY),
    ASR_OCL_ERROR(CL_INVALID_BUFFER_SIZE, ASR_OUT_OF_MEMORY),  // more than the device gives in one piece
    ASR_OCL_ERROR(CL_DEVICE_NOT_AVAILABLE, ASR_DEVICE_LOST),
    ASR_OCL_ERROR(CL_OUT_OF_RESOURCES, ASR_DEVICE_LOST),  // drivers return this after a kernel failed
    ASR_OCL_ERROR(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, ASR_DEVICE_LOST),
    ASR_OCL_ERROR(CL_MAP_FAILURE, ASR_DEVICE_LOST),
    ASR_OCL_ERROR(CL_PROFILING_INFO_NOT_AVAILABLE, ASR_INTERNAL),
    ASR_OCL_ERROR(CL_INVALID_VALUE, ASR_INTERNAL),
    ASR_OCL_ERROR(CL_INVALID_DEVICE, ASR_INTERNAL),
    ASR_OCL_ERROR(CL_INVALID_CONTEXT, ASR_INTERNAL),
    ASR_OCL_ERROR(CL_INVALID_QUEUE_PROPERTIES, ASR_INTERNAL),
    ASR_OCL_ERROR(CL_INVALID_COMMAND_QUEUE, ASR_INTERNAL),
    ASR_OCL_ERROR(CL_INVALID_MEM_OBJECT, ASR_INTERNAL),
    ASR_OCL_ERROR(CL_INVALID_BINARY, ASR_INTERNAL),
    ASR_OCL_ERROR(CL_INVALID_BUILD_OPTIONS, ASR_INTERNAL),
    ASR_OCL_ERROR(CL_INVALID_PROGRAM, ASR_INTERNAL),
    ASR_OCL_ERROR(CL_INVALID_PROGRAM_EXECUTABLE, ASR_INTERNAL),
    ASR_OCL_ERROR(CL_INVALID_KERNEL_NAME, ASR_INTERNAL),
    ASR_OCL_ERROR(CL_INVALID_KERNEL_DEFINITION, ASR_INTERNAL),
    ASR_OCL_ERROR(CL_INVALID_KERNEL, ASR_INTERNAL),
    ASR_OCL_ERROR(CL_INVALID_ARG_INDEX, ASR_INTERNAL),
    ASR_OCL_ERROR(CL_INVALID_ARG_VALUE, ASR_INTERNAL),
    ASR_OCL_ERROR(CL_INVALID_ARG_SIZE, ASR_INTERNAL),
    ASR_OCL_ERROR(CL_INVALID_KERNEL_ARGS, ASR_INTERNAL),
    ASR_OCL_ERROR(CL_INVALID_WORK_DIMENSION, ASR_INTERNAL),
    ASR_OCL_ERROR(CL_INVALID_WORK_GROUP_SIZE, ASR_INTERNAL),
    ASR_OCL_ERROR(CL_INVALID_WORK_ITEM_SIZE, ASR_INTERNAL),
    ASR_OCL_ERROR(CL_INVALID_EVENT, ASR_INTERNAL),
    ASR_OCL_ERROR(CL_INVALID_OPERATION, ASR_INTERNAL),
    ASR_OCL_ERROR(CL_INVALID_GLOBAL_WORK_SIZE, ASR_INTERNAL),
};
#undef ASR_OCL_ERROR

const ErrorName *find_error(cl_int status) {
  const auto found = std::find_if(std::begin(kErrors), std::end(kErrors), [&](const auto &e) { return e.status == status; });
  return found == std::end(kErrors) ? nullptr : found;
}

}  // namespace

const char *error_name(cl_int status) {
  const ErrorName *const error = find_error(status);
  return error != nullptr ? error->name : "an error of the driver's own";
}

void check(cl_int status, const char *what) {
  if (status == CL_SUCCESS) return;
  const ErrorName *const error = find_error(status);
  fail(error != nullptr ? error->code : ASR_DEVICE_LOST, "OpenCL: %s: %s (%d)", what, error_name(status), status);
}

void Event::wait() const {
  const cl_event event = get();
  if (event != nullptr) check(api().WaitForEvents(1, &event), "waiting for the device");
}

double Event::seconds() const {
  cl_ulong begin = 0, end = 0;
  const auto read = [&](cl_profiling_info what, cl_ulong *time) {
    check(api().GetEventProfilingInfo(get(), what, sizeof *time, time, nullptr), "reading the clock of the device");
  };
  read(CL_PROFILING_COMMAND_START, &begin);
  read(CL_PROFILING_COMMAND_END, &end);
  return double(end - begin) / 1e9;
}

Queue::Queue(const Context &context) : context_(&context) { create(0); }

void Queue::create(cl_command_queue_properties properties) {
  cl_int status = CL_SUCCESS;
  queue_ = decltype(queue_)(api().CreateCommandQueue(context_->get(), context_->device(), properties, &status));
  check(status, "creating a queue");
}

void Queue::write(cl_mem to, size_t offset, const void *from, size_t n_bytes) {
  if (n_bytes == 0) return;
  check(api().EnqueueWriteBuffer(get(), to, CL_FALSE, offset, n_bytes, from, 0, nullptr, nullptr), "copying to the device");
}

void Queue::read(cl_mem from, size_t offset, void *to, size_t n_bytes) {
  if (n_bytes == 0) return;
  check(api().EnqueueReadBuffer(get(), from, CL_FALSE, offset, n_bytes, to, 0, nullptr, nullptr), "copying to the host");
}

void Queue::copy(cl_mem from, size_t from_offset, cl_mem to, size_t to_offset, size_t n_bytes) {
  if (n_bytes == 0) return;
  check(api().EnqueueCopyBuffer(get(), from, to, from_offset, to_offset, n_bytes, 0, nullptr, nullptr),
        "copying on the device");
}

void Queue::fill(cl_mem to, size_t offset, uint32_t word, size_t n_bytes) {
  if (n_bytes == 0) return;
  check(api().EnqueueFillBuffer(get(), to, &word, sizeof word, offset, n_bytes, 0, nullptr, nullptr),
        "filling memory of the device");
}

void Queue::launch(const Kernel &kernel, Range groups, Range group) {
  const size_t global[2] = {groups.x * group.x, groups.y * group.y}, local[2] = {group.x, group.y};
  cl_event event = nullptr;
  check(api().EnqueueNDRangeKernel(get(), kernel.get(), 2, nullptr, global, local, 0, nullptr, measures_ ? &event : nullptr),
        "launching a kernel");
  if (measures_) measured_.emplace_back(event);
}

double Queue::kernel_seconds() {
  if (!measures_) {
    finish();
    create(CL_QUEUE_PROFILING_ENABLE);
    measures_ = true;
  }
  double total = 0;
  for (const Event &event : measured_) total += event.seconds();
  measured_.clear();
  return total;
}

void Queue::mark(Event *event) {
  cl_event marker = nullptr;
  check(api().EnqueueMarkerWithWaitList(get(), 0, nullptr, &marker), "ordering the work of the device");
  *event = Event(marker);
  flush();
}

void Queue::wait_for(const Event &event) {
  const cl_event waited = event.get();
  if (waited == nullptr) return;
  check(api().EnqueueBarrierWithWaitList(get(), 1, &waited, nullptr), "ordering the work of the device");
}

void Queue::flush() { check(api().Flush(get()), "starting the work of the device"); }
void Queue::finish() { check(api().Finish(get()), "waiting for the device"); }

namespace {

cl_context create_context(cl_device_id device) {
  const SignalsKept signals;
  cl_int status = CL_SUCCESS;
  const cl_context context = api().CreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
  check(status, "opening the device");
  return context;
}

}  // namespace

Context::Context(cl_device_id device, uint64_t most_memory_bytes)
    : account_(most_memory_bytes), device_(device), context_(create_context(device)), at_once_(*this) {}

Handle<cl_mem, &Api::ReleaseMemObject> allocate(const Context &context, cl_mem_flags flags, size_t n_bytes) {
  cl_int status = CL_SUCCESS;
  Handle<cl_mem, &Api::ReleaseMemObject> memory(
      api().CreateBuffer(context.get(), flags, std::max<size_t>(n_bytes, 4), nullptr, &status));
  check(status, "allocating memory");
  return memory;
}

void make_resident(const Context &context, cl_mem memory) {
  constexpr const char *kWhat = "allocating memory";
  const cl_int status = api().EnqueueMigrateMemObjects(context.at_once().get(), 1, &memory, 0, 0, nullptr, nullptr);
  // This queue has no kernels: here it means that there is no memory.
  check(status == CL_OUT_OF_RESOURCES ? CL_MEM_OBJECT_ALLOCATION_FAILURE : status, kWhat);
  context.at_once().finish();
}

void *map(const Context &context, cl_mem memory, size_t n_bytes) {
  cl_int status = CL_SUCCESS;
  void *const data = api().EnqueueMapBuffer(context.at_once().get(), memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, n_bytes, 0,
                                            nullptr, nullptr, &status);
  check(status, "mapping pinned memory");
  return data;
}

void unmap(const Context &context, cl_mem memory, void *data) {
  api().EnqueueUnmapMemObject(context.at_once().get(), memory, data, 0, nullptr, nullptr);
  api().Finish(context.at_once().get());
}

Kernel::Kernel(cl_program program, const char *name) {
  cl_int status = CL_SUCCESS;
  kernel_ = decltype(kernel_)(api().CreateKernel(program, name, &status));
  check(status, name);
}

void Kernel::set_bytes(cl_uint index, size_t n_bytes, const void *value) const {
  check(api().SetKernelArg(get(), index, n_bytes, value), "setting an argument of a kernel");
}

}  // namespace asr::gpu
