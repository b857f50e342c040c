#include "trace/interop/imported_rows.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <vector>

#include "trace/base/saturated.h"
#include "trace/store/run/trace_file.h"
#include "trace/store/write/row_writer.h"

namespace shardlens::trace::interop {

namespace {

constexpr std::int64_t kCommitInterval = 100'000'000;  // as a live recording
constexpr std::size_t kFewEvents = 4096;               // not worth a chunk of their own

// Rows are known once they have ended.
std::int64_t time_of(const model::Step& row) { return row.end_ns; }
std::int64_t time_of(const model::Span& row) { return row.end_ns; }
std::int64_t time_of(const model::Collective& row) { return row.end_ns; }
std::int64_t time_of(const model::MemorySample& row) { return row.time_ns; }
std::int64_t time_of(const model::UnitReady& row) { return row.time_ns; }
std::int64_t time_of(const model::Event& row) { return row.start_ns; }

base::Interval row_times(const model::MemorySample& row) { return {row.time_ns, row.time_ns}; }
base::Interval row_times(const model::Event& row) { return {row.start_ns, row.end_ns()}; }
template <typename Row>
base::Interval row_times(const Row& row) {
  return {row.start_ns, row.end_ns};
}

template <typename Row>
void extend(base::Interval& times, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const auto [start, end] = row_times(row);
    times.start_ns = std::min(times.start_ns, start);
    times.end_ns = std::max(times.end_ns, end);
  }
}

// Rows in order of time, given out slice by slice.
template <typename Row>
class Slices {
 public:
  explicit Slices(const std::vector<Row>& rows) : rows_(rows) {
    std::ranges::stable_sort(rows_, {}, [](const Row& row) { return time_of(row); });
  }
  void take_until(std::int64_t time_ns, std::vector<Row>& to) {
    for (; next_ < rows_.size() && time_of(rows_[next_]) < time_ns; ++next_) {
      to.push_back(rows_[next_]);
    }
  }
  // INT64_MAX: none is left.
  std::int64_t next_time() const {
    return next_ < rows_.size() ? time_of(rows_[next_]) : INT64_MAX;
  }

 private:
  std::vector<Row> rows_;
  std::size_t next_ = 0;
};

class RowReplay {
 public:
  explicit RowReplay(const model::Batch& rows)
      : rows_(rows),
        steps_(rows.steps),
        spans_(rows.spans),
        collectives_(rows.collectives),
        memory_(rows.memory),
        unit_ready_(rows.unit_ready) {
    for (std::size_t i = 0; i < rows.events.size(); ++i) await(i, 0);
  }

  // What has no time of its own.
  model::Batch beginning() const {
    model::Batch batch;
    batch.strings = rows_.strings;
    batch.lanes = rows_.lanes;
    batch.process_groups = rows_.process_groups;
    batch.rank_info = rows_.rank_info;
    batch.lost = rows_.lost;
    batch.log = rows_.log;
    batch.buckets = rows_.buckets;
    batch.units = rows_.units;
    batch.unit_parameters = rows_.unit_parameters;
    return batch;
  }

  model::Batch until(std::int64_t time_ns) {
    model::Batch batch;
    steps_.take_until(time_ns, batch.steps);
    spans_.take_until(time_ns, batch.spans);
    collectives_.take_until(time_ns, batch.collectives);
    memory_.take_until(time_ns, batch.memory);
    unit_ready_.take_until(time_ns, batch.unit_ready);
    while (!awaited_.empty() && awaited_.top().time_ns < time_ns) {
      const Awaited next = awaited_.top();
      awaited_.pop();
      const model::EventRun& run = rows_.events[next.run];
      const auto first = run.events.begin() + static_cast<std::ptrdiff_t>(next.event);
      const auto last = std::ranges::lower_bound(first, run.events.end(), time_ns, {},
                                                 [](const model::Event& e) { return time_of(e); });
      batch.events.push_back({run.rank, run.lane, run.kind, {first, last}});
      await(next.run, static_cast<std::size_t>(last - run.events.begin()));
    }
    return batch;
  }

  // Of the earliest row that is left; INT64_MAX: there is none.
  std::int64_t next_time() const {
    return std::min({steps_.next_time(), spans_.next_time(), collectives_.next_time(),
                     memory_.next_time(), unit_ready_.next_time(),
                     awaited_.empty() ? std::int64_t{INT64_MAX} : awaited_.top().time_ns});
  }

 private:
  // The next event of a run: those of a job's many threads are not looked through slice by slice.
  struct Awaited {
    std::int64_t time_ns = 0;
    std::size_t run = 0, event = 0;
    auto operator<=>(const Awaited&) const = default;
  };
  void await(std::size_t run, std::size_t event) {
    const auto& events = rows_.events[run].events;
    if (event < events.size()) awaited_.push({time_of(events[event]), run, event});
  }

  const model::Batch& rows_;
  Slices<model::Step> steps_;
  Slices<model::Span> spans_;
  Slices<model::Collective> collectives_;
  Slices<model::MemorySample> memory_;
  Slices<model::UnitReady> unit_ready_;
  std::priority_queue<Awaited, std::vector<Awaited>, std::greater<>> awaited_;
};

}  // namespace

base::Interval times_of(const model::Batch& rows) {
  base::Interval times{INT64_MAX, INT64_MIN};
  extend(times, rows.steps);
  extend(times, rows.spans);
  extend(times, rows.collectives);
  extend(times, rows.memory);
  for (const model::EventRun& run : rows.events) extend(times, run.events);
  return times;
}

namespace {

std::size_t events_in(const model::Batch& batch) {
  std::size_t count = 0;
  for (const model::EventRun& run : batch.events) count += run.events.size();
  return count;
}

// A slice for each stretch in which there are rows, however far apart those are.
base::Result<void> write_slices(store::RowWriter& writer, const model::Batch& rows,
                                const std::function<bool()>& goes_on) {
  RowReplay replay(rows);
  const auto [start, end] = times_of(rows);
  TRY(writer.begin());
  TRY(writer.write(replay.beginning()));
  TRY(writer.commit(start));
  std::size_t pending = 0;
  TRY(writer.begin());
  for (std::int64_t time = start;;) {
    time = base::saturated_add(std::max(time, replay.next_time()), kCommitInterval);
    const model::Batch batch = replay.until(time);
    TRY(writer.write(batch));
    pending += events_in(batch);
    const bool is_last = replay.next_time() == INT64_MAX;
    if (!is_last && pending < kFewEvents && batch.steps.empty()) continue;
    TRY(writer.commit(std::min(time, end)));
    if (is_last) return {};
    if (!goes_on()) return base::fail(base::ErrorKind::kFailed, "stopped while rows were written");
    pending = 0;
    TRY(writer.begin());
  }
}

}  // namespace

base::Result<void> write_imported_rows(const std::filesystem::path& file, int rank,
                                       const model::Batch& rows,
                                       const std::function<bool()>& goes_on) {
  TRY_ASSIGN(store::RowWriter writer, store::RowWriter::create_file(file, rank));
  TRY(write_slices(writer, rows, goes_on));
  { const store::RowWriter closed = std::move(writer); }
  return store::checkpoint_trace_file(file);
}

}  // namespace shardlens::trace::interop
