#include "profiler/queue/reserved_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>

namespace shardlens::profiler::queue {
namespace {

// Not malloc, which clears by writing what it had given before.
void* map(std::size_t bytes) {
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  return data;
}

}  // namespace

ReservedMemory::ReservedMemory(std::size_t bytes)
    : bytes_(std::max<std::size_t>(bytes, 1)), data_(map(bytes_)) {}

ReservedMemory::~ReservedMemory() { munmap(data_, bytes_); }

void ReservedMemory::touch(std::size_t bytes) const {
  const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto* const page = static_cast<volatile char*>(data_);
  for (std::size_t i = 0; i < std::min(bytes, bytes_); i += page_bytes) page[i] = 0;
}

}  // namespace shardlens::profiler::queue
