#include "bench/redraw/made_up_run.h"

#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bench/benchmark.h"
#include "tests/trace/tuning/played_job.h"
#include "trace/job/shape/shape_text.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/write/trace_writer.h"
#include "trace/tuning/layer_moments.h"

namespace shardlens::bench {

namespace {

using namespace trace;

constexpr std::size_t kRanks = 2;
constexpr std::int64_t kSteps = 40;
constexpr int kPhaseLane = 0, kOperatorLane = 1, kCommunicationLane = 2;
constexpr model::StringId kMain = 900'001;
constexpr std::int64_t kPeakBytes = 64 << 20;

// What a rank says of itself before its first step.
model::Batch introduction(int rank, const model::RankInfo& info) {
  model::Batch batch;
  batch.strings = {{.rank = rank, .id = kMain, .text = "main"}};
  const auto lane = [&](int id, model::LaneKind kind) {
    batch.lanes.push_back({.rank = rank, .id = id, .kind = kind, .name = kMain});
  };
  lane(kPhaseLane, model::LaneKind::kPhases);
  lane(kOperatorLane, model::LaneKind::kOperators);
  lane(kCommunicationLane, model::LaneKind::kCommunication);
  batch.rank_info = info;
  return batch;
}

// On the lanes where a recorder has them, with the memory of each step.
void place(model::Batch& batch) {
  for (auto& run : batch.events) {
    run.lane = kOperatorLane;
    run.kind = model::EventKind::kOperator;
    for (auto& event : run.events) event.flags |= model::kEventLeaf;
  }
  for (auto& collective : batch.collectives) collective.lane = kCommunicationLane;
  for (auto& step : batch.steps) {
    step.tokens = 1024;
    step.samples = 8;
    model::MemorySample memory;
    memory.rank = step.rank;
    memory.step = step.index;
    memory.time_ns = step.start_ns;
    memory.bytes.fill(kPeakBytes / model::kMemoryCategoryCount);
    batch.memory.push_back(memory);
  }
}

}  // namespace

MadeUpRun make_up_run(const std::filesystem::path& runs_dir, job::Strategy strategy,
                      std::int64_t layers) {
  job::Settings settings;
  settings.ranks = kRanks;
  settings.skip_steps = 0;
  settings.sharding_strategy = strategy;
  const tuning::PlayedJob job({.steps = kSteps, .layers = layers});
  const auto figures = job.figures(settings);
  model::RunInfo info = figures.info;
  info.name = job::chosen<&job::Settings::sharding_strategy>(settings);
  info.program = "shardlens bench";
  info.start_ns = 1'000'000'000'000;
  MadeUpRun made;
  made.folder = must(store::create_run(runs_dir, info, false));
  std::vector<std::unique_ptr<store::TraceWriter>> writers;
  for (int rank = 0; rank < static_cast<int>(kRanks); ++rank) {
    auto of_rank = figures.ranks[static_cast<std::size_t>(rank)].info;
    of_rank.rank = of_rank.local_rank = rank;
    of_rank.host = "bench";
    of_rank.device = "cpu";
    of_rank.device_name = "made up, 2 cores";
    writers.push_back(
        must(store::TraceWriter::create(store::rank_file(made.folder, rank), rank, {})));
    writers.back()->submit(introduction(rank, of_rank));
  }
  auto rows = job.rows(settings);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    place(rows[i]);
    // The first ones introduce buckets and units, the next ones the strings of all steps.
    if (i >= 2 * kRanks) rows[i].strings.clear();
    writers[i % kRanks]->submit(std::move(rows[i]));
  }
  for (auto& writer : writers) {
    must(writer->close());
    if (writer->lost() > 0) throw std::runtime_error("the made-up run lost records");
  }
  info.status = model::RunStatus::kDone;
  info.end_ns = info.start_ns + 1;
  must(store::update_run(made.folder, info));
  const auto shape = job::parse_shape_text(figures.ranks.front().info.model);
  made.gradients =
      tuning::gradients_backwards(predict::job_on_this_machine(settings, *shape)).size();
  made.units = static_cast<std::size_t>(layers) + 1;
  return made;
}

}  // namespace shardlens::bench
