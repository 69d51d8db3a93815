// SPDX-License-Identifier: Apache-2.0
// Tests model files: round trips, equal bytes of two trainings, refused damage.
#include <gtest/gtest.h>

#include "builder/g2p/pronounce.h"
#include "core/base/file.h"
#include "tests/unit/g2p/toy_dictionary.h"
#include "tests/unit/scratch.h"

namespace asr {
namespace {

using test::expect_error;
using test::Scratch;

std::string model_bytes(const Scratch &scratch, const G2pModel &model) {
  write_g2p_model(model, scratch / "m.g2p");
  return test::slurp(scratch / "m.g2p");
}

TEST(G2pModelFile, IsReadAsWritten) {
  const Scratch scratch;
  const G2pModel model = test::toy_model();
  const std::string bytes = model_bytes(scratch, model);
  const G2pModel read = read_g2p_model(scratch / "m.g2p");
  EXPECT_EQ(model_bytes(scratch, read), bytes);
  EXPECT_EQ(read.suffix, model.suffix);
  EXPECT_EQ(pronounce(read, "knax", {3})[0].phones, pronounce(model, "knax", {3})[0].phones);
}

TEST(G2pModelFile, TrainingTwiceMakesTheSameBytes) {
  const Scratch scratch;
  EXPECT_EQ(model_bytes(scratch, test::toy_model(8)), model_bytes(scratch, test::toy_model(8)));
  EXPECT_NE(model_bytes(scratch, test::toy_model(8)), model_bytes(scratch, test::toy_model(2)));
}

TEST(G2pModelFile, EveryDamageIsRefused) {
  const Scratch scratch;
  const std::string bytes = model_bytes(scratch, test::toy_model());
  const size_t refused = test::count_refused_damages(scratch / "m.g2p", [&] { read_g2p_model(scratch / "m.g2p"); });
  EXPECT_EQ(refused, 2 * bytes.size());
}

// Makes a model that breaks one rule, with a correct checksum.
template <typename Break>
void expect_refused(const Break &make_wrong, const std::string &part) {
  const Scratch scratch;
  G2pModel model = test::toy_model();
  make_wrong(&model);
  write_g2p_model(model, scratch / "m.g2p");
  expect_error([&] { read_g2p_model(scratch / "m.g2p"); }, ASR_BAD_FILE, part);
}

TEST(G2pModelFile, RulesOfTheFormat) {
  expect_refused([](G2pModel *m) { m->order = 0; }, "order is not valid");
  expect_refused([](G2pModel *m) { m->order = 17; }, "order is not valid");
  expect_refused([](G2pModel *m) { m->order = 2; }, "longer than its order");
  expect_refused([](G2pModel *m) { m->letters[1] = m->letters[0]; }, "letters are not in order");
  expect_refused([](G2pModel *m) { m->letters.back() = 0x110000; }, "letters are not in order");
  expect_refused([](G2pModel *m) { m->phones[1] = m->phones[0]; }, "phones are not in order");
  expect_refused([](G2pModel *m) { m->phones[0] = ""; }, "name of a phone");
  expect_refused([](G2pModel *m) { std::swap(m->units[3], m->units[4]); }, "units are not in order");
  expect_refused([](G2pModel *m) { m->units[kEnd].letter = 0; }, "letters or phones that are none");
  expect_refused([](G2pModel *m) { m->units.back().phones = {kNoSymbol, 0}; }, "letters or phones that are none");
  expect_refused([](G2pModel *m) { m->units.back().phones[0] = 1000; }, "letters or phones that are none");
  expect_refused([](G2pModel *m) { m->units.pop_back(); }, "have not all units");
  expect_refused([](G2pModel *m) { m->first_child[0] = 0; }, "no root");
  expect_refused([](G2pModel *m) { m->first_child[2] = 0xffffffff; }, "not in order");
  expect_refused([](G2pModel *m) { m->unit[1] = 1; }, "not in order");
  expect_refused([](G2pModel *m) { m->unit[m->first_child[2] - 1] = 60000; }, "not in order");
}

}  // namespace
}  // namespace asr
