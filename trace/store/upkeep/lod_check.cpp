#include "trace/store/upkeep/lod_check.h"

#include "trace/store/lod/lod_file.h"
#include "trace/store/lod/lod_rows.h"

namespace shardlens::trace {

namespace {

std::string place_text(const LodPlace& place) {
  return "pyramid, level " + std::to_string(place.level) + ", stream " +
         std::to_string(place.stream) + ", tile " + std::to_string(place.tile) + ": ";
}

}  // namespace

LodCheck::LodCheck(Database& database, int rank, std::function<void(std::string)> found,
                   std::function<bool(std::int64_t)> goes_on)
    : database_(database), rank_(rank), found_(std::move(found)), goes_on_(std::move(goes_on)) {}

Result<void> LodCheck::load_streams() {
  LodFile file(database_, rank_);
  TRY(file.load());
  streams_ = file.streams();
  is_countable_ = file.is_complete() && file.spoiled().empty() &&
                  streams_.size() < static_cast<std::size_t>(kMostLodStreams);
  return {};
}

Result<void> LodCheck::check_rows() {
  if (!has_lod_row({rank_, 0, 0, 0})) return {};
  TRY(load_streams());
  TRY_ASSIGN(auto statement,
             database_.prepare("select row_id,rank,level,stream,tile,checksum,data from lod where "
                               "row_id >= ?1 and row_id <= ?2 order by row_id"));
  statement.bind(1, lod_row_id({rank_, 0, 0, kFirstLodTile}));
  statement.bind(2, lod_row_id({rank_, kLodMissingLevel, kMostLodStreams - 1, kLastLodTile}));
  while (true) {
    TRY_ASSIGN(const bool more, statement.step());
    if (!more) return {};
    const LodPlace place = lod_place(statement.integer(0));
    const LodPlace told{static_cast<int>(statement.integer(1)),
                        static_cast<int>(statement.integer(2)),
                        static_cast<int>(statement.integer(3)), statement.integer(4)};
    if (place != told) found_(place_text(place) + "its row says that it is another");
    const auto data = statement.blob(6);
    check_row(place, statement.integer(5), data);
    if (!goes_on_(static_cast<std::int64_t>(data.size()))) return {};
  }
}

void LodCheck::check_row(const LodPlace& place, std::int64_t checksum,
                         std::span<const std::byte> data) {
  if (place.level >= kLodLevels) return check_list(place, checksum, data);
  const auto stream = streams_.find(place.stream);
  if (stream == streams_.end()) return found_(place_text(place) + "there is no such stream");
  const auto tile = codec_.decode(place, stream->second.kind == LodKind::kRibbon, checksum, data);
  if (!tile) {
    is_countable_ = false;
    return found_(place_text(place) + tile.error().message);
  }
  std::int64_t& count = counts_[{place.stream, place.level}];
  for (const LodCell& cell : tile->cells) count += cell.count;
}

void LodCheck::check_list(const LodPlace& place, std::int64_t checksum,
                          std::span<const std::byte> data) {
  if (lod_checksum(place, data) != checksum) {
    return found_(place_text(place) + "a list is damaged (its checksum is wrong)");
  }
  const auto told = [&](const auto& list) {
    if (!list) found_(place_text(place) + list.error().message);
  };
  if (place.level == kLodLongLevel) told(decode_long_events(data));
  if (place.level == kLodStretchLevel) told(decode_stretches(data));
  if (place.level == kLodMissingLevel) told(decode_spoiled(data));
}

void LodCheck::check_counts(const Counts& recorded) {
  if (!is_countable_) return;
  Counts counted;
  for (const auto& [number, stream] : streams_) {
    if (stream.kind == LodKind::kRibbon) continue;
    const std::int64_t count = counts_[{number, 0}];
    counted[{stream.lane, stream.kind}] += count;
    for (int level = 1; level < kLodLevels; ++level) {
      if (counts_[{number, level}] == count) continue;
      found_("pyramid, stream " + std::to_string(number) + ": level " + std::to_string(level) +
             " counts " + std::to_string(counts_[{number, level}]) + " events, level 0 " +
             std::to_string(count));
    }
  }
  for (const auto& [lane, count] : recorded) {
    if (counted[lane] == count) continue;
    found_("pyramid: lane " + std::to_string(lane.first) + ", " +
           std::string(to_string(lane.second)) + ": counts " + std::to_string(counted[lane]) +
           " of " + std::to_string(count) + " events");
  }
}

}  // namespace shardlens::trace
