// Which picture a view needs: windows of the rows that can be seen, with a margin at both sides,
// rounded so that views which differ little ask for the same. Free of ImGui, any thread.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "trace/timeline/picture.h"

namespace shardlens::ui {

// A part of a row that is on screen, in absolute time.
struct SeenPart {
  int row = 0;
  std::int64_t start_ns = 0, end_ns = 0;
};

// `least_ns`, `most_ns`: nothing is recorded before and behind; nothing is asked for there.
trace::PictureRequest picture_request(std::span<const SeenPart> parts, double span_ns, float width,
                                      std::int64_t least_ns, std::int64_t most_ns);

// The rows of a picture by row and time, for drawing.
class PictureIndex {
 public:
  PictureIndex() = default;
  explicit PictureIndex(const trace::TimelinePicture& picture);
  // The part of the row that holds `time_ns`, or else any; null: the row is not in the picture.
  const trace::RowPicture* find(int row, std::int64_t time_ns) const;

 private:
  std::unordered_map<int, std::vector<const trace::RowPicture*>> by_row_;
};

}  // namespace shardlens::ui
