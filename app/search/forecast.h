// What a measured run tells of another point of a search, before that is run. Any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "app/sweep/sweep_prediction.h"

namespace shardlens::app::search {

// What is to be small: time per step, time per token, or the peak memory of the rank that needs
// most.
enum class Goal : std::uint8_t { kStepTime, kTokenRate, kMemory };
inline constexpr std::array kGoals{Goal::kStepTime, Goal::kTokenRate, Goal::kMemory};
std::string_view to_string(Goal goal);  // "step_time", "tokens_per_s", "memory"

// Nanoseconds per step or per token of all ranks, or bytes. None: the run does not know it.
std::optional<double> cost_of(const sweep::RunMeasure& run, Goal goal);

struct Forecast {
  std::optional<double> cost;  // none: `refused` says why
  double deviation = 0;        // standard, of the cost
  std::optional<std::int64_t> peak_bytes;
  std::string refused;
};

// Of `point`, from a finished run of another one.
using ForecastFrom = std::function<Forecast(const sweep::SlotResult& run, std::size_t point)>;

// By trace/tuning. What was read of a run is kept. One thread at a time; reads runs.
class RunForecasts {
 public:
  RunForecasts(const sweep::SweepPlan& plan, Goal goal, sweep::LearnRun learn_run)
      : plan_(plan), goal_(goal), learn_run_(std::move(learn_run)) {}

  Forecast operator()(const sweep::SlotResult& run, std::size_t point);

 private:
  const trace::base::Result<sweep::PredictorOf>& learnt(const std::filesystem::path& run);

  const sweep::SweepPlan& plan_;
  Goal goal_;
  sweep::LearnRun learn_run_;
  std::map<std::filesystem::path, trace::base::Result<sweep::PredictorOf>> learnt_;
  std::map<std::pair<std::filesystem::path, std::size_t>, Forecast> known_;
};

}  // namespace shardlens::app::search
