// Which picture a view needs: windows of the rows that can be seen, with a margin at both sides,
// rounded so that views which differ little ask for the same. Free of ImGui, any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/timeline/values/event_ref.h"
#include "trace/timeline/values/picture.h"

namespace shardlens::ui::inspect {

// A part of a row that is on screen, in absolute time.
struct SeenPart {
  int row = 0;
  std::int64_t start_ns = 0, end_ns = 0;
  // Nothing before and behind is of interest: where the recording, or the step, begins and ends.
  std::int64_t least_ns = 0, most_ns = 0;
};

trace::timeline::PictureRequest picture_request(std::span<const SeenPart> parts, double span_ns,
                                                float width);

// The rows of a picture by row and time, for drawing. It keeps the picture that it points into.
class PictureIndex {
 public:
  PictureIndex() = default;  // of no picture
  explicit PictureIndex(std::shared_ptr<const trace::timeline::TimelinePicture> picture);
  const std::shared_ptr<const trace::timeline::TimelinePicture>& picture() const {
    return picture_;
  }
  const std::vector<std::string>& names() const;
  // The part of the row that covers most of a stretch of time; null: the row is not in the picture.
  const trace::timeline::RowPicture* find(int row, std::int64_t start_ns,
                                          std::int64_t end_ns) const;
  const trace::timeline::RowPicture* find(int row, std::int64_t time_ns) const {
    return find(row, time_ns, time_ns + 1);
  }
  // The event with this reference on its row; null: it is not there.
  const trace::timeline::Piece* find(const trace::timeline::EventPlace& place) const;

 private:
  std::shared_ptr<const trace::timeline::TimelinePicture> picture_;
  std::unordered_map<int, std::vector<const trace::timeline::RowPicture*>> by_row_;
};

}  // namespace shardlens::ui::inspect
