// Events of an imported rank, by lane and kind: their order, and which of them compute. Any thread.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/base/intervals.h"
#include "trace/model/events.h"

namespace shardlens::trace::interop {

using EventRuns = std::map<std::pair<int, model::EventKind>, std::vector<model::Event>>;
using StringIds = std::unordered_map<std::string, model::StringId>;

// By start, callers before what they call, with their depth.
void order_runs(EventRuns& runs);

// Of a run without a GPU, once in order: the outermost operators of ATen that call only ATen
// (docs/NUMBERS.md). `strings`: the events' names, numbered from 1. `communicating`: by lane, when
// its thread carried collectives out: what it runs then is a part of them.
void mark_compute(const StringIds& strings, const std::map<int, base::Intervals>& communicating,
                  EventRuns& runs);

}  // namespace shardlens::trace::interop
