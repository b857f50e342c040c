#include "trace/store/read/run_reader.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "trace/base/side_by_side.h"
#include "trace/store/read/rank_tail.h"
#include "trace/store/run/run_files.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/run/trace_file.h"
#include "trace/store/sqlite/sqlite.h"
#include "trace/store/sqlite/stop_reading.h"

namespace shardlens::trace::store {

namespace fs = std::filesystem;

// One source per rank: in a folder each has a file of its own, in a packed file all share one.
// Ranks whose connections keep what they have prepared, some 50 KB each, while there is more to
// read.
constexpr std::size_t kMostThatKeepStatements = 64;

struct RunReader::State {
  struct Source {
    fs::path path;
    std::optional<TraceFile> file;  // of a packed run only the first source's
    RankTail tail;
  };

  fs::path path;
  bool packed = false;
  std::map<int, Source> sources;
  std::map<int, std::string> problems;  // by rank, as of the last time it was read
  std::optional<base::Error> pending;   // what went wrong while others were read; told at the end
  int next_rank = 0;                    // whose turn it is

  base::Result<void> open_packed();
  // Every file is tried; the first error.
  base::Result<void> find_new_files();
  // The same for who can go on with what is there.
  base::Result<void> need_files();
  base::Result<Database*> database(Source& source);
  base::Result<model::Batch> poll(Source& source, std::int64_t until_ns);
  // How many ranks' parts may be read at once where so many events are wanted.
  int most_side_by_side(std::int64_t most_events) const;
  std::vector<base::Result<model::Batch>> poll_side_by_side(const std::vector<Source*>& those,
                                                            std::int64_t until_ns);
  // What `read` gives of each rank that can be read; an error where none can.
  base::Result<void> read_each(
      const std::function<base::Result<model::Batch>(RankTail&, Database&)>& read,
      const std::function<void(const model::Batch&)>& take);
};

namespace {

base::Result<TraceFile> read_once(TraceFile file) {
  TRY(file.database().execute(kReadOnce));
  return file;
}

base::Result<TraceFile> open_rows(const fs::path& path) {
  return TraceFile::open(path).and_then(read_once);
}

}  // namespace

base::Result<void> RunReader::State::open_packed() {
  TRY_ASSIGN(TraceFile file, open_rows(path));
  TRY_ASSIGN(const auto ranks, ranks_in(file.database()));
  for (const int rank : ranks) sources.emplace(rank, Source{path, std::nullopt, RankTail(rank)});
  if (!sources.empty()) sources.begin()->second.file = std::move(file);
  return {};
}

base::Result<void> RunReader::State::find_new_files() {
  base::Result<void> result;
  if (packed) return result;
  for (auto& [rank, file] : rank_files(path)) {
    if (sources.contains(rank)) continue;
    auto opened = open_rank_file(path, file).and_then(read_once);
    if (opened) {
      problems.erase(rank);
      sources.emplace(rank, Source{std::move(file), std::move(*opened), RankTail(rank)});
      continue;
    }
    problems[rank] = opened.error().message;
    if (result) result = tl::make_unexpected(opened.error());
  }
  return result;
}

base::Result<void> RunReader::State::need_files() {
  auto found = find_new_files();
  return sources.empty() ? found : base::Result<void>();
}

base::Result<Database*> RunReader::State::database(Source& source) {
  Source& holder = packed ? sources.begin()->second : source;
  if (holder.file->is_stale() && !holder.file->is_replaced()) {
    TRY_ASSIGN(TraceFile again, open_rows(holder.path));
    holder.file = std::move(again);
  }
  return &holder.file->database();
}

RunReader::RunReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
RunReader::~RunReader() = default;

base::Result<std::unique_ptr<RunReader>> RunReader::open(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    return base::fail(base::ErrorKind::kMissing,
                      "there is no run " + base::quoted(path) +
                          ": name a run's folder or a packed .shardlens file");
  }
  auto state = std::make_unique<State>();
  state->path = path;
  state->packed = !fs::is_directory(path, error);
  TRY(read_run_info(path));
  if (state->packed) {
    TRY(state->open_packed());
  } else {
    TRY(state->need_files());
  }
  return std::unique_ptr<RunReader>(new RunReader(std::move(state)));
}

base::Result<model::RunInfo> RunReader::info() { return read_run_info(state_->path); }

base::Result<model::Batch> RunReader::State::poll(Source& source, std::int64_t until_ns) {
  TRY_ASSIGN(Database* const from, database(source));
  auto batch = source.tail.poll(*from, until_ns);
  const bool goes_on = batch && !batch->empty();
  if (!goes_on || sources.size() > kMostThatKeepStatements) from->drop_statements();
  forget_pages(*from);
  return batch;
}

// Those that share a file take turns.
int RunReader::State::most_side_by_side(std::int64_t most_events) const {
  if (packed) return 1;
  const std::int64_t parts = most_events / RankTail::kMostEvents;
  return static_cast<int>(std::clamp<std::int64_t>(parts, 1, base::thread_count(0)));
}

std::vector<base::Result<model::Batch>> RunReader::State::poll_side_by_side(
    const std::vector<Source*>& those, std::int64_t until_ns) {
  std::vector<base::Result<model::Batch>> polled(those.size());
  StopReading* const stop = StopReading::innermost();
  base::for_each_side_by_side(static_cast<int>(those.size()), those.size(),
                              [&](int, std::size_t i) {
                                const StopReading::OnBehalf reading(stop);
                                polled[i] = poll(*those[i], until_ns);
                              });
  return polled;
}

base::Result<std::vector<model::Batch>> RunReader::poll(std::int64_t until_ns,
                                                        std::int64_t most_events) {
  State& s = *state_;
  const auto note = [&](const base::Error& error) {
    if (!s.pending) s.pending = error;
  };
  if (const auto found = s.find_new_files(); !found) note(found.error());
  std::vector<model::Batch> batches;
  std::int64_t events = 0;
  auto turn = s.sources.lower_bound(s.next_rank);
  for (std::size_t asked = 0; asked < s.sources.size() && events < most_events;) {
    std::vector<State::Source*> sources;
    const int most = s.most_side_by_side(most_events - events);
    for (; asked < s.sources.size() && std::ssize(sources) < most; ++asked) {
      if (turn == s.sources.end()) turn = s.sources.begin();
      sources.push_back(&(turn++)->second);
    }
    auto polled = s.poll_side_by_side(sources, until_ns);
    for (std::size_t i = 0; i < polled.size(); ++i) {
      auto& batch = polled[i];
      const int rank = sources[i]->tail.rank();
      s.problems.erase(rank);
      if (!batch) {
        s.problems[rank] = batch.error().message;
        note(batch.error());
      } else if (!batch->empty()) {
        events += count_events(*batch);
        batches.push_back(std::move(*batch));
      }
    }
  }
  s.next_rank = turn == s.sources.end() ? 0 : turn->first;
  // What was read would not come again.
  if (!batches.empty() || !s.pending) return batches;
  return tl::make_unexpected(*std::exchange(s.pending, std::nullopt));
}

base::Result<RunReader::CommitRange> RunReader::commit_range() {
  TRY(state_->need_files());
  CommitRange range;
  for (auto& [rank, source] : state_->sources) {
    TRY_ASSIGN(Database* const database, state_->database(source));
    TRY_ASSIGN(const auto commits, source.tail.commits(*database));
    if (!commits) continue;
    const bool is_first = range.first_ns == 0;
    const auto earlier = [&](std::int64_t& time_ns, std::int64_t of_rank_ns) {
      time_ns = is_first ? of_rank_ns : std::min(time_ns, of_rank_ns);
    };
    earlier(range.idle_until_ns, commits->idle_until_ns);
    earlier(range.first_ns, commits->first_ns);
    range.last_ns = std::max(range.last_ns, commits->last_ns);
  }
  if (range.idle_until_ns == range.last_ns) range.idle_until_ns = range.first_ns;
  return range;
}

void RunReader::rewind() {
  state_->pending.reset();
  state_->next_rank = 0;
  for (auto& [rank, source] : state_->sources) source.tail.rewind();
}

base::Result<void> RunReader::State::read_each(
    const std::function<base::Result<model::Batch>(RankTail&, Database&)>& read,
    const std::function<void(const model::Batch&)>& take) {
  TRY(need_files());
  base::Result<void> result;
  bool has_read = false;
  for (auto& [rank, source] : sources) {
    const auto batch = database(source).and_then([&](Database* from) {
      auto rows = read(source.tail, *from);
      from->drop_statements();
      forget_pages(*from);
      return rows;
    });
    if (batch) {
      has_read = true;
      if (!batch->empty()) take(*batch);
    } else {
      if (StopReading::wanted()) return tl::make_unexpected(batch.error());
      problems[rank] = batch.error().message;
      result = tl::make_unexpected(batch.error());
    }
  }
  return has_read ? base::Result<void>() : result;
}

base::Result<void> RunReader::read_range(std::int64_t start_ns, std::int64_t end_ns,
                                         const std::function<void(const model::Batch&)>& take,
                                         std::int64_t until_ns) {
  return state_->read_each(
      [&](RankTail& tail, Database& from) {
        return tail.read_range(from, start_ns, end_ns, until_ns);
      },
      take);
}

base::Result<void> RunReader::read_facts(const std::function<void(const model::Batch&)>& take) {
  return state_->read_each([](RankTail& tail, Database& from) { return tail.read_facts(from); },
                           take);
}

base::Result<void> RunReader::read_pulse(const std::function<void(const model::Batch&)>& take) {
  return state_->read_each([](RankTail& tail, Database& from) { return tail.read_pulse(from); },
                           take);
}

int RunReader::readable_ranks() const {
  return static_cast<int>(std::ranges::count_if(state_->sources, [this](const auto& source) {
    return !state_->problems.contains(source.first);
  }));
}

std::vector<std::string> RunReader::problems() const {
  std::vector<std::string> texts;
  for (const auto& [rank, text] : state_->problems) texts.push_back(text);
  return texts;
}

bool RunReader::is_replaced() const {
  return std::ranges::any_of(state_->sources, [](const auto& source) {
    return source.second.file && source.second.file->is_replaced();
  });
}

std::int64_t RunReader::bytes_on_disk() const {
  if (state_->packed) return base::file_size_or_zero(state_->path);
  std::int64_t bytes = base::file_size_or_zero(state_->path / kRunFile);
  for (const auto& [rank, source] : state_->sources) {
    bytes += bytes_with_wal(source.path);
  }
  return bytes;
}

base::Result<std::vector<std::string>> read_everything(
    RunReader& reader, const std::function<void(const model::Batch&)>& take) {
  bool has_rows = false;
  bool has_just_failed = false;
  while (true) {
    const auto batches = reader.poll();
    if (!batches) {
      // Nobody else has anything left.
      if (std::exchange(has_just_failed, true)) {
        return has_rows ? base::Result<std::vector<std::string>>(reader.problems())
                        : tl::make_unexpected(batches.error());
      }
      continue;
    }
    has_just_failed = false;
    if (batches->empty()) return reader.problems();
    has_rows = true;
    for (const model::Batch& batch : *batches) take(batch);
  }
}

model::RunInfo without_unreadable(model::RunInfo info, std::vector<std::string> problems,
                                  int readable_ranks) {
  info.unreadable = std::move(problems);
  if (!info.unreadable.empty() && readable_ranks > 0) info.recorded_ranks = readable_ranks;
  return info;
}

}  // namespace shardlens::trace::store
