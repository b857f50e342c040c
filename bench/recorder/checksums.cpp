// What checksums add to recording, measured where they are made: rows are put into a file with and
// without, in turn, and chunks are summed up while they are in the cache.
#include <algorithm>
#include <chrono>
#include <thread>

#include "bench/recorder/parts.h"
#include "trace/base/median.h"
#include "trace/store/chunk/chunk_codec.h"
#include "trace/store/read/rank_tail.h"
#include "trace/store/run/trace_file.h"
#include "trace/store/sqlite/row_digest.h"
#include "trace/store/table/schema.h"

namespace shardlens::bench {
namespace {

using profiler::recorder::Recorder;

// As a small job is: many operators, some collectives, the phases of a step.
void record_step(Recorder& recorder, EventStream& operators, int lane, std::int64_t index) {
  constexpr int kOperators = 1'000, kCollectives = 12;
  recorder.begin_step(index);
  for (const auto phase : {trace::base::Phase::kForward, trace::base::Phase::kBackward}) {
    const profiler::recorder::PhaseScope scope(recorder, phase);
    operators.push(kOperators / 2);
  }
  for (int i = 0; i < kCollectives; ++i) {
    profiler::queue::CollectiveCall call;
    call.sequence = index * kCollectives + i;
    call.function = call.executed = trace::model::CollectiveFunction::kAllReduce;
    call.bytes = 1 << 20;
    const std::int64_t now = Recorder::now_ns();
    const std::uint64_t handle = recorder.enter_collective(call);
    recorder.start_collective(handle, lane, now);
    recorder.end_collective(handle, now + 1000);
  }
  recorder.end_step({});
}

// The rows of a recorded file, put into another one as a writer does.
class RowInserts {
 public:
  static trace::base::Result<RowInserts> of(const std::filesystem::path& file) {
    RowInserts inserts;
    TRY_ASSIGN(auto from, trace::store::TraceFile::open(file));
    trace::store::RankTail reader(0);
    TRY_ASSIGN(auto part, reader.read_some(from.database(), INT64_MAX));
    inserts.rows_ = std::move(part.rows);
    for (const auto& string : inserts.rows_.strings) inserts.strings_.add(string.id, string.text);
    const std::string copy = file.string() + ".copy";
    TRY(trace::store::create_trace_file(
        copy, [](trace::store::Database&) -> trace::base::Result<void> { return {}; }));
    TRY_ASSIGN(auto to, trace::store::open_for_writing(copy));
    inserts.to_ = std::make_unique<trace::store::Database>(std::move(to));
    return inserts;
  }

  // Milliseconds.
  trace::base::Result<double> run(bool with_checksums) {
    TRY(to_->execute("begin"));
    double ms = 0;
    trace::base::Result<void> done;
    trace::store::for_each_row_list([&](auto list) {
      if (done) done = insert_all(rows_.*list, with_checksums, ms);
    });
    TRY(done);
    TRY(to_->execute("rollback"));
    return ms;
  }

 private:
  template <typename Row>
  trace::base::Result<void> insert_all(const std::vector<Row>& rows, bool with_checksums,
                                       double& ms) {
    const std::string insert = trace::store::insert_sql(trace::store::RowTable<Row>::kName);
    TRY_ASSIGN(auto statement, to_->prepare(insert));
    if (with_checksums) statement.tell_rows(*digest_, trace::store::RowTable<Row>::kName);
    const double before = thread_cpu_ms();
    std::int64_t row_id = 0;
    for (const Row& row : rows) {
      statement.bind(1, ++row_id);
      trace::store::RowBinder binder(statement, strings_, 2);
      trace::store::row_fields(binder, row);
      TRY(statement.run());
    }
    ms += thread_cpu_ms() - before;
    return {};
  }

  trace::model::Batch rows_;
  trace::store::StringIndex strings_;
  std::unique_ptr<trace::store::Database> to_;
  std::unique_ptr<trace::store::RowDigest> digest_ = std::make_unique<trace::store::RowDigest>();
};

// The median of what they add, of rounds side by side.
trace::base::Result<double> checksums_of_rows_ms(const std::filesystem::path& file) {
  constexpr int kRounds = 61;
  TRY_ASSIGN(RowInserts inserts, RowInserts::of(file));
  std::vector<double> added;
  for (int i = 0; i < kRounds; ++i) {
    // In turn, which of them finds what the other left in the cache.
    const bool first = i % 2 == 0;
    TRY_ASSIGN(const double one, inserts.run(first));
    TRY_ASSIGN(const double other, inserts.run(!first));
    added.push_back(first ? one - other : other - one);
  }
  return trace::base::upper_median(added);
}

trace::base::Result<double> checksums_of_chunks_ms(const std::filesystem::path& file) {
  TRY_ASSIGN(auto from, trace::store::TraceFile::open(file));
  TRY_ASSIGN(auto chunks, from.database().prepare("select data, count from chunk"));
  double ms = 0;
  std::int64_t sum = 0;
  while (true) {
    TRY_ASSIGN(const bool more, chunks.step());
    if (!more) break;
    const auto data = chunks.blob(0);  // copied into one piece, and so in the cache
    const double before = thread_cpu_ms();
    sum ^= trace::store::chunk_checksum({0, 0, chunks.integer(1), 0, 0}, data);
    ms += thread_cpu_ms() - before;
  }
  return sum == 0 ? 0 : ms;
}

}  // namespace

trace::base::Result<void> measure_checksums(Rows& rows) {
  constexpr int kSteps = 400;
  TRY_ASSIGN(const ScratchRecorder scratch, start_scratch_recorder());
  EventStream operators(*scratch.recorder);
  const int lane = scratch.recorder->add_lane(trace::model::LaneKind::kCommunication, "bench");
  const double before = seconds_on(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < kSteps; ++i) {
    record_step(*scratch.recorder, operators, lane, i);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  TRY(scratch.recorder->stop());
  const double recording_ms = (seconds_on(CLOCK_PROCESS_CPUTIME_ID) - before) * 1e3;
  TRY_ASSIGN(const double of_rows, checksums_of_rows_ms(scratch.file()));
  TRY_ASSIGN(const double of_chunks, checksums_of_chunks_ms(scratch.file()));
  const double percent = (of_rows + of_chunks) / recording_ms * 100;
  rows.push_back({"checksums of rows and chunks, share of the CPU time of recording", percent, "%",
                  "<= 1 %", percent <= 1});
  return {};
}

}  // namespace shardlens::bench
