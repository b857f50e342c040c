#include "tests/trace/explore/testing/known_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "trace/store/run/run_folder.h"

namespace shardlens::trace::test {

namespace {

enum Name : model::StringId {
  kForward = 1,
  kBackward,
  kOptimizer,
  kGemm,
  kAdam,
  kNccl,
  kLaunch,
  kLinear,
  kMm,
  kWorld,
  kBackend,
  kFloat,
  kWeight,
  kBias,
  kClock,
  kMegahertz,
  kRing,
  kSimple,
  kLaneNames
};
constexpr std::array kTexts{"forward",
                            "backward",
                            "optimizer",
                            "sm90_gemm",
                            "multi_tensor_adam",
                            "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                            "cudaLaunchKernel",
                            "aten::linear",
                            "aten::mm",
                            "world",
                            "nccl",
                            "float32",
                            "layer.weight",
                            "layer.bias",
                            "GPU clock",
                            "MHz",
                            "RING",
                            "SIMPLE",
                            "phases",
                            "main thread",
                            "stream 7",
                            "stream 20",
                            "stream 21"};

model::Event event_of(std::int64_t start_ns, std::int64_t end_ns, model::StringId name,
                      std::uint64_t correlation = 0, std::uint32_t depth = 0) {
  return {start_ns, end_ns - start_ns, name, depth << model::kEventDepthShift, correlation, 0};
}

model::Batch definitions(int rank) {
  model::Batch batch;
  for (std::size_t i = 0; i < kTexts.size(); ++i) {
    batch.strings.push_back({rank, static_cast<model::StringId>(i + 1), kTexts[i]});
  }
  constexpr std::array kKinds{model::LaneKind::kPhases, model::LaneKind::kOperators,
                              model::LaneKind::kCompute, model::LaneKind::kCommunication,
                              model::LaneKind::kCopies};
  for (int lane = 0; lane < 5; ++lane) {
    batch.lanes.push_back({rank, lane, kKinds[static_cast<std::size_t>(lane)],
                           static_cast<model::StringId>(kLaneNames + lane)});
  }
  // As NCCL's communicators are announced: each rank knows itself.
  batch.process_groups.push_back({rank, 0, kWorld, kBackend, {model::kNotKnown, rank}});
  batch.buckets.push_back({rank, 0, 0, 4'000'000, {kWeight, kBias}, {3'000'000, 1'000'000}});
  batch.rank_info = model::RankInfo{};
  batch.rank_info->rank = rank;
  batch.rank_info->device = "cuda:" + std::to_string(rank);
  batch.rank_info->link = "NVLink 4, 18 links";
  batch.rank_info->link_bytes_per_second = 450e9;
  return batch;
}

void add_events(model::Batch& batch, int rank, std::int64_t step) {
  const auto at = [&](std::int64_t us) { return KnownRun::at(step, us); };
  const auto base = static_cast<std::uint64_t>(step * 10 + 1);
  batch.events = {
      {rank,
       KnownRun::kCompute,
       model::EventKind::kKernel,
       {event_of(at(5'000), at(25'000), kGemm, base),
        event_of(at(50'000), at(70'000), kGemm, base + 1),
        event_of(at(85'000), at(95'000), kAdam, base + 2)}},
      {rank,
       KnownRun::kComm,
       model::EventKind::kKernel,
       {event_of(at(rank == 0 ? 60'000 : 64'000), at(78'000), kNccl, base + 3)}},
      {rank,
       KnownRun::kThread,
       model::EventKind::kLaunch,
       {event_of(at(2'000), at(2'010), kLaunch, base),
        event_of(at(42'000), at(42'010), kLaunch, base + 1),
        event_of(at(81'000), at(81'010), kLaunch, base + 2)}},
      {rank,
       KnownRun::kThread,
       model::EventKind::kOperator,
       {event_of(at(1'000), at(4'000), kLinear), event_of(at(1'500), at(3'000), kMm, base, 1)}},
      {rank, KnownRun::kCopies, model::EventKind::kCopy, {event_of(at(500), at(600), kGemm)}}};
  batch.events.back().events[0].value = 1 << 20;
}

void add_rows(model::Batch& batch, int rank, std::int64_t step) {
  const auto at = [&](std::int64_t us) { return KnownRun::at(step, us); };
  batch.spans = {{rank, 0, step, base::Phase::kForward, 0, kForward, at(0), at(40'000)},
                 {rank, 0, step, base::Phase::kBackward, 0, kBackward, at(40'000), at(80'000)},
                 {rank, 0, step, base::Phase::kOptimizer, 0, kOptimizer, at(80'000), at(100'000)}};
  model::Collective row;
  row.rank = rank;
  row.lane = KnownRun::kComm;
  row.step = step;
  row.sequence = step;
  row.function = row.executed = model::CollectiveFunction::kAllReduce;
  row.tag_kind = model::TagKind::kBucket;
  row.tag_index = 0;
  row.phase = base::Phase::kBackward;
  row.data_type = kFloat;
  row.algorithm = kRing;
  row.protocol = kSimple;
  row.channels = 24;
  row.bytes = 14'000'000;
  row.enqueued_ns = at(55'000);
  row.start_ns = at(rank == 0 ? 60'000 : 64'000);
  row.end_ns = at(78'000);
  batch.collectives = {row};
  batch.bucket_ready = {{rank, step, 0, at(54'000)}};
  model::MemorySample memory;
  memory.rank = rank;
  memory.step = step;
  memory.time_ns = at(10'000);
  memory.bytes[0] = (step + 1) << 20;
  // Not drawn: it would hide the rest.
  memory.bytes[static_cast<std::size_t>(model::MemoryCategory::kOutside)] = (9 - step) << 30;
  batch.memory = {memory};
  batch.counters = {{rank, kClock, kMegahertz, at(0), 1'700.0 + static_cast<double>(step)}};
  model::Step done;
  done.rank = rank;
  done.index = step;
  done.start_ns = at(0);
  done.end_ns = at(100'000);
  done.full_detail = true;
  batch.steps = {done};
}

}  // namespace

KnownRun::KnownRun(std::int64_t steps) {
  model::RunInfo info = run_info("known", 2);
  path_ = *store::create_run(folder_.path(), info, false);
  for (const int rank : {0, 1}) {
    auto writer = store::RowWriter::create_file(store::rank_file(path_, rank), rank);
    EXPECT_TRUE(writer) << writer.error().message;
    writers_.push_back(std::move(*writer));
  }
  while (steps_ < steps) add_step();
}

KnownRun::~KnownRun() = default;

void KnownRun::add_step() {
  for (const int rank : {0, 1}) {
    model::Batch batch = steps_ == 0 ? definitions(rank) : model::Batch{};
    add_events(batch, rank, steps_);
    add_rows(batch, rank, steps_);
    store::RowWriter& writer = writers_[static_cast<std::size_t>(rank)];
    EXPECT_TRUE(writer.begin());
    EXPECT_TRUE(writer.write(batch));
    EXPECT_TRUE(writer.commit(at(steps_ + 1, 100)));
  }
  ++steps_;
}

void KnownRun::put_on_hosts(const std::array<const char*, 2>& names) {
  writers_.clear();
  for (const int rank : {0, 1}) {
    const std::string name = names[static_cast<std::size_t>(rank)];
    change_file(store::rank_file(path_, rank), "update rank set host='" + name + "'");
  }
}

void KnownRun::turn_into_broadcasts() {
  writers_.clear();
  for (const int rank : {0, 1}) {
    change_file(store::rank_file(path_, rank),
                "update collective set function='broadcast', executed='broadcast'");
  }
}

void KnownRun::let_clocks_contradict() {
  writers_.clear();
  change_file(store::rank_file(path_, 0),
              "update collective set start_ns = start_ns + 300000000 - 1000000000 * (step = 1),"
              " end_ns = end_ns + 300000000");
}

std::unique_ptr<explore::RunExplorer> open_whole(const std::filesystem::path& run, bool is_live) {
  auto explorer = explore::RunExplorer::open(run, {}, is_live);
  EXPECT_TRUE(explorer) << explorer.error().message;
  if (!explorer) return nullptr;
  for (bool more = true; more;) {
    const auto worked = (*explorer)->work();
    EXPECT_TRUE(worked);
    more = worked && *worked;
  }
  return std::move(*explorer);
}

int row_named(const timeline::TimelineRows& rows, int rank, const std::string& label) {
  const auto found = std::ranges::find_if(rows.rows, [&](const timeline::TimelineRow& row) {
    return row.rank == rank && row.label == label;
  });
  return found == rows.rows.end() ? -1 : found->id;
}

timeline::RowPicture picture_of(explore::RunExplorer& run, int row, std::int64_t start_ns,
                                std::int64_t end_ns, double pixels,
                                std::vector<std::string>* names) {
  timeline::PictureRequest request;
  request.windows = {{row, start_ns, end_ns}};
  request.ns_per_pixel = static_cast<double>(end_ns - start_ns) / pixels;
  auto picture = run.picture(request);
  EXPECT_TRUE(picture) << picture.error().message;
  if (!picture || picture->rows.size() != 1) return {};
  if (names != nullptr) *names = picture->names;
  return picture->rows[0];
}

}  // namespace shardlens::trace::test
