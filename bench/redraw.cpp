// What a change of a knob costs the interface thread: the predicted step, memory and settings drawn
// anew in the same frame, for made-up runs of thousands of gradients and hundreds of units.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/benchmark.h"
#include "bench/headless_window.h"
#include "tests/trace/tuning/played_job.h"
#include "trace/base/file_system.h"
#include "trace/job/shape/shape_text.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/write/trace_writer.h"
#include "trace/tuning/layer_moments.h"
#include "ui/present/tune/knob_rows.h"

namespace shardlens::bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using namespace trace;
using job::Strategy;

constexpr double kBudgetMs = 16;
constexpr auto kLongestWait = 120s;
constexpr int kPositions = 200;  // of a slider that is dragged over its range

// A run on disk whose job has as many gradients or units as asked for.

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

struct MadeUpRun {
  std::filesystem::path folder;
  std::size_t gradients = 0, units = 0;  // of its model, of which a strategy takes one or the other
};

// Of two ranks and 40 steps.
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

class Desk {
 public:
  explicit Desk(const std::filesystem::path& run) : window_(run, {1920, 1200}) {}

  // Milliseconds of the interface thread from the change to what was drawn of it.
  double set(const char* knob, const std::string& value) {
    const double begin = thread_cpu_ms();
    window_.controller().execute(ui::state::SetKnob{knob, value});
    window_.draw();
    const double took = thread_cpu_ms() - begin;
    if (!shows_prediction()) throw std::runtime_error("nothing was predicted: " + refused());
    return took;
  }
  void draw_until_predicted() {
    const auto begin = Clock::now();
    for (window_.draw(); !shown()->prediction || !shown()->run->timeline; window_.draw()) {
      if (Clock::now() - begin > kLongestWait) throw std::runtime_error("the run was never read");
      std::this_thread::sleep_for(16ms);
    }
    if (!shows_prediction()) throw std::runtime_error("nothing is predicted: " + refused());
  }
  std::size_t parts() const { return shown()->prediction->prediction->parts; }

 private:
  bool shows_prediction() const {
    return shown()->prediction && shown()->prediction->prediction && shown()->prediction->step;
  }
  std::string refused() const {
    return shown()->prediction ? shown()->prediction->refused : "the run is not there";
  }
  const ui::state::Snapshot* shown() const { return window_.snapshot(); }

  HeadlessWindow window_;
};

void add_times(const std::string& what, const std::vector<double>& times,
               std::vector<BenchRow>& rows) {
  rows.push_back({what + ", median", quantile(times, 0.5), "ms"});
  BenchRow worst{what + ", 99th percentile", quantile(times, 0.99), "ms", "<= 16 ms"};
  worst.met = worst.value <= kBudgetMs;
  rows.push_back(worst);
  rows.push_back({what + ", longest", quantile(times, 1), "ms"});
}

std::vector<double> dragged(Desk& desk, const char* name, std::size_t& most_parts) {
  std::vector<double> times;
  const auto& knob = *trace::job::find_knob(name);
  for (const auto& value : ui::present::slider_values(knob, kPositions)) {
    times.push_back(desk.set(name, value));
    most_parts = std::max(most_parts, desk.parts());
  }
  return times;
}

void measure_buckets(const std::filesystem::path& folder, std::int64_t layers,
                     std::vector<BenchRow>& rows) {
  const auto run = make_up_run(folder, Strategy::kDdp, layers);
  Desk desk(run.folder);
  desk.draw_until_predicted();
  std::size_t buckets = 0;
  const auto times = dragged(desk, "bucket_cap_mb", buckets);
  add_times(std::to_string(run.gradients) + " gradients, up to " + std::to_string(buckets) +
                " buckets: a frame with another cap",
            times, rows);
  const auto batches = dragged(desk, "batch_per_rank", buckets);
  add_times("  … with another batch", batches, rows);
}

void measure_units(const std::filesystem::path& folder, std::int64_t layers,
                   std::vector<BenchRow>& rows) {
  const auto run = make_up_run(folder, Strategy::kFullShard, layers);
  Desk desk(run.folder);
  desk.draw_until_predicted();
  std::size_t units = 0;
  auto times = dragged(desk, "batch_per_rank", units);
  for (int round = 0; round < 10; ++round) {
    for (const char* prefetch : {"post", "none", "pre"}) {
      times.push_back(desk.set("backward_prefetch", prefetch));
    }
    for (const char* ahead : {"true", "false"}) {
      times.push_back(desk.set("forward_prefetch", ahead));
    }
  }
  add_times(std::to_string(run.units) + " units: a frame with another batch or prefetch", times,
            rows);
}

}  // namespace
}  // namespace shardlens::bench

int main(int argc, char** argv) {
  using namespace shardlens::bench;
  std::int64_t gradient_layers = 170, unit_layers = 199;
  CLI::App app{
      "What a change of a knob costs the interface thread until its prediction is drawn: processor "
      "time of the frame, without the renderer."};
  app.add_option("--gradient-layers", gradient_layers,
                 "Blocks of the model with gradients; each has 12")
      ->capture_default_str();
  app.add_option("--unit-layers", unit_layers, "Blocks of the model with units; each is one")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return exit_code_of([&] {
    const auto folder = must(shardlens::trace::base::TemporaryFolder::create());
    std::vector<BenchRow> rows;
    measure_buckets(folder.path(), gradient_layers, rows);
    measure_units(folder.path(), unit_layers, rows);
    print_rows(rows);
  });
}
