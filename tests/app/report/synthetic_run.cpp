#include "tests/app/report/synthetic_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "trace/store/run/run_folder.h"
#include "trace/store/write/trace_writer.h"

namespace shardlens::app::report {
namespace {

using namespace trace;

constexpr std::int64_t kMicrosecond = 1000;
constexpr trace::model::StringId kFloat = 1, kLoss = 2, kParameters = 3, kWorld = 4, kWeight = 5,
                                 kBias = 6, kOperator = 7, kGloo = 8;

class Generator {
 public:
  // By rank.
  std::vector<trace::model::Batch> batches() {
    for (int rank = 0; rank < SyntheticRun::kRanks; ++rank) batches_.push_back(empty(rank));
    broadcast();
    for (int step = 0; step < SyntheticRun::kSteps; ++step) add_step(step);
    for (int rank = 0; rank < SyntheticRun::kRanks; ++rank) add_memory(rank);
    add_buckets();
    of(1).lost = {{1, "operator queue full", 4}};
    of(2).lost = {{2, "operator queue full", 3}};
    for (auto& batch : batches_) {
      for (auto& run : batch.events) {
        std::ranges::sort(run.events, {}, &trace::model::Event::start_ns);
      }
    }
    return std::move(batches_);
  }

 private:
  trace::model::Batch& of(int rank) { return batches_[static_cast<std::size_t>(rank)]; }
  std::int64_t random(std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(engine_);
  }
  std::int64_t random_us(std::int64_t from, std::int64_t to) {
    return random(from, to) * kMicrosecond;
  }
  static std::int64_t begin_of(int step, int rank) {
    return SyntheticRun::kStart + 200'000 + step * 2'000'000 + rank * 10'000;
  }

  trace::model::Collective collective(int rank, int step, trace::model::CollectiveFunction function,
                                      std::int64_t bytes) const {
    trace::model::Collective c;
    c.rank = rank;
    c.lane = 2;
    c.step = step;
    c.sequence = sequence_;
    c.function = c.executed = function;
    c.phase = trace::base::Phase::kBackward;
    c.data_type = kFloat;
    c.bytes = bytes;
    return c;
  }

  // One call on all ranks: they begin apart and end almost together.
  template <typename Tag>
  void call(int step, trace::model::CollectiveFunction function, std::int64_t bytes,
            std::int64_t offset, std::int64_t shortest_us, Tag tag) {
    std::vector<trace::model::Collective> parts;
    std::int64_t latest = 0;
    for (int rank = 0; rank < SyntheticRun::kRanks; ++rank) {
      trace::model::Collective c = collective(rank, step, function, bytes);
      tag(c);
      c.start_ns = SyntheticRun::kStart + offset + random_us(0, 60);
      c.enqueued_ns = c.start_ns - 2000;
      latest = std::max(latest, c.start_ns);
      parts.push_back(c);
    }
    const std::int64_t end = latest + random_us(shortest_us, shortest_us + 80);
    for (auto& c : parts) {
      c.end_ns = end + random_us(0, 4);
      of(c.rank).collectives.push_back(c);
    }
    ++sequence_;
  }

  void broadcast() {
    call(-1, trace::model::CollectiveFunction::kBroadcast, 5'000'000, 10'000, 40,
         [](trace::model::Collective& c) {
           c.tag_kind = trace::model::TagKind::kNamed;
           c.tag_name = kParameters;
           c.phase = trace::base::Phase::kOther;
         });
  }

  void add_step(int index) {
    const std::int64_t offset = 200'000 + index * 2'000'000;
    for (int bucket = 0; bucket < 2; ++bucket) {
      call(index, trace::model::CollectiveFunction::kAllReduce, bucket == 0 ? 1 << 20 : 3 << 20,
           offset + 700'000 + bucket * 350'000, 90, [&](trace::model::Collective& c) {
             c.tag_kind = trace::model::TagKind::kBucket;
             c.tag_index = bucket;
           });
    }
    call(index, trace::model::CollectiveFunction::kReduceScatter, 4096, offset + 1'400'000, 60,
         [](trace::model::Collective& c) {
           c.executed = trace::model::CollectiveFunction::kAllReduce;
         });
    // Reaches over the border into the next step.
    call(index, trace::model::CollectiveFunction::kAllReduce, 4, offset + 1'740'000, 230,
         [](trace::model::Collective& c) {
           c.tag_kind = trace::model::TagKind::kNamed;
           c.tag_name = kLoss;
           c.phase = trace::base::Phase::kOptimizer;
         });
    for (int rank = 0; rank < SyntheticRun::kRanks; ++rank) add_step_of(index, rank);
  }

  void add_step_of(int index, int rank) {
    trace::model::Step step;
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
    of(rank).steps.push_back(step);
    std::int64_t at = step.start_ns + random_us(0, 10);
    for (const trace::base::Phase phase :
         {trace::base::Phase::kData, trace::base::Phase::kForward, trace::base::Phase::kBackward,
          trace::base::Phase::kOptimizer, trace::base::Phase::kEvaluation}) {
      if (phase == trace::base::Phase::kEvaluation && index % 2 == 0) continue;
      const std::int64_t end = at + random_us(20, 320);
      of(rank).spans.push_back({rank, 0, index, phase, 0, 0, at, end});
      at = end + random_us(0, 12);
    }
    // Nested spans are inside a phase already.
    of(rank).spans.push_back({rank, 0, index, trace::base::Phase::kForward, 1, 0,
                              step.start_ns + 100'000, step.start_ns + 200'000});
    add_events(step, rank);
  }

  void add_events(const trace::model::Step& step, int rank) {
    const auto event = [&](std::uint32_t flags, std::int64_t longest_us) {
      trace::model::Event e;
      e.start_ns = step.start_ns + random_us(0, 1700);
      e.duration_ns = random_us(0, longest_us);
      e.name = kOperator;
      e.flags = flags;
      return e;
    };
    auto& operators = of(rank).events[0].events;
    auto& copies = of(rank).events[1].events;
    for (int i = 0; i < 9; ++i)
      operators.push_back(event(trace::model::kEventLeaf | trace::model::kEventCompute, 180));
    for (int i = 0; i < 3; ++i) operators.push_back(event(trace::model::kEventLeaf, 400));
    for (int i = 0; i < 4; ++i) {
      copies.push_back(event(0, 60));
      copies.back().value = 4096;
    }
  }

  void add_memory(int rank) {
    for (int i = 0; i < 40; ++i) {
      trace::model::MemorySample sample;
      sample.rank = rank;
      sample.time_ns = SyntheticRun::kStart + (i + 1) * 400'000;
      sample.step = i / 5;
      for (auto& bytes : sample.bytes) bytes = random(0, 64 << 20);
      sample.reserved_bytes = sample.total_bytes();
      of(rank).memory.push_back(sample);
    }
  }

  // Before and after the rebuild.
  void add_buckets() {
    of(0).buckets = {{0, 0, 0, 4 << 20, {kWeight, kBias}, {3 << 20, 1 << 20}},
                     {0, 1, 0, 1 << 20, {kBias}, {1 << 20}},
                     {0, 1, 1, 3 << 20, {kWeight}, {3 << 20}}};
  }

  // What needs no random numbers.
  static trace::model::Batch empty(int rank) {
    trace::model::Batch batch;
    const char* texts[] = {"float32",    "loss",    "parameters", "world",
                           "wte.weight", "ln.bias", "aten::mm",   "gloo"};
    for (trace::model::StringId id = 1; id <= 8; ++id)
      batch.strings.push_back({rank, id, texts[id - 1]});
    batch.lanes = {{rank, 0, trace::model::LaneKind::kPhases, 0},
                   {rank, 1, trace::model::LaneKind::kOperators, 0},
                   {rank, 2, trace::model::LaneKind::kCommunication, kWorld},
                   {rank, 3, trace::model::LaneKind::kCopies, 0}};
    batch.process_groups = {{rank, 0, kWorld, kGloo, {0, 1, 2}}};
    batch.events = {{rank, 1, trace::model::EventKind::kOperator, {}},
                    {rank, 3, trace::model::EventKind::kCopy, {}}};
    batch.cost = trace::model::RecorderCost{rank, 50'000 + rank * 1000, 70'000, 1000 + rank};
    trace::model::RankInfo info;
    info.rank = info.local_rank = rank;
    info.host = "elsewhere";
    info.device = "cpu";
    info.peak_flops = 1e12;
    info.peak_flops_origin = "dense bf16, a data sheet";
    info.environment = "NCCL_ALGO=Ring\nOMP_NUM_THREADS=2\n";
    info.parameters = info.trained_parameters = 1 << 20;
    batch.rank_info = info;
    batch.heartbeat = trace::model::Heartbeat{rank, SyntheticRun::kEnd, SyntheticRun::kEnd, 8,
                                              trace::base::Phase::kOther};
    return batch;
  }

  std::vector<trace::model::Batch> batches_;
  std::int64_t sequence_ = 0;
  std::mt19937_64 engine_{20251120};
};

}  // namespace

SyntheticRun write_synthetic_run(const std::filesystem::path& runs_dir,
                                 void (*change)(trace::model::RunInfo&)) {
  SyntheticRun run;
  run.info.name = "made up";
  run.info.device = "cpu";
  run.info.world_size = SyntheticRun::kRanks;
  run.info.start_ns = SyntheticRun::kStart;
  run.info.end_ns = SyntheticRun::kEnd;
  run.info.status = trace::model::RunStatus::kDone;
  run.info.settings.ranks = SyntheticRun::kRanks;
  run.info.settings.skip_steps = SyntheticRun::kSkipped;
  run.info.settings.bucket_cap_mb = 1;
  if (change != nullptr) change(run.info);
  auto folder = trace::store::create_run(runs_dir, run.info, false);
  EXPECT_TRUE(folder) << (folder ? "" : folder.error().message);
  run.folder = *folder;
  auto batches = Generator().batches();
  for (int rank = 0; rank < SyntheticRun::kRanks; ++rank) {
    auto writer =
        trace::store::TraceWriter::create(trace::store::rank_file(run.folder, rank), rank);
    EXPECT_TRUE(writer) << (writer ? "" : writer.error().message);
    (*writer)->submit(std::move(batches[static_cast<std::size_t>(rank)]));
    const auto closed = (*writer)->close();
    EXPECT_TRUE(closed) << (closed ? "" : closed.error().message);
  }
  const auto updated = trace::store::update_run(run.folder, run.info);
  EXPECT_TRUE(updated) << (updated ? "" : updated.error().message);
  return run;
}

}  // namespace shardlens::app::report
