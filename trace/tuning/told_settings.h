// What a run of another program tells of its settings: how DDP reduced its gradients, or how FSDP
// gathered and reduced its units. Any thread.
#pragma once

#include <optional>
#include <vector>

#include "trace/base/result.h"
#include "trace/job/settings/settings.h"
#include "trace/model/run_info.h"
#include "trace/predict/record/recorded_steps.h"
#include "trace/predict/schedule/bucket_program.h"
#include "trace/tuning/predictable.h"

namespace shardlens::trace::tuning {

struct ToldSettings {
  // What is told, of DDP with caps that give the recorded buckets; of the rest they say nothing.
  job::Settings settings;
  std::vector<const job::Knob*> knobs;       // those that are told: the run predicts other values
  std::optional<predict::FittingCaps> caps;  // none: it has units
  bool are_wrapped = false;                  // these, by FullyShardedDataParallel
};

// Error kUsage: what of it the run does not tell, why, and how it would.
base::Result<ToldSettings> told_settings(const model::RunInfo& info,
                                         const predict::RecordedSteps& recorded);

// Of `next` what the run tells; the rest stays as it was. `info`: with its told settings.
// `is_first_given`: first_bucket_mb was asked for, also where it is as it was, and does not follow
// bucket_cap_mb. Error kUsage: the settings contradict each other.
base::Result<Changes> told_changes(const model::RunInfo& info, const ToldSettings& told,
                                   const job::Settings& next, bool is_first_given = false);
// Those of `asked` whose effect such a run does not tell.
std::vector<const job::Knob*> untold_knobs(const ToldSettings& told,
                                           std::vector<const job::Knob*> asked);
// Error kUsage, by name: those of `asked` whose effect a run of another program does not tell.
base::Result<void> refuse_untold(const ToldSettings& told,
                                 const std::vector<const job::Knob*>& asked);

// Caps in MiB out of the ranges, as round as possible; where one value may be both, it is.
struct ChosenCaps {
  double bucket_cap_mb = 0, first_bucket_mb = 0;  // first: may be auto
};
ChosenCaps choose_caps(const predict::FittingCaps& caps);

}  // namespace shardlens::trace::tuning
