#include "trace/store/sqlite/row_digest.h"

#include <sqlite3.h>

#include <algorithm>
#include <span>

#include "trace/base/checksum.h"
#include "trace/store/sqlite/sqlite.h"

namespace shardlens::trace::store {

void RowDigest::add_real(double value) {
  // The sign of a zero is not kept.
  add(kReal, value + 0.0);
}

void RowDigest::add_text(std::string_view value) {
  const std::uint64_t size = value.size();
  char* const at = take_room(1 + sizeof size + value.size());
  *at = kText;
  std::memcpy(at + 1, &size, sizeof size);
  std::ranges::copy(value, at + 1 + sizeof size);
}

void RowDigest::grow(std::size_t size) {
  const auto used = static_cast<std::size_t>(next_ - bytes_.data());
  bytes_.resize(2 * (used + size));
  next_ = bytes_.data() + used;
  end_ = bytes_.data() + bytes_.size();
}

void RowDigest::add_row(const Statement& statement, int columns) {
  for (int i = 0; i < columns; ++i) {
    switch (sqlite3_column_type(statement.get(), i)) {
      case SQLITE_INTEGER:
        add_integer(statement.integer(i));
        break;
      case SQLITE_FLOAT:
        add_real(statement.real(i));
        break;
      case SQLITE_NULL:
        add_null();
        break;
      default:
        add_text(statement.text(i));
    }
  }
}

std::uint64_t RowDigest::number_of(std::string_view table) {
  return base::quick_checksum_of(std::as_bytes(std::span(table)), 0);
}

void RowDigest::end_row(std::uint64_t table) {
  sum_ += base::quick_checksum_of(std::as_bytes(std::span(bytes_.data(), next_)), table);
  next_ = bytes_.data();
}

std::uint64_t RowDigest::take() {
  next_ = bytes_.data();
  return std::exchange(sum_, 0);
}

}  // namespace shardlens::trace::store
