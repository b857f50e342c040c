#include "ui/inspect/inspect_workspace.h"

#include <algorithm>
#include <filesystem>

#include "ui/inspect/details/details_panel.h"
#include "ui/kit/keys.h"
#include "ui/kit/panel.h"
#include "ui/kit/widgets.h"
#include "ui/table/table_tools.h"

namespace shardlens::ui::inspect {

namespace {

std::string why_nothing(const state::Snapshot& snapshot) {
  if (snapshot.inspect && !snapshot.inspect->problem.empty()) return snapshot.inspect->problem;
  if (!snapshot.run && !snapshot.inspect && !snapshot.is_loading) {
    return "Choose a run of the ledger in Tune, or drop a trace on the window";
  }
  if (!snapshot.inspect || !snapshot.inspect->rows) return "Opening the run…";
  return "Nothing has been recorded yet";
}

bool has_rows(const state::InspectView& view) {
  return view.rows && view.rows->end_ns > view.rows->start_ns && !view.rows->rows.empty();
}

std::string run_key(const state::InspectView& view) {
  return std::filesystem::path(view.run_folder).filename().string();
}

void draw_nothing(const kit::Theme& theme, const state::Rect& rect,
                  const state::Snapshot& snapshot) {
  const state::Palette& p = theme.colors();
  kit::panel_surface(theme, rect);
  const std::string text = why_nothing(snapshot);
  const bool bad = snapshot.inspect && !snapshot.inspect->problem.empty();
  const float width = std::min(rect.w - theme.px(32), theme.px(560));
  const float height = kit::wrapped_height(theme, kit::Face::kBody, width, text);
  const float own = std::min(width, kit::text_width(theme, kit::Face::kBody, text));
  kit::text_wrapped(theme,
                    {rect.center_x() - own / 2, rect.center_y() - height / 2, width, height + 1},
                    kit::Face::kBody, bad ? p.danger : p.text_muted, text);
}

// A fitted window grows with the run.
bool shows_another_time(const TimeWindow& now, const TimeWindow& before) {
  if (now.is_fitted() || before.is_fitted()) return now.is_fitted() != before.is_fitted();
  return now.start_ns() != before.start_ns() || now.span_ns() != before.span_ns();
}

bool has_moved(const TimelineState& now, const TimelineState& before) {
  if (now.mode != before.mode || now.selection != before.selection) return true;
  if (now.mode == TimelineState::Mode::kTime) return shows_another_time(now.window, before.window);
  return now.step_rank != before.step_rank || now.step_scroll != before.step_scroll ||
         shows_another_time(now.step_window, before.step_window);
}

}  // namespace

void InspectWorkspace::follow_run(const state::InspectView& view) {
  if (view.run_folder == run_) return;
  run_ = view.run_folder;
  toolbar_.forget_run();
  minimap_.forget_run();
}

state::SavePicture InspectWorkspace::timeline_picture() const {
  return {table::export_file_name(run_, "timeline", "png"), timeline_area_};
}

state::SavePicture InspectWorkspace::whole_run_picture() const {
  return {table::export_file_name(run_, "whole_run", "png"), whole_run_area_};
}

void InspectWorkspace::draw_splitter(const kit::Theme& theme, const InspectLayout& layout,
                                     state::ViewPreferences& preferences) {
  const state::Palette& p = theme.colors();
  const kit::Hit hit = kit::mouse_area(theme, "inspect/splitter", layout.splitter);
  if (hit.hovered || hit.held) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
  if (hit.held) {
    preferences.inspect_tabs_share = tabs_share_at(layout, ImGui::GetIO().MousePos.y);
  }
  const float width = theme.px(36), height = theme.px(3);
  kit::fill({layout.splitter.center_x() - width / 2, layout.splitter.center_y() - height / 2, width,
             height},
            kit::color(hit.hovered || hit.held ? p.text_secondary : p.field_edge), height / 2);
}

void InspectWorkspace::use_bookmark_keys(const trace::model::Bookmarks& bookmarks,
                                         state::Commands& commands) {
  TimelineState& state = timeline_.state();
  if (state.mode != TimelineState::Mode::kTime) return;
  if (kit::key_pressed(kit::Key::kB, false)) {
    const auto reach = static_cast<std::int64_t>(state.window.span_ns() / 200);
    const auto here = bookmark_here(state, timeline_.shown_picked(), timeline_.cursor_ns());
    toggle_bookmark(bookmarks, here, reach, commands);
  }
  // As characters: many layouts have them elsewhere, and other letters at their place.
  for (const auto& [bracket, direction] : {std::pair{'[', -1}, std::pair{']', 1}}) {
    if (!kit::typed(bracket)) continue;
    const auto slack = static_cast<std::int64_t>(state.window.span_ns() / 1000) + 1;
    const std::int64_t from = state.window.time_at(0.5) + direction * slack;
    if (const trace::model::Bookmark* next = neighbour_bookmark(bookmarks, from, direction)) {
      state.window.center_on(next->time_ns);
    }
  }
}

void InspectWorkspace::list_what_details_search(const state::Commands& commands,
                                                std::size_t first) {
  for (std::size_t i = first; i < commands.size(); ++i) {
    if (const auto* find = std::get_if<state::FindNames>(&commands[i])) {
      toolbar_.search().list(find->pattern);
    }
  }
}

void InspectWorkspace::go_to_address(const state::InspectView& view) {
  if (!wanted_ || wanted_->run != run_key(view)) return;
  const TimelineState& state = timeline_.state();
  // Before all rows were read the run's start is not known, nor its steps.
  if (!view.rows->has_all_rows) {
    if (!seen_first_) seen_first_ = state;
    return;
  }
  if (!seen_first_ || !has_moved(state, *seen_first_)) go_to_times(*wanted_, view.rows->start_ns);
  if (!wanted_->tab.empty()) tabs_.show(state::tab_of_title(wanted_->tab));
  wanted_.reset();
}

void InspectWorkspace::go_to_times(const state::ViewAddress& address, std::int64_t start_ns) {
  TimelineState& state = timeline_.state();
  if (address.shown || address.selected) state.aligned_by_step = address.aligned_by_step;
  const bool of_steps = address.steps_of_rank >= 0;
  state.mode = TimelineState::Mode::kTime;
  if (of_steps) timeline_.show_steps_of(address.steps_of_rank, address.step);
  TimeWindow& window = of_steps ? state.step_window : state.window;
  const std::int64_t origin = of_steps ? 0 : start_ns;
  window.fit();
  if (address.shown) window.show(origin + address.shown->from_ns, origin + address.shown->to_ns);
  if (address.selected) {
    state.selection = trace::base::Interval{start_ns + address.selected->from_ns,
                                            start_ns + address.selected->to_ns};
  }
}

state::ViewAddress InspectWorkspace::address(const state::InspectView& view) const {
  state::ViewAddress address;
  address.workspace = state::kInspectWorkspace;
  address.run = run_key(view);
  address.tab = tab_title(tabs_.tab());
  if (!view.rows) return address;
  const TimelineState& state = timeline_.state();
  const std::int64_t start = view.rows->start_ns;
  const bool of_steps = state.mode == TimelineState::Mode::kSteps;
  if (of_steps) {
    address.steps_of_rank = timeline_.step_rank();
    address.step = timeline_.first_step_in_sight();
  }
  const TimeWindow& window = of_steps ? state.step_window : state.window;
  if (!window.is_fitted()) {
    const std::int64_t origin = of_steps ? 0 : start;
    address.shown = state::AddressRange{window.start_ns() - origin, window.end_ns() - origin};
  }
  if (state.selection) {
    address.selected =
        state::AddressRange{state.selection->start_ns - start, state.selection->end_ns - start};
  }
  address.aligned_by_step = state.aligned_by_step && (address.shown || address.selected);
  return address;
}

void InspectWorkspace::draw(const kit::Theme& theme, const state::Rect& area,
                            const state::Snapshot& snapshot, bool keys,
                            state::ViewPreferences& preferences, state::Commands& commands) {
  const state::InspectView* view = snapshot.inspect.get();
  if (view != nullptr && snapshot.run && snapshot.run->figures.info.folder != view->run_folder) {
    // Events and figures come from two workers: those of the run before are not this run's.
    state::Snapshot of_run = snapshot;
    of_run.run.reset();
    return draw(theme, area, of_run, keys, preferences, commands);
  }
  if (view != nullptr) follow_run(*view);
  if (view == nullptr || !has_rows(*view)) {
    return draw_nothing(theme, area, snapshot);
  }
  const InspectLayout layout = inspect_layout(area, theme.scale, preferences.inspect_tabs_share);
  timeline_area_ = layout.timeline;
  whole_run_area_ = layout.minimap;
  timeline_.follow(*view);
  go_to_address(*view);
  timeline_.state().known_until_ns = snapshot.replay.active ? snapshot.replay.now_ns : INT64_MAX;
  if (!layout.minimap.empty()) {
    minimap_.draw(theme, layout.minimap, *view, timeline_.steps(), timeline_.state());
  }
  toolbar_.draw(theme, layout.toolbar, *view, timeline_.steps(), timeline_.state(), commands);
  if (keys) use_bookmark_keys(view->bookmarks, commands);
  // One thing at a time.
  const bool ends_search =
      keys && toolbar_.search().is_set() && kit::key_pressed(kit::Key::kEscape, false);
  if (ends_search) toolbar_.search().drop(commands);
  kit::panel_surface(theme, layout.timeline);
  timeline_.draw(theme, layout.timeline.inset(theme.px(8), theme.px(4)), view->bookmarks,
                 keys && !ends_search, commands);
  const std::size_t before = commands.size();
  if (!layout.details.empty()) draw_details_panel(theme, layout.details, snapshot, commands);
  list_what_details_search(commands, before);
  if (!layout.splitter.empty()) draw_splitter(theme, layout, preferences);
  tabs_.remember(preferences.inspect_tab);
  if (!layout.tabs.empty()) {
    const TabWish wish = tabs_.draw(theme, layout.tabs, snapshot, commands);
    if (wish.step) timeline_.select_step(*wish.step);
    timeline_.show(wish.view);
  }
  timeline_.ask_selected(commands);
}

}  // namespace shardlens::ui::inspect
