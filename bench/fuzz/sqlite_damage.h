// What somebody could do to a file of SQLite with its own tools: to a row, or to the schema. One
// thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "bench/fuzz/mutation.h"

namespace shardlens::bench {

// Changes, deletes or adds one row of one table; where the table's types forbid the value, past
// them. Which row, for a message; "": nothing changed.
std::string damage_row(const std::filesystem::path& file, Mutation& mutation);
// Views, triggers and virtual tables in place of tables or beside them, other columns and types.
void damage_schema(const std::filesystem::path& file, Mutation& mutation);
// The column `data` of one row of a table; a row id of 0 where there is none.
struct BlobRow {
  std::int64_t row_id = 0;
  std::string data;
};
BlobRow blob_of_row(const std::filesystem::path& file, const std::string& table,
                    Mutation& mutation);
void write_blob(const std::filesystem::path& file, const std::string& table, const BlobRow& row);

}  // namespace shardlens::bench
