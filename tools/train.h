// SPDX-License-Identifier: Apache-2.0
// Subcommands of `senone train`, each in a file of its own, tools/train_<name>.cc.
#pragma once

#include "tools/tool.h"

namespace asr::tool {

void add_train_em(Command train);
void add_train_new(Command train);  // what `senone train` does without a subcommand

}  // namespace asr::tool
