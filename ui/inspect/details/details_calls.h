// The same collective on every rank: waits and transfers as bars. Interface thread, inside a frame.
#pragma once

#include <cstdint>
#include <optional>

#include "trace/timeline/values/event_details.h"
#include "ui/kit/theme.h"
#include "ui/state/commands.h"

namespace shardlens::ui::inspect {

float calls_height(const kit::Theme& theme, const trace::timeline::EventDetails& details);
// A click on a rank's bar goes to its call.
void draw_calls(const kit::Theme& theme, const state::Rect& rect,
                const trace::timeline::EventDetails& details, state::Commands& commands);

// Nothing: not known, as the hosts' clocks could make it up.
std::optional<std::int64_t> known_wait_ns(const trace::timeline::EventDetails& details,
                                          const trace::timeline::RankCall& call);
// The same of what it moved; none of a rank that had left before the last one began.
std::optional<std::int64_t> known_transfer_ns(const trace::timeline::EventDetails& details,
                                              const trace::timeline::RankCall& call);

}  // namespace shardlens::ui::inspect
