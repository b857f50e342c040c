// What is predicted of a sweep's points, all from one of its runs, so that each can be held against
// its own runs later. One thread at a time; reads runs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/sweep/sweep_results.h"
#include "trace/base/result.h"
#include "trace/tuning/predictor.h"
#include "ui/state/sweep_view.h"

namespace shardlens::app::sweep {

struct SweepPredictions {
  std::string from;  // the run; "": nothing is predicted of any point
  std::vector<ui::state::PointPrediction> points;
};

struct SourceRun {  // finished and measured
  std::size_t point = 0;
  const SlotResult* result = nullptr;
};

// Error: nothing can be predicted from that run.
using PredictorOf = std::shared_ptr<const trace::tuning::Predictor>;
using LearnRun = std::function<trace::base::Result<PredictorOf>(const std::filesystem::path& run)>;

// What each run told, which is read once.
class LearntRuns {
 public:
  explicit LearntRuns(LearnRun learn_run) : learn_run_(std::move(learn_run)) {}
  const trace::base::Result<PredictorOf>& operator[](const std::filesystem::path& run);

 private:
  LearnRun learn_run_;
  std::map<std::filesystem::path, trace::base::Result<PredictorOf>> known_;
};

// From the first finished run that tells something of every other point; where none does, of those
// that ended first the one that tells of most. Of its own point nothing is predicted.
SweepPredictions predictions_of(const SweepPlan& plan, const SweepResults& results,
                                LearntRuns& learnt);

}  // namespace shardlens::app::sweep
