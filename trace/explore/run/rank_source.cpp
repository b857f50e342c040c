#include "trace/explore/run/rank_source.h"

#include <algorithm>
#include <utility>

#include "trace/store/sqlite/read_once.h"

namespace shardlens::trace {

namespace {

// Few, since the first frame waits for them; then as many as others can wait for.
constexpr std::int64_t kFirstRows = 256, kRowsPerCall = 8192;

SummaryCell summary_of(const LodCell& cell, std::int64_t start_ns, std::int64_t end_ns) {
  SummaryCell result;
  result.start_ns = start_ns;
  result.end_ns = end_ns;
  result.busy_ns = cell.busy_ns;
  result.busiest = static_cast<float>(static_cast<double>(cell.busiest_ns) /
                                      static_cast<double>(lod_cell_ns(0)));
  result.count = cell.count;
  result.longest_ns = cell.longest_ns;
  result.name = cell.longest_name;
  return result;
}

// The rank's own row comes with every part.
bool has_rows(const RowPart& part) {
  Batch rows = part.rows;
  rows.rank_info.reset();
  return !rows.empty() || !part.bucket_parameters.empty();
}

// Calls visit(i, start_ns, end_ns) for the cells of a tile that touch the window.
template <typename Visit>
void visit_cells(const LodTile& tile, std::size_t count, Interval window, Visit visit) {
  const std::int64_t cell_ns = lod_cell_ns(tile.level);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t start_ns = tile.start_ns() + static_cast<std::int64_t>(i) * cell_ns;
    if (start_ns + cell_ns <= window.start_ns || start_ns >= window.end_ns) continue;
    visit(i, start_ns, start_ns + cell_ns);
  }
}

}  // namespace

RankSource::RankSource(std::filesystem::path file, int rank)
    : path_(std::move(file)), rank_(rank), reader_(rank), builder_(rank) {}

Result<std::unique_ptr<RankSource>> RankSource::open(const std::filesystem::path& file, int rank) {
  std::unique_ptr<RankSource> source(new RankSource(file, rank));
  TRY(source->open_file());
  TRY_ASSIGN(RowPart part, source->reader_.read_some(source->file_->database(), kFirstRows));
  source->has_more_rows_ = part.has_more;
  source->has_all_rows_ = !part.has_more;
  source->builder_.add(std::move(part));
  source->rows_ = source->builder_.build();
  forget_pages(source->file_->database());
  return source;
}

// The pyramid refers to the open file.
Result<void> RankSource::open_file() {
  TRY_ASSIGN(TraceFile file, TraceFile::open(path_));
  TRY(file.database().execute(kReadOnce));
  pyramid_.reset();
  file_ = std::move(file);
  TRY_ASSIGN(pyramid_, LodReader::open(file_->database(), rank_));
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

std::vector<LodStream> RankSource::streams() const {
  const std::lock_guard lock(file_mutex_);
  return pyramid_->streams();
}

LodReader::Extent RankSource::extent() const {
  const std::lock_guard lock(file_mutex_);
  return pyramid_->extent();
}

Result<LodReader::Tiles> RankSource::tiles(const LodStream& stream, int level, Interval window) {
  const std::lock_guard lock(file_mutex_);
  auto read = pyramid_->read(stream, level, window.start_ns, window.end_ns);
  forget_pages(file_->database());
  return read;
}

Result<RankSource::Cells> RankSource::read_cells(const LodStream& stream, int level,
                                                 Interval window) {
  TRY_ASSIGN(const LodReader::Tiles read, tiles(stream, level, window));
  Cells result;
  result.is_complete = read.is_complete;
  for (const auto& tile : read.tiles) {
    visit_cells(*tile, tile->cells.size(), window, [&](std::size_t i, auto start_ns, auto end_ns) {
      const LodCell& cell = tile->cells[i];
      if (cell.count > 0 || cell.busy_ns > 0) {
        result.cells.push_back(summary_of(cell, start_ns, end_ns));
      }
    });
  }
  return result;
}

Result<RankSource::Classes> RankSource::read_classes(int level, Interval window) {
  TRY_ASSIGN(const LodReader::Tiles read, tiles({0, LodKind::kRibbon, 0}, level, window));
  Classes result;
  result.is_complete = read.is_complete;
  for (const auto& tile : read.tiles) {
    visit_cells(*tile, tile->classes.size(), window,
                [&](std::size_t i, auto start_ns, auto end_ns) {
                  result.cells.push_back({start_ns, end_ns, tile->classes[i]});
                });
  }
  return result;
}

Result<void> RankSource::read_part() {
  TRY_ASSIGN(RowPart part, reader_.read_some(file_->database(), kRowsPerCall));
  has_more_rows_ = part.has_more;
  builder_.add(std::move(part));
  return {};
}

bool RankSource::read_rows() {
  const std::lock_guard lock(file_mutex_);
  if (!has_more_rows_) return false;
  if (const auto read = read_part(); !read) {
    problem_ = read.error().message;
    has_more_rows_ = false;
  }
  if (!has_more_rows_) {
    publish(builder_.build());
    forget_pages(file_->database());
  }
  return has_more_rows_;
}

bool RankSource::rebuild_some() {
  const std::lock_guard lock(file_mutex_);
  const auto more = pyramid_->rebuild_some();
  if (!more) problem_ = more.error().message;
  if (more && *more) return true;
  forget_pages(file_->database());
  return false;
}

std::string RankSource::problem() const {
  const std::lock_guard lock(file_mutex_);
  return problem_.empty() ? reader_.problem() : problem_;
}

double RankSource::fraction() const {
  const std::lock_guard lock(file_mutex_);
  return pyramid_->fraction();
}

Result<bool> RankSource::refresh() {
  const std::lock_guard lock(file_mutex_);
  if (file_->is_stale()) TRY(open_file());
  TRY(pyramid_->refresh());
  if (has_more_rows_) return false;
  TRY_ASSIGN(RowPart part, reader_.read_some(file_->database(), kRowsPerCall));
  if (!has_rows(part)) return false;
  has_more_rows_ = part.has_more;
  builder_.add(std::move(part));
  if (!has_more_rows_) publish(builder_.build());
  return true;
}

}  // namespace shardlens::trace
