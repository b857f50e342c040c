#include "trace/store/lod/tiles/lod_repair.h"

#include <chrono>
#include <string>

#include "trace/store/lod/tiles/lod_rebuild.h"
#include "trace/store/table/schema.h"

namespace shardlens::trace {

namespace {

using RepairClock = std::chrono::steady_clock;
// What the end of a recording may be delayed by.
constexpr std::chrono::seconds kLongestRepair{2};

// False: it takes too long.
Result<bool> rebuild_all(LodRebuild& rebuild) {
  const auto latest = RepairClock::now() + kLongestRepair;
  while (true) {
    TRY_ASSIGN(const bool more, rebuild.rebuild_some());
    if (!more) return true;
    if (RepairClock::now() > latest) return false;
  }
}

Result<void> write_rebuilt(Database& database, LodTiles& tiles) {
  TRY_ASSIGN(auto insert, database.prepare(table_insert_sql("lod", true)));
  TRY_ASSIGN(auto erase, database.prepare("delete from lod where row_id = ?1"));
  return tiles.visit_rebuilt(
      [&](const LodPlace& place, std::span<const std::byte> data) -> Result<void> {
        if (data.empty()) {
          erase.bind(1, lod_row_id(place));
          return erase.run();
        }
        bind_lod_row(insert, place, data);
        return insert.run();
      });
}

Result<void> repair_in_transaction(Database& database, int rank) {
  LodRebuild rebuild(database, rank);
  TRY(rebuild.load());
  if (!rebuild.tiles().file().is_complete()) return {};
  TRY_ASSIGN(const bool is_done, rebuild_all(rebuild));
  if (!is_done) return {};
  TRY(write_rebuilt(database, rebuild.tiles()));
  const std::int64_t first = lod_row_id({rank, kLodMissingLevel, 0, kFirstLodTile});
  const std::int64_t last = lod_row_id({rank, kLodMissingLevel, kMostLodStreams - 1, kLastLodTile});
  return database.execute("delete from lod where row_id between " + std::to_string(first) +
                          " and " + std::to_string(last));
}

}  // namespace

Result<void> repair_lod(Database& database, int rank, const std::function<Result<void>()>& seal) {
  TRY(database.execute("begin immediate"));
  auto repaired = repair_in_transaction(database, rank);
  if (repaired) repaired = seal();
  if (repaired) repaired = database.execute("commit");
  const bool is_open = sqlite3_get_autocommit(database.get()) == 0;
  if (is_open) static_cast<void>(database.execute("rollback"));
  return repaired;
}

}  // namespace shardlens::trace
