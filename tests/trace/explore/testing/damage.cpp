#include "tests/trace/explore/testing/damage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "tests/trace/store/testing/store_fixture.h"
#include "trace/store/chunk/chunk_codec.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/sqlite/sqlite.h"
#include "trace/store/table/schema.h"

namespace shardlens::trace::test {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kPage = 4096;

// None of the texts has quotes.
std::string in_sql(const std::string& text) { return "'" + text + "'"; }

std::string in_hex(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "x'";
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text + "'";
}

// The condition for one row of a table.
std::string one_row(const std::string& table, std::uint64_t which) {
  const std::string from = " from " + table;
  return " where rowid = (select rowid" + from + " order by rowid limit 1 offset (select " +
         std::to_string(which) + " % max(1, count(*))" + from + "))";
}

}  // namespace

std::uint64_t RandomDamage::random() {  // SplitMix64
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::int64_t RandomDamage::absurd_number() {
  constexpr std::array<std::int64_t, 12> kNumbers{0,
                                                  -1,
                                                  1,
                                                  INT64_MAX,
                                                  INT64_MIN,
                                                  INT32_MAX,
                                                  INT32_MIN,
                                                  4294967296,
                                                  1'048'576,
                                                  1'048'577,
                                                  9'000'000'000'000'000'000,
                                                  -1'000'000'000};
  if (below(3) == 0) return static_cast<std::int64_t>(random() >> below(64));
  return kNumbers[below(kNumbers.size())];
}

std::string RandomDamage::absurd_text() {
  switch (below(5)) {
    case 0:
      return "";
    case 1:
      return std::string(1 + below(200'000), 'x');
    case 2:
      return "\xff\xfe\x80 no UTF-8 \xc3";
    case 3:
      return "kernol";
    default:
      return "-1e999";
  }
}

Damage RandomDamage::apply(const fs::path& run) {
  fs::path file = run;
  Damage damage;
  if (fs::is_directory(run)) {
    file = below(8) == 0 ? run / std::string(store::kRunFile) : store::rank_file(run, 1);
  }
  damage = below(2) == 0 ? damage_bytes(file) : damage_rows(file);
  damage.spares_rank_0 = file != run;
  damage.what = file.filename().string() + ": " + damage.what;
  return damage;
}

Damage RandomDamage::damage_bytes(const fs::path& file) {
  if (below(10) == 0) return {leave_journal(file)};
  std::string bytes = bytes_of(file);
  Damage damage;
  if (below(5) == 0) {
    bytes.resize(below(bytes.size() + 1));
    damage.what = "truncated to " + std::to_string(bytes.size());
  } else {
    damage.what = below(3) == 0 ? change_pages(bytes) : change_bytes(bytes);
  }
  write_text(file, bytes);
  return damage;
}

std::string RandomDamage::change_bytes(std::string& bytes) {
  const std::size_t at = below(bytes.size());
  if (below(2) == 0) {
    const std::uint64_t flips = 1 + below(8);
    for (std::uint64_t i = 0; i < flips; ++i) {
      char& byte = bytes[i == 0 ? at : below(bytes.size())];
      byte = static_cast<char>(byte ^ (1 << below(8)));
    }
    return std::to_string(flips) + " bits flipped, one at " + std::to_string(at);
  }
  const std::size_t end = std::min(bytes.size(), at + 1 + below(64));
  for (std::size_t i = at; i < end; ++i) bytes[i] = static_cast<char>(random());
  return "random bytes from " + std::to_string(at) + " to " + std::to_string(end);
}

std::string RandomDamage::change_pages(std::string& bytes) {
  const std::size_t pages = std::max<std::size_t>(1, bytes.size() / kPage);
  const std::size_t page = below(pages), other = below(pages);
  const auto start = bytes.begin() + static_cast<std::ptrdiff_t>(page * kPage);
  const auto end =
      bytes.begin() + static_cast<std::ptrdiff_t>(std::min(bytes.size(), (page + 1) * kPage));
  if (below(2) == 0 || (other + 1) * kPage > bytes.size()) {
    std::fill(start, end, '\0');
    return "page " + std::to_string(page) + " is zero";
  }
  std::copy(start, end, bytes.begin() + static_cast<std::ptrdiff_t>(other * kPage));
  return "page " + std::to_string(page) + " lies over page " + std::to_string(other);
}

std::string RandomDamage::leave_journal(const fs::path& file) {
  const std::string suffix = below(2) == 0 ? "-wal" : "-journal";
  std::string bytes(below(3 * kPage), '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  write_text(file.string() + suffix, bytes);
  return std::to_string(bytes.size()) + " random bytes in " + suffix;
}

Damage RandomDamage::damage_rows(const fs::path& file) {
  const std::uint64_t way = below(8);
  if (way < 2) return change_chunk(file);
  Damage damage;
  switch (way) {
    case 2:
    case 3:
      damage.what = change_value();
      break;
    case 4:
      damage.what = change_header();
      damage.changed_chunks = 1;
      break;
    case 5:
      damage.what = drop_rows();
      break;
    case 6:
      damage.what = change_strings();
      damage.changed_chunks = 0;
      break;
    default:
      damage.what = change_tables();
  }
  auto database = store::Database::open(file.string(), SQLITE_OPEN_READWRITE, "it");
  EXPECT_TRUE(database && database->execute("pragma synchronous=off"));
  // Some are refused, by a unique key or a length: then nothing is damaged.
  if (database && !database->execute(damage.what)) damage.changed_chunks = 0;
  damage.what.resize(std::min<std::size_t>(damage.what.size(), 300));
  return damage;
}

std::string RandomDamage::change_value() {
  const auto& tables = store::trace_tables();
  const store::TableSchema& table = tables[below(tables.size())];
  const store::Column& column = table.columns[below(table.columns.size())];
  std::string value = std::to_string(absurd_number());
  if (column.type.starts_with("TEXT")) value = in_sql(absurd_text());
  if (column.type.starts_with("BLOB")) value = "randomblob(" + std::to_string(below(5'000)) + ")";
  const bool everywhere = below(4) == 0;
  return "update " + table.name + " set " + column.name + " = " + value +
         (everywhere ? "" : one_row(table.name, below(1'000)));
}

std::string RandomDamage::change_header() {
  constexpr std::array kColumns{"rank",  "lane",  "first_ns", "last_ns",
                                "count", "codec", "checksum"};
  return std::string("update chunk set ") + kColumns[below(kColumns.size())] + " = " +
         std::to_string(absurd_number()) + one_row("chunk", below(1'000));
}

std::string RandomDamage::drop_rows() {
  const auto& tables = store::trace_tables();
  const store::TableSchema& table = tables[below(tables.size())];
  return "delete from " + table.name + " where rowid % " + std::to_string(1 + below(4)) + " = 0";
}

std::string RandomDamage::change_strings() {
  switch (below(4)) {
    case 0:
      return "update string set id = " + std::to_string(absurd_number()) +
             one_row("string", below(100));
    case 1:
      return "update string set text = " + in_sql(absurd_text());
    case 2:
      return "delete from string where rowid % 2 = 0";
    default:
      return "update string set id = 1";
  }
}

std::string RandomDamage::change_tables() {
  const auto& tables = store::trace_tables();
  const store::TableSchema& table = tables[below(tables.size())];
  if (below(2) == 0) return "drop table " + table.name;
  return "alter table " + table.name + " rename column " +
         table.columns[below(table.columns.size())].name + " to renamed";
}

// Behind a checksum that is right, so that what lies behind it must hold by itself.
Damage RandomDamage::change_chunk(const fs::path& file) {
  std::vector<model::Event> events(below(2) == 0 ? 1 + below(40) : 0);
  for (model::Event& event : events) {
    event = {absurd_number(),
             absurd_number(),
             static_cast<model::StringId>(absurd_number()),
             static_cast<std::uint32_t>(random()),
             random(),
             absurd_number()};
  }
  store::ChunkPacker packer;
  auto [header, data] = store::encode_chunk(events, packer);
  Damage damage{"a chunk of " + std::to_string(events.size()) + " absurd events", false, 1};
  if (below(2) == 0) {
    for (std::uint64_t i = 1 + below(6); i > 0 && !data.empty(); --i) {
      data[below(data.size())] = static_cast<std::byte>(random());
    }
    if (below(3) == 0) header.count = absurd_number();
    damage.what += ", changed";
  }
  header.checksum = store::chunk_checksum(header, data);
  auto database = store::Database::open(file.string(), SQLITE_OPEN_READWRITE, "it");
  EXPECT_TRUE(database && database->execute("pragma synchronous=off"));
  const auto set = [](const char* name, std::int64_t value) {
    return std::string(name) + " = " + std::to_string(value) + ", ";
  };
  EXPECT_TRUE(database->execute("update chunk set " + set("first_ns", header.first_ns) +
                                set("last_ns", header.last_ns) + set("count", header.count) +
                                set("codec", header.codec) + set("checksum", header.checksum) +
                                "data = " + in_hex(data) + one_row("chunk", below(1'000))));
  return damage;
}

}  // namespace shardlens::trace::test
