// SPDX-License-Identifier: Apache-2.0
#include "tests/neighbour/card.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "core/base/error.h"

namespace asr::neighbour {
namespace {

struct Question {
  char what;
  uint64_t n_bytes;
};

// The driver's functions, which need no toolkit to build with. Handles are pointers or integers of these sizes.
struct Driver {
  int (*init)(unsigned) = nullptr;
  int (*device)(int *, int) = nullptr;
  int (*create)(void **, unsigned, int) = nullptr;
  int (*info)(size_t *, size_t *) = nullptr;
  int (*allocate)(unsigned long long *, size_t) = nullptr;
  int (*free)(unsigned long long) = nullptr;

  // Returns why there is no driver; "" if there is.
  std::string load() {
    void *const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return "no NVIDIA driver whose GPU could be filled";
    const auto find = [&](const char *name, auto *function) {
      *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(dlsym(library, name));
      return *function != nullptr;
    };
    const bool found = find("cuInit", &init) && find("cuDeviceGet", &device) && find("cuCtxCreate_v2", &create) &&
                       find("cuMemGetInfo_v2", &info) && find("cuMemAlloc_v2", &allocate) && find("cuMemFree_v2", &free);
    return found ? "" : "the NVIDIA driver lacks a function";
  }
};

bool read_all(int file, void *to, size_t n) {
  for (size_t done = 0; done < n;) {
    const ssize_t got = read(file, static_cast<char *>(to) + done, n - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<size_t>(got);
  }
  return true;
}

bool write_all(int file, const void *from, size_t n) {
  for (size_t done = 0; done < n;) {
    const ssize_t put = write(file, static_cast<const char *>(from) + done, n - done);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    done += static_cast<size_t>(put);
  }
  return true;
}

class Filler {
 public:
  std::string open(uint32_t index) {
    std::string obstacle = driver_.load();
    if (!obstacle.empty()) return obstacle;
    int device = 0;
    void *context = nullptr;
    if (driver_.init(0) != 0 || driver_.device(&device, static_cast<int>(index)) != 0) return "no GPU of this number";
    return driver_.create(&context, 0, device) == 0 ? "" : "the GPU has no memory for another process";
  }

  uint64_t free_bytes() const {
    size_t n_free = 0, n_all = 0;
    return driver_.info(&n_free, &n_all) == 0 ? n_free : 0;
  }

  void leave(uint64_t n_bytes) {
    constexpr uint64_t kMin = uint64_t{2} << 20;  // the driver's own unit
    for (uint64_t piece = uint64_t{4} << 30; piece >= kMin;) {
      const uint64_t n_free = free_bytes();
      unsigned long long memory = 0;
      if (n_free < n_bytes + piece || driver_.allocate(&memory, piece) != 0) {
        piece /= 2;
        continue;
      }
      taken_.push_back(memory);
    }
  }

  void give_back() {
    for (const unsigned long long memory : taken_) driver_.free(memory);
    taken_.clear();
  }

 private:
  Driver driver_;
  std::vector<unsigned long long> taken_;
};

// The life of the process: an obstacle, or "", then an answer to each question until there are no more.
[[noreturn]] void serve(uint32_t index, int from, int to) {
  Filler filler;
  char obstacle[128] = "";
  filler.open(index).copy(obstacle, sizeof obstacle - 1);
  bool goes_on = write_all(to, obstacle, sizeof obstacle) && obstacle[0] == '\0';
  Question question{};
  while (goes_on && read_all(from, &question, sizeof question)) {
    if (question.what == 'l') filler.leave(question.n_bytes);
    if (question.what == 'g') filler.give_back();
    const uint64_t n_free = filler.free_bytes();
    goes_on = write_all(to, &n_free, sizeof n_free);
  }
  _exit(0);
}

}  // namespace

Card::Card(uint32_t index) {
  int questions[2], answers[2];
  if (pipe(questions) != 0 || pipe(answers) != 0) fail(ASR_IO, "pipe: %s", strerror(errno));
  process_ = fork();
  if (process_ < 0) fail(ASR_IO, "fork: %s", strerror(errno));
  if (process_ == 0) {
    close(questions[1]), close(answers[0]);
    serve(index, questions[0], answers[1]);
  }
  close(questions[0]), close(answers[1]);
  to_ = questions[1], from_ = answers[0];
  char obstacle[128] = "the process ended";
  read_all(from_, obstacle, sizeof obstacle);
  obstacle_ = obstacle;
}

Card::~Card() {
  close(to_), close(from_);
  waitpid(process_, nullptr, 0);
}

uint64_t Card::ask(char what, uint64_t n_bytes) const {
  const Question question{what, n_bytes};
  uint64_t n_free = 0;
  if (!write_all(to_, &question, sizeof question) || !read_all(from_, &n_free, sizeof n_free)) {
    fail(ASR_IO, "the process that fills the GPU has ended");
  }
  return n_free;
}

}  // namespace asr::neighbour
