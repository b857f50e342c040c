// Below the search field: the names that were found, with their counts, or why none can be.
// Interface thread, inside a frame.
#pragma once

#include <cstddef>
#include <optional>

#include "trace/timeline/name_hits.h"
#include "ui/theme.h"

namespace shardlens::ui {

struct FoundNames {
  bool hovered = false;
  std::optional<std::size_t> chosen;  // into NameHits::names
};

FoundNames draw_found_names(const Look& look, const Rect& field, const trace::NameHits& hits);

}  // namespace shardlens::ui
