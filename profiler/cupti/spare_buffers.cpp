#include "profiler/cupti/spare_buffers.h"

#include <cstdlib>

namespace shardlens::profiler {

std::uint8_t* CuptiSpareBuffers::request() {
  auto* buffer = static_cast<std::uint8_t*>(std::calloc(1, kBytes));
  if (buffer == nullptr) return nullptr;
  for (auto& place : out_) {
    std::uint8_t* none = nullptr;
    if (place.compare_exchange_strong(none, buffer)) return buffer;
  }
  std::free(buffer);
  return nullptr;
}

bool CuptiSpareBuffers::complete(std::uint8_t* buffer) {
  for (auto& place : out_) {
    std::uint8_t* found = buffer;
    if (!place.compare_exchange_strong(found, nullptr)) continue;
    std::free(buffer);
    return true;
  }
  return false;
}

}  // namespace shardlens::profiler
