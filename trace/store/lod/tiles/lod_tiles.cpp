#include "trace/store/lod/tiles/lod_tiles.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "trace/store/lod/lod_event.h"
#include "trace/store/lod/lod_summary.h"

namespace shardlens::trace {

namespace {

tl::unexpected<Error> too_many_tiles() {
  return fail(ErrorKind::kUsage, "more than " + std::to_string(LodTiles::kMostTilesAtOnce) +
                                     " tiles of the pyramid were asked for: use a coarser level");
}

}  // namespace

Result<void> LodTiles::load() {
  TRY(file_.load());
  kept_.clear();
  number({0, LodKind::kRibbon, 0});  // every rank has one
  for (const auto& [in_file, stream] : file_.streams()) {
    const int place = number(stream);
    if (place >= 0) file_numbers_[static_cast<std::size_t>(place)] = in_file;
  }
  for (const auto& [in_file, events] : file_.long_events()) {
    const auto stream = file_.streams().find(in_file);
    if (stream == file_.streams().end()) continue;
    const int place = number(stream->second);
    if (place >= 0) set_long_events(place, events);
  }
  if (!file_.stretches().empty()) stretches_ = file_.stretches();
  // What the file has by now need not be kept beside it.
  for (auto rebuilt = rebuilt_.begin(); rebuilt != rebuilt_.end();) {
    const LodPlace place = lod_place(rebuilt->first);
    const bool is_in_file =
        rebuilt->second.until_file && place.tile < file_.closed() >> (kLodFactorBits * place.level);
    rebuilt = is_in_file ? erase(rebuilt) : std::next(rebuilt);
  }
  return {};
}

std::optional<int> LodTiles::find(const LodStream& stream) const {
  const auto found = numbers_.find(stream);
  return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

int LodTiles::number(const LodStream& stream) {
  if (const auto known = find(stream)) return *known;
  if (streams_.size() >= kMostLodStreams) return -1;
  const int place = static_cast<int>(streams_.size());
  streams_.push_back(stream);
  file_numbers_.push_back(-1);
  long_events_.emplace_back();
  numbers_.emplace(stream, place);
  return place;
}

void LodTiles::set_lists(std::map<LodStream, std::vector<LodEvent>> long_events,
                         Intervals stretches) {
  for (auto& [stream, events] : long_events) {
    const int place = number(stream);
    if (place >= 0) set_long_events(place, std::move(events));
  }
  stretches_ = std::move(stretches);
  kept_.clear();
}

void LodTiles::set_long_events(int stream, std::vector<LodEvent> events) {
  std::ranges::stable_sort(events, {}, &LodEvent::start_ns);
  long_events_[static_cast<std::size_t>(stream)] = std::move(events);
}

LodTiles::Key LodTiles::key(int stream, int level, std::int64_t index) const {
  return lod_row_id({file_.rank(), level, stream, index});
}

bool LodTiles::is_ribbon(int stream) const {
  return streams_[static_cast<std::size_t>(stream)].kind == LodKind::kRibbon;
}

std::shared_ptr<const LodTile> LodTiles::kept(Key key) {
  const auto* tile = kept_.use(key);
  return tile ? *tile : nullptr;
}

std::shared_ptr<const LodTile> LodTiles::keep(Key key, std::shared_ptr<const LodTile> tile) {
  kept_.keep(key, tile);
  return tile;
}

// Null where nothing is.
std::shared_ptr<const LodTile> LodTiles::whole(int stream, int level, std::int64_t index,
                                               std::optional<LodTile> stored) {
  if (!stored) {
    stored = is_ribbon(stream) ? idle_tile(level, index, stretches_)
                               : blank_lod_tile(level, index, false);
  }
  LodTile tile = std::move(*stored);
  for (const LodEvent& event : long_events_[static_cast<std::size_t>(stream)]) cover(tile, event);
  if (is_blank(tile)) return nullptr;
  return keep(key(stream, level, index), std::make_shared<const LodTile>(std::move(tile)));
}

// Tiles of which long events and idle time are all there may be.
std::vector<std::int64_t> LodTiles::between_stored(const Wanted& wanted) const {
  std::vector<std::int64_t> tiles;
  const auto add = [&](std::int64_t start_ns, std::int64_t end_ns) {
    const std::int64_t to = std::min(wanted.last, lod_tile_at(wanted.level, end_ns));
    std::int64_t i = std::max(wanted.first, lod_tile_at(wanted.level, start_ns));
    for (; i <= to; ++i) {
      if (tiles.size() > kMostTilesAtOnce) return;
      if (tiles.empty() || tiles.back() < i) tiles.push_back(i);
    }
  };
  if (is_ribbon(wanted.stream)) {
    for (const Interval& each : stretches_) add(each.start_ns, each.end_ns);
  } else {
    for (const LodEvent& event : long_events_[static_cast<std::size_t>(wanted.stream)]) {
      add(event.start_ns, event.end_ns);
    }
  }
  return tiles;
}

Result<void> LodTiles::add_rebuilt(const Wanted& wanted, FoundTiles& found) {
  const auto end = rebuilt_.upper_bound(key(wanted.stream, wanted.level, wanted.last));
  for (auto i = rebuilt_.lower_bound(key(wanted.stream, wanted.level, wanted.first)); i != end;
       ++i) {
    if (found.size() >= kMostTilesAtOnce) return too_many_tiles();
    const std::int64_t index = lod_place(i->first).tile;
    Found& tile = found[index];
    tile.is_known = true;
    if (i->second.data.size == 0) continue;
    tile.is_stored = true;
    tile.tile = kept(i->first);
    if (tile.tile) continue;
    const LodPlace place{file_.rank(), wanted.level, wanted.stream, index};
    TRY_ASSIGN(const auto data, rebuilt_data_.bytes_of(i->second.data));
    TRY_ASSIGN(auto decoded,
               codec_.decode(place, is_ribbon(wanted.stream), lod_checksum(place, data), data));
    tile.tile = whole(wanted.stream, wanted.level, index, std::move(decoded));
  }
  return {};
}

Result<void> LodTiles::add_from_file(const Wanted& wanted, FoundTiles& found,
                                     std::vector<std::int64_t>& damaged) {
  const int in_file = file_numbers_[static_cast<std::size_t>(wanted.stream)];
  if (in_file < 0) return {};
  const auto visit = [&](std::int64_t index, std::int64_t checksum,
                         std::span<const std::byte> data) -> Result<void> {
    if (found.size() >= kMostTilesAtOnce) return too_many_tiles();
    Found& tile = found[index];
    if (tile.is_known) return {};
    tile.tile = kept(key(wanted.stream, wanted.level, index));
    tile.is_stored = true;
    if (tile.tile) return {};
    auto decoded = codec_.decode({file_.rank(), wanted.level, in_file, index},
                                 is_ribbon(wanted.stream), checksum, data);
    if (decoded) {
      tile.tile = whole(wanted.stream, wanted.level, index, std::move(*decoded));
    } else {
      tile.is_stored = false;
      damaged.push_back(index);
    }
    return {};
  };
  return file_.visit(wanted.level, in_file, wanted.first, wanted.last, visit);
}

Result<LodTiles::Tiles> LodTiles::range(int stream, int level, std::int64_t first,
                                        std::int64_t last, std::vector<std::int64_t>& damaged) {
  const Wanted wanted{stream, level, std::max(first, kFirstLodTile), std::min(last, kLastLodTile)};
  Tiles tiles;
  if (wanted.first > wanted.last) return tiles;
  FoundTiles found;
  TRY(add_rebuilt(wanted, found));
  TRY(add_from_file(wanted, found, damaged));
  for (const std::int64_t index : between_stored(wanted)) {
    Found& tile = found[index];
    if (found.size() > kMostTilesAtOnce) return too_many_tiles();
    if (tile.is_stored) continue;
    tile.tile = kept(key(stream, level, index));
    if (!tile.tile) tile.tile = whole(stream, level, index, std::nullopt);
  }
  for (auto& [index, tile] : found) {
    if (tile.tile) tiles.push_back(std::move(tile.tile));
  }
  return tiles;
}

Result<std::shared_ptr<const LodTile>> LodTiles::tile(int stream, int level, std::int64_t index,
                                                      bool& is_damaged) {
  std::vector<std::int64_t> damaged;
  TRY_ASSIGN(const auto found, range(stream, level, index, index, damaged));
  is_damaged = !damaged.empty();
  return found.empty() ? nullptr : found.front();
}

void LodTiles::set(int stream, const LodTile& tile, bool until_file) {
  forget(stream, tile.level, tile.index);
  // Of a ribbon a blank tile is not the same as none, which is idle.
  const bool is_nothing = !is_ribbon(stream) && is_blank(tile);
  // Where the file has none either, there is nothing to remember.
  if (is_nothing && until_file) return;
  const auto data = is_nothing ? std::span<const std::byte>() : codec_.encode(tile);
  rebuilt_[key(stream, tile.level, tile.index)] = {rebuilt_data_.put(data), until_file};
}

LodTiles::RebuiltTiles::iterator LodTiles::erase(RebuiltTiles::iterator rebuilt) {
  rebuilt_data_.forget(rebuilt->second.data);
  return rebuilt_.erase(rebuilt);
}

std::vector<std::int64_t> LodTiles::rebuilt_in(int stream, int level, std::int64_t first,
                                               std::int64_t last) const {
  std::vector<std::int64_t> tiles;
  const auto end = rebuilt_.upper_bound(key(stream, level, last));
  for (auto i = rebuilt_.lower_bound(key(stream, level, first)); i != end; ++i) {
    tiles.push_back(lod_place(i->first).tile);
  }
  return tiles;
}

void LodTiles::forget_all() {
  rebuilt_.clear();
  rebuilt_data_.forget_all();
  kept_.clear();
}

Result<void> LodTiles::visit_rebuilt(const VisitRebuilt& visit) {
  for (const auto& [row_id, rebuilt] : rebuilt_) {
    LodPlace place = lod_place(row_id);
    place.stream = file_numbers_[static_cast<std::size_t>(place.stream)];
    if (place.stream < 0) continue;
    TRY_ASSIGN(const auto data, rebuilt_data_.bytes_of(rebuilt.data));
    TRY(visit(place, data));
  }
  return {};
}

std::vector<LodPlace> LodTiles::set_while_open(std::int64_t closed) const {
  std::vector<LodPlace> places;
  for (const auto& [row_id, rebuilt] : rebuilt_) {
    const LodPlace place = lod_place(row_id);
    const bool was_open = place.tile >= closed >> (kLodFactorBits * place.level);
    if (was_open && !rebuilt.until_file) places.push_back(place);
  }
  return places;
}

void LodTiles::forget(int stream, int level, std::int64_t index) {
  const Key place = key(stream, level, index);
  if (const auto old = rebuilt_.find(place); old != rebuilt_.end()) erase(old);
  kept_.forget(place);
}

}  // namespace shardlens::trace
