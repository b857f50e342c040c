// The timeline over all ranks: of the whole run in Inspect, of one step in Tune. Interface thread.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "trace/timeline/values/picture.h"
#include "trace/timeline/values/timeline_rows.h"
#include "ui/inspect/draw/timeline_mouse.h"
#include "ui/inspect/draw/timeline_scene.h"
#include "ui/inspect/timeline/timeline_state.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::inspect {

class TimelineBoard {
 public:
  // `name` begins those of what can be clicked: where several boards are drawn each has its own.
  explicit TimelineBoard(std::string name = "inspect") : name_(std::move(name)) {}
  // Before anything of the workspace is drawn: takes over what has come, and obeys what asks for a
  // part of the run to be shown.
  void follow(const state::InspectView& view);
  // The same for a board of one step, which comes with its picture: nothing is asked for.
  // `until_ns`: a fitted window reaches that far, although the step may end before.
  void follow(const std::string& run_folder, const trace::timeline::StepPicture& step,
              std::int64_t until_ns = INT64_MIN);
  // `keys`: the keyboard is the timeline's in this frame.
  void draw(const kit::Theme& theme, const state::Rect& body,
            const trace::model::Bookmarks& bookmarks, bool keys, state::Commands& commands);

  TimelineState& state() { return state_; }
  const TimelineState& state() const { return state_; }
  // Under the mouse in the last frame, or in the middle where it is elsewhere.
  std::int64_t cursor_ns() const { return run_.cursor_ns; }
  const StepIndex& steps() const { return run_.steps; }
  // Where the picked event lies in the window.
  std::optional<trace::base::Interval> shown_picked() const;
  // To the picked event, else to what is selected.
  void zoom_to_selection();
  // What lies there on the clock of its rank, all in one, with a little around it.
  void show(std::span<const trace::timeline::TimeRange> wanted);
  // Selects a step on all ranks, and shows it.
  void select_step(std::int64_t step);
  // Its steps one above the other, from that one on; -1: from where they were.
  void show_steps_of(int rank, std::int64_t first_step);
  // The rank whose steps lie one above the other, and the first step that can be seen; -1: no rank
  // has any.
  int step_rank() const {
    return state_.step_rank < 0 ? run_.steps.reference_rank() : state_.step_rank;
  }
  std::int64_t first_step_in_sight() const;
  // Behind everything that may select, move or align: asks for the figures of what is selected
  // now, if they are of something else.
  void ask_selected(state::Commands& commands);
  // Of the column left of the rows, in a body of that width.
  float label_width(const kit::Theme& theme, float width) const;
  // Where the rows of the last frame lay.
  const RowLayout& layout() const { return run_.layout; }

 private:
  void follow_run(const std::string& folder);
  void follow_rows(const std::shared_ptr<const trace::timeline::TimelineRows>& rows);
  void follow_picture(const std::shared_ptr<const trace::timeline::TimelinePicture>& picture);
  void order_by_compute(const trace::timeline::StepPicture& step);
  void follow_extremes(const state::InspectView& view);
  void follow_picked(const state::InspectView& view);
  void reveal(const state::InspectView& view);
  void unfold(const trace::timeline::TimelineRow& row);
  void show(const trace::base::Interval& wanted);
  void light_names(const state::InspectView& view);
  // Its name, as soon as a picture tells it.
  void name_picked();
  TimelineScene make_scene(const kit::Theme& theme, const state::Rect& body);
  // Places the rows of the chosen mode; returns the height of all of them.
  float place_rows(TimelineScene& scene);
  void place_time_rows(TimelineScene& scene);
  // `height` is that of all steps.
  void scroll_to_step(float height);
  std::int64_t end_of_row(trace::timeline::RowKind kind, int place) const;
  void scroll_to_revealed(const TimelineScene& scene);
  void choose_origin(const TimelineScene& scene);
  void draw_pinned(const TimelineScene& scene);
  void draw_above_rows(const TimelineScene& scene, const trace::model::Bookmarks& bookmarks,
                       std::int64_t origin_ns);
  // Over what a replay has not reached yet; false if the mouse is there.
  bool cover_future(const TimelineScene& scene) const;
  void draw_rows_and_marks(TimelineScene& scene, const trace::model::Bookmarks& bookmarks,
                           state::Commands& commands);
  void ask(const TimelineScene& scene, state::Commands& commands);

  // Everything that belongs to one run: replaced as a whole with the next one.
  struct OfRun {
    std::string folder;
    std::shared_ptr<const trace::timeline::TimelineRows> rows;
    StepIndex steps;
    RowLayout layout;
    PictureIndex pictures;
    RowMeans means;          // of `pictures`
    PictureIndex backdrops;  // of the last picture of the whole run
    TimelineMouse mouse;
    LitNames lit;  // of `pictures`
    std::shared_ptr<const trace::timeline::EventDetails> details;
    std::uint64_t revealed = 0;
    std::int64_t cursor_ns = 0;
    int scroll_to = -1;            // a row that is to come into sight
    std::int64_t first_step = -1;  // one that is to be the first in sight
    float step_height = 0;         // of the rows of one, as they were drawn last
    std::int64_t until_ns = 0;     // of one step, how far there is something to see
    trace::timeline::PictureRequest asked;
    trace::timeline::TimeRange counted;  // what figures were asked for; by itself of the whole run
  };

  const std::string name_;
  TimelineState state_;
  OfRun run_;
};

}  // namespace shardlens::ui::inspect
