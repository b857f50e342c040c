// The communication and bucket rows of one rank. Interface thread, inside a frame.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ui/tune/timeline/timeline_draw.h"

namespace shardlens::ui {

// Collectives in two parts: waiting for the last rank is hollow, transferring is filled; the
// colour tells whether computation hides it. Several process groups lie below each other.
std::optional<TimelineItem> draw_communication(const TimelineCanvas& canvas, float y,
                                               const trace::RankTimeline& rank);

// What reduces a bucket or unit that became ready, the first one first: one collective, or two
// where a unit is sharded within groups of ranks and replicated between them.
std::vector<const trace::CollectiveBar*> reductions_of(const trace::RankTimeline& rank,
                                                       const trace::ReadyMark& mark);

// Whether the step's ranks gather and reduce units instead of buckets.
bool has_units(const trace::RankTimeline& rank);

// What the row under the communication is called: "Units", "Buckets", or "Buckets, MiB" where the
// sizes on its bars stand without their unit.
std::string bucket_row_name(const TimelineCanvas& canvas, const trace::RankTimeline& rank);

// ▼ where the last gradient of a bucket or unit was ready; under it a bucket's true size, or a
// unit's name, and the time on the link. A unit's gathers are hollow under ▶ for forward and ◀ for
// backward, those ahead of need fainter.
std::optional<TimelineItem> draw_buckets(const TimelineCanvas& canvas, float y,
                                         const trace::RankTimeline& rank);

}  // namespace shardlens::ui
