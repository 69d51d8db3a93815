// SPDX-License-Identifier: Apache-2.0
// Fuser carries out the extension "fusion" on a device with memory of its own. It copies the tables of a call through
// pinned memory, and has the kernel of plugins/gpu/fusion/fuse-inl.h launched behind the scoring. A back end's Fusion
// has one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plugins/common/fuse_call.h"
#include "plugins/gpu/runtime/pinned_table.h"

namespace asr {

// Device is a back end's class; its Runtime names the classes below.
template <typename Device>
class Fuser {
 public:
  using Runtime = typename Device::Runtime;

  // `context`: arguments of the Runtime's arrays.
  template <typename... Context>
  explicit Fuser(Device &device, const Context &...context) : device_(device), turns_{Turn(context...), Turn(context...)} {}

  // launch(rows, jobs, terms): puts the kernel into the compute queue; not called without rows.
  template <typename Acoustic, typename Launch>
  void fuse(const FuseCall<Acoustic> &call, Acoustic *to, uint32_t buffer, float *loglikes, const Launch &launch) {
    Turn &turn = turns_[turn_++ % 2];
    turn.copied.wait();
    turn.rows.upload(call.rows, device_.compute());
    turn.jobs.upload(call.jobs, device_.compute());
    turn.terms.upload(call.terms, device_.compute());
    device_.compute().mark(&turn.copied);
    to->rewrite(buffer, loglikes, [&] {
      if (!call.rows.empty()) launch(turn.rows.array(), turn.jobs.array(), turn.terms.array());
    });
  }

 private:
  // A call's tables, whose pinned memory the device reads until `copied`.
  struct Turn {
    template <typename... Context>
    explicit Turn(const Context &...context) : rows(context...), jobs(context...), terms(context...) {}
    PinnedTable<Runtime, FuseRow> rows;
    PinnedTable<Runtime, FuseJob> jobs;
    PinnedTable<Runtime, FuseTerm> terms;
    typename Runtime::Event copied;
  };

  Device &device_;
  Turn turns_[2];
  size_t turn_ = 0;
};

}  // namespace asr
