#include "trace/interop/imported_rows.h"

#include <algorithm>
#include <vector>

#include "trace/store/row_writer.h"
#include "trace/store/trace_file.h"

namespace shardlens::trace {

namespace {

constexpr std::int64_t kCommitInterval = 100'000'000;  // as a live recording
constexpr std::size_t kFewEvents = 4096;               // not worth a chunk of their own

// Rows are known once they have ended.
std::int64_t time_of(const Step& row) { return row.end_ns; }
std::int64_t time_of(const Span& row) { return row.end_ns; }
std::int64_t time_of(const Collective& row) { return row.end_ns; }
std::int64_t time_of(const MemorySample& row) { return row.time_ns; }
std::int64_t time_of(const Event& row) { return row.start_ns; }

ImportedTimes times_of(const MemorySample& row) { return {row.time_ns, row.time_ns}; }
ImportedTimes times_of(const Event& row) { return {row.start_ns, row.end_ns()}; }
template <typename Row>
ImportedTimes times_of(const Row& row) {
  return {row.start_ns, row.end_ns};
}

template <typename Row>
void extend(ImportedTimes& times, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const auto [start, end] = times_of(row);
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

 private:
  std::vector<Row> rows_;
  std::size_t next_ = 0;
};

class RowReplay {
 public:
  explicit RowReplay(const Batch& rows)
      : rows_(rows),
        steps_(rows.steps),
        spans_(rows.spans),
        collectives_(rows.collectives),
        memory_(rows.memory),
        next_event_(rows.events.size()) {}

  // What has no time of its own.
  Batch beginning() const {
    Batch batch;
    batch.strings = rows_.strings;
    batch.lanes = rows_.lanes;
    batch.process_groups = rows_.process_groups;
    batch.rank_info = rows_.rank_info;
    batch.lost = rows_.lost;
    batch.log = rows_.log;
    return batch;
  }

  Batch until(std::int64_t time_ns) {
    Batch batch;
    steps_.take_until(time_ns, batch.steps);
    spans_.take_until(time_ns, batch.spans);
    collectives_.take_until(time_ns, batch.collectives);
    memory_.take_until(time_ns, batch.memory);
    for (std::size_t i = 0; i < rows_.events.size(); ++i) {
      const EventRun& run = rows_.events[i];
      const auto first = run.events.begin() + static_cast<std::ptrdiff_t>(next_event_[i]);
      const auto last = std::ranges::lower_bound(first, run.events.end(), time_ns, {},
                                                 [](const Event& e) { return time_of(e); });
      if (first == last) continue;
      batch.events.push_back({run.rank, run.lane, run.kind, {first, last}});
      next_event_[i] += static_cast<std::size_t>(last - first);
    }
    return batch;
  }

 private:
  const Batch& rows_;
  Slices<Step> steps_;
  Slices<Span> spans_;
  Slices<Collective> collectives_;
  Slices<MemorySample> memory_;
  std::vector<std::size_t> next_event_;
};

}  // namespace

ImportedTimes times_of(const Batch& rows) {
  ImportedTimes times{INT64_MAX, INT64_MIN};
  extend(times, rows.steps);
  extend(times, rows.spans);
  extend(times, rows.collectives);
  extend(times, rows.memory);
  for (const EventRun& run : rows.events) extend(times, run.events);
  return times;
}

namespace {

std::size_t events_in(const Batch& batch) {
  std::size_t count = 0;
  for (const EventRun& run : batch.events) count += run.events.size();
  return count;
}

Result<void> write_slices(RowWriter& writer, const Batch& rows) {
  RowReplay replay(rows);
  const auto [start, end] = times_of(rows);
  TRY(writer.begin());
  TRY(writer.write(replay.beginning()));
  TRY(writer.commit(start));
  std::size_t pending = 0;
  TRY(writer.begin());
  for (std::int64_t time = start + kCommitInterval;; time += kCommitInterval) {
    const bool is_last = time > end;
    const Batch batch = replay.until(time);
    TRY(writer.write(batch));
    pending += events_in(batch);
    if (!is_last && pending < kFewEvents && batch.steps.empty()) continue;
    TRY(writer.commit(std::min(time, end)));
    if (is_last) return {};
    pending = 0;
    TRY(writer.begin());
  }
}

}  // namespace

Result<void> write_imported_rows(const std::filesystem::path& file, int rank, const Batch& rows) {
  TRY_ASSIGN(RowWriter writer, RowWriter::create_file(file, rank));
  TRY(write_slices(writer, rows));
  TRY(writer.finish());
  { const RowWriter closed = std::move(writer); }
  return checkpoint_trace_file(file);
}

}  // namespace shardlens::trace
