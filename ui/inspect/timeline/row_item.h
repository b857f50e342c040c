// What the mouse is over in the timeline, or was clicked. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trace/timeline/values/picture.h"
#include "ui/state/geometry.h"

namespace shardlens::ui {

// Times are the row's own.
struct RowItem {
  int row = -1;
  std::int64_t shift_ns = 0;
  std::optional<trace::Piece> piece = {};
  std::optional<trace::RibbonColumn> column = {};
  std::optional<trace::AreaPoint> point = {};
  std::optional<trace::ReadyPoint> ready = {};
  // What `piece` is, or what reduces what is ready; none: it is not drawn alone.
  std::optional<trace::DrawnCollective> collective = {};
  std::string name = {};
  Rect rect = {};
};

}  // namespace shardlens::ui
