#include "trace/store/read/row_reader.h"

#include <algorithm>
#include <string>

#include "trace/store/table/schema.h"

namespace shardlens::trace::store {

RowReader::RowReader(int rank) : rank_(rank), last_string_(first_row_id(rank)) {}

template <typename Row>
base::Result<void> RowReader::read(Database& database, std::vector<Row>& rows,
                                   std::vector<std::int64_t>* ids) {
  if (table_ == last_ids_.size()) last_ids_.push_back(first_row_id(rank_));
  std::int64_t& last_id = last_ids_[table_++];
  if (left_ <= 0) return {};
  TRY_ASSIGN(auto statement,
             database.prepare("select row_id," + column_names(columns_of_table<Row>()) + " from " +
                              RowTable<Row>::kName +
                              " where row_id > ?1 and row_id < ?2 order by row_id limit ?3"));
  statement.bind(1, last_id);
  statement.bind(2, first_row_id(rank_ + 1));
  statement.bind(3, left_);
  return statement.for_each_row([&](const Statement& from) {
    Row row;
    RowScanner scanner(from, strings_, 1);
    row_fields(scanner, row);
    last_id = from.integer(0);
    --left_;
    // The others are still worth showing, and no later call asks for this one again.
    if (!scanner.problem().empty()) {
      ++unreadable_;
      if (problem_.empty()) problem_ = database.file() + " is damaged (" + scanner.problem() + ")";
      return;
    }
    row.rank = rank_;
    rows.push_back(std::move(row));
    if (ids != nullptr) ids->push_back(last_id);
  });
}

base::Result<void> RowReader::read_strings(Database& database, model::Batch& batch) {
  TRY_ASSIGN(auto statement, database.prepare("select row_id,id,text from string where row_id > ?1 "
                                              "and row_id < ?2 order by row_id"));
  statement.bind(1, last_string_);
  statement.bind(2, first_row_id(rank_ + 1));
  return statement.for_each_row([&](const Statement& row) {
    last_string_ = row.integer(0);
    const auto id = static_cast<model::StringId>(row.integer(1));
    strings_.add(id, row.text(2));
    batch.strings.push_back({rank_, id, std::string(row.text(2))});
  });
}

base::Result<void> RowReader::read_tables(Database& database, RowPart& part) {
  table_ = 0;
  model::Batch& rows = part.rows;
  TRY(read(database, rows.lanes, nullptr));
  TRY(read(database, rows.process_groups, nullptr));
  TRY(read(database, rows.units, nullptr));
  TRY(read(database, rows.unit_parameters, nullptr));
  TRY(read(database, rows.buckets, nullptr));
  for (model::Bucket& bucket : rows.buckets) bucket.parameters.clear();
  TRY(read(database, part.bucket_parameters, nullptr));
  TRY(read(database, rows.steps, nullptr));
  TRY(read(database, rows.spans, &part.span_ids));
  TRY(read(database, rows.collectives, &part.collective_ids));
  TRY(read(database, rows.bucket_ready, nullptr));
  TRY(read(database, rows.unit_ready, nullptr));
  TRY(read(database, rows.evaluations, nullptr));
  TRY(read(database, rows.memory, nullptr));
  return read(database, rows.counters, nullptr);
}

base::Result<RowPart> RowReader::read_some(Database& database, std::int64_t most) {
  ReadTransaction snapshot(database);
  TRY(snapshot.begin());
  RowPart part;
  left_ = std::max<std::int64_t>(most, 1);
  TRY(read_strings(database, part.rows));
  TRY(read_tables(database, part));
  part.has_rows = !part.rows.empty() || !part.bucket_parameters.empty();
  part.has_more = left_ <= 0;
  TRY_ASSIGN(auto info,
             database.prepare("select " + column_names(columns_of_table<model::RankInfo>()) +
                              " from rank where rank=?1"));
  info.bind(1, std::int64_t{rank_});
  TRY_ASSIGN(const bool found, info.step());
  if (!found) return part;
  RowScanner scanner(info, strings_, 0);
  row_fields(scanner, part.rows.rank_info.emplace());
  return part;
}

}  // namespace shardlens::trace::store
