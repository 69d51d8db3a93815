// SPDX-License-Identifier: Apache-2.0
// Questions about the neighbours of a phone, made from data: sets of phones that sound alike (T11).
#pragma once

#include <array>
#include <vector>

#include "builder/train/new/moments.h"
#include "builder/train/new/phone_models.h"

namespace asr::train {

using MomentsOfPhone = std::array<RowMoments, kStatesOfPhone>;  // of its states in any context

// A set of phones, [n_phones]: true for its members.
using Question = std::vector<bool>;

// Joins the two sets of phones that lose the least likelihood, beginning with single phones, until all are in one. Returns all
// sets on the way but the last, single phones first.
std::vector<Question> make_questions(const std::vector<MomentsOfPhone> &phones, const std::vector<double> &floor);

}  // namespace asr::train
