#include "tests/app/session/synthetic_run.h"

#include <chrono>
#include <stdexcept>
#include <utility>

#include "trace/store/run/run_folder.h"

namespace shardlens::app::session {

using namespace trace;

namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr int kPhaseLane = 0, kOperatorLane = 1, kCommunicationLane = 2;
enum Name : model::StringId {
  kForwardName = 1,
  kMatmul,
  kAdam,
  kFloat,
  kWorld,
  kGloo,
  kMain,
  kWeight
};

template <typename T>
T must(trace::base::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

void must(trace::base::Result<void> result) {
  if (!result) throw std::runtime_error(result.error().message);
}

void add_strings(trace::model::Batch& batch, int rank) {
  trace::model::StringId id = 0;
  for (const char* text : {"forward", "aten::addmm", "aten::_fused_adamw_", "float32", "world",
                           "gloo", "main", "wte.weight"}) {
    batch.strings.push_back({.rank = rank, .id = ++id, .text = text});
  }
}

trace::model::Event compute(std::int64_t start, std::int64_t length, trace::model::StringId name) {
  return {.start_ns = start,
          .duration_ns = length,
          .name = name,
          .flags = trace::model::kEventLeaf | trace::model::kEventCompute};
}

// One step of one rank, and when its moments are.
struct StepPlace {
  int rank = 0;
  std::int64_t index = 0;
  std::int64_t start_ns = 0;
  double stretch = 1;

  std::int64_t at(double ms) const {
    return start_ns + static_cast<std::int64_t>(ms * stretch * static_cast<double>(kMs));
  }
};

trace::model::Span phase(const StepPlace& step, trace::base::Phase kind, double from, double to) {
  return {.rank = step.rank,
          .lane = kPhaseLane,
          .step = step.index,
          .phase = kind,
          .depth = 0,
          .name = 0,
          .start_ns = step.at(from),
          .end_ns = step.at(to)};
}

trace::model::EventRun operators_of(const StepPlace& step) {
  const auto from_to = [&](double from, double to, trace::model::StringId name) {
    return compute(step.at(from), step.at(to) - step.at(from), name);
  };
  return {.rank = step.rank,
          .lane = kOperatorLane,
          .kind = trace::model::EventKind::kOperator,
          .events = {from_to(1, 5, kMatmul), from_to(5, 13, kMatmul), from_to(15, 18, kAdam)}};
}

trace::model::Collective bucket_of(const StepPlace& step, int bucket, double from, double to) {
  trace::model::Collective collective;
  collective.rank = step.rank;
  collective.lane = kCommunicationLane;
  collective.step = step.index;
  collective.sequence = step.index * 2 + bucket;
  collective.function = collective.executed = trace::model::CollectiveFunction::kAllReduce;
  collective.tag_kind = trace::model::TagKind::kBucket;
  collective.tag_index = bucket;
  collective.phase = trace::base::Phase::kBackward;
  collective.data_type = kFloat;
  collective.bytes = 2'000'000;
  collective.start_ns = collective.enqueued_ns = step.at(from);
  collective.end_ns = step.at(to);
  return collective;
}

trace::model::MemorySample memory_of(const StepPlace& step) {
  trace::model::MemorySample memory;
  memory.rank = step.rank;
  memory.time_ns = step.at(10);
  memory.step = step.index;
  memory.bytes = {4'000'000, 0, 4'000'000, 8'000'000, 10'000'000 + step.rank * 1'000'000,
                  4'000'000, 0, 0};
  return memory;
}

trace::model::Step row_of(const StepPlace& place) {
  trace::model::Step step;
  step.rank = place.rank;
  step.index = place.index;
  step.start_ns = place.at(0);
  step.end_ns = place.at(20);
  step.loss = 5.0 - 0.01 * static_cast<double>(place.index);
  step.gradient_norm = 1;
  step.tokens = 1024;
  step.samples = 8;
  step.full_detail = true;
  return step;
}

}  // namespace

SyntheticRun::SyntheticRun(const std::filesystem::path& runs_dir, SyntheticOptions options)
    : options_(std::move(options)) {
  info_.name = options_.name;
  info_.tags = options_.tags;
  info_.device = options_.device;
  info_.world_size = options_.ranks;
  info_.start_ns = options_.start_ns;
  info_.program = "shardlens test";
  info_.settings = options_.settings;
  info_.settings.ranks = options_.ranks;
  folder_ = must(trace::store::create_run(runs_dir, info_, false));
  now_ns_ = options_.start_ns;
  steps_ = options_.first_step;
  for (int rank = 0; rank < options_.ranks; ++rank) {
    writers_.push_back(must(
        trace::store::TraceWriter::create(trace::store::rank_file(folder_, rank), rank,
                                          {.commit_interval = std::chrono::milliseconds(20)})));
    writers_.back()->submit(first_batch(rank));
  }
}

trace::model::Batch SyntheticRun::first_batch(int rank) const {
  trace::model::Batch batch;
  add_strings(batch, rank);
  batch.lanes = {
      {.rank = rank, .id = kPhaseLane, .kind = trace::model::LaneKind::kPhases, .name = kMain},
      {.rank = rank,
       .id = kOperatorLane,
       .kind = trace::model::LaneKind::kOperators,
       .name = kMain},
      {.rank = rank,
       .id = kCommunicationLane,
       .kind = trace::model::LaneKind::kCommunication,
       .name = kWorld}};
  trace::model::ProcessGroup world;
  world.rank = rank;
  world.name = kWorld;
  world.backend = kGloo;
  for (int other = 0; other < options_.ranks; ++other) world.ranks.push_back(other);
  batch.process_groups = {world};
  trace::model::RankInfo info;
  info.rank = info.local_rank = rank;
  info.host = "test";
  info.device = options_.device;
  info.device_name = "Two cores";
  info.sources = "operators: RecordFunction";
  info.parameters = info.trained_parameters = 1'000'000;
  batch.rank_info = info;
  return batch;
}

trace::model::Batch SyntheticRun::step_batch(int rank, std::int64_t index, double stretch) const {
  const StepPlace step{.rank = rank, .index = index, .start_ns = now_ns_, .stretch = stretch};
  trace::model::Batch batch;
  batch.spans = {phase(step, trace::base::Phase::kData, 0, 1),
                 phase(step, trace::base::Phase::kForward, 1, 5),
                 phase(step, trace::base::Phase::kBackward, 5, 15),
                 phase(step, trace::base::Phase::kOptimizer, 15, 18)};
  batch.events = {operators_of(step)};
  batch.collectives = {bucket_of(step, 0, 7, 11), bucket_of(step, 1, 11, 15)};
  batch.memory = {memory_of(step)};
  batch.steps = {row_of(step)};
  return batch;
}

void SyntheticRun::add_steps(int count, double stretch) {
  for (int i = 0; i < count; ++i, ++steps_) {
    for (int rank = 0; rank < options_.ranks; ++rank) {
      writers_[static_cast<std::size_t>(rank)]->submit(step_batch(rank, steps_, stretch));
    }
    now_ns_ += static_cast<std::int64_t>(static_cast<double>(options_.step_ns) * stretch);
  }
}

void SyntheticRun::log(int rank, const std::string& text) {
  trace::model::Batch batch;
  batch.log = {{.rank = rank,
                .time_ns = now_ns_,
                .level = trace::model::LogLine::Level::kInfo,
                .text = text}};
  writers_[static_cast<std::size_t>(rank)]->submit(std::move(batch));
}

void SyntheticRun::beat(std::int64_t now_ns) {
  for (int rank = 0; rank < options_.ranks; ++rank) {
    trace::model::Batch batch;
    batch.heartbeat = trace::model::Heartbeat{.rank = rank,
                                              .alive_ns = now_ns,
                                              .progress_ns = now_ns,
                                              .step = steps_ - 1,
                                              .phase = trace::base::Phase::kForward};
    writers_[static_cast<std::size_t>(rank)]->submit(std::move(batch));
  }
}

void SyntheticRun::finish(trace::model::RunStatus status, const std::string& reason) {
  for (auto& writer : writers_) must(writer->close());
  writers_.clear();
  info_.status = status;
  info_.reason = reason;
  info_.end_ns = now_ns_;
  must(trace::store::update_run(folder_, info_));
}

std::filesystem::path finished_run(const std::filesystem::path& runs_dir,
                                   const SyntheticOptions& options, int steps, double stretch) {
  SyntheticRun run(runs_dir, options);
  run.add_steps(steps, stretch);
  run.finish();
  return run.folder();
}

void let_rest(const std::filesystem::path& run) {
  const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  for (const auto& file : std::filesystem::directory_iterator(run)) {
    std::filesystem::last_write_time(file, long_ago);
  }
}

}  // namespace shardlens::app::session
