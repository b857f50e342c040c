// Below the search field: the names that were found, with their counts, and of one name every
// event; or why none can be.
// Interface thread, inside a frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "trace/timeline/values/name_hits.h"
#include "ui/kit/theme.h"

namespace shardlens::ui::inspect {

struct FoundNames {
  bool hovered = false;
  std::optional<std::size_t> chosen;    // into NameHits::names
  std::optional<std::size_t> instance;  // into NameHits::instances
};

// The keyboard went from the field to one of them.
bool found_names_have_focus(const kit::Theme& theme);
// `origin_ns`: the start of the run.
FoundNames draw_found_names(const kit::Theme& theme, const state::Rect& field,
                            const trace::timeline::NameHits& hits, std::int64_t origin_ns);

}  // namespace shardlens::ui::inspect
