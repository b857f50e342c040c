#include "tests/trace/store/testing/store_fixture.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <sstream>
#include <thread>

#include "trace/store/run/run_folder.h"
#include "trace/store/run/trace_file.h"
#include "trace/store/table/row_fields.h"
#include "trace/store/table/row_io.h"
#include "trace/store/write/batch_queue.h"
#include "trace/store/write/trace_writer.h"

namespace shardlens::trace::test {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kStart = 1'790'000'000'000'000'000;
constexpr std::int64_t kStepNs = 100'000'000;
constexpr model::StringId kOperatorNames = 40;
constexpr const char* kStrings[] = {"",
                                    "forward",
                                    "world",
                                    "gloo, simulated link",
                                    "float32",
                                    "loss",
                                    "aten::mm",
                                    "aten::add \"quoted\" 'twice' 🚀",
                                    "transformer.wte.weight",
                                    "transformer.h.0.attn.c_attn.bias",
                                    "GPU clock",
                                    "MHz",
                                    "blocks.0",
                                    "blocks.0 forward gather, prefetched"};

void add_definitions(model::Batch& batch, int rank) {
  for (model::StringId id = 1; id < std::size(kStrings); ++id) {
    batch.strings.push_back({rank, id, kStrings[id]});
  }
  for (model::StringId id = std::size(kStrings); id < kOperatorNames; ++id) {
    batch.strings.push_back({rank, id, "operator " + std::to_string(id)});
  }
  batch.lanes = {{rank, 0, model::LaneKind::kPhases, 1},
                 {rank, 1, model::LaneKind::kCommunication, 2}};
  batch.process_groups = {{rank, 0, 2, 3, {0, 1, 2}}};
  batch.buckets = {{rank, 0, 0, 400, {9}, {400}}, {rank, 0, 1, 2800, {8, 9}, {2400, 400}}};
  batch.units = {{rank, 0, 12, 4096, 2048, 8192, 2, 4}, {rank, 1, 12, 64, 32, 64, 2, 4}};
  batch.unit_parameters = {{rank, 0, 8, 4000}, {rank, 0, 9, 96}, {rank, 1, 9, 64}};
  batch.rank_info = model::RankInfo{
      rank, rank,       "host", 4000 + rank,        "cpu", "Xeon, 2 cores", "fakes",
      "1",  1.5e12,     1234,   "NVLink, 18 links", 450e9, "knob",          "NCCL_ALGO=Ring\n",
      617,  "a shape\n"};
}

model::Collective collective(int rank, std::int64_t step, int bucket, std::int64_t start) {
  model::Collective row;
  row.rank = rank;
  row.lane = 1;
  row.step = step;
  row.sequence = step * 3 + bucket;
  row.function = model::CollectiveFunction::kAllReduce;
  row.executed = model::CollectiveFunction::kAllReduce;
  row.tag_kind = bucket == 2 ? model::TagKind::kNamed : model::TagKind::kBucket;
  row.tag_index = bucket == 2 ? -1 : bucket;
  row.tag_name = bucket == 2 ? 5 : 0;
  if (bucket == 1 && step % 2 == 1) {
    row.tag_kind = model::TagKind::kUnit;
    row.tag_name = 13;
  }
  row.phase = base::Phase::kBackward;
  row.data_type = 4;
  row.algorithm = 6;
  row.protocol = 7;
  row.channels = 24;
  row.bytes = 1000 * (bucket + 1);
  row.enqueued_ns = start;
  row.start_ns = start + 10;
  row.end_ns = start + 5'000'000;
  return row;
}

// Every row of a type becomes one line through the same fields as the file's columns.
class TextIo {
 public:
  explicit TextIo(std::ostream& out) : out_(out) {}
  template <typename T>
  void integer(const char*, T value) {
    out_ << static_cast<std::int64_t>(value) << ' ';
  }
  template <typename T>
  bool integer_if(bool is_known, const char* name, T value, std::int64_t = 0) {
    is_known ? integer(name, value) : text(name, "unknown");
    return is_known;
  }
  void real_if(bool is_known, const char* name, double value) {
    is_known ? real(name, value) : text(name, "unknown");
  }
  void real(const char*, double value) { out_ << value << ' '; }
  void text(const char*, const std::string& value) { out_ << '[' << value << "] "; }
  void interned(const char*, model::StringId id) { out_ << '#' << id << ' '; }
  void integer_list(const char*, const std::vector<int>& values) {
    for (const int value : values) out_ << value << ',';
    out_ << ' ';
  }
  template <typename T>
  void enumeration(const char*, T value, T) {
    out_ << to_string(value) << ' ';
  }
  template <typename T>
  void size(const char*, const std::vector<T>& values) {
    out_ << values.size() << ' ';
  }
  template <typename Row>
  void tag(const Row& row) {
    out_ << to_string(row.tag_kind) << ' ' << row.tag_index << " #" << row.tag_name << ' ';
  }

 private:
  std::ostream& out_;
};

template <typename Row>
void print(std::ostream& out, const Row& row) {
  out << store::RowTable<Row>::kName << ": ";
  TextIo io(out);
  store::row_fields(io, row);
  out << '\n';
}

}  // namespace

void wait_until_committed(const fs::path& file, std::int64_t steps) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  auto database = store::Database::open(file.string(), SQLITE_OPEN_READONLY, "recorded");
  ASSERT_TRUE(database) << database.error().message;
  while (database->integer("select count(*) from step").value_or(0) < steps) {
    ASSERT_LT(std::chrono::steady_clock::now(), give_up) << "step " << steps;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void change_file(const fs::path& file, const std::string& sql) {
  auto database = store::open_for_writing(file);
  ASSERT_TRUE(database) << database.error().message;
  const auto changed = database->execute(sql);
  ASSERT_TRUE(changed) << changed.error().message;
}

model::RunInfo run_info(const std::string& name, int ranks) {
  model::RunInfo info;
  info.name = name;
  info.start_ns = kStart;
  info.device = "cpu";
  info.world_size = ranks;
  info.program = "shardlens test";
  info.settings.ranks = ranks;
  info.settings.bucket_cap_mb = 1.5;
  info.simulated_link = true;
  return info;
}

std::vector<model::Event> operator_events(std::int64_t start_ns, std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::lognormal_distribution<double> duration(10, 1.2);  // median 22 us
  std::uniform_int_distribution<std::uint32_t> name(0, kOperatorNames - 1);
  std::vector<model::Event> events;
  std::int64_t now = start_ns;
  while (events.size() < count) {
    const auto inner = static_cast<std::int64_t>(duration(random));
    events.push_back({now, inner + 3000, name(random), 0, 0, 0});
    const std::uint32_t flags =
        model::kEventLeaf | model::kEventCompute | 1u << model::kEventDepthShift;
    events.push_back({now + 1500, inner, name(random), flags, 0, 0});
    now += inner + 3000 + static_cast<std::int64_t>(duration(random) / 8);
  }
  events.resize(count);
  return events;
}

model::Batch step_batch(int rank, std::int64_t step) {
  model::Batch batch;
  if (step == 0) add_definitions(batch, rank);
  const std::int64_t start = kStart + step * kStepNs;
  batch.steps = {{rank, step, start, start + kStepNs, 5.5 - 0.1 * static_cast<double>(step),
                  std::numeric_limits<double>::quiet_NaN(), 3e-4, 1024, 8, 77, true, false}};
  batch.spans = {
      {rank, 0, step, base::Phase::kForward, 0, 1, start, start + 30'000'000},
      {rank, 0, step, base::Phase::kBackward, 0, 0, start + 30'000'000, start + 90'000'000}};
  for (int bucket = 0; bucket < 3; ++bucket) {
    batch.collectives.push_back(
        collective(rank, step, bucket, start + 40'000'000 + bucket * 10'000'000));
  }
  batch.bucket_ready = {{rank, step, 0, start + 39'000'000}};
  batch.unit_ready = {{rank, step, 1, start + 44'000'000}};
  if (rank == 0) {
    batch.evaluations = {{rank, step, start + kStepNs, 5.25, 190.5, 0.125, 2048, 8}};
  }
  batch.memory = {
      {rank, start, step, step % 2 == 1, true, {1, 2, 3, 4, 5, 6, 7, 8}, {9, 9, 9}, 30, 40, 50}};
  batch.counters = {{rank, 10, 11, start, 1410.5}};
  batch.log = {{rank, start, model::LogLine::Level::kWarning, "step " + std::to_string(step)}};
  batch.events = {{rank, 0, model::EventKind::kOperator,
                   operator_events(start, 40, static_cast<unsigned>(step * 10 + rank))}};
  if (step == 3) batch.lost = {{rank, "operator queue full", 17}};
  model::PendingCollective pending;
  pending.rank = rank;
  pending.sequence = step;
  pending.function = model::CollectiveFunction::kAllReduce;
  pending.tag_kind = model::TagKind::kBucket;
  pending.tag_index = 1;
  batch.pending = {{pending}};
  batch.heartbeat = model::Heartbeat{rank, start, start, step, base::Phase::kBackward};
  batch.cost = model::RecorderCost{rank, 1000 * step, 2000 * step, 40 * step};
  return batch;
}

fs::path record_run(const fs::path& runs_dir, const std::string& name, int ranks,
                    std::int64_t steps, bool commit_each_step) {
  model::RunInfo info = run_info(name, ranks);
  const auto folder = store::create_run(runs_dir, info, false);
  EXPECT_TRUE(folder) << folder.error().message;
  store::TraceWriterOptions options;
  if (commit_each_step) options = {std::chrono::milliseconds(1), INT64_MAX, 64};
  for (int rank = 0; rank < ranks; ++rank) {
    auto writer = store::TraceWriter::create(store::rank_file(*folder, rank), rank, options);
    EXPECT_TRUE(writer) << writer.error().message;
    for (std::int64_t step = 0; step < steps; ++step) {
      (*writer)->submit(step_batch(rank, step));
      if (commit_each_step) wait_until_committed(store::rank_file(*folder, rank), step + 1);
    }
    const auto closed = (*writer)->close();
    EXPECT_TRUE(closed) << closed.error().message;
    EXPECT_EQ((*writer)->lost(), 0);
  }
  info.status = model::RunStatus::kDone;
  info.end_ns = info.start_ns + steps * kStepNs;
  EXPECT_TRUE(store::update_run(*folder, info));
  return *folder;
}

std::string text_of(const model::Batch& batch) {
  std::ostringstream out;
  store::for_each_row_list([&](auto list) {
    for (const auto& row : batch.*list) print(out, row);
  });
  for (const model::Bucket& bucket : batch.buckets) {
    for (std::size_t i = 0; i < bucket.parameters.size(); ++i) {
      out << "parameter #" << bucket.parameters[i] << ' ' << bucket.parameter_bytes[i] << '\n';
    }
  }
  for (const model::EventRun& run : batch.events) {
    for (const model::Event& event : run.events) {
      out << "event " << run.rank << ' ' << run.lane << ' ' << model::to_string(run.kind) << ' '
          << event.start_ns << ' ' << event.duration_ns << " #" << event.name << ' ' << event.flags
          << ' ' << event.correlation << ' ' << event.value << '\n';
    }
  }
  if (batch.pending) {
    for (const model::PendingCollective& row : *batch.pending) print(out, row);
  }
  if (batch.heartbeat) print(out, *batch.heartbeat);
  if (batch.cost) print(out, *batch.cost);
  if (batch.rank_info) print(out, *batch.rank_info);
  return out.str();
}

model::Batch joined(const std::vector<model::Batch>& batches, int rank) {
  model::Batch all;
  for (const model::Batch& batch : batches) {
    const bool of_rank = (!batch.steps.empty() && batch.steps.front().rank == rank) ||
                         (!batch.spans.empty() && batch.spans.front().rank == rank) ||
                         (!batch.lost.empty() && batch.lost.front().rank == rank);
    if (!of_rank) continue;
    model::Batch copy = batch;
    store::append(all, std::move(copy));
  }
  return all;
}

}  // namespace shardlens::trace::test
