// SPDX-License-Identifier: Apache-2.0
// Fuser carries out the extension "fusion" on a device with memory of its own. It copies the tables of a call through
// pinned memory, and has the kernel of plugins/common/kernels/fuse.h launched behind the scoring. A back end's Fusion
// has one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plugins/common/fuse_call.h"

namespace asr {

// Device is a back end's class; its Runtime names the classes below.
template <typename Device>
class Fuser {
 public:
  using Runtime = typename Device::Runtime;
  template <typename T>
  using Array = typename Runtime::template DeviceArray<T>;

  // `context`: arguments of the Runtime's arrays.
  template <typename... Context>
  explicit Fuser(Device &device, const Context &...context)
      : device_(device), turns_{Turn(context...), Turn(context...)}, rows_(context...), jobs_(context...), terms_(context...) {}

  // launch(rows, jobs, terms): puts the kernel into the compute queue; not called without rows.
  template <typename Acoustic, typename Launch>
  void fuse(const FuseCall<Acoustic> &call, Acoustic *to, uint32_t buffer, float *loglikes, const Launch &launch) {
    Turn &turn = turns_[turn_++ % 2];
    turn.copied.wait();
    upload(call.rows, &rows_, &turn.rows);
    upload(call.jobs, &jobs_, &turn.jobs);
    upload(call.terms, &terms_, &turn.terms);
    device_.compute().mark(&turn.copied);
    to->rewrite(buffer, loglikes, [&] {
      if (!call.rows.empty()) launch(rows_, jobs_, terms_);
    });
  }

 private:
  // Pinned copies of a call's tables, which the device reads until `copied`.
  struct Turn {
    template <typename... Context>
    explicit Turn(const Context &...context) : rows(context...), jobs(context...), terms(context...) {}
    typename Runtime::template PinnedArray<FuseRow> rows;
    typename Runtime::template PinnedArray<FuseJob> jobs;
    typename Runtime::template PinnedArray<FuseTerm> terms;
    typename Runtime::Event copied;
  };

  template <typename T, typename Pinned>
  void upload(const std::vector<T> &from, Array<T> *to, Pinned *pinned) {
    if (from.empty()) return;
    pinned->reserve(from.size());
    to->reserve(from.size());
    std::copy(from.begin(), from.end(), pinned->data());
    device_.compute().write(*to, 0, pinned->data(), from.size());
  }

  Device &device_;
  Turn turns_[2];
  size_t turn_ = 0;
  Array<FuseRow> rows_;
  Array<FuseJob> jobs_;
  Array<FuseTerm> terms_;
};

}  // namespace asr
