// Which picture a view needs, and what is looked up in it: rows by time, names that stay lit. Free
// of ImGui, any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/timeline/values/event_ref.h"
#include "trace/timeline/values/name_hits.h"
#include "trace/timeline/values/picture.h"

namespace shardlens::ui::inspect {

// A part of a row that is on screen, in absolute time.
struct SeenPart {
  int row = 0;
  std::int64_t start_ns = 0, end_ns = 0;
  // Nothing before and behind is of interest: where the recording, or the step, begins and ends.
  std::int64_t least_ns = 0, most_ns = 0;
};

// Windows of the rows that can be seen, with a margin at both sides, rounded so that views which
// differ little ask for the same.
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

// Which names of a picture stay lit while the others are dimmed: those that are searched, or else
// that of the event that is picked.
class LitNames {
 public:
  // `names`: of the picture. `hits`: null without a search; `picked`: "" for none.
  void follow(const std::vector<std::string>& names,
              std::shared_ptr<const trace::timeline::NameHits> hits, const std::string& picked);
  // Another picture has other names.
  void forget_names();

  // By the picture's number of a name; null: all are.
  const std::vector<bool>* lit() const { return has_lit_ ? &lit_ : nullptr; }
  bool are_searched() const { return hits_ != nullptr; }

 private:
  std::vector<bool> lit_;
  bool has_lit_ = false;
  // By what they were found.
  std::string picked_;
  std::shared_ptr<const trace::timeline::NameHits> hits_;
};

}  // namespace shardlens::ui::inspect
