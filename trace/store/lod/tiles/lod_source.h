// What tiles are rebuilt from: the rows and chunks of one rank. One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trace/base/recently_used.h"
#include "trace/base/result.h"
#include "trace/model/events.h"
#include "trace/store/chunk/chunk_codec.h"
#include "trace/store/chunk/chunk_opener.h"
#include "trace/store/lod/lod_event.h"
#include "trace/store/lod/lod_names.h"
#include "trace/store/lod/lod_ribbon.h"
#include "trace/store/sqlite/sqlite.h"
#include "trace/store/table/row_io.h"

namespace shardlens::trace {

// Everything that touches a tile of level 0; long events only where they start and end.
struct LodTileEvents {
  std::map<LodStream, std::vector<LodEvent>> streams;  // in any order
  Intervals compute, communication, copies, undetailed;
  std::vector<PhaseInterval> phases;
};

class LodSource {
 public:
  LodSource(Database& database, int rank) : database_(&database), rank_(rank) {}

  // One event or row, as the pyramid has it.
  struct Item {
    LodStream stream;
    LodEvent event;
    enum class Part : std::uint8_t { kNone, kCompute, kCommunication, kCopy, kPhase, kUndetailed };
    Part part = Part::kNone;      // of the ribbon, if its times are plausible
    Phase phase = Phase::kOther;  // of kPhase
    bool is_plausible = false;
    bool has_stream = true;
  };
  using Visit = std::function<void(const Item&)>;

  // Finds the rows and chunks that were not found before and end at or after `from_ns`, and shows
  // the rows. Then next_chunk() shows the events of what ends at or after its `from_ns`, chunk by
  // chunk, as long as it says true. A chunk that cannot be read is passed over.
  Result<void> find_new(std::int64_t from_ns, const Visit& visit);
  Result<bool> next_chunk(std::int64_t from_ns, const Visit& visit);
  std::size_t chunks() const { return chunks_.size(); }
  std::size_t shown_chunks() const { return shown_; }
  // Forgets what ends before.
  void forget_before(std::int64_t time_ns);

  Result<LodTileEvents> events_of(std::int64_t tile);

 private:
  struct Chunk {
    std::int64_t row_id = 0;
    int lane = 0;
    EventKind kind = EventKind::kOperator;
    ChunkHeader header;
  };
  using Events = std::shared_ptr<const std::vector<Event>>;

  Result<void> find_strings();
  void order_rows();
  template <typename Row>
  Result<void> find_rows(std::int64_t from_ns, const Visit& visit);
  Result<void> find_chunks(std::int64_t from_ns);
  Result<Events> load(const Chunk& chunk);
  Item item_of(const Chunk& chunk, const Event& event) const;

  Database* database_;
  int rank_;
  ChunkOpener opener_;
  LodLongWork long_work_;
  StringIndex strings_;
  mutable LodKernelNames kernel_names_;
  std::map<std::string, std::int64_t> last_row_ids_;  // by table
  std::vector<Item> rows_, long_rows_;                // by start
  std::vector<std::int64_t> latest_end_;              // of rows_ up to each
  std::vector<Chunk> chunks_;
  std::size_t shown_ = 0;
  // Decoded chunks for the next tile, by row id: events of 40 bytes.
  RecentlyUsed<std::int64_t, Events> decoded_{1u << 18, 1};
};

}  // namespace shardlens::trace
