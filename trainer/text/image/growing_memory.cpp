#include "trainer/text/image/growing_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace shardlens::trainer {

namespace {

constexpr std::size_t kFirstCapacity = std::size_t{1} << 20;

}  // namespace

GrowingMemory::GrowingMemory(GrowingMemory&& other) noexcept
    : address_(std::exchange(other.address_, nullptr)),
      capacity_(std::exchange(other.capacity_, 0)),
      size_(std::exchange(other.size_, 0)) {}

GrowingMemory::~GrowingMemory() {
  if (address_ != nullptr) munmap(address_, capacity_);
}

trace::Result<void> GrowingMemory::reserve(std::size_t size) {
  if (size <= capacity_) return {};
  // Pages that are not written to take no memory.
  const std::size_t wanted = std::max({size, 2 * capacity_, kFirstCapacity});
  void* const address = address_ == nullptr ? mmap(nullptr, wanted, PROT_READ | PROT_WRITE,
                                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                            : mremap(address_, capacity_, wanted, MREMAP_MAYMOVE);
  if (address == MAP_FAILED) {
    return trace::fail(trace::ErrorKind::kFailed,
                       "There is no memory for " + std::to_string(wanted >> 20) +
                           " MiB of tokens. Use a smaller text, or token_cache: a folder, which "
                           "holds them on the disk.");
  }
  address_ = static_cast<std::byte*>(address);
  capacity_ = wanted;
  return {};
}

trace::Result<void> GrowingMemory::write_at(std::uint64_t position,
                                            std::span<const std::byte> bytes) {
  const std::size_t end = position + bytes.size();
  TRY(reserve(end));
  if (!bytes.empty()) std::memcpy(address_ + position, bytes.data(), bytes.size());
  size_ = std::max(size_, end);
  return {};
}

MappedImage GrowingMemory::to_image() {
  const std::span<const std::byte> bytes(address_, capacity_);
  mprotect(address_, capacity_, PROT_READ);
  address_ = nullptr;
  capacity_ = 0;
  return MappedImage::of_mapping(bytes, std::exchange(size_, 0));
}

}  // namespace shardlens::trainer
