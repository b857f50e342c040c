#include "app/session/tuning/run_advice.h"

#include "trace/advice/advisor.h"
#include "trace/store/read/run_reader.h"

namespace shardlens::app::session {

namespace {

using trace::advice::StepSample;
using trace::base::Result;
using trace::model::Batch;

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
