// SPDX-License-Identifier: Apache-2.0
// Loads the OpenCL functions that the back ends use from this machine's ICD loader, at run time. Without OpenCL a plugin still
// loads and gives the reason. Tests put functions of their own into the table.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

namespace asr::gpu {

// clang-format off
#define ASR_OCL_FUNCTIONS(X)                                                                                            \
  X(GetPlatformIDs) X(GetPlatformInfo) X(GetDeviceIDs) X(GetDeviceInfo) X(CreateContext) X(ReleaseContext)              \
  X(CreateCommandQueue) X(ReleaseCommandQueue) X(CreateBuffer) X(ReleaseMemObject) X(CreateProgramWithSource)           \
  X(CreateProgramWithBinary) X(BuildProgram) X(GetProgramInfo) X(GetProgramBuildInfo) X(ReleaseProgram) X(CreateKernel) \
  X(ReleaseKernel) X(SetKernelArg) X(EnqueueNDRangeKernel) X(EnqueueReadBuffer) X(EnqueueWriteBuffer)                   \
  X(EnqueueCopyBuffer) X(EnqueueFillBuffer) X(EnqueueMapBuffer) X(EnqueueUnmapMemObject) X(EnqueueMigrateMemObjects)    \
  X(EnqueueMarkerWithWaitList) X(EnqueueBarrierWithWaitList) X(WaitForEvents) X(ReleaseEvent) X(GetEventProfilingInfo)  \
  X(GetEventInfo) X(GetMemObjectInfo) X(CreateUserEvent) X(SetUserEventStatus) X(Flush) X(Finish)
// clang-format on

// GetPlatformIDs is clGetPlatformIDs, and so on.
struct Api {
#define ASR_OCL_MEMBER(name) decltype(&::cl##name) name;  // NOLINT(bugprone-macro-parentheses): the name of a member
  ASR_OCL_FUNCTIONS(ASR_OCL_MEMBER)
#undef ASR_OCL_MEMBER
};

// Throws ASR_NO_DEVICE if there is no ICD loader or it lacks a function.
Api &api();

}  // namespace asr::gpu
