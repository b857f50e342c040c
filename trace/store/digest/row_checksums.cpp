#include "trace/store/digest/row_checksums.h"

#include <algorithm>
#include <utility>

#include "trace/base/checksum.h"
#include "trace/base/text.h"
#include "trace/store/sqlite/row_digest.h"
#include "trace/store/table/schema.h"

namespace shardlens::trace::store {

namespace {

constexpr const char* kSealKey = "checksum";

// Where the marks stand among the columns of `batch`: after row id, rank and time.
constexpr std::size_t kFirstMark = 3;

std::string table_of_mark(const std::string& mark) {
  return mark.substr(std::string_view("last_").size());
}

std::uint64_t checksum_of_numbers(std::span<const std::uint64_t> numbers) {
  return base::quick_checksum_of(std::as_bytes(numbers), 0);
}

// The columns of a table that a digest knows: "row_id", "rank", ….
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

// The sum over the rows of a table as the file has them; `condition`: "where …".
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

base::Result<std::uint64_t> sum_of_run(Database& database) {
  TRY_ASSIGN(const std::uint64_t meta,
             sum_of_rows(database, "meta",
                         rows_of_rank("meta", kRunRank) + " and key <> '" + kSealKey + "'"));
  TRY_ASSIGN(const std::uint64_t settings, sum_of_rows(database, "setting", ""));
  return meta + settings;
}

}  // namespace

std::string rows_of_rank(std::string_view table, int rank) {
  constexpr std::array<std::string_view, 5> kByColumn{"meta", "rank", "heartbeat", "recorder_cost",
                                                      "pending"};
  if (std::ranges::find(kByColumn, table) != kByColumn.end()) {
    return "where rank = " + std::to_string(rank);
  }
  return "where " + numbered_of(rank);
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
  RunSeal seal;
  // Another one would be covered by none.
  TRY_ASSIGN(seal.kept,
             database.text("select case count(*) when 1 then max(value) end from meta " +
                           rows_of_rank("meta", kRunRank) + " and key = '" + kSealKey + "'"));
  TRY_ASSIGN(const auto rows, database.integer("select (select count(*) from meta " +
                                               rows_of_rank("meta", kRunRank) +
                                               ") + (select count(*) from setting)"));
  if (rows == 0) return seal;
  TRY_ASSIGN(const std::uint64_t sum, sum_of_run(database));
  seal.found = base::checksum_text(sum);
  return seal;
}

std::string RowCheck::of_rank() const {
  return " " + rows_of_rank("batch", rank_) + " order by row_id";
}

// Rows of one table and commits go side by side, both in order.
base::Result<void> RowCheck::add_sums(std::size_t mark) {
  const std::string column = mark_names()[mark];
  const std::string table = table_of_mark(column);
  TRY_ASSIGN(auto commits, database_.prepare("select " + column + " from batch" + of_rank()));
  const auto columns = digested_columns(table);
  TRY_ASSIGN(auto rows, database_.prepare("select " + base::joined(columns, ",") + " from " +
                                          table + of_rank()));
  const std::uint64_t number = RowDigest::number_of(table);
  RowDigest digest;
  TRY_ASSIGN(bool more, rows.step());
  for (std::uint64_t& sum : sums_) {
    TRY(commits.step());
    while (more && rows.integer(0) <= commits.integer(0)) {
      digest.add_row(rows, static_cast<int>(columns.size()));
      digest.end_row(number);
      TRY_ASSIGN(more, rows.step());
    }
    sum += digest.take();
  }
  return {};
}

base::Result<void> RowCheck::visit_commits(const Visit& visit) {
  TRY_ASSIGN(const auto count,
             database_.integer("select count(*) from (select 1 from batch" + of_rank() + ")"));
  sums_.assign(static_cast<std::size_t>(count), 0);
  for (std::size_t mark = 0; mark < kMarkCount; ++mark) TRY(add_sums(mark));
  const auto columns = digested_columns("batch");
  TRY_ASSIGN(auto statement,
             database_.prepare("select " + base::joined(columns, ",") + " from batch" + of_rank()));
  TRY_ASSIGN(std::uint64_t chain, first_of_chain(database_, rank_));
  Commit before;
  before.chain = chain;
  before.values.assign(kFirstMark + kMarkCount, first_row_id(rank_));
  for (const std::uint64_t sum : sums_) {
    TRY_ASSIGN(const bool more, statement.step());
    if (!more) return {};
    Commit commit;
    for (std::size_t i = 0; i + 1 < columns.size(); ++i) {
      commit.values.push_back(statement.integer(static_cast<int>(i)));
    }
    commit.chain =
        static_cast<std::uint64_t>(statement.integer(static_cast<int>(columns.size()) - 1));
    commit.rows = sum;
    TRY(visit(before, commit, chain));
    chain = commit.chain;
    before = std::move(commit);
  }
  return {};
}

// "step 12, memory 40 to 47"
std::string RowCheck::rows_between(const Commit& before, const Commit& commit) const {
  std::string text;
  const auto names = mark_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::int64_t first = before.values[kFirstMark + i] - first_row_id(rank_) + 1;
    const std::int64_t last = commit.values[kFirstMark + i] - first_row_id(rank_);
    if (last < first) continue;
    text += (text.empty() ? "" : ", ") + table_of_mark(names[i]) + " " + std::to_string(first) +
            (last > first ? " to " + std::to_string(last) : "");
  }
  return text.empty() ? "none" : text;
}

base::Result<std::uint64_t> RowCheck::present_now() {
  PresentSums sums{};
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const char* const table = kPresentTables[i];
    TRY_ASSIGN(sums[i], sum_of_rows(database_, table, rows_of_rank(table, rank_)));
  }
  return present_checksum(sums);
}

base::Result<void> RowCheck::run(const std::function<void(std::string)>& found) {
  std::int64_t number = 0;
  std::uint64_t present = 0;
  TRY(visit_commits(
      [&](const Commit& before, const Commit& commit, std::uint64_t chain) -> base::Result<void> {
        ++number;
        present = static_cast<std::uint64_t>(commit.values.back());
        if (commit.chain == next_of_chain(chain, commit.rows, commit.values)) return {};
        found("commit " + std::to_string(number) +
              " does not have the rows that were written (its checksum is wrong); its rows: " +
              rows_between(before, commit));
        return {};
      }));
  if (number == 0) return {};
  TRY_ASSIGN(const std::uint64_t now, present_now());
  if (now != present) {
    found(
        "what the rank says of itself was changed (tables rank, heartbeat, recorder_cost and "
        "pending have another checksum)");
  }
  return {};
}

base::Result<void> RowCheck::seal() {
  TRY_ASSIGN(const std::uint64_t present, present_now());
  TRY_ASSIGN(auto update, database_.prepare("update batch set present_checksum=?2, checksum=?3 "
                                            "where row_id=?1"));
  std::vector<Commit> commits;
  TRY(visit_commits([&](const Commit&, const Commit& commit, std::uint64_t) -> base::Result<void> {
    commits.push_back(commit);
    return {};
  }));
  TRY_ASSIGN(std::uint64_t chain, first_of_chain(database_, rank_));
  for (Commit& commit : commits) {
    if (&commit == &commits.back()) commit.values.back() = static_cast<std::int64_t>(present);
    chain = next_of_chain(chain, commit.rows, commit.values);
    update.bind(1, commit.values.front());
    update.bind(2, commit.values.back());
    update.bind(3, static_cast<std::int64_t>(chain));
    TRY(update.run());
  }
  return {};
}

}  // namespace shardlens::trace::store
