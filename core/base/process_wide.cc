// SPDX-License-Identifier: Apache-2.0
#include "core/base/process_wide.h"

#include <pthread.h>

namespace asr {
namespace {

MadeAnew *g_first = nullptr;  // grows while libraries are loaded, before threads use their objects
uint32_t g_generation = 0;    // changes only in a child that has one thread yet

}  // namespace

uint32_t process_generation() noexcept { return g_generation; }

MadeAnew::MadeAnew(void (*make)(MadeAnew *)) noexcept : make_(make), next_(g_first) { g_first = this; }

void MadeAnew::make_all() noexcept {
  for (MadeAnew *object = g_first; object != nullptr; object = object->next_) object->make_(object);
}

namespace {

[[maybe_unused]] const int g_at_fork = pthread_atfork(nullptr, nullptr, [] {
  ++g_generation;
  MadeAnew::make_all();
});

}  // namespace
}  // namespace asr
