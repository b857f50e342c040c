// What every tile of a pyramid must be, from all that was recorded, in the slowest and plainest
// way; shares no code with the pyramid but its values. For tests.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "trace/model/batch.h"
#include "trace/store/lod/lod_tile.h"

namespace shardlens::trace::test {

class LodOracle {
 public:
  void add(const Batch& batch);

  std::set<LodStream> streams() const;
  // All tiles of a stream and level that hold something, in order.
  std::vector<LodTile> tiles(const LodStream& stream, int level) const;
  // When the first and the last plausible event were.
  std::int64_t first_ns() const { return stretches().front().start; }
  std::int64_t last_ns() const { return stretches().back().end; }

 private:
  struct Time {
    std::int64_t start = 0, end = 0;
    auto operator<=>(const Time&) const = default;
  };
  struct Known {
    Time time;
    std::int64_t duration = 0;
    StringId name = 0;
  };
  struct PhaseTime {
    Time time;
    Phase phase = Phase::kOther;
    auto operator<=>(const PhaseTime&) const = default;
  };
  struct Piece {
    Time time;
    TimeClass kind = TimeClass::kIdle;
  };

  void add_run(const EventRun& run);
  void add_event(const LodStream& stream, std::int64_t start, std::int64_t duration, StringId name);
  static bool is_sane(std::int64_t start, std::int64_t end);
  static StringId name_of(const Collective& row);
  std::vector<Time> stretches() const;
  std::vector<Piece> pieces() const;
  static LodCell event_cell(const std::vector<const Known*>& events, std::int64_t from,
                            std::int64_t to);
  static LodTile event_tile(const std::vector<Known>& events, int level, std::int64_t index);
  static LodTile ribbon_tile(const std::vector<Piece>& pieces, int level, std::int64_t index);

  std::map<StringId, std::string> names_;
  std::map<LodStream, std::vector<Known>> events_;
  std::vector<Time> compute_, communication_, copies_, undetailed_, evidence_;
  std::vector<PhaseTime> phases_;
};

}  // namespace shardlens::trace::test
