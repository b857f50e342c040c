#include "trace/explore/run/rank_source.h"

#include <algorithm>
#include <utility>

#include "trace/store/sqlite/sqlite.h"
#include "trace/store/table/schema.h"
#include "trace/timeline/values/drawn_event.h"

namespace shardlens::trace::explore {

namespace {

// Rows read at a time: few at first, since the first frame waits for them; then as many as keep
// others who want to read from waiting too long.
constexpr std::int64_t kFirstRows = 256, kRowsPerCall = 8192;

// The lanes that occur in the first 256 rows of a table.
base::Result<std::vector<int>> first_lanes(store::Database& database, const std::string& table,
                                           int rank) {
  std::vector<int> lanes;
  TRY(database.for_each_row(
      "select distinct lane from (select lane from " + table + " where " +
          store::numbered_of(rank) + " order by row_id limit 256)",
      [&](const store::Statement& row) { lanes.push_back(static_cast<int>(row.integer(0))); }));
  return lanes;
}

// Those of its rows that change what is seen from afar.
base::Interval times_of(const store::RowPart& part, base::Interval time) {
  const auto add = [&](const auto& row) {
    const base::Interval drawn = timeline::drawn_time(row.start_ns, row.end_ns);
    time = time.length() > 0 ? base::Interval{std::min(time.start_ns, drawn.start_ns),
                                              std::max(time.end_ns, drawn.end_ns + 1)}
                             : base::Interval{drawn.start_ns, drawn.end_ns + 1};
  };
  for (const model::Step& step : part.rows.steps) {
    if (!step.full_detail) add(step);
  }
  for (const model::Span& span : part.rows.spans) {
    if (span.phase == base::Phase::kOptimizer) add(span);
  }
  for (const model::Collective& row : part.rows.collectives) add(row);
  return time;
}

}  // namespace

RankSource::RankSource(std::filesystem::path file, int rank)
    : path_(std::move(file)), rank_(rank), reader_(rank), builder_(rank) {}

base::Result<std::unique_ptr<RankSource>> RankSource::open(const std::filesystem::path& file,
                                                           int rank) {
  std::unique_ptr<RankSource> source(new RankSource(file, rank));
  TRY(source->open_file());
  TRY_ASSIGN(store::RowPart part, source->reader_.read_some(source->file_->database(), kFirstRows));
  source->has_more_rows_ = part.has_more;
  source->has_all_rows_ = !part.has_more;
  source->builder_.add(std::move(part));
  if (source->has_more_rows_) {
    store::Database& database = source->file_->database();
    // What cannot be read is told when all of it is read.
    source->builder_.know_lanes(
        first_lanes(database, "span", rank).value_or(std::vector<int>()),
        first_lanes(database, "collective", rank).value_or(std::vector<int>()));
  }
  source->rows_ = source->builder_.build();
  store::forget_pages(source->file_->database());
  return source;
}

base::Result<void> RankSource::open_file() {
  TRY_ASSIGN(store::TraceFile file, store::TraceFile::open(path_));
  TRY(file.database().execute(store::kReadOnce));
  file_ = std::move(file);
  return {};
}

std::shared_ptr<const RankRows> RankSource::rows() const {
  const std::lock_guard lock(rows_mutex_);
  return rows_;
}

bool RankSource::has_all_rows() const {
  const std::lock_guard lock(rows_mutex_);
  return has_all_rows_;
}

void RankSource::publish(std::shared_ptr<const RankRows> rows) {
  const std::lock_guard lock(rows_mutex_);
  rows_ = std::move(rows);
  has_all_rows_ = true;
}

base::Result<store::RowPart> RankSource::read_part() {
  TRY_ASSIGN(store::RowPart part, reader_.read_some(file_->database(), kRowsPerCall));
  if (has_all_rows()) news_ = times_of(part, news_);
  return part;
}

bool RankSource::read_rows() {
  const std::lock_guard lock(file_mutex_);
  if (!has_more_rows_) return false;
  if (auto part = read_part()) {
    has_more_rows_ = part->has_more;
    builder_.add(std::move(*part));
  } else {
    problem_ = part.error().message;
    has_more_rows_ = false;
  }
  if (!has_more_rows_) {
    publish(builder_.build());
    store::forget_pages(file_->database());
  }
  return has_more_rows_;
}

std::string RankSource::problem() const {
  const std::lock_guard lock(file_mutex_);
  return problem_.empty() ? reader_.problem() : problem_;
}

base::Interval RankSource::take_news() {
  const std::lock_guard lock(file_mutex_);
  return std::exchange(news_, {});
}

base::Result<bool> RankSource::refresh() {
  const std::lock_guard lock(file_mutex_);
  if (file_->is_stale()) TRY(open_file());
  if (has_more_rows_) return false;
  TRY_ASSIGN(store::RowPart part, read_part());
  // SQLite would keep some 90 KB of pages, and a run may have a thousand ranks.
  store::forget_pages(file_->database());
  if (!part.has_rows) return false;
  has_more_rows_ = part.has_more;
  builder_.add(std::move(part));
  if (!has_more_rows_) publish(builder_.build());
  return true;
}

}  // namespace shardlens::trace::explore
