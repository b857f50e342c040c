// Whether the rows of a rank are those that were committed, commit by commit. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trace/base/result.h"
#include "trace/store/digest/row_checksums.h"
#include "trace/store/sqlite/row_digest.h"
#include "trace/store/sqlite/sqlite.h"

namespace shardlens::trace::store {

class RowCheck {
 public:
  // `database` outlives this.
  RowCheck(Database& database, int rank) : database_(database), rank_(rank) {}

  // Calls found(what) for every commit whose rows, or whose own row, were changed. Errors: of
  // SQLite.
  base::Result<void> run(const std::function<void(std::string)>& found);
  // Writes the checksums that the rows have now.
  base::Result<void> seal();

 private:
  struct Commit {
    std::vector<std::int64_t> values;  // of its row
    std::uint64_t chain = 0;           // as its row says
    std::uint64_t rows = 0;            // sum over its rows, as they are
  };
  using Visit =
      std::function<base::Result<void>(const Commit& before, const Commit&, std::uint64_t)>;

  base::Result<void> add_sums(std::size_t mark);
  base::Result<void> visit_commits(const Visit& visit);
  base::Result<std::uint64_t> present_now();
  std::string of_rank() const;
  std::string rows_between(const Commit& before, const Commit& commit) const;

  Database& database_;
  int rank_;
  std::vector<std::uint64_t> sums_;  // by commit
};

}  // namespace shardlens::trace::store
