// The communication and bucket rows of one rank. Interface thread, inside a frame.
#pragma once

#include <optional>

#include "ui/timeline_draw.h"

namespace shardlens::ui {

// Collectives in two parts: waiting for the last rank is hollow, transferring is filled; the
// colour tells whether computation hides it.
std::optional<TimelineItem> draw_communication(const TimelineCanvas& canvas, float y,
                                               const trace::RankTimeline& rank);

// ▼ where a bucket's last gradient was ready; under it the bucket's true size and time on the link.
std::optional<TimelineItem> draw_buckets(const TimelineCanvas& canvas, float y,
                                         const trace::RankTimeline& rank);

}  // namespace shardlens::ui
