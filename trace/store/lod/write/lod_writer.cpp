#include "trace/store/lod/write/lod_writer.h"

#include <algorithm>
#include <string>
#include <utility>

#include "trace/store/table/schema.h"

namespace shardlens::trace {

namespace {

// A time that lies further beyond all others is not taken for the present before others follow.
constexpr std::int64_t kFarNs = kLodGapNs;
constexpr int kFewFarTimes = 64;
// Events of about 24 bytes that wait; when there are more, the latest time given is not waited for.
constexpr std::size_t kMostPending = std::size_t{1} << 21;

}  // namespace

Result<LodWriter> LodWriter::create(Database& database, int rank) {
  LodWriter writer(rank);
  writer.is_abandoned_ = !has_lod_row({rank, 0, 0, 0});
  TRY_ASSIGN(writer.insert_tile_, database.prepare(table_insert_sql("lod", true)));
  TRY_ASSIGN(writer.insert_stream_, database.prepare(table_insert_sql("lod_stream", false)));
  writer.insert_stream_.tell_rows(*writer.digest_, "lod_stream");
  writer.new_streams_.push_back({0, LodKind::kRibbon, 0});
  return writer;
}

LodStreamWriter* LodWriter::stream(const LodStream& which) {
  const auto found = streams_.find(which);
  if (found != streams_.end()) return found->second.get();
  const int number = static_cast<int>(streams_.size()) + LodRibbonWriter::kNumber + 1;
  if (number >= kMostLodStreams) return nullptr;
  new_streams_.push_back(which);
  return streams_.emplace(which, std::make_unique<LodStreamWriter>(number, closed_))
      .first->second.get();
}

void LodWriter::see(std::int64_t end_ns) {
  if (newest_ns_ == INT64_MIN) newest_ns_ = end_ns;
  if (end_ns <= newest_ns_) return;
  const bool is_far = static_cast<std::uint64_t>(end_ns) - static_cast<std::uint64_t>(newest_ns_) >
                      static_cast<std::uint64_t>(kFarNs);
  if (!is_far) {
    newest_ns_ = end_ns;
    return;
  }
  far_ns_ = std::min(far_ns_, end_ns);
  if (++far_times_ < kFewFarTimes) return;
  newest_ns_ = far_ns_;
  far_ns_ = INT64_MAX;
  far_times_ = 0;
}

void LodWriter::add_row(const LodStream& which, const LodEvent& event) {
  see(event.end_ns);
  if (!is_long(event)) longest_ns_ = std::max(longest_ns_, event.duration_ns());
  if (auto* const writer = stream(which)) writer->add(event);
}

void LodWriter::add_rows(const Batch& batch) {
  if (is_abandoned_) {
    const bool is_behind =
        !batch.steps.empty() || !batch.spans.empty() || !batch.collectives.empty();
    if (is_behind) confirmed_ns_ = kNoLodTileClosed;
    return;
  }
  using Kind = LodRibbonWriter::Kind;
  for (const Step& step : batch.steps) {
    if (!step.full_detail) add_work(Kind::kUndetailed, step.start_ns, step.end_ns);
  }
  for (const Span& span : batch.spans) {
    add_row(lod_stream_of(span), lod_event_of(span));
    ribbon_.add_evidence(span.start_ns, span.end_ns);
    if (span.depth == 0) ribbon_.add_phase(span.phase, span.start_ns, span.end_ns);
  }
  for (const Collective& row : batch.collectives) {
    add_row(lod_stream_of(row), lod_event_of(row));
    ribbon_.add_evidence(row.start_ns, row.end_ns);
    add_work(Kind::kCommunication, row.start_ns, row.end_ns);
  }
}

void LodWriter::add_work(LodRibbonWriter::Kind kind, std::int64_t start_ns, std::int64_t end_ns) {
  if (!is_plausible_time(start_ns, end_ns) || !long_work_.takes(start_ns, end_ns)) return;
  ribbon_.add(kind, start_ns, end_ns);
}

void LodWriter::add_to_ribbon(EventKind kind, std::span<const Event> events,
                              const StringIndex& strings) {
  using Kind = LodRibbonWriter::Kind;
  std::int64_t first = INT64_MAX, last = INT64_MIN;
  for (const Event& event : events) {
    const bool has_length =
        static_cast<std::uint64_t>(event.duration_ns) <= static_cast<std::uint64_t>(kLongestRowNs);
    if (!has_length || event.start_ns < 0 || event.start_ns > INT64_MAX - kLongestRowNs) continue;
    const std::int64_t end = event.end_ns();
    if (last >= 0 && event.start_ns - last > kLodGapNs) {
      ribbon_.add_evidence(first, last);
      first = INT64_MAX;
      last = INT64_MIN;
    }
    if (!is_plausible_time(event.start_ns, end)) continue;
    first = std::min(first, event.start_ns);
    last = std::max(last, end);
    if (kind == EventKind::kLaunch || event.duration_ns > kLodLongWorkNs) continue;
    if (kind == EventKind::kOperator && (event.flags & kEventCompute) == 0) continue;
    const Kind as =
        kind == EventKind::kCopy ? Kind::kCopy
        : kind == EventKind::kKernel && kernel_names_.is_communication(event.name, strings)
            ? Kind::kCommunication
            : Kind::kCompute;
    ribbon_.add(as, event.start_ns, end);
  }
  if (first <= last) ribbon_.add_evidence(first, last);
}

void LodWriter::add_events(int lane, EventKind kind, std::span<const Event> events,
                           const StringIndex& strings) {
  const auto lod = lod_kind(kind);
  if (!lod) return;
  if (is_abandoned_) {
    confirmed_ns_ = kNoLodTileClosed;
    return;
  }
  Depths depths{};
  for (const Event& event : events) {
    const LodEvent item = lod_event(event.start_ns, event.duration_ns, event.name);
    const int depth = kind == EventKind::kOperator ? lod_depth(event.depth()) : 0;
    auto& writer = depths[static_cast<std::size_t>(depth)];
    if (!writer) writer = stream({lane, *lod, depth});
    if (!writer) continue;
    see(item.end_ns);
    if (!is_long(item)) longest_ns_ = std::max(longest_ns_, item.duration_ns());
    writer->add(item);
  }
  add_to_ribbon(kind, events, strings);
}

std::size_t LodWriter::pending() const {
  std::size_t count = ribbon_.pending();
  for (const auto& [which, writer] : streams_) count += writer->pending();
  return count;
}

// The first tile that stays open.
std::int64_t LodWriter::closable(std::int64_t now_ns) const {
  if (newest_ns_ == INT64_MIN) return closed_;
  std::int64_t time = std::min(newest_ns_, now_ns);
  if (time < newest_ns_ && pending() > kMostPending) time = newest_ns_;
  const std::int64_t lateness = kLatenessNs + longest_ns_;
  return time < INT64_MIN + lateness ? closed_ : lod_tile_at(0, time - lateness);
}

template <typename Close>
Result<void> LodWriter::close_streams(Close&& close) {
  const auto to = [this](int number) {
    return [this, number](const LodTile& tile) { return write_tile(number, tile); };
  };
  TRY(close(ribbon_, to(LodRibbonWriter::kNumber)));
  for (const auto& [which, writer] : streams_) TRY(close(*writer, to(writer->number())));
  return {};
}

Result<std::int64_t> LodWriter::commit(std::int64_t now_ns) {
  if (is_abandoned_) return confirmed_ns_;
  TRY(write_new_streams());
  const std::int64_t limit = closable(now_ns);
  if (limit > closed_) {
    TRY(close_streams([&](auto& writer, const LodPyramid::Write& write) {
      return writer.close_before(limit, write);
    }));
    closed_ = limit;
  }
  TRY(write_lists());
  return closed_ == kFirstLodTile ? kNoLodTileClosed : closed_ << lod_tile_bits(0);
}

Result<std::int64_t> LodWriter::finish() {
  if (is_abandoned_) return confirmed_ns_;
  TRY(write_new_streams());
  TRY(close_streams(
      [](auto& writer, const LodPyramid::Write& write) { return writer.close_all(write); }));
  TRY(write_lists());
  return kAllLodTilesClosed;
}

void LodWriter::confirm(std::int64_t closed_ns) {
  confirmed_ns_ = closed_ns;
  confirmed_checksums_ = checksums_;
  if (closed_ns == kAllLodTilesClosed) abandon();
}

void LodWriter::abandon() {
  is_abandoned_ = true;
  checksums_ = confirmed_checksums_;
  streams_.clear();
  ribbon_ = {};
}

Result<void> LodWriter::write_tile(int stream, const LodTile& tile) {
  return write_row({rank_, tile.level, stream, tile.index}, codec_.encode(tile));
}

Result<void> LodWriter::write_row(const LodPlace& place, std::span<const std::byte> data) {
  if (!has_lod_row(place)) return {};
  const std::int64_t checksum_of_data = bind_lod_row(insert_tile_, place, data);
  TRY(insert_tile_.run());
  static const std::uint64_t table = RowDigest::number_of("lod");
  for (const std::int64_t value :
       {lod_row_id(place), std::int64_t{place.rank}, std::int64_t{place.level},
        std::int64_t{place.stream}, place.tile, checksum_of_data}) {
    digest_->add_integer(value);
  }
  digest_->end_row(table);
  const std::uint64_t checksum = digest_->take();
  checksums_.rows += checksum;
  if (place.level != kLodStretchLevel) return {};
  checksums_.rows -= std::exchange(stretches_checksum_, checksum);
  return {};
}

Result<void> LodWriter::write_new_streams() {
  const auto known = static_cast<std::int64_t>(streams_.size() + 1 - new_streams_.size());
  for (std::size_t i = 0; i < new_streams_.size(); ++i) {
    const LodStream& stream = new_streams_[i];
    const std::int64_t number = known + static_cast<std::int64_t>(i);
    insert_stream_.bind(1, first_row_id(rank_) + number + 1);
    insert_stream_.bind(2, std::int64_t{rank_});
    insert_stream_.bind(3, number);
    insert_stream_.bind(4, std::int64_t{stream.lane});
    insert_stream_.bind_text(5, to_string(stream.kind));
    insert_stream_.bind(6, std::int64_t{stream.depth});
    TRY(insert_stream_.run());
  }
  checksums_.streams += digest_->take();
  new_streams_.clear();
  return {};
}

Result<void> LodWriter::write_lists() {
  std::vector<LodSpoiled> spoiled = ribbon_.take_spoiled();
  for (const auto& [which, writer] : streams_) {
    const auto of_stream = writer->take_spoiled();
    spoiled.insert(spoiled.end(), of_stream.begin(), of_stream.end());
    const auto events = writer->take_new_long_events();
    if (events.empty()) continue;
    TRY(write_row({rank_, kLodLongLevel, writer->number(), lists_++}, encode_long_events(events)));
  }
  if (!spoiled.empty()) {
    has_spoiled_ = true;
    TRY(write_row({rank_, kLodMissingLevel, 0, lists_++}, encode_spoiled(spoiled)));
  }
  if (ribbon_.stretches() == written_stretches_) return {};
  written_stretches_ = ribbon_.stretches();
  return write_row({rank_, kLodStretchLevel, 0, 0}, encode_stretches(written_stretches_));
}

}  // namespace shardlens::trace
