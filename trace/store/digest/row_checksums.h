// Which rows the checksums of a file cover: commits, each chained with the one before, what tells
// the present of a rank, and the run itself. The connection's thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/result.h"
#include "trace/store/sqlite/sqlite.h"

namespace shardlens::trace::store {

// The tables that tell the present of a rank, whose rows are replaced: no commit counts them.
enum class PresentRow { kRank, kHeartbeat, kCost, kPending };
inline constexpr std::array<const char*, 4> kPresentTables{"rank", "heartbeat", "recorder_cost",
                                                           "pending"};
using PresentSums = std::array<std::uint64_t, kPresentTables.size()>;

// Which rows of a table belong to a rank: "where …".
std::string rows_of_rank(std::string_view table, int rank);

std::uint64_t present_checksum(std::span<const std::uint64_t> sums);
// What a rank's chain begins with: the sum over what `meta` has of it.
base::Result<std::uint64_t> first_of_chain(Database& database, int rank);
// `values`: the columns of the commit's row in table `batch` but its checksum.
std::uint64_t next_of_chain(std::uint64_t before, std::uint64_t rows,
                            std::span<const std::int64_t> values);

// What `meta` says of the whole run: adds a value, or replaces the one that this key has.
base::Result<void> set_run_value(Database& database, std::string_view key, std::string_view value);
// Of run.sqlite: writes the checksum over name, status, settings and the rest, at the end of every
// transaction that changes them.
base::Result<void> seal_run(Database& database);
// Of settings and what `meta` has of the whole run: the checksum that is there, "" if there is
// none, and the one that there should be, "" for a file that says nothing of the run.
struct RunSeal {
  std::string kept, found;

  bool is_whole() const { return !kept.empty() && kept == found; }
};
base::Result<RunSeal> read_run_seal(Database& database);

// Whether the rows of a rank are those that were committed, commit by commit.
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
