#include "tests/trace/store/testing/sqlite_memory.h"

#include <sqlite3.h>

#include <atomic>

namespace shardlens::trace::test {

namespace {

std::atomic<std::int64_t> held = 0;
sqlite3_mem_methods own{};  // SQLite's

void* take(int bytes) {
  void* const piece = own.xMalloc(bytes);
  if (piece != nullptr) held += own.xSize(piece);
  return piece;
}

void give_back(void* piece) {
  held -= own.xSize(piece);
  own.xFree(piece);
}

void* resize(void* piece, int bytes) {
  const std::int64_t before = own.xSize(piece);
  void* const resized = own.xRealloc(piece, bytes);
  if (resized != nullptr) held += own.xSize(resized) - before;
  return resized;
}

// Before anything of SQLite is used.
[[maybe_unused]] const int is_counted = [] {
  sqlite3_config(SQLITE_CONFIG_GETMALLOC, &own);
  sqlite3_mem_methods counted = own;
  counted.xMalloc = take;
  counted.xFree = give_back;
  counted.xRealloc = resize;
  return sqlite3_config(SQLITE_CONFIG_MALLOC, &counted);
}();

}  // namespace

std::int64_t sqlite_bytes() { return held; }

}  // namespace shardlens::trace::test
