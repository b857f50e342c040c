// Below a name that was found: where and when it occurs, one line each. Interface thread, inside a
// frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "trace/timeline/values/name_hits.h"
#include "ui/kit/theme.h"

namespace shardlens::ui {

// 0 where there is nothing to list.
float instances_height(const Theme& theme, const trace::NameHits& hits);
// Returns the one that was clicked. `origin_ns`: the start of the run.
std::optional<std::size_t> draw_instances(const Theme& theme, const Rect& rect,
                                          const trace::NameHits& hits, std::int64_t origin_ns);

}  // namespace shardlens::ui
