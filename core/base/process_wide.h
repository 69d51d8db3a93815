// SPDX-License-Identifier: Apache-2.0
// Locks of the whole process, and what becomes of them in a child of fork. The threads that held them, or waited for them, do
// not exist in the child, so it gets new ones. No lock is taken before a fork instead: code of the program, of a plugin or of a
// driver may be running under it, for as long as it likes. What a lock guards must therefore be new in the child as well
// (ProcessWide), or be whole at every instant (log.cc).
#pragma once

#include <cstdint>
#include <new>

namespace asr {

// Returns how many forks lie between this process and the one that loaded the library. An object that keeps the number knows
// later whether it is its parent's.
uint32_t process_generation() noexcept;

// A member of the list of objects that a child makes anew. Members live as long as the process.
class MadeAnew {
 public:
  static void make_all() noexcept;  // in the child
  MadeAnew(const MadeAnew &) = delete;
  MadeAnew &operator=(const MadeAnew &) = delete;

 protected:
  explicit MadeAnew(void (*make)(MadeAnew *)) noexcept;
  ~MadeAnew() = default;

 private:
  void (*const make_)(MadeAnew *);
  MadeAnew *const next_;
};

// ProcessWide<T> has one T for each process. T needs no allocation to be made. It is never destroyed: threads may outlive exit,
// and in a child it may be locked. For variables of namespace scope.
template <typename T>
class ProcessWide : public MadeAnew {
 public:
  ProcessWide() noexcept : MadeAnew([](MadeAnew *self) { static_cast<ProcessWide *>(self)->make(); }) { make(); }
  T &operator*() noexcept { return *object_; }
  T *operator->() noexcept { return object_; }

 private:
  void make() noexcept { object_ = new (memory_) T; }

  alignas(T) unsigned char memory_[sizeof(T)];
  T *object_;
};

}  // namespace asr
