#include <chrono>
#include <thread>
#include <variant>

#include "bench/recorder/parts.h"
#include "bench/recorder/scratch_recorder.h"
#include "trace/store/digest/row_checksums.h"
#include "trace/store/sqlite/row_digest.h"
#include "trace/store/table/schema.h"

namespace shardlens::bench {
namespace {

using profiler::Recorder;

// As an operator trace looks: 40 names, irregular durations of one or two microseconds, as a
// launch-bound job has them, or of up to a quarter of a millisecond. The times of as many of those
// lie in the future.
class EventStream {
 public:
  enum class Times { kNow, kAhead };
  explicit EventStream(Recorder& recorder, Times times = Times::kNow)
      : recorder_(recorder),
        times_(times),
        lane_(recorder.add_lane(trace::LaneKind::kOperators, "bench")) {
    for (int i = 0; i < 40; ++i) names_.push_back(recorder.intern("aten::op" + std::to_string(i)));
  }
  void push(int count) {
    for (int i = 0; i < count; ++i) {
      trace::Event event;
      event.start_ns = time_;
      // Linear congruential, constants of Numerical Recipes; its high bits are irregular.
      random_ = random_ * 1664525 + 1013904223;
      event.duration_ns = times_ == Times::kNow ? 300 + (random_ >> 21) : 1'000 + (random_ >> 14);
      event.name = names_[(random_ >> 8) % names_.size()];
      event.flags = trace::kEventLeaf;
      recorder_.add_event(lane_, trace::EventKind::kOperator, event);
      time_ += event.duration_ns + 100;
    }
  }

 private:
  Recorder& recorder_;
  const Times times_;
  const int lane_;
  std::vector<trace::StringId> names_;
  std::int64_t time_ = Recorder::now_ns();
  std::uint32_t random_ = 1;
};

// A row of any table, out of the file.
using Value = std::variant<std::monostate, std::int64_t, double, std::string>;
using TableRow = std::vector<Value>;

Value value_of(const trace::Statement& statement, int column) {
  switch (sqlite3_column_type(statement.get(), column)) {
    case SQLITE_INTEGER:
      return statement.integer(column);
    case SQLITE_FLOAT:
      return statement.real(column);
    case SQLITE_NULL:
      return {};
    default:
      return std::string(statement.text(column));
  }
}

trace::Result<std::vector<TableRow>> rows_of(trace::Database& database, const std::string& table) {
  const auto names = trace::digested_columns(table);
  std::string columns;
  for (const auto& name : names) columns += (columns.empty() ? "" : ",") + name;
  TRY_ASSIGN(auto statement, database.prepare("select " + columns + " from " + table));
  std::vector<TableRow> rows;
  while (true) {
    TRY_ASSIGN(const bool more, statement.step());
    if (!more) return rows;
    TableRow& row = rows.emplace_back();
    for (int i = 0; i < sqlite3_column_count(statement.get()); ++i)
      row.push_back(value_of(statement, i));
  }
}

void digest(const TableRow& row, std::uint64_t table, trace::RowDigest& digest) {
  struct Add {
    trace::RowDigest& digest;
    void operator()(std::monostate) const { digest.add_null(); }
    void operator()(std::int64_t value) const { digest.add_integer(value); }
    void operator()(double value) const { digest.add_real(value); }
    void operator()(const std::string& value) const { digest.add_text(value); }
  };
  for (const Value& value : row) std::visit(Add{digest}, value);
  digest.end_row(table);
}

// What the sums over all rows of a file take, each computed once.
trace::Result<double> digest_ms(const std::filesystem::path& file) {
  TRY_ASSIGN(auto database,
             trace::Database::open(file.string(), SQLITE_OPEN_READONLY, file.string()));
  double ms = 0;
  trace::RowDigest sum;
  for (const auto& table : trace::trace_tables()) {
    const std::string name(table.name);
    if (name != "batch") {
      TRY_ASSIGN(const auto rows, rows_of(database, name));
      const std::uint64_t number = trace::RowDigest::number_of(name);
      const double before = thread_cpu_ms();
      for (const TableRow& row : rows) digest(row, number, sum);
      ms += thread_cpu_ms() - before;
    }
  }
  return sum.take() == 0 ? 0 : ms;
}

// As a small job is: many operators, some collectives, the phases of a step.
void record_step(Recorder& recorder, EventStream& operators, int lane, std::int64_t index) {
  constexpr int kOperators = 1'000, kCollectives = 12;
  recorder.begin_step(index);
  for (const auto phase : {trace::Phase::kForward, trace::Phase::kBackward}) {
    const profiler::PhaseScope scope(recorder, phase);
    operators.push(kOperators / 2);
  }
  for (int i = 0; i < kCollectives; ++i) {
    profiler::CollectiveCall call;
    call.sequence = index * kCollectives + i;
    call.function = call.executed = trace::CollectiveFunction::kAllReduce;
    call.bytes = 1 << 20;
    const std::int64_t now = Recorder::now_ns();
    const std::uint64_t handle = recorder.enter_collective(call);
    recorder.start_collective(handle, lane, now);
    recorder.end_collective(handle, now + 1000);
  }
  recorder.end_step({});
}

}  // namespace

namespace {

trace::Result<void> measure_throughput(EventStream::Times times, Rows& rows) {
  constexpr int kChunk = 40'000, kChunks = 50;
  // Far faster than any job, in bursts: the queue has to hold several of them.
  profiler::RecorderOptions options;
  options.event_queue_capacity = 1 << 19;
  TRY_ASSIGN(auto recorder, ScratchRecorder::start(options));
  EventStream stream(**recorder, times);
  const double before = process_cpu_seconds();
  for (int i = 0; i < kChunks; ++i) {
    stream.push(kChunk);
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
  }
  TRY((*recorder)->stop());
  const double seconds = process_cpu_seconds() - before;
  const double rate = kChunk * kChunks / seconds;
  const auto lost = static_cast<double>((*recorder)->lost());
  const bool is_now = times == EventStream::Times::kNow;
  const std::string whose = is_now ? "" : ", of times far in the future";
  rows.push_back({"events per second of CPU, from the queue to the file" + whose,
                  rate,
                  "events/s",
                  "",
                  {},
                  is_now ? ">= 10e6 events/s, none lost" : "none lost",
                  (!is_now || rate >= 10e6) && lost == 0});
  rows.push_back({"bytes per operator on disk" + whose,
                  static_cast<double>(recorder->file_bytes()) / (kChunk * kChunks),
                  "B",
                  "",
                  {},
                  "<= 12 B",
                  recorder->file_bytes() <= std::int64_t{12} * kChunk * kChunks});
  return {};
}

}  // namespace

trace::Result<void> measure_throughput(Rows& rows) {
  TRY(measure_throughput(EventStream::Times::kNow, rows));
  return measure_throughput(EventStream::Times::kAhead, rows);
}

trace::Result<void> measure_checksums(Rows& rows) {
  constexpr int kSteps = 400;
  TRY_ASSIGN(auto recorder, ScratchRecorder::start());
  EventStream operators(**recorder);
  const int lane = (*recorder)->add_lane(trace::LaneKind::kCommunication, "bench");
  const double before = process_cpu_seconds();
  for (int i = 0; i < kSteps; ++i) {
    record_step(**recorder, operators, lane, i);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  TRY((*recorder)->stop());
  const double recording_ms = (process_cpu_seconds() - before) * 1e3;
  TRY_ASSIGN(const double ms, digest_ms(recorder->file()));
  const double percent = ms / recording_ms * 100;
  rows.push_back({"checksums of rows, share of the CPU time of recording",
                  percent,
                  "%",
                  "",
                  {},
                  "<= 1 %",
                  percent <= 1});
  return {};
}

trace::Result<void> measure_losses(Rows& rows) {
  constexpr int kPerMillisecond = 200, kMilliseconds = 2'000;
  TRY_ASSIGN(auto recorder, ScratchRecorder::start());
  EventStream stream(**recorder);
  auto next = std::chrono::steady_clock::now();
  for (int i = 0; i < kMilliseconds; ++i) {
    stream.push(kPerMillisecond);
    next += std::chrono::milliseconds(1);
    std::this_thread::sleep_until(next);
  }
  TRY((*recorder)->stop());
  const auto lost = static_cast<double>((*recorder)->lost());
  rows.push_back(
      {"events lost at 200,000 a second for 2 s", lost, "events", "", {}, "0", lost == 0});
  return {};
}

}  // namespace shardlens::bench
