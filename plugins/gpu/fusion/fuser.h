// SPDX-License-Identifier: Apache-2.0
// Fuser carries out the extension "fusion" on a device. It copies the tables of a call through
// pinned memory, and has the kernel of plugins/gpu/fusion/fuse-inl.h launched behind the scoring. A back end's Fusion
// has one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plugins/common/fuse_call.h"
#include "plugins/gpu/runtime/pinned_table.h"
#include "plugins/gpu/scores/acoustic.h"

namespace asr::gpu {

class Fuser {
 public:
  explicit Fuser(Device &device) : device_(device), turns_{Turn(device.context()), Turn(device.context())} {}

  // launch(rows, jobs, terms): puts the kernel into the compute queue; not called without rows.
  template <typename Launch>
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
    explicit Turn(const Context &context) : rows(context), jobs(context), terms(context) {}
    PinnedTable<FuseRow> rows;
    PinnedTable<FuseJob> jobs;
    PinnedTable<FuseTerm> terms;
    Event copied;
  };

  Device &device_;
  Turn turns_[2];
  size_t turn_ = 0;
};

}  // namespace asr::gpu
