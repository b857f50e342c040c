// Every `new` of this test passes here, to see that none is without limit.
#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/trace/explore/testing/damaged_run.h"

namespace {

std::atomic<std::size_t> largest = 0;

// Null where there is none.
void* watched(std::size_t size) {
  std::size_t known = largest.load(std::memory_order_relaxed);
  while (size > known && !largest.compare_exchange_weak(known, size)) {
  }
  return std::malloc(size > 0 ? size : 1);
}

void* allocate(std::size_t size) {
  void* memory = watched(size);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return watched(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return watched(size); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace shardlens::trace::test {

std::size_t take_largest_allocation() { return largest.exchange(0); }

}  // namespace shardlens::trace::test
