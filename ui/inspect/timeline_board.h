// The timeline of the Inspect workspace over all ranks and the whole run. Interface thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ui/commands.h"
#include "ui/inspect/timeline_bookmarks.h"
#include "ui/inspect/timeline_mouse.h"
#include "ui/inspect/timeline_scene.h"
#include "ui/inspect/timeline_state.h"
#include "ui/snapshot.h"

namespace shardlens::ui {

class TimelineBoard {
 public:
  // Before anything of the workspace is drawn: takes over what has come, and obeys what asks for a
  // part of the run to be shown.
  void follow(const InspectView& view);
  // `keys`: the keyboard is the timeline's in this frame.
  void draw(const Look& look, const Rect& rect, const BookmarkList& bookmarks, bool keys,
            Commands& commands);

  TimelineState& state() { return state_; }
  // Under the mouse in the last frame, or in the middle where it is elsewhere.
  std::int64_t cursor_ns() const { return cursor_ns_; }
  const StepIndex& steps() const { return steps_; }
  // Where the rows of the last frame lay.
  const RowLayout& layout() const { return layout_; }

 private:
  void follow_run(const InspectView& view);
  void follow_rows(const InspectView& view);
  void follow_picked(const InspectView& view);
  void reveal(const InspectView& view);
  void unfold(const trace::TimelineRow& row);
  // How much later than the reference rank it began its step, where ranks are aligned by steps.
  std::int64_t shift_of(int rank, std::int64_t time_ns) const;
  void note_names(const InspectView& view);
  TimelineScene make_scene(const Look& look, const Rect& body);
  // Places the rows of the chosen mode; returns the height of all of them.
  float place_rows(TimelineScene& scene);
  void place_time_rows(TimelineScene& scene);
  std::int64_t end_of_row(trace::RowKind kind, int place) const;
  void scroll_to_revealed(const TimelineScene& scene);
  void choose_origin(const TimelineScene& scene);
  void draw_above_rows(const TimelineScene& scene, const BookmarkList& bookmarks,
                       std::int64_t origin_ns);
  // Over what a replay has not reached yet; false if the mouse is there.
  bool cover_future(const TimelineScene& scene) const;
  void draw_rows_and_marks(TimelineScene& scene, const BookmarkList& bookmarks, Commands& commands);
  void ask(const TimelineScene& scene, Commands& commands);

  TimelineState state_;
  TimelineMouse mouse_;
  RowLayout layout_;
  StepIndex steps_;
  PictureIndex pictures_;
  PictureIndex backdrops_;  // of the last picture of the whole run
  RowMeans means_;
  std::vector<std::string> no_names_;
  // Names of the picture that are searched, or else picked, and by what they were found.
  std::vector<bool> lit_;
  bool has_lit_ = false;
  std::string lit_name_;

  std::string run_;
  std::shared_ptr<const trace::TimelineRows> rows_;
  std::shared_ptr<const trace::TimelinePicture> picture_, backdrop_;
  std::shared_ptr<const trace::EventDetails> details_;
  std::shared_ptr<const trace::NameHits> hits_;
  std::uint64_t revealed_ = 0;
  std::int64_t cursor_ns_ = 0;
  int scroll_to_ = -1;  // a row that is to come into sight
  trace::PictureRequest asked_;
};

}  // namespace shardlens::ui
