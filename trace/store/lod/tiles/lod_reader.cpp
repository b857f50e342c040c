#include "trace/store/lod/tiles/lod_reader.h"

#include <algorithm>

#include "trace/store/lod/tiles/lod_rebuild.h"

namespace shardlens::trace {

struct LodReader::State {
  LodRebuild rebuild;
};

LodReader::LodReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
LodReader::~LodReader() = default;

Result<std::unique_ptr<LodReader>> LodReader::open(Database& file, int rank) {
  auto state = std::make_unique<State>(State{LodRebuild(file, rank)});
  TRY(state->rebuild.load());
  return std::unique_ptr<LodReader>(new LodReader(std::move(state)));
}

const std::vector<LodStream>& LodReader::streams() const {
  return state_->rebuild.tiles().streams();
}

LodReader::Extent LodReader::extent() const {
  const auto& stretches = state_->rebuild.tiles().stretches();
  if (stretches.empty()) return {};
  return {stretches.front().start_ns, stretches.back().end_ns};
}

Result<LodReader::Tiles> LodReader::read(const LodStream& stream, int level, std::int64_t start_ns,
                                         std::int64_t end_ns) {
  LodRebuild& rebuild = state_->rebuild;
  Tiles result;
  if (end_ns <= start_ns || level < 0 || level >= kLodLevels) return result;
  const std::int64_t first = lod_tile_at(level, start_ns), last = lod_tile_at(level, end_ns - 1);
  const auto place = rebuild.tiles().find(stream);
  if (!place) {
    result.is_complete = !rebuild.is_missing(-1, level, first, last);
    return result;
  }
  std::vector<std::int64_t> damaged;
  TRY_ASSIGN(result.tiles, rebuild.tiles().range(*place, level, first, last, damaged));
  for (const std::int64_t index : damaged) rebuild.add_damaged(*place, level, index);
  result.is_complete = !rebuild.is_missing(*place, level, first, last);
  return result;
}

Result<bool> LodReader::rebuild_some() { return state_->rebuild.rebuild_some(); }
double LodReader::fraction() const { return state_->rebuild.fraction(); }
Result<void> LodReader::refresh() { return state_->rebuild.load(); }

}  // namespace shardlens::trace
