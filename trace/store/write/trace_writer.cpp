#include "trace/store/write/trace_writer.h"

#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "trace/base/file_system.h"
#include "trace/base/wall_clock.h"
#include "trace/store/run/trace_file.h"
#include "trace/store/write/batch_queue.h"
#include "trace/store/write/row_writer.h"

namespace shardlens::trace::store {

namespace {

using Clock = std::chrono::steady_clock;
// How often a writer that has failed tries to keep the heartbeat and the count of losses true.
constexpr std::chrono::seconds kLastWordsInterval{1};
// Pages in the WAL at which it is moved into the file. SQLite's own checkpoint would hide that the
// file cannot grow any more until the WAL cannot either, and then nothing could be said.
constexpr int kCheckpointPages = 500;

constexpr const char* kQueueFull = "writer queue full";
constexpr const char* kSizeLimit = "size limit";

}  // namespace

struct TraceWriter::State {
  State(RowWriter row_writer, int of_rank, std::filesystem::path path, TraceWriterOptions wishes)
      : writer(std::move(row_writer)),
        rank(of_rank),
        file(std::move(path)),
        options(wishes),
        queue(wishes.queue_capacity),
        room_for_failure(file.parent_path()),
        room_for_end(file.parent_path()) {}

  // ---- any thread
  void count_lost(std::string_view reason, std::int64_t count);
  void count_unwritten(const model::Batch& batch);
  void set_failure(const base::Error& error);

  // ---- the writer's thread
  void work();
  void handle(std::vector<model::Batch> batches);
  base::Result<void> write(const std::vector<model::Batch>& batches);
  base::Result<void> checkpoint();
  void give_up(const base::Error& error, const std::vector<model::Batch>& batches);
  void write_last_words(model::Batch&& words);
  void apply_size_limit(model::Batch& batch);
  std::vector<model::Lost> unwritten_losses();
  void finish();

  RowWriter writer;
  const int rank;
  const std::filesystem::path file;
  const TraceWriterOptions options;
  BatchQueue queue;
  std::atomic<std::int64_t> bytes{0};
  std::atomic<std::int64_t> lost_total{0};
  std::atomic<std::int64_t> cpu_ns{0};
  std::atomic<bool> failed{false};

  mutable std::mutex mutex;
  std::optional<base::Error> failure;              // guarded by mutex
  std::map<std::string, std::int64_t> new_losses;  // guarded by mutex: not in the file yet
  model::UnwrittenRecords unwritten;               // guarded by mutex

  // For the reason and the count of losses when the disk gets full, and when the file is closed.
  base::ReservedRoom room_for_failure, room_for_end;
  int wal_pages = 0;
  Clock::time_point next_last_words{};
  model::Batch present;  // what a failed writer still tries to tell
  std::jthread thread;
};

void TraceWriter::State::count_lost(std::string_view reason, std::int64_t count) {
  if (count == 0) return;
  lost_total += count;
  const std::lock_guard lock(mutex);
  new_losses[std::string(reason)] += count;
}

void TraceWriter::State::count_unwritten(const model::Batch& batch) {
  const model::UnwrittenRecords records = count_by_kind(batch);
  for (const auto& [noun, count] : model::kRecordKinds) {
    count_lost("write failed: " + std::string(noun) + "s", records.*count);
  }
  const std::lock_guard lock(mutex);
  unwritten += records;
  // Losses that were counted before stay what they are.
  for (const model::Lost& before : batch.lost) new_losses[before.reason] += before.count;
}

void TraceWriter::State::set_failure(const base::Error& error) {
  const std::lock_guard lock(mutex);
  if (!failure) failure = error;
  failed = true;
}

std::vector<model::Lost> TraceWriter::State::unwritten_losses() {
  std::vector<model::Lost> losses;
  const std::lock_guard lock(mutex);
  for (const auto& [reason, count] : new_losses) losses.push_back({rank, reason, count});
  new_losses.clear();
  return losses;
}

void TraceWriter::State::work() {
  const auto count_pages = [](void* pages, sqlite3*, const char*, int count) {
    *static_cast<int*>(pages) = count;
    return SQLITE_OK;
  };
  sqlite3_wal_hook(writer.database().get(), count_pages, &wal_pages);
  while (true) {
    const bool last = queue.closed();
    handle(queue.take(Clock::now() + options.commit_interval));
    cpu_ns = base::thread_cpu_ns();
    if (last) break;
  }
  finish();
}

void TraceWriter::State::handle(std::vector<model::Batch> batches) {
  if (failed) {
    for (model::Batch& batch : batches) {
      count_unwritten(batch);
      model::Batch current;
      current.pending = std::move(batch.pending);
      current.heartbeat = batch.heartbeat;
      current.cost = batch.cost;
      append(present, std::move(current));
    }
    if (Clock::now() >= next_last_words) write_last_words(std::move(present));
    return;
  }
  for (model::Batch& batch : batches) apply_size_limit(batch);
  model::Batch losses;
  losses.lost = unwritten_losses();
  if (!losses.empty()) batches.push_back(std::move(losses));
  if (batches.empty()) return;
  if (const auto written = write(batches); !written) return give_up(written.error(), batches);
  if (wal_pages < kCheckpointPages) return;
  if (const auto moved = checkpoint(); !moved) give_up(moved.error(), {});
}

void TraceWriter::State::apply_size_limit(model::Batch& batch) {
  if (bytes < options.size_limit_bytes) return;
  count_lost(kSizeLimit, count_events(batch) + static_cast<std::int64_t>(batch.collectives.size()));
  batch.events.clear();
  batch.collectives.clear();
}

base::Result<void> TraceWriter::State::write(const std::vector<model::Batch>& batches) {
  TRY(writer.begin());
  for (const model::Batch& batch : batches) TRY(writer.write(batch));
  TRY(writer.commit(base::wall_clock_ns()));
  TRY_ASSIGN(const auto pages, writer.database().integer("pragma page_count"));
  TRY_ASSIGN(const auto page_size, writer.database().integer("pragma page_size"));
  bytes = pages * page_size;
  return {};
}

base::Result<void> TraceWriter::State::checkpoint() {
  TRY(writer.database().integer("pragma wal_checkpoint(passive)"));
  return {};
}

void TraceWriter::State::give_up(const base::Error& error,
                                 const std::vector<model::Batch>& batches) {
  writer.roll_back();
  set_failure(error);
  for (const model::Batch& batch : batches) count_unwritten(batch);
  room_for_failure.release();
  model::Batch words;
  words.log.push_back({rank, base::wall_clock_ns(), model::LogLine::Level::kError,
                       "recording stopped: " + error.message});
  write_last_words(std::move(words));
}

// What fails here is tried again, until the writer is closed.
void TraceWriter::State::write_last_words(model::Batch&& words) {
  model::Batch now = std::move(words);
  present = {};
  for (model::Lost& lost : unwritten_losses()) now.lost.push_back(std::move(lost));
  next_last_words = Clock::now() + kLastWordsInterval;
  if (now.empty() || write({now})) return;
  writer.roll_back();
  // With all of the WAL moved into the file, the next transaction reuses its space.
  if (checkpoint() && write({now})) return;
  writer.roll_back();
  {
    const std::lock_guard lock(mutex);
    for (const model::Lost& lost : now.lost) new_losses[lost.reason] += lost.count;
  }
  now.lost.clear();
  present = std::move(now);
}

void TraceWriter::State::finish() {
  room_for_end.release();
  if (failed) write_last_words(std::move(present));
  Database& database = writer.database();
  sqlite3_busy_timeout(database.get(), 50);
  const auto checkpointed = database.integer("pragma wal_checkpoint(truncate)");
  if (!checkpointed) set_failure(checkpointed.error());
}

TraceWriter::TraceWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}

TraceWriter::~TraceWriter() { static_cast<void>(close()); }

base::Result<std::unique_ptr<TraceWriter>> TraceWriter::create(const std::filesystem::path& file,
                                                               int rank,
                                                               TraceWriterOptions options) {
  TRY_ASSIGN(RowWriter writer, RowWriter::create_file(file, rank));
  auto state = std::make_unique<State>(std::move(writer), rank, file, options);
  State* raw = state.get();
  state->thread = std::jthread([raw] { raw->work(); });
  return std::unique_ptr<TraceWriter>(new TraceWriter(std::move(state)));
}

void TraceWriter::submit(model::Batch&& batch) {
  if (batch.empty()) return;
  state_->count_lost(kQueueFull, state_->queue.push(std::move(batch)));
}

base::Result<void> TraceWriter::close() {
  if (state_->thread.joinable()) {
    state_->queue.close();
    state_->thread.join();
    { const RowWriter closed = std::move(state_->writer); }
    // Leaves WAL mode, unless somebody watches; whoever checkpoints the run later does it then.
    if (!state_->failed) static_cast<void>(checkpoint_trace_file(state_->file));
  }
  if (!state_->failed) return {};
  const std::lock_guard lock(state_->mutex);
  return tl::make_unexpected(*state_->failure);
}

std::int64_t TraceWriter::bytes_on_disk() const { return state_->bytes; }
std::int64_t TraceWriter::lost() const { return state_->lost_total; }
model::UnwrittenRecords TraceWriter::unwritten() const {
  const std::lock_guard lock(state_->mutex);
  return state_->unwritten;
}
std::int64_t TraceWriter::cpu_ns() const { return state_->cpu_ns; }
std::string TraceWriter::failure() const {
  const std::lock_guard lock(state_->mutex);
  return state_->failure ? state_->failure->message : std::string();
}

}  // namespace shardlens::trace::store
