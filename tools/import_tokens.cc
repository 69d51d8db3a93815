// SPDX-License-Identifier: Apache-2.0
// Implements `senone import tokens TOKENS OUT_BUNDLE`.
#include <memory>

#include "builder/import/tokens.h"
#include "core/base/limits.h"
#include "tools/import.h"

namespace asr::tool {
namespace {

ReadModel add_tokens(Command app) {
  const auto options = std::make_shared<TokensOptions>();
  const auto topology = std::make_shared<std::string>("ctc");
  app.option("TOKENS", options->tokens,
             "Tokens of the network's outputs: one a line, tokens.txt with numbers, SentencePiece's .vocab, vocab.json")
      .required();
  app.option("--frame-shift-ms", options->frame_shift_ms, "From one row of outputs to the next, such as 20")
      .range(0.1, 500.0)
      .required();
  app.option("--blank", options->blank,
             "The blank's name or number; the number of tokens if it comes behind them (default: by its usual names)");
  app.option("--topology", *topology, "How tokens follow each other: ctc, ctc-compact or hmm (docs/ctc.md)")
      .one_of({"ctc", "ctc-compact", "hmm"})
      .shows_default();
  app.option("--delimiter", options->delimiter, "Token that may stand between words, such as | or <space>");
  app.option("--classes", options->classes, "Lines \"CLASS TOKEN ...\": the classes, sums of tokens, are the units of words");
  app.option("--priors", options->priors, "Priors of the tokens, or of the classes: probabilities, counts or their logarithms");
  app.option("--prior-scale", options->prior_scale, "Share of the log priors that is subtracted")
      .range(0.0, kMaxPriorScale)
      .shows_default();
  app.option("--blank-penalty", options->blank_penalty, "Subtracted from the log-likelihoods of the blank")
      .range(-kMaxBlankPenalty, kMaxBlankPenalty)
      .shows_default();
  return [options, topology] {
    options->topology = *topology == "ctc"           ? TokenTopology::kCtc
                        : *topology == "ctc-compact" ? TokenTopology::kCtcCompact
                                                     : TokenTopology::kHmm;
    return import_tokens(*options);
  };
}

const ImportKind kImportTokens{"tokens", "the tokens of a network, which is run elsewhere", add_tokens};

}  // namespace
}  // namespace asr::tool
