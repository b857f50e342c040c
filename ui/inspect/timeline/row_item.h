// What the mouse is over in the timeline, or was clicked. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trace/timeline/values/picture.h"

namespace shardlens::ui::inspect {

// Times are the row's own.
struct RowItem {
  int row = -1;
  std::int64_t shift_ns = 0;
  std::optional<trace::timeline::Piece> piece = {};
  std::optional<trace::timeline::RibbonColumn> column = {};
  std::optional<trace::timeline::AreaPoint> point = {};
  std::int64_t smooth_ns = 0;  // `column` and `point` are of so long around them; 0: of themselves
  std::optional<trace::timeline::ReadyPoint> ready = {};
  // What `piece` is, or what reduces what is ready; none: it is not drawn alone.
  std::optional<trace::timeline::DrawnCollective> collective = {};
  std::string name = {};
};

}  // namespace shardlens::ui::inspect
