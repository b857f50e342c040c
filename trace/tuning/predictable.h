// Which runs a prediction can be made from, and of which changes. Any thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/base/result.h"
#include "trace/job/settings/settings.h"
#include "trace/tuning/prediction.h"

namespace shardlens::trace::tuning {

// Why something cannot be predicted.
inline tl::unexpected<base::Error> refuse(std::string why) {
  return base::fail(base::ErrorKind::kUsage, std::move(why));
}

// Error kUsage: nothing can be predicted from this run, and why.
base::Result<void> check_run(const analysis::RunFigures& figures);

// What differs from the recorded settings and acts on a step. Error kUsage: the settings contradict
// each other, or one of them does what cannot be predicted.
base::Result<std::vector<Change>> changes_to(const model::RunInfo& info, const job::Settings& next);

// `settings` as a run like this one obeys them, with as many ranks as they ask for.
job::Settings acting_settings(model::RunInfo info, const job::Settings& settings);

// Samples of a step that one rank computes.
double samples_of_a_rank(const job::Settings& settings);
bool changes_samples(const job::Knob& knob);

// Whether a run's prediction may be asked for other values of the knob.
bool is_predictable(const job::Knob& knob);

}  // namespace shardlens::trace::tuning
