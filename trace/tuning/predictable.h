// Which runs a prediction can be made from, and of which changes. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/base/result.h"
#include "trace/job/settings/settings.h"
#include "trace/tuning/prediction.h"

namespace shardlens::trace::tuning {

inline constexpr std::string_view kUnusedAreLookedFor =
    "With find_unused_parameters buckets are not in the order in which gradients come, which a "
    "prediction needs. Record one without.";

// Why something cannot be predicted.
inline tl::unexpected<base::Error> refuse(std::string why) {
  return base::fail(base::ErrorKind::kUsage, std::move(why));
}

// Why something cannot be predicted yet, of a run that goes on.
inline tl::unexpected<base::Error> refuse_so_far(std::string why) {
  return base::fail(base::ErrorKind::kMissing, std::move(why));
}

// Error kUsage: nothing can be predicted from this run, and why; kMissing: nothing so far.
base::Result<void> check_run(const analysis::RunFigures& figures);

// What differs from the recorded settings, by what is known of it.
struct Changes {
  std::vector<Change> known;  // what they do to a step can be predicted
  // Knobs that change nothing of a step's time: the learning rate, names, how often is saved, …
  std::vector<const job::Knob*> without_effect;
  // Knobs that may change it, by how much is not known.
  std::vector<const job::Knob*> unknown;
  job::Settings settings;  // the next ones, but as recorded where nothing is known
};

// The first knob of `next` that makes the job another one, of which the run tells nothing; "": none
// does.
std::string_view other_job_knob(const model::RunInfo& info, const job::Settings& next);
// Error kUsage: the settings contradict each other, or one of them makes the job another one, of
// which the run tells nothing.
base::Result<Changes> changes_to(const model::RunInfo& info, const job::Settings& next);
// Whether they can be trained with, but for a link of a GPU's: that is simulated on CPUs only, and
// predicted anywhere.
base::Result<void> check_values(job::Settings next);
// Error kUsage, by name: what knobs do that nothing is known of.
base::Result<void> refuse_unknown(const std::vector<const job::Knob*>& unknown);

// `settings` as a run like this one obeys them, with as many ranks as they ask for.
job::Settings acting_settings(model::RunInfo info, const job::Settings& settings);

// Samples of a step that one rank computes.
double samples_of_a_rank(const job::Settings& settings);
bool changes_samples(const job::Knob& knob);
bool changes_tokens(const job::Knob& knob);  // samples, or how long each is

// "ranks, model and device"
std::string listed_names(const std::vector<const job::Knob*>& knobs);

// Whether a run's prediction may be asked for other values of the knob.
bool is_predictable(const job::Knob& knob);
// Whether a step takes as long whatever the knob's value.
bool is_without_effect(const job::Knob& knob);

}  // namespace shardlens::trace::tuning
