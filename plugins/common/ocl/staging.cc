// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/ocl/staging.h"

#include <algorithm>

namespace asr::ocl {
namespace {

// Calls copy(piece, begin, at, n) for the parts of all pieces that lie in first ... first + n_floats - 1 of their sequence,
// `at` counted from `first`; in pool's threads. `starts` are the pieces' first floats, and the end.
template <typename Copy>
void for_each_part(ThreadPool &pool, const std::vector<size_t> &starts, size_t first, size_t n_floats, Copy &&copy) {
  constexpr size_t kTaskFloats = size_t{1} << 16;
  pool.run((n_floats + kTaskFloats - 1) / kTaskFloats, [&](size_t task) {
    size_t at = first + task * kTaskFloats;
    const size_t end = std::min(at + kTaskFloats, first + n_floats);
    size_t piece = static_cast<size_t>(std::upper_bound(starts.begin(), starts.end(), at) - starts.begin()) - 1;
    for (; at < end; ++piece) {
      const size_t n = std::min(end, starts[piece + 1]) - at;
      if (n > 0) copy(piece, at - starts[piece], at - first, n);
      at += n;
    }
  });
}

template <typename T>
std::vector<size_t> starts_of(const std::vector<Piece<T>> &pieces) {
  std::vector<size_t> starts = {0};
  for (const Piece<T> &piece : pieces) starts.push_back(starts.back() + piece.n);
  return starts;
}

}  // namespace

// A buffer whose last copy is done.
Staging::Buffer &Staging::next() {
  Buffer &buffer = buffers_[turn_++ % 2];
  buffer.memory.reserve(kBufferFloats);
  buffer.free.wait();
  return buffer;
}

void Staging::upload(const std::vector<Piece<const float>> &pieces, const DeviceArray<float> &device, Queue &queue,
                     size_t first_float) {
  const std::vector<size_t> starts = starts_of(pieces);
  for (size_t first = 0; first < starts.back(); first += kBufferFloats) {
    const size_t n_floats = std::min(kBufferFloats, starts.back() - first);
    Buffer &buffer = next();
    for_each_part(pool_, starts, first, n_floats, [&](size_t piece, size_t begin, size_t at, size_t n) {
      std::copy_n(pieces[piece].data + begin, n, buffer.memory.data() + at);
    });
    queue.write(device.get(), (first_float + first) * sizeof(float), buffer.memory.data(), n_floats * sizeof(float));
    buffer.free = queue.mark();
  }
}

void Staging::download(const DeviceArray<float> &device, const std::vector<Piece<float>> &pieces, Queue &queue) {
  const std::vector<size_t> starts = starts_of(pieces);
  Buffer *arriving = nullptr;
  size_t arriving_first = 0, arriving_floats = 0;
  const auto empty = [&] {
    if (arriving == nullptr) return;
    arriving->free.wait();
    for_each_part(pool_, starts, arriving_first, arriving_floats, [&](size_t piece, size_t begin, size_t at, size_t n) {
      std::copy_n(arriving->memory.data() + at, n, pieces[piece].data + begin);
    });
  };
  for (size_t first = 0; first < starts.back(); first += kBufferFloats) {
    const size_t n_floats = std::min(kBufferFloats, starts.back() - first);
    Buffer &buffer = next();
    queue.read(device.get(), first * sizeof(float), buffer.memory.data(), n_floats * sizeof(float));
    buffer.free = queue.mark();
    empty();
    arriving = &buffer, arriving_first = first, arriving_floats = n_floats;
  }
  empty();
}

}  // namespace asr::ocl
