// What the prediction says of a change. Any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trace/advice/facts/run_facts.h"
#include "trace/advice/values/advice.h"

namespace shardlens::trace::advice {

struct WhatIf {
  // None: `unknown` says why. In it a step may get shorter or longer.
  std::optional<tuning::Prediction> prediction;
  std::string unknown;

  // Something changes, but the steps are too few to tell how sure that is, or drift too much.
  bool is_unsure() const;
  // The interval of the difference; where that is not known, the narrowest that it could be. None:
  // nothing changes.
  std::optional<tuning::Interval> bounds() const;
  // The step gets longer, and that is more than chance.
  bool is_slower() const;
};

WhatIf what_if(const RunFacts& run, const std::vector<KnobValue>& changes);

// Into an advice with changes: the gain, or why there is none. Where it is not known how sure the
// predicted one is, that is why, with its mean. False: the prediction speaks against it.
bool add_gain(const RunFacts& run, Advice& advice);

}  // namespace shardlens::trace::advice
