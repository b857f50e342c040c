// What NVTX 3 and a tool that it loads agree on, as far as ranges need it: restated from NVTX's
// nvToolsExt.h and nvtxDetail/nvtxTypes.h, whose numbers and layouts are fixed for all of
// version 3.
#pragma once

#include <cstddef>
#include <cstdint>

namespace shardlens::profiler::inject::nvtx {

enum Table : std::uint32_t { kCallbacks = 1 };
enum Module : std::uint32_t { kCore = 1, kCore2 = 5 };
enum CoreCall : std::uint32_t {
  kRangeStartEx = 4,
  kRangeStartA = 5,
  kRangeStartW = 6,
  kRangeEnd = 7,
  kRangePushEx = 8,
  kRangePushA = 9,
  kRangePushW = 10,
  kRangePop = 11,
};
enum Core2Call : std::uint32_t {
  kDomainRangeStartEx = 2,
  kDomainRangeEnd = 3,
  kDomainRangePushEx = 4,
  kDomainRangePop = 5,
  kDomainRegisterStringA = 10,
  kDomainRegisterStringW = 11,
  kDomainCreateA = 12,
  kDomainCreateW = 13,
};

enum MessageType : std::int32_t { kAscii = 1, kUnicode = 2, kRegistered = 3 };

struct EventAttributes {
  std::uint16_t version;
  std::uint16_t size;
  std::uint32_t category;
  std::int32_t color_type;
  std::uint32_t color;
  std::int32_t payload_type;
  std::int32_t reserved;
  std::uint64_t payload;
  std::int32_t message_type;
  const void* message;
};
static_assert(sizeof(EventAttributes) == 48);

using Function = void (*)();

struct Callbacks {
  std::size_t struct_size;
  // Gives an array of places for functions, and its length; the first place is not used.
  int (*module_table)(std::uint32_t module, Function*** table, unsigned* size);
};

using GetExportTable = const void* (*)(std::uint32_t table);

}  // namespace shardlens::profiler::inject::nvtx
