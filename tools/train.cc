// SPDX-License-Identifier: Apache-2.0
// `senone train`: acoustic models from recordings and their transcripts.
#include "tools/train.h"

namespace asr::tool {
namespace {

void add_train(Command app) {
  Command train = app.command("train", "Train acoustic models on recordings with transcripts");
  add_train_new(train);
  add_train_em(train);
}

const Subcommand kTrain{"train", add_train};

}  // namespace
}  // namespace asr::tool
