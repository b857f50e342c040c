// The checksum of rows: of each row its values as they are kept, of many the sum, so that they may
// come in any order. The connection's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace shardlens::trace::store {

class Statement;

class RowDigest {
 public:
  RowDigest() = default;
  RowDigest(const RowDigest&) = delete;
  RowDigest& operator=(const RowDigest&) = delete;

  // The values of a row, as row_checksums.cpp lists them.
  void add_integer(std::int64_t value) { add(kInteger, value); }
  void add_real(double value);  // not NaN, which is kept as NULL
  void add_text(std::string_view value);
  void add_null() { *take_room(1) = kNull; }
  // What is in the columns of the statement's row.
  void add_row(const Statement& statement, int columns);

  static std::uint64_t number_of(std::string_view table);
  void end_row(std::uint64_t table);
  // The sum over all rows since the last call.
  std::uint64_t take();

 private:
  enum Kind : char { kNull, kInteger, kReal, kText };
  // Here, since add_integer() is inlined wherever rows are written.
  template <typename Value>
  void add(Kind kind, Value value) {
    char* const at = take_room(1 + sizeof value);
    *at = kind;
    std::memcpy(at + 1, &value, sizeof value);
  }
  char* take_room(std::size_t size) {
    if (static_cast<std::size_t>(end_ - next_) < size) [[unlikely]]
      grow(size);
    return std::exchange(next_, next_ + size);
  }
  void grow(std::size_t size);

  // Of the row so far. Most have a dozen values: room for them is there from the start.
  std::vector<char> bytes_ = std::vector<char>(1024);
  char* next_ = bytes_.data();
  char* end_ = next_ + bytes_.size();
  std::uint64_t sum_ = 0;
};

}  // namespace shardlens::trace::store
