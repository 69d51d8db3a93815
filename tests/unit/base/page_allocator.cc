// SPDX-License-Identifier: Apache-2.0
// Tests that large arrays have pages of their own, which go back when the array is freed.
#include "core/base/page_allocator.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "tests/sanitized.h"

namespace asr {
namespace {

constexpr size_t kSizes[] = {1, 1000, kMinPagedBytes / sizeof(int) - 1, kMinPagedBytes / sizeof(int), 700000};

TEST(PagedVector, HoldsWhatAVectorHolds) {
  for (const size_t n : kSizes) {
    PagedVector<int> values;
    for (size_t i = 0; i < n; ++i) values.push_back(static_cast<int>(i));
    PagedVector<int> copy = values, other(3, 7);
    copy.resize(n + 10);
    copy.swap(other);
    values = std::move(other);
    ASSERT_EQ(values.size(), n + 10);
    EXPECT_EQ(values[n - 1], static_cast<int>(n - 1));
    EXPECT_EQ(values[n + 9], 0);
    EXPECT_EQ(copy, PagedVector<int>(3, 7));
  }
}

TEST(PagedVector, RefusesWhatNobodyHas) {
  EXPECT_THROW(PageAllocator<int64_t>().allocate(size_t{1} << 61), std::bad_alloc);
  if (test::kSanitized) return;  // AddressSanitizer ends the process
  EXPECT_THROW(PageAllocator<char>().allocate(size_t{1} << 62), std::bad_alloc);
}

// mincore fails for addresses that are not mapped.
bool is_mapped(void *address) {
  unsigned char resident = 0;
  return mincore(address, 1, &resident) == 0;
}

TEST(PagedVector, GivesItsPagesBack) {
  if (test::kSanitized) GTEST_SKIP() << "AddressSanitizer's blocks are kept";
  auto *const values = new PagedVector<int>(kMinPagedBytes);
  void *const pages = values->data();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(pages) % static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)), 0u);
  EXPECT_TRUE(is_mapped(pages));
  delete values;
  EXPECT_FALSE(is_mapped(pages));
}

}  // namespace
}  // namespace asr
