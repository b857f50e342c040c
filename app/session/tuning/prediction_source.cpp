#include "app/session/tuning/prediction_source.h"

#include <algorithm>
#include <utility>

#include "app/launch/job_request.h"
#include "app/session/runs/library_run.h"
#include "app/session/runs/run_liveness.h"
#include "trace/advice/advisor.h"
#include "trace/base/wall_clock.h"
#include "trace/predict/costs/costs_file.h"
#include "trace/store/run/run_folder.h"
#include "trace/tuning/predictable.h"

namespace shardlens::app::session {

using trace::advice::StepSample;
using trace::base::Result;
using trace::model::Batch;

namespace {

constexpr int kMostRanks = 16;  // other than the run's own number

// What is known of a run's collectives beside the run itself: `shardlens calibrate` and tables of
// nccl-tests, kept in its library. Of the same machine, device and link, for groups of any number
// of ranks. Error: a file that is kept is damaged or foreign, by name.
Result<trace::tuning::KnownCosts> known_costs(const trace::analysis::RunFigures& figures) {
  const auto library = trace::store::library_of(figures.info.folder);
  trace::tuning::KnownCosts known;
  std::error_code error;
  if (!std::filesystem::is_directory(library / trace::predict::kCostsFolder, error)) return known;
  std::vector<trace::model::RankInfo> ranks;
  for (const auto& rank : figures.ranks) ranks.push_back(rank.info);
  auto setup = trace::predict::setup_of(figures.info, ranks);
  const int own = setup.ranks;
  for (int other = 1; other <= kMostRanks; ++other) {
    // The run's own number first: it fills what it knows before others do.
    setup.ranks = other == 1 ? own : other;
    TRY_ASSIGN(const auto kept, trace::predict::costs_for(setup, library));
    if (kept) known.beside = known.beside.filled_from(*kept);
  }
  known.is_link_untold = !setup.tells_link && !known.beside.empty();
  return known;
}

// A packed run's hosts are numbered: of one host it is known which machine it was.
bool was_here(const trace::analysis::RunFigures& run, const Machine& machine) {
  if (run.ranks.empty()) return true;
  const std::string& host = run.info.is_packed ? run.ranks.front().info.host : machine.host;
  const bool is_one = std::ranges::all_of(
      run.ranks, [&](const auto& rank) { return !host.empty() && rank.info.host == host; });
  const std::string& mark = run.info.machine;
  return is_one && (!run.info.is_packed || (!mark.empty() && mark == machine.mark));
}

}  // namespace

Result<void> PredictionSource::read(const trace::model::RunInfo& info) {
  const bool is_same = reader_ && folder_ == info.folder && start_ns_ == info.start_ns;
  if (!is_same || reader_->is_replaced()) {
    recorded_.emplace(info.world_size, info.settings.skip_steps);
    folder_ = info.folder;
    start_ns_ = info.start_ns;
    reader_.reset();
    TRY_ASSIGN(reader_, trace::store::RunReader::open(info.folder));
  }
  while (!recorded_->is_enough()) {
    TRY_ASSIGN(const auto batches, reader_->poll());
    if (batches.empty()) {
      if (info.status != trace::model::RunStatus::kRunning) {
        recorded_->learn_end(is_written(info, trace::base::wall_clock_ns()));
      }
      break;
    }
    for (const auto& batch : batches) recorded_->learn(batch);
  }
  return {};
}

Result<trace::tuning::Predictor> PredictionSource::predictor_of(
    const trace::analysis::RunFigures& figures,
    std::optional<trace::predict::CollectiveCosts> costs, trace::predict::CollectiveCosts instead) {
  TRY(trace::tuning::check_run(figures));
  TRY(read(figures.info));
  trace::tuning::KnownCosts known;
  if (costs) {
    known.beside = std::move(*costs);
  } else {
    TRY_ASSIGN(known, known_costs(figures));
  }
  known.instead = std::move(instead);
  return trace::tuning::Predictor::create(figures, *recorded_, known);
}

Result<std::shared_ptr<const trace::tuning::Predictor>> learn_run(
    const std::filesystem::path& run) {
  TRY_ASSIGN(const auto figures, read_run_figures(run));
  auto learnt = PredictionSource().learn(figures);
  if (learnt.predictor) return learnt.predictor;
  return trace::base::fail(trace::base::ErrorKind::kUsage, learnt.refused);
}

LearntRun PredictionSource::learn(const trace::analysis::RunFigures& figures) {
  LearntRun learnt{.folder = figures.info.folder};
  auto predictor = predictor_of(figures);
  if (predictor) {
    learnt.predictor = std::make_shared<const trace::tuning::Predictor>(std::move(*predictor));
  } else {
    learnt.refused = predictor.error().message;
    learnt.may_come = figures.info.status == trace::model::RunStatus::kRunning &&
                      predictor.error().kind == trace::base::ErrorKind::kMissing;
  }
  return learnt;
}

bool would_run_where(const trace::analysis::RunFigures& run, const trace::job::Settings& next,
                     const Machine& machine) {
  const auto device = launch::resolve_device(next, machine.cuda);
  return device && *device == run.info.device && was_here(run, machine);
}

search::ForecastSources forecast_sources(const Machine& machine) {
  using trace::job::Settings;
  return {.learn_run = learn_run,
          .shape_bytes =
              [machine](const Settings& settings) { return peak_bytes_here(settings, machine); },
          .usable_bytes =
              [machine](const Settings& settings) { return usable_bytes_here(settings, machine); }};
}

namespace {

Result<StepSample> sampled(const trace::analysis::RunFigures& figures) {
  StepSample sample;
  TRY_ASSIGN(const auto reader, trace::store::RunReader::open(figures.info.folder));
  TRY(reader->read_facts([&](const Batch& batch) { sample.learn_facts(batch); }));
  for (const auto* step : StepSample::choose(figures)) {
    TRY(reader->read_range(step->start_ns, step->end_ns,
                           [&](const Batch& batch) { sample.add(*step, batch); }));
  }
  return sample;
}

}  // namespace

ui::state::AdviceView advise_run(const trace::analysis::RunFigures& figures,
                                 const LearntRun& learnt) {
  const StepSample sample = sampled(figures).value_or(StepSample{});
  const trace::advice::RunFacts run(figures, sample, learnt.predictor.get(), learnt.refused);
  return {.folder = figures.info.folder,
          .advice = trace::advice::advise(run),
          .looked_at = trace::advice::looked_at(run),
          .refused = learnt.refused,
          .steps = figures.summary.steps_measured};
}

}  // namespace shardlens::app::session
