// SPDX-License-Identifier: Apache-2.0
// Reads the binary model definition (BMDF), and checks the invariants of both forms.
#include "builder/import/sphinx_mdef.h"

#include "builder/import/byte_reader.h"
#include "builder/text/text_file.h"
#include "core/base/limits.h"

namespace asr::sphinx {
namespace {

constexpr uint32_t kBytesPerTreeNode = 8;

void check(const Mdef &mdef, const std::string &source) {
  if (mdef.n_emitting == 0) fail(ASR_BAD_FILE, "%s: its phones have no emitting states", source.c_str());
  if (mdef.n_emitting > kMaxHmmStates) {
    fail(ASR_BAD_FILE, "%s: its phones have %u emitting states; up to %u are possible", source.c_str(), mdef.n_emitting,
         kMaxHmmStates);
  }
  for (size_t i = 0; i < mdef.phones.size(); ++i) {
    const MdefPhone &phone = mdef.phones[i];
    if (phone.base >= mdef.n_base() || phone.position > 3 ||
        (i >= mdef.n_base() && (phone.left >= mdef.n_base() || phone.right >= mdef.n_base()))) {
      fail(ASR_BAD_FILE, "%s: phone %zu names a base phone or word position that does not exist", source.c_str(), i);
    }
    if (phone.transition_matrix >= mdef.n_transition_matrices) {
      fail(ASR_BAD_FILE, "%s: phone %zu uses transition matrix %u of %u", source.c_str(), i, phone.transition_matrix,
           mdef.n_transition_matrices);
    }
    if (phone.sequence >= mdef.senones.size() / mdef.n_emitting) {
      fail(ASR_BAD_FILE, "%s: phone %zu uses a senone sequence that does not exist", source.c_str(), i);
    }
  }
  for (const uint32_t senone : mdef.senones) {
    if (senone >= mdef.n_senones) fail(ASR_BAD_FILE, "%s: uses senone %u of %u", source.c_str(), senone, mdef.n_senones);
  }
}

}  // namespace

Mdef parse_binary_mdef(std::string_view bytes, const std::string &source) {
  ByteReader reader(bytes, source);
  reader.set_swapped(reader.bytes(4, "magic") == "FDMB");
  const uint32_t version = reader.u32("version");
  if (version != 1) fail(ASR_BAD_FILE, "%s: has version %u of the binary format; 1 is known", source.c_str(), version);
  reader.bytes(reader.count("length of the description"), "description");

  Mdef mdef;
  const uint32_t n_base = reader.count("number of base phones");
  const uint32_t n_phones = reader.count("number of phones");
  mdef.n_emitting = reader.count("number of states");
  reader.count("number of context-independent senones");
  mdef.n_senones = reader.count("number of senones");
  mdef.n_transition_matrices = reader.count("number of transition matrices");
  const uint32_t n_sequences = reader.count("number of senone sequences");
  reader.u32("context window");
  const uint32_t n_tree = reader.count("size of the phone tree");
  reader.u32("silence phone");
  if (mdef.n_emitting == 0) {
    fail(ASR_UNSUPPORTED, "%s: phones with different numbers of states are not supported", source.c_str());
  }
  if (n_base == 0 || n_base > n_phones) {
    fail(ASR_BAD_FILE, "%s: has %u base phones among %u phones; the file is damaged", source.c_str(), n_base, n_phones);
  }

  const size_t names_begin = reader.position();
  for (uint32_t i = 0; i < n_base; ++i) mdef.base_names.push_back(reader.text("phone names"));
  reader.bytes((4 - (reader.position() - names_begin) % 4) % 4, "phone names");
  reader.bytes(uint64_t{n_tree} * kBytesPerTreeNode, "phone tree");  // index of the phones that follow; not needed

  for (uint32_t i = 0; i < n_phones; ++i) {
    MdefPhone phone{};
    phone.sequence = reader.u32("phones");
    phone.transition_matrix = reader.u32("phones");
    const std::string_view context = reader.bytes(4, "phones");
    const auto field = [&](size_t k) { return static_cast<uint8_t>(context[k]); };
    if (i < n_base) {
      phone.base = i;
      mdef.fillers.push_back(field(0) != 0);
    } else {
      phone.position = field(0);
      phone.base = field(1);
      phone.left = field(2);
      phone.right = field(3);
    }
    mdef.phones.push_back(phone);
  }
  const uint32_t n_values = reader.count("number of senones in sequences");
  if (n_values != uint64_t{n_sequences} * mdef.n_emitting) {
    fail(ASR_BAD_FILE, "%s: its senone sequences do not have %u senones each", source.c_str(), mdef.n_emitting);
  }
  for (uint32_t i = 0; i < n_values; ++i) mdef.senones.push_back(reader.u16("senone sequences"));
  reader.finish();
  check(mdef, source);
  return mdef;
}

Mdef read_mdef(const std::string &path) {
  const std::string file = read_unpacked(path, "a model definition of Sphinx (mdef)", {Format::kSphinxMdef});
  const std::string_view magic = std::string_view(file).substr(0, 4);
  if (magic == "BMDF" || magic == "FDMB") return parse_binary_mdef(file, path);
  Mdef mdef = parse_text_mdef(text_of(file, path, {"a model definition of Sphinx (mdef)"}), path);
  check(mdef, path);
  return mdef;
}

}  // namespace asr::sphinx
