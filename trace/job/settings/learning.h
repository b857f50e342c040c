// Which knobs change what a step learns, so that settings that differ in nothing else do not train
// the same. Any thread.
#pragma once

#include "trace/job/settings/settings.h"

namespace shardlens::trace::job {

// Of a knob that only some strategies obey: whether it changes the gradients that are learnt from.
bool changes_learning(const Knob& knob);

// Whether these settings learn the same with `strategy` as with their own: it obeys none of those
// knobs that they set where their own does not, nor the other way round.
bool learns_the_same(const Settings& settings, Strategy strategy);

}  // namespace shardlens::trace::job
