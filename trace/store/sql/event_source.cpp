#include "trace/store/sql/event_source.h"

#include <algorithm>

#include "trace/model/activity.h"
#include "trace/store/chunk/chunk_file.h"
#include "trace/store/sqlite/stop_reading.h"
#include "trace/store/table/schema.h"

namespace shardlens::trace::store {

namespace {

tl::unexpected<base::Error> damaged_events(const Database& file, const std::string& why) {
  return base::fail(
      base::ErrorKind::kDamaged,
      file.file() + " is damaged (" + why + "): see what can still be read with shardlens verify");
}

}  // namespace

const std::string& RankNames::lane_name(int lane) const {
  const auto found = lanes.find(lane);
  return found == lanes.end() ? strings[0] : found->second;
}

std::int64_t RankNames::step_at(std::int64_t time_ns) const {
  const model::Step* const step = model::step_at(steps, time_ns);
  return step == nullptr ? -1 : step->index;
}

base::Result<void> EventSource::read_headers() {
  if (headers_read_) return {};
  for (int file = 0; file < std::ssize(files_); ++file) {
    const auto add = [&](const Statement& row) {
      ChunkEntry place = chunk_entry(row);
      place.file = file;
      if (place.makes_sense) {
        chunks_[static_cast<std::size_t>(place.kind)].push_back(place);
        return;
      }
      place.header.count = 0;
      for (auto& of_kind : chunks_) of_kind.push_back(place);
    };
    TRY(files_[static_cast<std::size_t>(file)]->for_each_row(
        std::string(kSelectChunks) + " from chunk order by row_id", add));
  }
  headers_read_ = true;
  return {};
}

base::Result<const std::vector<ChunkEntry>*> EventSource::chunks(model::EventKind kind) {
  TRY(read_headers());
  return &chunks_[static_cast<std::size_t>(kind)];
}

base::Result<RankNames> EventSource::read_names(Database& file, int rank) {
  RankNames names;
  names.strings.resize(1);
  const std::string of_rank = " where " + numbered_of(rank);
  TRY(file.for_each_row(
      "select id,text from string" + of_rank, [&](const Statement& row) -> base::Result<void> {
        const std::int64_t id = row.integer(0);
        if (id < 1 || id > std::int64_t{model::kMostStringId}) {
          return damaged_events(file, "a string has the id " + std::to_string(id));
        }
        const auto index = static_cast<std::size_t>(id);
        if (index >= names.strings.size()) names.strings.resize(index + 1);
        names.strings[index] = row.text(1);
        return {};
      }));
  TRY(file.for_each_row("select lane,name from lane" + of_rank, [&](const Statement& row) {
    names.lanes[static_cast<int>(row.integer(0))] = row.text(1);
  }));
  TRY(file.for_each_row(
      "select start_ns,end_ns,step from step" + of_rank, [&](const Statement& row) {
        names.steps.push_back(
            {.index = row.integer(2), .start_ns = row.integer(0), .end_ns = row.integer(1)});
      }));
  std::ranges::stable_sort(names.steps, {}, &model::Step::start_ns);
  return names;
}

base::Result<const RankNames*> EventSource::names(const ChunkEntry& place) {
  const auto found = names_.find(place.rank);
  if (found != names_.end()) return &found->second;
  TRY_ASSIGN(RankNames names, read_names(file_of(place), place.rank));
  return &names_.emplace(place.rank, std::move(names)).first->second;
}

base::Result<void> EventSource::check(const ChunkEntry& place) const {
  if (place.makes_sense) return {};
  return damaged_events(file_of(place), "the row of a chunk makes no sense, at rank " +
                                            std::to_string(place.rank) + ", lane " +
                                            std::to_string(place.lane));
}

base::Result<std::vector<model::Event>> EventSource::decode(const ChunkEntry& place) {
  TRY(check(place));
  if (StopReading::wanted())
    return base::fail(base::ErrorKind::kFailed, "the query was interrupted");
  auto found = blobs_.find(place.file);
  if (found == blobs_.end()) {
    TRY_ASSIGN(Statement blob, file_of(place).prepare("select data from chunk where row_id=?1"));
    found = blobs_.emplace(place.file, std::move(blob)).first;
  }
  Statement& blob = found->second;
  blob.bind(1, place.row_id);
  const auto row = blob.step();
  if (!row) {
    blob.reset();
    return tl::make_unexpected(row.error());
  }
  ++decoded_chunks_;
  auto events = *row ? decode_chunk(place.header, blob.blob(0), opener_)
                     : base::Result<std::vector<model::Event>>(
                           base::fail(base::ErrorKind::kDamaged, "a chunk is gone"));
  blob.reset();
  if (events) return events;
  if (events.error().kind != base::ErrorKind::kDamaged) return events;
  return damaged_events(file_of(place), events.error().message + " at rank " +
                                            std::to_string(place.rank) + ", lane " +
                                            std::to_string(place.lane));
}

}  // namespace shardlens::trace::store
