// All rows of one rank but its chunks, with the row ids by which events are found again, a part at
// a time. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/base/result.h"
#include "trace/model/batch.h"
#include "trace/store/sqlite/sqlite.h"
#include "trace/store/table/row_fields.h"
#include "trace/store/table/row_io.h"

namespace shardlens::trace::store {

// Rows in order of writing; `buckets` name no parameters, which come apart.
struct RowPart {
  model::Batch rows;
  std::vector<std::int64_t> span_ids, collective_ids;  // of rows.spans and rows.collectives
  std::vector<BucketParameter> bucket_parameters;
  bool has_rows = false;  // beside the rank's own, which comes with every part
  bool has_more = false;  // the next call gives more at once
};

class RowReader {
 public:
  explicit RowReader(int rank);

  // What was not read before, at most `most` rows (strings aside), from one state of the file.
  // Empty where nothing was written since. Log lines and the present are left out.
  base::Result<RowPart> read_some(Database& database, std::int64_t most);
  // Rows that make no sense are left out, counted, and the first of them told.
  std::int64_t unreadable() const { return unreadable_; }
  const std::string& problem() const { return problem_; }

 private:
  template <typename Row>
  base::Result<void> read(Database& database, std::vector<Row>& rows,
                          std::vector<std::int64_t>* ids);
  base::Result<void> read_strings(Database& database, model::Batch& batch);
  base::Result<void> read_tables(Database& database, RowPart& part);

  int rank_;
  StringIndex strings_;
  std::int64_t last_string_;
  std::vector<std::int64_t> last_ids_;  // by table, in the order in which read_tables() asks
  std::size_t table_ = 0;               // of this call
  std::int64_t left_ = 0;               // rows that this call may still give
  std::int64_t unreadable_ = 0;
  std::string problem_;
};

}  // namespace shardlens::trace::store
