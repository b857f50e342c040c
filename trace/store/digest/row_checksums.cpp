#include "trace/store/digest/row_checksums.h"

#include <algorithm>

#include "trace/base/checksum.h"
#include "trace/base/text.h"
#include "trace/store/sqlite/row_digest.h"
#include "trace/store/table/schema.h"

namespace shardlens::trace::store {

namespace {

constexpr const char* kSealKey = "checksum";

std::uint64_t checksum_of_numbers(std::span<const std::uint64_t> numbers) {
  return base::quick_checksum_of(std::as_bytes(numbers), 0);
}

base::Result<std::uint64_t> sum_of_run(Database& database) {
  TRY_ASSIGN(const std::uint64_t meta,
             sum_of_rows(database, "meta",
                         rows_of_rank("meta", kRunRank) + " and key <> '" + kSealKey + "'"));
  TRY_ASSIGN(const std::uint64_t settings, sum_of_rows(database, "setting", ""));
  return meta + settings;
}

}  // namespace

std::vector<std::string> digested_columns(std::string_view table) {
  // The chunk's own checksum covers the others.
  if (table == "chunk") return {"row_id", "rank", "lane", "kind", "checksum"};
  std::vector<std::string> names;
  for (const TableSchema& schema : trace_tables()) {
    if (schema.name != table) continue;
    for (const Column& column : schema.columns) names.push_back(column.name);
  }
  return names;
}

std::string rows_of_rank(std::string_view table, int rank) {
  constexpr std::array<std::string_view, 5> kByColumn{"meta", "rank", "heartbeat", "recorder_cost",
                                                      "pending"};
  if (std::ranges::find(kByColumn, table) != kByColumn.end()) {
    return "where rank = " + std::to_string(rank);
  }
  return "where " + numbered_of(rank);
}

base::Result<std::uint64_t> sum_of_rows(Database& database, std::string_view table,
                                        const std::string& condition) {
  const auto columns = digested_columns(table);
  const std::uint64_t number = RowDigest::number_of(table);
  RowDigest digest;
  TRY(database.for_each_row(
      "select " + base::joined(columns, ",") + " from " + std::string(table) + " " + condition,
      [&](const Statement& row) {
        digest.add_row(row, static_cast<int>(columns.size()));
        digest.end_row(number);
      }));
  return digest.take();
}

std::uint64_t present_checksum(std::span<const std::uint64_t> sums) {
  return checksum_of_numbers(sums);
}

base::Result<std::uint64_t> first_of_chain(Database& database, int rank) {
  return sum_of_rows(database, "meta", rows_of_rank("meta", rank));
}

std::uint64_t next_of_chain(std::uint64_t before, std::uint64_t rows,
                            std::span<const std::int64_t> values) {
  std::vector<std::uint64_t> numbers{before, rows};
  for (const std::int64_t value : values) numbers.push_back(static_cast<std::uint64_t>(value));
  return checksum_of_numbers(numbers);
}

base::Result<void> set_run_value(Database& database, std::string_view key, std::string_view value) {
  TRY_ASSIGN(auto statement,
             database.prepare("insert or replace into meta(row_id,rank,key,value) values(coalesce("
                              "(select row_id from meta where rank=?1 and key=?2),"
                              "(select max(row_id)+1 from meta where rank=?1),?4),?1,?2,?3)"));
  statement.bind(1, std::int64_t{kRunRank});
  statement.bind_text(2, key);
  statement.bind_text(3, value);
  statement.bind(4, first_row_id(kRunRank) + 1);
  return statement.run();
}

base::Result<void> seal_run(Database& database) {
  TRY_ASSIGN(const std::uint64_t sum, sum_of_run(database));
  return set_run_value(database, kSealKey, base::checksum_text(sum));
}

base::Result<RunSeal> read_run_seal(Database& database) {
  TRY_ASSIGN(auto statement,
             database.prepare("select value from meta where rank = " + std::to_string(kRunRank) +
                              " and key = '" + kSealKey + "'"));
  TRY_ASSIGN(const bool is_there, statement.step());
  RunSeal seal;
  if (is_there) seal.kept = statement.text(0);
  statement.reset();
  TRY_ASSIGN(const auto rows, database.integer("select (select count(*) from meta " +
                                               rows_of_rank("meta", kRunRank) +
                                               ") + (select count(*) from setting)"));
  if (rows == 0) return seal;
  TRY_ASSIGN(const std::uint64_t sum, sum_of_run(database));
  seal.found = base::checksum_text(sum);
  return seal;
}

}  // namespace shardlens::trace::store
