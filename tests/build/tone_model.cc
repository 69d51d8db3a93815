// SPDX-License-Identifier: Apache-2.0
#include "tests/build/tone_model.h"

#include <filesystem>

#include "core/model/bundle.h"
#include "core/model/hmm_set.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

// Makes phones of three states with one pdf each.
HmmSet tone_hmms() {
  HmmSet set;
  set.n_pdfs = 4;
  set.topologies = {{3, {{0, 0, .7f}, {0, 1, .7f}, {1, 1, .7f}, {1, 2, .7f}, {2, 2, .7f}, {2, 3, .7f}, {kEntry, 0, 0}}}};
  set.phones = {{"SIL", true, 0}, {"LOW", false, 1}, {"MID", false, 2}, {"HIGH", false, 3}};
  for (uint32_t pdf = 0; pdf < set.n_pdfs; ++pdf) set.hmms.push_back({0, {pdf, pdf, pdf}});
  set.silence = 0;
  return set;
}

}  // namespace

const char kToneLexicon[] = "low LOW\nmid MID\nhigh HIGH\ndeep LOW\nchirp LOW HIGH\n";

const std::string &tone_model() {
  static const std::string path = [] {
    std::string folder = tone_bundle() + "/model";
    std::filesystem::create_directories(folder);
    std::filesystem::copy_file(tone_bundle() + "/acoustic.bin", folder + "/acoustic.bin");
    write_hmm_set(tone_hmms(), folder + "/hmms.bin");
    write_bundle_index(read_bundle_index(tone_bundle()), folder, {"acoustic.bin", "hmms.bin"});
    return folder;
  }();
  return path;
}

}  // namespace asr::test
