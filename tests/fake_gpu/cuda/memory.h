// Device memory: addresses that nobody can read or write, counted against what the device has, and
// the few values that are known of it. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace shardlens::fake_gpu {

// Null when the device has no more.
void* allocate_on_device(std::size_t bytes, int device);
bool free_on_device(void* memory);
std::int64_t used_bytes(int device);
bool is_on_device(const void* pointer);
bool is_pinned(const void* pointer);

// The driver's two halves of an allocation: addresses without memory, and memory without addresses.
void* reserve_addresses(std::size_t bytes);
void release_addresses(void* addresses);
bool take_bytes(std::size_t bytes, int device);
void give_bytes(std::size_t bytes, int device);

// What was copied there is known as long as no kernel ran that may have changed it, and where there
// is little of it: enough for what programs decide by. Everything else reads as zeros.
constexpr std::size_t kMostKnownBytes = 64 << 10;
void write_values(void* to, std::span<const std::byte> values);
std::vector<std::byte> read_values(const void* from, std::size_t bytes);
void forget_values();

}  // namespace shardlens::fake_gpu
