#include "tests/app/report/synthetic_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "trace/store/run/run_folder.h"
#include "trace/store/write/trace_writer.h"

namespace shardlens::app {
namespace {

using namespace trace;

constexpr std::int64_t kMicrosecond = 1000;
constexpr StringId kFloat = 1, kLoss = 2, kParameters = 3, kWorld = 4, kWeight = 5, kBias = 6,
                   kOperator = 7, kGloo = 8;

class Generator {
 public:
  explicit Generator(SyntheticRun& run) : run_(run) {}

  void fill() {
    broadcast();
    for (int step = 0; step < SyntheticRun::kSteps; ++step) add_step(step);
    add_memory();
    add_buckets();
    for (int rank = 0; rank < SyntheticRun::kRanks; ++rank) {
      run_.costs.push_back({rank, 50'000 + rank * 1000, 70'000, 1000 + rank});
    }
    run_.lost = {{1, "operator queue full", 4}, {2, "operator queue full", 3}};
    run_.peak_flops = 1e12;
  }

 private:
  std::int64_t random(std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(engine_);
  }
  std::int64_t random_us(std::int64_t from, std::int64_t to) {
    return random(from, to) * kMicrosecond;
  }
  static std::int64_t begin_of(int step, int rank) {
    return SyntheticRun::kStart + 200'000 + step * 2'000'000 + rank * 10'000;
  }

  Collective collective(int rank, int step, CollectiveFunction function, std::int64_t bytes) const {
    Collective c;
    c.rank = rank;
    c.lane = 2;
    c.step = step;
    c.sequence = sequence_;
    c.function = c.executed = function;
    c.phase = Phase::kBackward;
    c.data_type = kFloat;
    c.bytes = bytes;
    return c;
  }

  // One call on all ranks: they begin apart and end almost together.
  template <typename Tag>
  void call(int step, CollectiveFunction function, std::int64_t bytes, std::int64_t offset,
            std::int64_t shortest_us, Tag tag) {
    std::vector<Collective> parts;
    std::int64_t latest = 0;
    for (int rank = 0; rank < SyntheticRun::kRanks; ++rank) {
      Collective c = collective(rank, step, function, bytes);
      tag(c);
      c.start_ns = SyntheticRun::kStart + offset + random_us(0, 60);
      c.enqueued_ns = c.start_ns - 2000;
      latest = std::max(latest, c.start_ns);
      parts.push_back(c);
    }
    const std::int64_t end = latest + random_us(shortest_us, shortest_us + 80);
    for (auto& c : parts) {
      c.end_ns = end + random_us(0, 4);
      run_.collectives.push_back(c);
    }
    ++sequence_;
  }

  void broadcast() {
    call(-1, CollectiveFunction::kBroadcast, 5'000'000, 10'000, 40, [](Collective& c) {
      c.tag_kind = TagKind::kNamed;
      c.tag_name = kParameters;
      c.phase = Phase::kOther;
    });
  }

  void add_step(int index) {
    const std::int64_t offset = 200'000 + index * 2'000'000;
    for (int bucket = 0; bucket < 2; ++bucket) {
      call(index, CollectiveFunction::kAllReduce, bucket == 0 ? 1 << 20 : 3 << 20,
           offset + 700'000 + bucket * 350'000, 90, [&](Collective& c) {
             c.tag_kind = TagKind::kBucket;
             c.tag_index = bucket;
           });
    }
    call(index, CollectiveFunction::kReduceScatter, 4096, offset + 1'400'000, 60,
         [](Collective& c) { c.executed = CollectiveFunction::kAllReduce; });
    // Reaches over the border into the next step.
    call(index, CollectiveFunction::kAllReduce, 4, offset + 1'740'000, 230, [](Collective& c) {
      c.tag_kind = TagKind::kNamed;
      c.tag_name = kLoss;
      c.phase = Phase::kOptimizer;
    });
    for (int rank = 0; rank < SyntheticRun::kRanks; ++rank) add_step_of(index, rank);
  }

  void add_step_of(int index, int rank) {
    Step step;
    step.rank = rank;
    step.index = index;
    step.start_ns = begin_of(index, rank);
    step.end_ns = step.start_ns + random_us(1750, 1950);
    step.loss = 5.0 - 0.25 * index + 0.01 * rank;
    step.gradient_norm = 1.5;
    step.tokens = 1000 + 10 * index + rank;
    step.samples = 8 + rank;
    step.model_flops = 100'000'000 + 1000 * rank;
    step.full_detail = true;
    run_.steps.push_back(step);
    std::int64_t at = step.start_ns + random_us(0, 10);
    for (const Phase phase :
         {Phase::kData, Phase::kForward, Phase::kBackward, Phase::kOptimizer, Phase::kEvaluation}) {
      if (phase == Phase::kEvaluation && index % 2 == 0) continue;
      const std::int64_t end = at + random_us(20, 320);
      run_.spans.push_back({rank, 0, index, phase, 0, 0, at, end});
      at = end + random_us(0, 12);
    }
    // Nested spans are inside a phase already.
    run_.spans.push_back(
        {rank, 0, index, Phase::kForward, 1, 0, step.start_ns + 100'000, step.start_ns + 200'000});
    add_events(step, rank);
  }

  void add_events(const Step& step, int rank) {
    const auto event = [&](std::uint32_t flags, std::int64_t longest_us) {
      Event e;
      e.start_ns = step.start_ns + random_us(0, 1700);
      e.duration_ns = random_us(0, longest_us);
      e.name = kOperator;
      e.flags = flags;
      return e;
    };
    for (int i = 0; i < 9; ++i)
      run_.compute[rank].push_back(event(kEventLeaf | kEventCompute, 180));
    for (int i = 0; i < 3; ++i) run_.other_operators[rank].push_back(event(kEventLeaf, 400));
    for (int i = 0; i < 4; ++i) {
      Event copy = event(0, 60);
      copy.value = 4096;
      run_.copies[rank].push_back(copy);
    }
  }

  void add_memory() {
    for (int rank = 0; rank < SyntheticRun::kRanks; ++rank) {
      for (int i = 0; i < 40; ++i) {
        MemorySample sample;
        sample.rank = rank;
        sample.time_ns = SyntheticRun::kStart + (i + 1) * 400'000;
        sample.step = i / 5;
        for (auto& bytes : sample.bytes) bytes = random(0, 64 << 20);
        sample.reserved_bytes = sample.total_bytes();
        run_.memory.push_back(sample);
      }
    }
  }

  void add_buckets() {
    run_.buckets = {{0, 0, 0, 4 << 20, {kWeight, kBias}, {3 << 20, 1 << 20}},
                    {0, 1, 0, 1 << 20, {kBias}, {1 << 20}},
                    {0, 1, 1, 3 << 20, {kWeight}, {3 << 20}}};
  }

  SyntheticRun& run_;
  std::int64_t sequence_ = 0;
  std::mt19937_64 engine_{20251120};
};

template <typename Row>
std::vector<Row> of_rank(const std::vector<Row>& rows, int rank) {
  std::vector<Row> result;
  std::ranges::copy_if(rows, std::back_inserter(result),
                       [&](const Row& row) { return row.rank == rank; });
  return result;
}

EventRun sorted_run(int rank, int lane, EventKind kind, std::vector<Event> events) {
  std::ranges::sort(events, {}, &Event::start_ns);
  return {rank, lane, kind, std::move(events)};
}

Batch batch_of(const SyntheticRun& run, int rank) {
  Batch batch;
  const char* texts[] = {"float32",    "loss",    "parameters", "world",
                         "wte.weight", "ln.bias", "aten::mm",   "gloo"};
  for (StringId id = 1; id <= 8; ++id) batch.strings.push_back({rank, id, texts[id - 1]});
  batch.lanes = {{rank, 0, LaneKind::kPhases, 0},
                 {rank, 1, LaneKind::kOperators, 0},
                 {rank, 2, LaneKind::kCommunication, kWorld},
                 {rank, 3, LaneKind::kCopies, 0}};
  batch.process_groups = {{rank, 0, kWorld, kGloo, {0, 1, 2}}};
  batch.steps = of_rank(run.steps, rank);
  batch.spans = of_rank(run.spans, rank);
  batch.collectives = of_rank(run.collectives, rank);
  batch.buckets = of_rank(run.buckets, rank);
  batch.memory = of_rank(run.memory, rank);
  batch.lost = of_rank(run.lost, rank);
  batch.cost = run.costs[static_cast<std::size_t>(rank)];
  std::vector<Event> operators = run.compute[rank];
  operators.insert(operators.end(), run.other_operators[rank].begin(),
                   run.other_operators[rank].end());
  batch.events = {sorted_run(rank, 1, EventKind::kOperator, std::move(operators)),
                  sorted_run(rank, 3, EventKind::kCopy, run.copies[rank])};
  RankInfo info;
  info.rank = info.local_rank = rank;
  info.host = "elsewhere";
  info.device = "cpu";
  info.peak_flops = run.peak_flops;
  info.peak_flops_origin = "dense bf16, a data sheet";
  info.environment = "NCCL_ALGO=Ring\nOMP_NUM_THREADS=2\n";
  info.parameters = info.trained_parameters = 1 << 20;
  batch.rank_info = info;
  batch.heartbeat = Heartbeat{rank, SyntheticRun::kEnd, SyntheticRun::kEnd, 8, Phase::kOther};
  return batch;
}

}  // namespace

SyntheticRun write_synthetic_run(const std::filesystem::path& runs_dir,
                                 void (*change)(trace::RunInfo&)) {
  SyntheticRun run;
  Generator(run).fill();
  run.info.name = "made up";
  run.info.device = "cpu";
  run.info.world_size = SyntheticRun::kRanks;
  run.info.start_ns = SyntheticRun::kStart;
  run.info.end_ns = SyntheticRun::kEnd;
  run.info.status = RunStatus::kDone;
  run.info.settings.ranks = SyntheticRun::kRanks;
  run.info.settings.skip_steps = SyntheticRun::kSkipped;
  run.info.settings.bucket_cap_mb = 1;
  if (change != nullptr) change(run.info);
  auto folder = create_run(runs_dir, run.info, false);
  EXPECT_TRUE(folder) << (folder ? "" : folder.error().message);
  run.folder = *folder;
  for (int rank = 0; rank < SyntheticRun::kRanks; ++rank) {
    auto writer = TraceWriter::create(rank_file(run.folder, rank), rank);
    EXPECT_TRUE(writer) << (writer ? "" : writer.error().message);
    (*writer)->submit(batch_of(run, rank));
    const auto closed = (*writer)->close();
    EXPECT_TRUE(closed) << (closed ? "" : closed.error().message);
  }
  const auto updated = update_run(run.folder, run.info);
  EXPECT_TRUE(updated) << (updated ? "" : updated.error().message);
  return run;
}

}  // namespace shardlens::app
