#include "trace/store/chunk/chunk_file.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "trace/base/text.h"
#include "trace/store/table/schema.h"

namespace shardlens::trace::store {

namespace fs = std::filesystem;

std::optional<base::Error> visit_news(Database& database, const std::string& select,
                                      std::int64_t& last,
                                      const std::function<void(const Statement&)>& visit) {
  const auto pass = [&](const char* order, std::int64_t after) -> base::Result<void> {
    TRY_ASSIGN(auto statement,
               database.prepare(select + " where row_id > ?1 order by row_id " + order));
    statement.bind(1, after);
    return statement.for_each_row([&](const Statement& row) {
      last = std::max(last, row.integer(0));
      visit(row);
    });
  };
  const auto forward = pass("asc", last);
  if (forward) return std::nullopt;
  static_cast<void>(pass("desc", last));
  return forward.error();
}

ChunkEntry chunk_entry(const Statement& row) {
  ChunkEntry chunk;
  chunk.row_id = row.integer(0);
  // Row ids of a rank begin with it.
  chunk.rank = static_cast<int>(chunk.row_id >> kRankShift);
  chunk.lane = static_cast<int>(row.integer(2));
  chunk.header = {row.integer(4), row.integer(5), row.integer(6), static_cast<int>(row.integer(7)),
                  row.integer(8)};
  const std::int64_t count = chunk.header.count;
  const auto kind = base::enum_from_text(row.text(3), model::EventKind::kAllocation);
  chunk.kind = kind.value_or(chunk.kind);
  chunk.makes_sense = kind && chunk.rank >= 0 && row.integer(1) == chunk.rank &&
                      row.integer(2) == chunk.lane &&
                      chunk.header.first_ns <= chunk.header.last_ns && count >= 0 &&
                      count <= static_cast<std::int64_t>(kMostChunkEvents);
  return chunk;
}

void IdleConnections::allow(std::size_t most) {
  const std::lock_guard lock(mutex_);
  most_ = most;
}

std::unique_ptr<ChunkConnection> IdleConnections::take(const TraceFile& trace) {
  const std::lock_guard lock(mutex_);
  const auto is_of_it = [&](const Idle& one) { return one.trace == &trace; };
  const auto last = std::find_if(idle_.rbegin(), idle_.rend(), is_of_it);
  if (last == idle_.rend()) return nullptr;
  auto connection = std::move(last->connection);
  idle_.erase(std::prev(last.base()));
  return connection;
}

void IdleConnections::give(std::unique_ptr<ChunkConnection> connection) {
  std::unique_ptr<ChunkConnection> closed;  // once others may go on
  const std::lock_guard lock(mutex_);
  const TraceFile* const trace = connection->trace.get();
  idle_.push_back({trace, std::move(connection)});
  if (idle_.size() <= most_) return;
  closed = std::move(idle_.front().connection);
  idle_.erase(idle_.begin());
}

void IdleConnections::close(const TraceFile& trace) {
  std::vector<Idle> closed;
  const std::lock_guard lock(mutex_);
  const auto is_other = [&](const Idle& one) { return one.trace != &trace; };
  const auto first = std::stable_partition(idle_.begin(), idle_.end(), is_other);
  closed.assign(std::move_iterator(first), std::move_iterator(idle_.end()));
  idle_.erase(first, idle_.end());
}

std::size_t IdleConnections::count() const {
  const std::lock_guard lock(mutex_);
  return idle_.size();
}

ChunkFile::~ChunkFile() { idle_->close(*trace_); }

base::Result<std::unique_ptr<ChunkFile>> ChunkFile::open(const fs::path& path,
                                                         std::shared_ptr<IdleConnections> idle,
                                                         std::chrono::nanoseconds patience) {
  TRY_ASSIGN(TraceFile trace, TraceFile::open(path));
  TRY(trace.database().execute(kReadOnce));
  std::unique_ptr<ChunkFile> file(new ChunkFile());
  file->file_ = path;
  file->idle_ = std::move(idle);
  file->patience_ = patience;
  file->trace_ = std::make_shared<TraceFile>(std::move(trace));
  return file;
}

base::Result<bool> ChunkFile::open_again_if_stale() {
  if (!trace_->is_stale()) return false;
  TRY_ASSIGN(TraceFile trace, TraceFile::open(file_));
  TRY(trace.database().execute(kReadOnce));
  const std::lock_guard lock(mutex_);
  idle_->close(*trace_);
  trace_ = std::make_shared<TraceFile>(std::move(trace));
  return true;
}

base::Result<ChunkFile::News> ChunkFile::tail() {
  News news;
  TRY_ASSIGN(news.was_opened_again, open_again_if_stale());
  Database& database = trace_->database();
  ReadingTime time;
  const WholeReading once(database, time);
  // Strings last: those of a chunk were committed with it, or before.
  read_chunks(database, news);
  read_strings(database, news);
  forget_pages(database);
  return news;
}

void ChunkFile::read_chunks(Database& database, News& news) {
  const auto problem = visit_news(database, std::string(kSelectChunks) + " from chunk", last_chunk_,
                                  [&](const Statement& row) {
                                    const ChunkEntry chunk = chunk_entry(row);
                                    if (chunk.makes_sense) {
                                      news.chunks.push_back(chunk);
                                    } else {
                                      ++news.damaged_rows;
                                    }
                                  });
  if (problem) news.problems.push_back(problem->message);
  if (news.damaged_rows == 0) return;
  news.problems.push_back(database.file() + " is damaged (" + std::to_string(news.damaged_rows) +
                          " rows of table chunk make no sense): see what can still be read with "
                          "shardlens verify");
}

void ChunkFile::read_strings(Database& database, News& news) {
  const auto problem = visit_news(
      database, "select row_id,id,text from string", last_string_, [&](const Statement& row) {
        const std::int64_t id = row.integer(1);
        if (id < 1 || id > UINT32_MAX) return;
        news.strings.push_back({static_cast<int>(row.integer(0) >> kRankShift),
                                static_cast<model::StringId>(id), std::string(row.text(2))});
      });
  if (problem) news.problems.push_back(problem->message);
}

base::Result<std::unique_ptr<ChunkConnection>> ChunkFile::take() {
  std::shared_ptr<TraceFile> trace;
  {
    const std::lock_guard lock(mutex_);
    trace = trace_;
  }
  if (auto connection = idle_->take(*trace)) return connection;
  auto connection = std::make_unique<ChunkConnection>();
  TRY_ASSIGN(connection->database, trace->connect());
  // What is kept is kept decoded.
  TRY(connection->database.execute(kReadOnce));
  TRY_ASSIGN(connection->data,
             connection->database.prepare("select data from chunk where row_id=?1"));
  connection->reading.emplace(connection->database, connection->time, WholeReading::Bound::kAnswers,
                              patience_);
  connection->trace = std::move(trace);
  return connection;
}

void ChunkFile::give(std::unique_ptr<ChunkConnection> connection) {
  const std::lock_guard lock(mutex_);
  if (connection->trace == trace_) idle_->give(std::move(connection));
}

base::Result<void> ChunkFile::read(
    std::int64_t row_id, const std::function<base::Result<void>(std::span<const std::byte>)>& use) {
  TRY_ASSIGN(auto connection, take());
  connection->data.bind(1, row_id);
  const auto row = connection->data.step();
  base::Result<void> used;
  if (!row) {
    used = tl::make_unexpected(row.error());
  } else if (*row) {
    used = use(connection->data.blob(0));
  } else {
    used = base::fail(base::ErrorKind::kDamaged,
                      base::quoted(file_) + " is damaged (a block of events is gone)");
  }
  connection->data.reset();
  forget_pages(connection->database);
  give(std::move(connection));
  return used;
}

}  // namespace shardlens::trace::store
