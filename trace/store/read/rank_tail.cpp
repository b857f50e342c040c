#include "trace/store/read/rank_tail.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <type_traits>
#include <utility>

#include "trace/base/saturated.h"
#include "trace/base/text.h"
#include "trace/store/chunk/chunk_codec.h"
#include "trace/store/chunk/chunk_file.h"
#include "trace/store/table/schema.h"

namespace shardlens::trace::store {

namespace {

// Of one poll: about half a minute of a live run.
constexpr std::int64_t kMostCommits = 256;
constexpr std::int64_t kMostChunks = 4096;
// Clocks may be off by a little.
constexpr std::int64_t kClockErrorNs = 2'000'000'000;
// Host rows are written at most one or two commits after they ended. What a GPU did comes as a full
// buffer, up to seconds later; collectives whose kernel never came wait for it that long, too.
constexpr std::int64_t kLongestDelayNs = 10'000'000'000;
constexpr int kLateCommits = 16;

// Of the parts that read_some() gives; strings come before all.
template <typename Row>
constexpr bool kIsLeftOut = std::is_same_v<Row, model::InternedString> ||
                            std::is_same_v<Row, model::LogLine> || std::is_same_v<Row, model::Lost>;

constexpr const char* kRowIds = "row_id > ?1 and row_id <= ?2";

// The place of a table in the marks of a commit.
std::size_t mark_of(std::string_view table) {
  const auto names = mark_names();
  const auto found = std::ranges::find(names, "last_" + std::string(table));
  return static_cast<std::size_t>(found - names.begin());
}

tl::unexpected<base::Error> damaged(const Database& database, std::string_view why) {
  return tl::make_unexpected(damaged_file(database.file(), why));
}

void bind_all(Statement& statement, std::span<const std::int64_t> values) {
  for (int i = 0; const std::int64_t value : values) statement.bind(++i, value);
}

}  // namespace

RankTail::RankTail(int rank) : rank_(rank), last_indexed_string_(first_row_id(rank)) { rewind(); }

void RankTail::rewind() {
  marks_.fill(first_row_id(rank_));
  last_batch_ = first_row_id(rank_);
  rank_info_.reset();
  time_ = {};
}

template <typename Row, typename Take>
base::Result<void> RankTail::visit(Database& database, const std::string& condition, Values values,
                                   std::int64_t most, Take take) const {
  TRY_ASSIGN(auto statement,
             database.prepare_once("select rowid," + column_names(columns_of_table<Row>()) +
                                   " from " + RowTable<Row>::kName + " where " + condition +
                                   " order by rowid limit ?9"));
  bind_all(*statement, values);
  statement->bind(9, most);
  return statement->for_each_row([&](const Statement& from) -> base::Result<void> {
    Row row;
    RowScanner scanner(from, strings_, 1);
    row_fields(scanner, row);
    return take(std::move(row), from.integer(0), scanner.problem());
  });
}

template <typename Row>
base::Result<void> RankTail::select(Database& database, const std::string& condition, Values values,
                                    std::vector<Row>& rows) const {
  return visit<Row>(database, condition, values, -1,
                    [&](Row row, std::int64_t, const std::string& problem) -> base::Result<void> {
                      if (!problem.empty()) return damaged(database, problem);
                      rows.push_back(std::move(row));
                      return {};
                    });
}

template <typename Row>
base::Result<std::optional<Row>> RankTail::select_one(Database& database) const {
  std::vector<Row> rows;
  TRY(select(database, "rank=?1", std::array{std::int64_t{rank_}}, rows));
  return rows.empty() ? std::optional<Row>() : std::optional(std::move(rows.front()));
}

// The last chunk of as many as one poll takes. No row behind it is read: the chunks of a large run
// would be gone through again with every poll.
base::Result<std::int64_t> RankTail::last_chunk_of_poll(Database& database) const {
  TRY_ASSIGN(auto statement, database.prepare_once(
                                 "select row_id,count from chunk where row_id > ?1 and row_id < ?2 "
                                 "order by row_id limit ?3"));
  bind_all(*statement, std::array{marks_[kChunkMark], first_row_id(rank_ + 1), kMostChunks});
  std::int64_t last = marks_[kChunkMark];
  for (std::int64_t events = 0;;) {
    TRY_ASSIGN(const bool more, statement->step());
    if (!more) return last;
    events = base::saturated_add(events, std::max<std::int64_t>(0, statement->integer(1)));
    if (events > kMostEvents) return last;
    last = statement->integer(0);
  }
}

base::Result<RankTail::Target> RankTail::find_target(Database& database,
                                                     std::int64_t until_ns) const {
  std::string sql = "select row_id,committed_ns";
  for (const std::string& name : mark_names()) sql += "," + name;
  TRY_ASSIGN(auto statement,
             database.prepare_once(sql + " from batch where row_id > ?1 and row_id < ?2 "
                                         "order by row_id limit ?3"));
  bind_all(*statement, std::array{last_batch_, first_row_id(rank_ + 1), kMostCommits});
  TRY_ASSIGN(const std::int64_t last_chunk, last_chunk_of_poll(database));
  Target target{marks_, last_batch_};
  std::int64_t taken = 0;
  for (bool is_first = true;; is_first = false) {
    TRY_ASSIGN(const bool found, statement->step());
    // Marks only grow.
    target.has_more = found ? !is_first && statement->integer(2 + kChunkMark) > last_chunk
                            : taken == kMostCommits;
    if (!found || target.has_more) break;
    if (statement->integer(1) > until_ns) continue;
    ++taken;
    target.batch = statement->integer(0);
    for (int i = 0; i < kMarkCount; ++i) {
      target.marks[static_cast<std::size_t>(i)] = statement->integer(i + 2);
    }
  }
  TRY_ASSIGN(auto later, database.prepare_once(
                             "select 1 from batch where row_id > ?1 and row_id < ?2 limit 1"));
  bind_all(*later, std::array{target.batch, first_row_id(rank_ + 1)});
  TRY_ASSIGN(const bool more, later->step());
  target.is_last = !more;
  return target;
}

base::Result<std::vector<model::InternedString>> RankTail::index_strings(Database& database) {
  std::vector<model::InternedString> strings;
  const std::array rest{last_indexed_string_, first_row_id(rank_ + 1) - 1};
  TRY(visit<model::InternedString>(
      database, kRowIds, rest, -1,
      [&](model::InternedString string, std::int64_t id, const std::string&) -> base::Result<void> {
        strings_.add(string.id, string.text);
        last_indexed_string_ = id;
        strings.push_back(std::move(string));
        return {};
      }));
  return strings;
}

// Commits without a row are not the end.
base::Result<model::Batch> RankTail::poll(Database& database, std::int64_t until_ns) {
  const WholeReading reading(database, time_);
  while (true) {
    const std::int64_t before = last_batch_;
    TRY_ASSIGN(model::Batch batch, poll_part(database, until_ns));
    if (!batch.empty() || last_batch_ == before) return batch;
  }
}

base::Result<model::Batch> RankTail::poll_part(Database& database, std::int64_t until_ns) {
  ReadTransaction transaction(database);
  TRY(transaction.begin());
  TRY_ASSIGN(const Target target, find_target(database, until_ns));
  if (!target.has_more) time_ = {};
  model::Batch batch;
  if (target.batch == last_batch_) return batch;
  TRY(index_strings(database));
  TRY(read_rows(database, target, batch));
  TRY(read_rank_info(database, batch));
  if (target.is_last) TRY(read_present(database, batch));
  marks_ = target.marks;
  last_batch_ = target.batch;
  return batch;
}

base::Result<void> RankTail::read_rows(Database& database, const Target& target,
                                       model::Batch& batch) const {
  std::size_t next = 0;
  base::Result<void> done;
  for_each_row_list([&](auto list) {
    const std::size_t table = next++;
    if (!done || target.marks[table] == marks_[table]) return;
    done = select(database, kRowIds, std::array{marks_[table], target.marks[table]}, batch.*list);
  });
  TRY(done);
  std::vector<BucketParameter> parameters;
  TRY(select(database, kRowIds,
             std::array{marks_[kBucketParameterMark], target.marks[kBucketParameterMark]},
             parameters));
  auto parameter = parameters.begin();
  for (model::Bucket& bucket : batch.buckets) {
    bucket.parameter_bytes.resize(bucket.parameters.size());
    for (std::size_t i = 0; i < bucket.parameters.size(); ++i) {
      if (parameter == parameters.end()) return damaged(database, "a bucket lacks parameters");
      bucket.parameters[i] = parameter->name;
      bucket.parameter_bytes[i] = parameter->bytes;
      ++parameter;
    }
  }
  return read_chunks(database, kRowIds, std::array{marks_[kChunkMark], target.marks[kChunkMark]},
                     batch);
}

template <typename Row>
base::Result<void> RankTail::read_on(Database& database, std::size_t table, std::int64_t& left,
                                     std::vector<Row>& rows, std::vector<std::int64_t>* ids) {
  if (left <= 0) return {};
  const std::array rest{marks_[table], first_row_id(rank_ + 1) - 1};
  return visit<Row>(
      database, kRowIds, rest, left,
      [&](Row row, std::int64_t id, const std::string& problem) -> base::Result<void> {
        marks_[table] = id;
        --left;
        // The others are still worth showing, and no later call asks for this one again.
        if (!problem.empty()) {
          if (problem_.empty()) problem_ = database.file() + " is damaged (" + problem + ")";
          return {};
        }
        row.rank = rank_;
        rows.push_back(std::move(row));
        if (ids != nullptr) ids->push_back(id);
        return {};
      });
}

base::Result<RowPart> RankTail::read_some(Database& database, std::int64_t most) {
  ReadTransaction transaction(database);
  TRY(transaction.begin());
  RowPart part;
  TRY_ASSIGN(part.rows.strings, index_strings(database));
  std::int64_t left = std::max<std::int64_t>(most, 1);
  std::size_t next = 0;
  base::Result<void> done;
  for_each_row_list([&](auto list) {
    using Row = decltype(row_type_of(list));
    const std::size_t table = next++;
    if constexpr (!kIsLeftOut<Row>) {
      std::vector<std::int64_t>* ids = nullptr;
      if constexpr (std::is_same_v<Row, model::Span>) ids = &part.span_ids;
      if constexpr (std::is_same_v<Row, model::Collective>) ids = &part.collective_ids;
      if (done) done = read_on(database, table, left, part.rows.*list, ids);
    }
  });
  TRY(done);
  TRY(read_on(database, kBucketParameterMark, left, part.bucket_parameters, nullptr));
  for (model::Bucket& bucket : part.rows.buckets) bucket.parameters.clear();
  part.has_rows = !part.rows.empty() || !part.bucket_parameters.empty();
  part.has_more = left <= 0;
  TRY_ASSIGN(part.rows.rank_info, select_one<model::RankInfo>(database));
  database.drop_statements();
  return part;
}

base::Result<void> RankTail::read_present(Database& database, model::Batch& batch) {
  TRY_ASSIGN(batch.heartbeat, select_one<model::Heartbeat>(database));
  TRY_ASSIGN(batch.cost, select_one<model::RecorderCost>(database));
  std::vector<model::PendingCollective> pending;
  TRY(select(database, kRowIds, std::array{first_row_id(rank_), first_row_id(rank_ + 1) - 1},
             pending));
  batch.pending = std::move(pending);
  return {};
}

base::Result<void> RankTail::read_rank_info(Database& database, model::Batch& batch) {
  TRY_ASSIGN(auto info, select_one<model::RankInfo>(database));
  if (info == rank_info_) return {};
  rank_info_ = info;
  batch.rank_info = std::move(info);
  return {};
}

base::Result<void> RankTail::read_chunks(Database& database, const std::string& condition,
                                         Values values, model::Batch& batch) const {
  TRY_ASSIGN(auto statement,
             database.prepare_once(std::string(kSelectChunks) + ",data from chunk where " +
                                   condition + " order by row_id"));
  bind_all(*statement, values);
  ChunkOpener opener;
  return statement->for_each_row([&](const Statement& row) -> base::Result<void> {
    const ChunkEntry chunk = chunk_entry(row);
    if (!chunk.makes_sense) return damaged(database, "the row of a chunk makes no sense");
    auto events = decode_chunk(chunk.header, row.blob(9), opener);
    if (!events) {
      return base::fail(events.error().kind, database.file() + ": " + events.error().message);
    }
    batch.events.push_back({rank_, chunk.lane, chunk.kind, std::move(*events)});
    return {};
  });
}

base::Result<std::optional<TableMarks>> RankTail::marks_of(Database& database,
                                                           const std::string& condition,
                                                           std::int64_t value) const {
  TRY_ASSIGN(auto statement, database.prepare_once("select " + base::joined(mark_names(), ",") +
                                                   " from batch where row_id > ?1 and row_id < ?2 "
                                                   "and " +
                                                   condition));
  bind_all(*statement, std::array{first_row_id(rank_), first_row_id(rank_ + 1), value});
  TRY_ASSIGN(const bool found, statement->step());
  if (!found) return std::optional<TableMarks>();
  TableMarks marks{};
  for (int i = 0; i < kMarkCount; ++i) {
    marks[static_cast<std::size_t>(i)] = statement->integer(i);
  }
  return std::optional(marks);
}

// A row is not written before it ended, hence after the commits made before the range; and not long
// after the first step that begins so much later, whenever that was committed: an import commits
// all at once.
base::Result<RankTail::Bounds> RankTail::bounds_of(Database& database, std::int64_t start_ns,
                                                   std::int64_t end_ns) const {
  Bounds bounds;
  bounds.after.fill(first_row_id(rank_));
  bounds.to.fill(first_row_id(rank_ + 1) - 1);
  if (start_ns < INT64_MIN + kClockErrorNs || end_ns > INT64_MAX - kLongestDelayNs) return bounds;
  TRY_ASSIGN(const auto before,
             marks_of(database, "committed_ns <= ?3 order by row_id desc limit 1",
                      start_ns - kClockErrorNs));
  if (before) bounds.after = *before;
  const std::size_t step_mark = mark_of("step");
  TRY_ASSIGN(auto statement, database.prepare_once("select row_id from step where row_id > ?1 and "
                                                   "row_id < ?2 and start_ns >= ?3 "
                                                   "order by row_id limit 1"));
  bind_all(*statement,
           std::array{bounds.after[step_mark], first_row_id(rank_ + 1), end_ns + kLongestDelayNs});
  TRY_ASSIGN(const bool found, statement->step());
  if (!found) return bounds;
  TRY_ASSIGN(const auto later, marks_of(database,
                                        "last_step >= ?3 order by row_id limit 1 offset " +
                                            std::to_string(kLateCommits),
                                        statement->integer(0)));
  if (later) bounds.to = *later;
  return bounds;
}

base::Result<void> RankTail::end_at(Database& database, std::int64_t until_ns,
                                    Bounds& bounds) const {
  if (until_ns == INT64_MAX) return {};
  TRY_ASSIGN(const auto last,
             marks_of(database, "committed_ns <= ?3 order by row_id desc limit 1", until_ns));
  for (std::size_t i = 0; i < bounds.to.size(); ++i) {
    bounds.to[i] = std::min(bounds.to[i], last ? (*last)[i] : bounds.after[i]);
  }
  return {};
}

base::Result<model::Batch> RankTail::read_range(Database& database, std::int64_t start_ns,
                                                std::int64_t end_ns, std::int64_t until_ns) {
  ReadTransaction transaction(database);
  TRY(transaction.begin());
  TRY(index_strings(database));
  TRY_ASSIGN(Bounds bounds, bounds_of(database, start_ns, end_ns));
  TRY(end_at(database, until_ns, bounds));
  const auto within = [&](const char* table) {
    const std::size_t mark = mark_of(table);
    return std::array{bounds.after[mark], bounds.to[mark], start_ns, end_ns};
  };
  const std::string touches = kRowIds + std::string(" and end_ns > ?3 and start_ns < ?4");
  const std::string inside = kRowIds + std::string(" and time_ns >= ?3 and time_ns < ?4");
  model::Batch batch;
  TRY(select(database, touches, within("span"), batch.spans));
  TRY(select(database, touches, within("collective"), batch.collectives));
  TRY(select(database, inside, within("bucket_ready"), batch.bucket_ready));
  TRY(select(database, inside, within("unit_ready"), batch.unit_ready));
  TRY(select(database, inside, within("memory"), batch.memory));
  TRY(read_chunks(database, kRowIds + std::string(" and last_ns > ?3 and first_ns < ?4"),
                  within("chunk"), batch));
  for (model::EventRun& run : batch.events) {
    std::erase_if(run.events, [&](const model::Event& event) {
      return event.end_ns() <= start_ns || event.start_ns >= end_ns;
    });
  }
  std::erase_if(batch.events, [](const model::EventRun& run) { return run.events.empty(); });
  return batch;
}

base::Result<model::Batch> RankTail::read_facts(Database& database) {
  ReadTransaction transaction(database);
  TRY(transaction.begin());
  TRY(index_strings(database));
  Target target{marks_, last_batch_};
  for (const char* const table :
       {"string", "process_group", "bucket", "bucket_parameter", "unit", "unit_parameter", "log"}) {
    target.marks[mark_of(table)] = first_row_id(rank_ + 1) - 1;
  }
  model::Batch batch;
  TRY(read_rows(database, target, batch));
  TRY_ASSIGN(batch.rank_info, select_one<model::RankInfo>(database));
  return batch;
}

base::Result<model::Batch> RankTail::read_pulse(Database& database) {
  ReadTransaction transaction(database);
  TRY(transaction.begin());
  TRY_ASSIGN(const auto marks,
             marks_of(database, "committed_ns <= ?3 order by row_id desc limit 1", INT64_MAX));
  model::Batch batch;
  if (!marks) return batch;
  const std::size_t step = mark_of("step");
  TRY(select(database, kRowIds, std::array{marks_[step], (*marks)[step]}, batch.steps));
  TRY_ASSIGN(batch.heartbeat, select_one<model::Heartbeat>(database));
  TRY(read_rank_info(database, batch));
  marks_[step] = (*marks)[step];
  return batch;
}

base::Result<std::optional<RankTail::Commits>> RankTail::commits(Database& database) const {
  const std::string of_rank = " from batch where " + numbered_of(rank_) + " order by row_id ";
  Commits range;
  TRY_ASSIGN(range.first_ns, database.integer("select committed_ns" + of_rank + "limit 1"));
  if (range.first_ns == 0) return std::optional<Commits>();
  std::string is_idle;
  for (const char* mark : {"last_step", "last_span", "last_collective", "last_chunk"}) {
    is_idle += std::string(" and ") + mark + " <= " + std::to_string(first_row_id(rank_));
  }
  TRY_ASSIGN(range.idle_until_ns, database.integer("select max(committed_ns) from batch where " +
                                                   numbered_of(rank_) + is_idle));
  range.idle_until_ns = std::max(range.idle_until_ns, range.first_ns);
  TRY_ASSIGN(range.last_ns, database.integer("select committed_ns" + of_rank + "desc limit 1"));
  return std::optional<Commits>(range);
}

}  // namespace shardlens::trace::store
