// What is predicted of a sweep's points, all from one of its runs, so that each can be held against
// its own runs later. One thread at a time; reads runs.
#pragma once

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

class SweepPredictor {
 public:
  explicit SweepPredictor(LearnRun learn_run) : learnt_(std::move(learn_run)) {}

  // From the first finished run that tells something of every other point; where none does, of
  // those that ended first the one that tells of most. Of its own point nothing is predicted.
  SweepPredictions predict(const SweepPlan& plan, const SweepResults& results);

 private:
  LearntRuns learnt_;
};

}  // namespace shardlens::app::sweep
