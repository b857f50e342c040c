#include "trace/store/lod/lod_file.h"

#include <algorithm>
#include <optional>
#include <string>

#include "trace/base/enum_text.h"
#include "trace/store/table/schema.h"

namespace shardlens::trace {

void LodFile::forget() {
  closed_ = kFirstLodTile;
  streams_.clear();
  long_events_.clear();
  stretches_.clear();
  spoiled_.clear();
}

Result<void> LodFile::load() {
  forget();
  if (!has_lod_row({rank_, 0, 0, 0})) return {};
  const auto loaded = [&]() -> Result<void> {
    TRY(load_closed());
    if (!has_any()) return {};
    TRY(load_streams());
    return load_lists();
  }();
  if (loaded) return {};
  forget();
  if (loaded.error().kind == ErrorKind::kDamaged) return {};
  return loaded;
}

Result<void> LodFile::load_closed() {
  TRY_ASSIGN(const std::int64_t ns,
             database_->integer("select lod_ns from batch where row_id > " +
                                    std::to_string(first_row_id(rank_)) + " and row_id < " +
                                    std::to_string(first_row_id(rank_ + 1)) +
                                    " order by row_id desc limit 1",
                                kNoLodTileClosed));
  if (ns == kNoLodTileClosed) return {};
  closed_ = ns == kAllLodTilesClosed ? kLastLodTile + 1 : lod_tile_at(0, ns);
  return {};
}

Result<void> LodFile::load_streams() {
  TRY_ASSIGN(auto statement,
             database_->prepare("select stream,lane,kind,depth from lod_stream where row_id > ?1 "
                                "and row_id < ?2 order by row_id"));
  statement.bind(1, first_row_id(rank_));
  statement.bind(2, first_row_id(rank_ + 1));
  while (true) {
    TRY_ASSIGN(const bool more, statement.step());
    if (!more) return {};
    const auto kind = enum_from_text(statement.text(2), LodKind::kRibbon);
    const std::int64_t number = statement.integer(0);
    const std::int64_t depth = statement.integer(3);
    if (!kind || number < 0 || number >= kMostLodStreams || depth < 0 || depth >= kLodDepths) {
      return fail(ErrorKind::kDamaged, "a stream of the pyramid is damaged");
    }
    streams_[static_cast<int>(number)] = {static_cast<int>(statement.integer(1)), *kind,
                                          static_cast<int>(depth)};
  }
}

Result<void> LodFile::load_lists() {
  TRY_ASSIGN(auto statement,
             database_->prepare("select level,stream,tile,checksum,data from lod where row_id >= "
                                "?1 and row_id <= ?2 order by row_id"));
  statement.bind(1, lod_row_id({rank_, kLodLongLevel, 0, kFirstLodTile}));
  statement.bind(2, lod_row_id({rank_, kLodMissingLevel, kMostLodStreams - 1, kLastLodTile}));
  while (true) {
    TRY_ASSIGN(const bool more, statement.step());
    if (!more) return {};
    const LodPlace place{rank_, static_cast<int>(statement.integer(0)),
                         static_cast<int>(statement.integer(1)), statement.integer(2)};
    const auto data = statement.blob(4);
    if (lod_checksum(place, data) != statement.integer(3)) {
      return fail(ErrorKind::kDamaged, "a list of the pyramid is damaged (its checksum is wrong)");
    }
    if (place.level == kLodLongLevel) {
      TRY_ASSIGN(const auto events, decode_long_events(data));
      auto& all = long_events_[place.stream];
      all.insert(all.end(), events.begin(), events.end());
    } else if (place.level == kLodStretchLevel) {
      TRY_ASSIGN(stretches_, decode_stretches(data));
    } else if (place.level == kLodMissingLevel) {
      TRY_ASSIGN(const auto spoiled, decode_spoiled(data));
      spoiled_.insert(spoiled_.end(), spoiled.begin(), spoiled.end());
    }
  }
}

Result<void> LodFile::visit(int level, int stream, std::int64_t first, std::int64_t last,
                            const Visit& visit) {
  first = std::max(first, kFirstLodTile);
  last = std::min(last, kLastLodTile);
  if (first > last || !has_any()) return {};
  if (!select_.get()) {
    TRY_ASSIGN(select_, database_->prepare("select tile,checksum,data from lod where row_id >= ?1 "
                                           "and row_id <= ?2 order by row_id"));
  }
  select_.reset();
  select_.bind(1, lod_row_id({rank_, level, stream, first}));
  select_.bind(2, lod_row_id({rank_, level, stream, last}));
  const auto done = [&]() -> Result<void> {
    while (true) {
      TRY_ASSIGN(const bool more, select_.step());
      if (!more) return {};
      TRY(visit(select_.integer(0), select_.integer(1), select_.blob(2)));
    }
  }();
  select_.reset();
  return done;
}

}  // namespace shardlens::trace
