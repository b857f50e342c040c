// What SQLite holds in this process, counted here: the program has it not count itself.
#pragma once

#include <cstdint>

namespace shardlens::trace::test {

// Bytes. Any thread.
std::int64_t sqlite_bytes();

}  // namespace shardlens::trace::test
