#include "trace/store/lod/tiles/lod_source.h"

#include <algorithm>

#include "trace/base/enum_text.h"
#include "trace/store/table/row_fields.h"
#include "trace/store/table/schema.h"

namespace shardlens::trace {

namespace {

template <typename Row>
LodSource::Item row_item(const Row& row, LodSource::Item::Part part) {
  LodSource::Item item;
  item.stream = lod_stream_of(row);
  item.event = lod_event_of(row);
  item.part = part;
  item.is_plausible = is_plausible_time(row.start_ns, row.end_ns);
  return item;
}

LodSource::Item item_of_row(const Span& span) {
  using Part = LodSource::Item::Part;
  auto item = row_item(span, span.depth == 0 ? Part::kPhase : Part::kNone);
  item.phase = span.phase;
  return item;
}
LodSource::Item item_of_row(const Collective& row) {
  return row_item(row, LodSource::Item::Part::kCommunication);
}
LodSource::Item item_of_row(const Step& step) {
  LodSource::Item item;
  item.event = lod_event_between(step.start_ns, step.end_ns, 0);
  item.part = step.full_detail ? LodSource::Item::Part::kNone : LodSource::Item::Part::kUndetailed;
  item.is_plausible = is_plausible_time(step.start_ns, step.end_ns);
  item.has_stream = false;
  return item;
}

void add_to(LodTileEvents& tile, const LodSource::Item& item) {
  using Part = LodSource::Item::Part;
  const Interval time{item.event.start_ns, item.event.end_ns};
  switch (item.is_plausible ? item.part : Part::kNone) {
    case Part::kNone:
      return;
    case Part::kCompute:
      return tile.compute.push_back(time);
    case Part::kCommunication:
      return tile.communication.push_back(time);
    case Part::kCopy:
      return tile.copies.push_back(time);
    case Part::kUndetailed:
      return tile.undetailed.push_back(time);
    case Part::kPhase:
      return tile.phases.push_back({time.start_ns, time.end_ns, item.phase});
  }
}

}  // namespace

Result<void> LodSource::find_strings() {
  std::int64_t& last = last_row_ids_.try_emplace("string", first_row_id(rank_)).first->second;
  TRY_ASSIGN(auto statement,
             database_->prepare("select row_id, id, text from string where row_id > "
                                "?1 and row_id < ?2 order by row_id"));
  statement.bind(1, last);
  statement.bind(2, first_row_id(rank_ + 1));
  while (true) {
    TRY_ASSIGN(const bool more, statement.step());
    if (!more) return {};
    last = statement.integer(0);
    strings_.add(static_cast<StringId>(statement.integer(1)), statement.text(2));
  }
}

template <typename Row>
Result<void> LodSource::find_rows(std::int64_t from_ns, const Visit& visit) {
  const std::string table = RowTable<Row>::kName;
  std::int64_t& last = last_row_ids_.try_emplace(table, first_row_id(rank_)).first->second;
  TRY_ASSIGN(auto statement,
             database_->prepare("select row_id," + column_names(columns_of_table<Row>()) +
                                " from " + table +
                                " where row_id > ?1 and row_id < ?2 and "
                                "max(start_ns, end_ns) >= ?3 order by row_id"));
  statement.bind(1, last);
  statement.bind(2, first_row_id(rank_ + 1));
  statement.bind(3, from_ns);
  while (true) {
    TRY_ASSIGN(const bool more, statement.step());
    if (!more) return {};
    last = statement.integer(0);
    Row row;
    RowScanner scanner(statement, strings_, 1);
    RowTable<Row>::fields(scanner, row);
    if (!scanner.problem().empty()) continue;
    Item item = item_of_row(row);
    const bool is_work =
        item.part == Item::Part::kCommunication || item.part == Item::Part::kUndetailed;
    if (is_work && item.is_plausible && !long_work_.takes(row.start_ns, row.end_ns)) {
      item.part = Item::Part::kNone;
    }
    if (!item.has_stream && item.part == Item::Part::kNone) continue;
    (is_long(item.event) ? long_rows_ : rows_).push_back(item);
    visit(item);
  }
}

Result<void> LodSource::find_chunks(std::int64_t from_ns) {
  std::int64_t& last = last_row_ids_.try_emplace("chunk", first_row_id(rank_)).first->second;
  TRY_ASSIGN(
      auto statement,
      database_->prepare("select row_id,lane,kind,first_ns,last_ns,count,codec,checksum from "
                         "chunk where row_id > ?1 and row_id < ?2 order by row_id"));
  statement.bind(1, last);
  statement.bind(2, first_row_id(rank_ + 1));
  while (true) {
    TRY_ASSIGN(const bool more, statement.step());
    if (!more) return {};
    last = statement.integer(0);
    const auto kind = enum_from_text(statement.text(2), EventKind::kAllocation);
    if (!kind || !lod_kind(*kind) || statement.integer(4) < from_ns) continue;
    chunks_.push_back({last,
                       static_cast<int>(statement.integer(1)),
                       *kind,
                       {statement.integer(3), statement.integer(4), statement.integer(5),
                        static_cast<int>(statement.integer(6)), statement.integer(7)}});
  }
}

Result<void> LodSource::find_new(std::int64_t from_ns, const Visit& visit) {
  TRY(find_strings());
  TRY(find_rows<Step>(from_ns, visit));
  TRY(find_rows<Span>(from_ns, visit));
  TRY(find_rows<Collective>(from_ns, visit));
  order_rows();
  return find_chunks(from_ns);
}

void LodSource::order_rows() {
  std::ranges::stable_sort(rows_, {}, [](const Item& item) { return item.event.start_ns; });
  latest_end_.clear();
  for (const Item& item : rows_) {
    latest_end_.push_back(
        std::max(latest_end_.empty() ? INT64_MIN : latest_end_.back(), item.event.end_ns));
  }
}

// Null: it cannot be read.
Result<LodSource::Events> LodSource::load(const Chunk& chunk) {
  if (const Events* known = decoded_.use(chunk.row_id)) return *known;
  TRY_ASSIGN(auto statement, database_->prepare("select data from chunk where row_id = ?1"));
  statement.bind(1, chunk.row_id);
  auto row = statement.step();
  Events events;
  if (row && *row) {
    if (auto decoded = decode_chunk(chunk.header, statement.blob(0), opener_)) {
      events = std::make_shared<const std::vector<Event>>(std::move(*decoded));
    }
  } else if (!row && row.error().kind != ErrorKind::kDamaged) {
    return tl::make_unexpected(row.error());
  }
  decoded_.keep(chunk.row_id, events, events ? events->size() : 0);
  return events;
}

LodSource::Item LodSource::item_of(const Chunk& chunk, const Event& event) const {
  using Part = Item::Part;
  Item item;
  const bool is_operator = chunk.kind == EventKind::kOperator;
  item.stream = {chunk.lane, *lod_kind(chunk.kind), is_operator ? lod_depth(event.depth()) : 0};
  item.event = lod_event(event.start_ns, event.duration_ns, event.name);
  item.is_plausible = item.event.duration_ns() == event.duration_ns &&
                      is_plausible_time(item.event.start_ns, item.event.end_ns);
  if (event.duration_ns > kLodLongWorkNs) return item;
  if (chunk.kind == EventKind::kCopy) item.part = Part::kCopy;
  if (is_operator && (event.flags & kEventCompute) != 0) item.part = Part::kCompute;
  if (chunk.kind == EventKind::kKernel) {
    const bool sends = kernel_names_.is_communication(event.name, strings_);
    item.part = sends ? Part::kCommunication : Part::kCompute;
  }
  return item;
}

Result<bool> LodSource::next_chunk(std::int64_t from_ns, const Visit& visit) {
  if (shown_ == chunks_.size()) return false;
  const Chunk& chunk = chunks_[shown_++];
  if (chunk.header.last_ns < from_ns) return true;
  TRY_ASSIGN(const Events events, load(chunk));
  if (events) {
    for (const Event& event : *events) visit(item_of(chunk, event));
  }
  return true;
}

void LodSource::forget_before(std::int64_t time_ns) {
  for (auto* rows : {&rows_, &long_rows_}) {
    std::erase_if(*rows, [&](const Item& item) { return item.event.end_ns < time_ns; });
  }
  order_rows();
  const auto is_old = [&](const Chunk& chunk) { return chunk.header.last_ns < time_ns; };
  shown_ -= static_cast<std::size_t>(std::count_if(
      chunks_.begin(), chunks_.begin() + static_cast<std::ptrdiff_t>(shown_), is_old));
  std::erase_if(chunks_, is_old);
}

Result<LodTileEvents> LodSource::events_of(std::int64_t tile) {
  LodTileEvents result;
  const auto take = [&](const Item& item) {
    const std::int64_t first = first_tile(item.event), last = last_tile(item.event);
    if (tile < first || tile > last) return;
    add_to(result, item);
    const bool is_between = is_long(item.event) && tile != first && tile != last;
    if (item.has_stream && !is_between) result.streams[item.stream].push_back(item.event);
  };
  const std::int64_t start_ns = tile << lod_tile_bits(0);
  const auto first = std::ranges::lower_bound(latest_end_, start_ns) - latest_end_.begin();
  for (auto row = rows_.begin() + first; row != rows_.end(); ++row) {
    if (lod_tile_at(0, row->event.start_ns) > tile) break;
    take(*row);
  }
  for (const Item& item : long_rows_) take(item);
  for (const Chunk& chunk : chunks_) {
    const bool touches = lod_tile_at(0, chunk.header.first_ns) <= tile &&
                         lod_tile_at(0, chunk.header.last_ns) >= tile;
    if (!touches) continue;
    TRY_ASSIGN(const Events events, load(chunk));
    if (!events) continue;
    for (const Event& event : *events) {
      const LodEvent item = lod_event(event.start_ns, event.duration_ns, event.name);
      if (first_tile(item) <= tile && last_tile(item) >= tile) take(item_of(chunk, event));
    }
  }
  return result;
}

}  // namespace shardlens::trace
