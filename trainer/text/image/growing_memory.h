// Memory of its own mapping that grows as it is written to, and becomes an image. Not a file of the
// kernel's: those count against the limit of a file's size. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "trace/base/result.h"
#include "trainer/text/image/mapped_image.h"

namespace shardlens::trainer {

class GrowingMemory {
 public:
  GrowingMemory() = default;
  GrowingMemory(GrowingMemory&& other) noexcept;
  GrowingMemory& operator=(GrowingMemory&&) = delete;
  ~GrowingMemory();

  // What lies between is zero. Error kFailed: there is not enough memory.
  trace::Result<void> write_at(std::uint64_t position, std::span<const std::byte> bytes);
  // As far as was written; empty afterwards.
  MappedImage to_image();

 private:
  trace::Result<void> reserve(std::size_t size);

  std::byte* address_ = nullptr;
  std::size_t capacity_ = 0, size_ = 0;
};

}  // namespace shardlens::trainer
