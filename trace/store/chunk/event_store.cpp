#include "trace/store/chunk/event_store.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <tuple>

#include "trace/base/side_by_side.h"
#include "trace/store/chunk/column_cache.h"
#include "trace/store/chunk/run_chunks.h"

namespace shardlens::trace::store {

namespace {

auto lane_of(const ChunkEntry& chunk) { return std::tuple(chunk.rank, chunk.lane, chunk.kind); }

// Bytes of copies are summed up; of nothing else are values looked at by the million.
EventColumns::Values values_of(model::EventKind kind) {
  return kind == model::EventKind::kCopy ? EventColumns::Values::kKept
                                         : EventColumns::Values::kLeftOut;
}

base::Error with_place(const base::Error& error, const ChunkEntry& chunk) {
  return {error.kind, error.message + ", at rank " + std::to_string(chunk.rank) + ", lane " +
                          std::to_string(chunk.lane) + ", " +
                          std::string(model::to_string(chunk.kind))};
}

}  // namespace

struct EventStore::State {
  State(std::unique_ptr<RunChunks> opened, const EventStoreOptions& options)
      : chunks(std::move(opened)),
        threads(base::thread_count(options.threads)),
        cache(options.cache_bytes) {}

  std::unique_ptr<DecodeScratch> take_scratch();
  void give(std::unique_ptr<DecodeScratch> scratch);
  template <typename Decode>
  base::Result<void> read(const ChunkEntry& chunk, Decode&& decode);
  ColumnCache::Value decode(const ChunkEntry& chunk);

  const std::unique_ptr<RunChunks> chunks;
  const int threads;
  ColumnCache cache;
  std::atomic<std::int64_t> decoded_chunks = 0;
  std::mutex mutex;
  std::vector<std::unique_ptr<DecodeScratch>> idle;  // as many as there were threads at once
};

EventStore::EventStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
EventStore::~EventStore() = default;

base::Result<std::unique_ptr<EventStore>> EventStore::open(const std::filesystem::path& run,
                                                           const EventStoreOptions& options) {
  TRY_ASSIGN(auto chunks, RunChunks::open(run, base::thread_count(options.threads)));
  return std::unique_ptr<EventStore>(
      new EventStore(std::make_unique<State>(std::move(chunks), options)));
}

std::shared_ptr<const std::vector<ChunkEntry>> EventStore::chunks() const {
  return state_->chunks->list();
}

std::vector<ChunkEntry> EventStore::chunks_in(int rank, int lane, model::EventKind kind,
                                              std::int64_t start_ns, std::int64_t end_ns) const {
  const auto all = chunks();
  const auto of_lane = std::ranges::equal_range(*all, std::tuple(rank, lane, kind), {}, lane_of);
  std::vector<ChunkEntry> found;
  for (const ChunkEntry& chunk : of_lane) {
    if (chunk.header.first_ns >= end_ns) break;
    // An event may have no length, at the very end of its chunk.
    if (chunk.header.last_ns >= start_ns) found.push_back(chunk);
  }
  return found;
}

base::Result<bool> EventStore::refresh() {
  const auto news = state_->chunks->refresh();
  for (const int file : news.opened_again) state_->cache.forget_failures(file);
  return news.any;
}

std::unique_ptr<DecodeScratch> EventStore::State::take_scratch() {
  const std::lock_guard lock(mutex);
  if (idle.empty()) return std::make_unique<DecodeScratch>();
  auto scratch = std::move(idle.back());
  idle.pop_back();
  return scratch;
}

void EventStore::State::give(std::unique_ptr<DecodeScratch> scratch) {
  const std::lock_guard lock(mutex);
  idle.push_back(std::move(scratch));
}

template <typename Decode>
base::Result<void> EventStore::State::read(const ChunkEntry& chunk, Decode&& decode) {
  auto scratch = take_scratch();
  const auto done = chunks->file_of(chunk).read(
      chunk.row_id, [&](std::span<const std::byte> data) { return decode(data, *scratch); });
  give(std::move(scratch));
  if (done) return {};
  return tl::make_unexpected(with_place(done.error(), chunk));
}

ColumnCache::Value EventStore::State::decode(const ChunkEntry& chunk) {
  ++decoded_chunks;
  std::shared_ptr<const EventColumns> columns;
  TRY(read(chunk,
           [&](std::span<const std::byte> data, DecodeScratch& scratch) -> base::Result<void> {
             TRY_ASSIGN(EventColumns decoded,
                        EventColumns::decode(chunk.header, data, scratch, values_of(chunk.kind)));
             columns = std::make_shared<const EventColumns>(std::move(decoded));
             return {};
           }));
  return columns;
}

base::Result<std::shared_ptr<const EventColumns>> EventStore::load(const ChunkEntry& chunk) {
  return state_->cache.get(key_of(chunk), [&] { return state_->decode(chunk); });
}

base::Result<std::vector<model::Event>> EventStore::load_whole(const ChunkEntry& chunk) {
  std::vector<model::Event> events;
  const auto decode = [&](std::span<const std::byte> data,
                          DecodeScratch& scratch) -> base::Result<void> {
    TRY_ASSIGN(events, decode_chunk(chunk.header, data, scratch.opener));
    return {};
  };
  TRY(state_->read(chunk, decode));
  return events;
}

EventStore::Visit EventStore::visit(
    std::span<const ChunkEntry> chunks,
    const std::function<void(int, const ChunkEntry&, const EventColumns&)>& visit,
    const std::function<bool()>& wanted) {
  // First what is in the cache: reading the others may drop it.
  std::vector<ChunkKey> keys;
  keys.reserve(chunks.size());
  for (const ChunkEntry& chunk : chunks) keys.push_back(key_of(chunk));
  auto cached = state_->cache.find(keys);
  std::vector<std::size_t> order(chunks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_partition(order, [&](std::size_t i) { return cached[i] != nullptr; });

  std::vector<Visit> parts(static_cast<std::size_t>(threads()));
  std::atomic<bool> stopped = false;
  base::for_each_side_by_side(threads(), order.size(), [&](int worker, std::size_t i) {
    if (stopped.load(std::memory_order_relaxed)) return;
    if (wanted && !wanted()) {
      stopped = true;
      return;
    }
    Visit& part = parts[static_cast<std::size_t>(worker)];
    const ChunkEntry& chunk = chunks[order[i]];
    const auto known = std::move(cached[order[i]]);
    const auto columns = known ? ColumnCache::Value(known) : load(chunk);
    if (columns) visit(worker, chunk, **columns);
    ++(columns ? part.visited : part.unreadable);
    if (!columns && part.problem.empty()) part.problem = columns.error().message;
  });
  Visit result;
  for (Visit& part : parts) {
    result.visited += part.visited;
    result.unreadable += part.unreadable;
    if (result.problem.empty()) result.problem = std::move(part.problem);
  }
  result.finished = !stopped;
  return result;
}

int EventStore::threads() const { return state_->threads; }

const GlobalNames& EventStore::names() const { return state_->chunks->names(); }
std::string EventStore::problem() const { return state_->chunks->problem(); }
std::size_t EventStore::cached_bytes() const { return state_->cache.bytes(); }
std::int64_t EventStore::decoded_chunks() const { return state_->decoded_chunks; }

}  // namespace shardlens::trace::store
