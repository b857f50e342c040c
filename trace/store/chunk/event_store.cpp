#include "trace/store/chunk/event_store.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <shared_mutex>
#include <tuple>

#include "trace/base/side_by_side.h"
#include "trace/store/chunk/chunk_file.h"
#include "trace/store/chunk/column_cache.h"
#include "trace/store/run/run_files.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::trace::store {

namespace fs = std::filesystem;

namespace {

// A file that was not read lately has a page in each block, and whoever lists them waits for the
// disk, not for a core.
constexpr int kLeastReaders = 8;

// Idle connections beside one for each file, so that who reads all files in turns opens none anew,
// nor do several threads that read the same one.
constexpr std::size_t kMoreIdle = 64;

auto place_of(const ChunkEntry& chunk) {
  return std::tuple(chunk.rank, chunk.lane, chunk.kind, chunk.header.first_ns, chunk.row_id);
}

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
  struct File {
    fs::path path;
    std::unique_ptr<ChunkFile> file;  // none: it could not be opened
    std::set<std::string> problems;
  };
  struct FileNews {
    std::unique_ptr<ChunkFile> opened;
    std::optional<base::Error> error;
    ChunkFile::News rows;
  };

  State(fs::path of, const EventStoreOptions& options)
      : run(std::move(of)),
        threads(base::thread_count(options.threads)),
        cache(options.cache_bytes) {}

  // ---- which chunks there are
  void find_files();
  // Side by side, of all files.
  std::vector<FileNews> read_news(int most_threads);
  bool take(std::vector<FileNews> news);  // whether there were any
  std::shared_ptr<const std::vector<ChunkEntry>> list() const;

  // ---- what is in them
  // Lives as long as this.
  ChunkFile& file_of(const ChunkEntry& chunk) const;
  std::unique_ptr<DecodeScratch> take_scratch();
  void give(std::unique_ptr<DecodeScratch> scratch);
  template <typename Decode>
  base::Result<void> read(const ChunkEntry& chunk, Decode&& decode);
  ColumnCache::Value decode(const ChunkEntry& chunk);

  const fs::path run;
  const int threads;
  bool is_folder = false;
  GlobalNames names;
  const std::shared_ptr<IdleConnections> connections = std::make_shared<IdleConnections>(kMoreIdle);
  std::mutex refreshing;
  mutable std::shared_mutex mutex;           // of files and chunks
  std::vector<std::unique_ptr<File>> files;  // never fewer
  std::shared_ptr<const std::vector<ChunkEntry>> chunks =
      std::make_shared<const std::vector<ChunkEntry>>();

  ColumnCache cache;
  std::atomic<std::int64_t> decoded_chunks = 0;
  std::mutex idle_mutex;
  std::vector<std::unique_ptr<DecodeScratch>> idle;  // as many as there were threads at once
};

EventStore::EventStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
EventStore::~EventStore() = default;

base::Result<std::unique_ptr<EventStore>> EventStore::open(const fs::path& run,
                                                           const EventStoreOptions& options) {
  auto state = std::make_unique<State>(run, options);
  std::error_code ignored;
  state->is_folder = fs::is_directory(run, ignored);
  state->find_files();
  // A run whose ranks have not begun has no files yet; another folder is none.
  if (state->files.empty()) TRY(read_run_info(run));
  auto news = state->read_news(std::max(state->threads, kLeastReaders));
  const auto is_open = [](const State::FileNews& one) { return one.opened != nullptr; };
  if (!news.empty() && std::ranges::none_of(news, is_open)) {
    return tl::make_unexpected(*news.front().error);
  }
  state->take(std::move(news));
  return std::unique_ptr<EventStore>(new EventStore(std::move(state)));
}

void EventStore::State::find_files() {
  std::vector<fs::path> paths;
  if (is_folder) {
    for (const auto& [rank, path] : rank_files(run)) paths.push_back(path);
  } else {
    paths.push_back(run);
  }
  const std::unique_lock lock(mutex);
  for (fs::path& path : paths) {
    const auto known = [&](const auto& file) { return file->path == path; };
    if (std::ranges::any_of(files, known)) continue;
    files.push_back(std::make_unique<File>());
    files.back()->path = std::move(path);
  }
  connections->allow(files.size() + kMoreIdle);
}

std::vector<EventStore::State::FileNews> EventStore::State::read_news(int most_threads) {
  std::vector<FileNews> news(files.size());
  base::for_each_side_by_side(most_threads, news.size(), [&](int, std::size_t i) {
    ChunkFile* file = files[i]->file.get();
    if (!file) {
      auto opened = ChunkFile::open(files[i]->path, connections);
      if (opened) {
        news[i].opened = std::move(*opened);
        file = news[i].opened.get();
      } else {
        news[i].error = opened.error();
        return;
      }
    }
    auto rows = file->tail();
    if (rows) {
      news[i].rows = std::move(*rows);
    } else {
      news[i].error = rows.error();
    }
  });
  return news;
}

bool EventStore::State::take(std::vector<FileNews> all) {
  bool any = false;
  std::vector<ChunkEntry> added;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const int number = static_cast<int>(i);
    const ChunkFile::News& rows = all[i].rows;
    names.add(rows.strings);
    for (ChunkEntry chunk : rows.chunks) {
      chunk.file = number;
      added.push_back(chunk);
    }
    if (rows.was_opened_again) cache.forget_failures(number);
    any = any || !rows.strings.empty() || all[i].opened;
    const std::unique_lock lock(mutex);
    File& file = *files[i];
    if (all[i].opened) {
      file.file = std::move(all[i].opened);
      file.problems.clear();
    }
    file.problems.insert(rows.problems.begin(), rows.problems.end());
    if (all[i].error) file.problems.insert(all[i].error->message);
  }
  if (added.empty()) return any;
  auto merged = std::make_shared<std::vector<ChunkEntry>>(*list());
  const auto middle = static_cast<std::ptrdiff_t>(merged->size());
  std::ranges::sort(added, {}, place_of);
  merged->insert(merged->end(), added.begin(), added.end());
  std::ranges::inplace_merge(*merged, merged->begin() + middle, {}, place_of);
  const std::unique_lock lock(mutex);
  chunks = std::move(merged);
  return true;
}

bool EventStore::refresh() {
  const std::lock_guard one_at_a_time(state_->refreshing);
  if (state_->is_folder) state_->find_files();
  return state_->take(state_->read_news(1));
}

std::shared_ptr<const std::vector<ChunkEntry>> EventStore::State::list() const {
  const std::shared_lock lock(mutex);
  return chunks;
}

std::shared_ptr<const std::vector<ChunkEntry>> EventStore::chunks() const { return state_->list(); }

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

ChunkFile& EventStore::State::file_of(const ChunkEntry& chunk) const {
  const std::shared_lock lock(mutex);
  return *files[static_cast<std::size_t>(chunk.file)]->file;
}

std::unique_ptr<DecodeScratch> EventStore::State::take_scratch() {
  const std::lock_guard lock(idle_mutex);
  if (idle.empty()) return std::make_unique<DecodeScratch>();
  auto scratch = std::move(idle.back());
  idle.pop_back();
  return scratch;
}

void EventStore::State::give(std::unique_ptr<DecodeScratch> scratch) {
  const std::lock_guard lock(idle_mutex);
  idle.push_back(std::move(scratch));
}

template <typename Decode>
base::Result<void> EventStore::State::read(const ChunkEntry& chunk, Decode&& decode) {
  auto scratch = take_scratch();
  const auto done = file_of(chunk).read(
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

std::string EventStore::problem() const {
  const std::shared_lock lock(state_->mutex);
  std::string text;
  for (const auto& file : state_->files) {
    for (const std::string& problem : file->problems) text += (text.empty() ? "" : "\n") + problem;
  }
  return text;
}

int EventStore::threads() const { return state_->threads; }

const GlobalNames& EventStore::names() const { return state_->names; }
std::size_t EventStore::cached_bytes() const { return state_->cache.bytes(); }
std::int64_t EventStore::decoded_chunks() const { return state_->decoded_chunks; }

}  // namespace shardlens::trace::store
