// What the panels of the Inspect workspace ask for.
#include <algorithm>
#include <utility>

#include "app/session/inspect/inspect_session.h"

namespace shardlens::app::session {

namespace {

constexpr std::size_t kMostHistory = 50;

}  // namespace

void InspectSession::carry_out(const ui::state::ShowTimeline& command) {
  {
    const std::lock_guard lock(mutex_);
    if (request_ == command.request) return;
    request_ = command.request;
  }
  pictures_.ask(command.request);
}

void InspectSession::select_range(const trace::timeline::TimeRange& range) {
  {
    const std::lock_guard lock(mutex_);
    if (range_ == range) return;
    range_ = range;
  }
  ranges_.ask(range);
}

void InspectSession::carry_out(const ui::state::SelectRange& command) {
  select_range(command.range);
}

void InspectSession::carry_out(const ui::state::ClearRange&) { select_range({}); }

void InspectSession::carry_out(const ui::state::PickEvent& command) {
  Pick pick;
  pick.place.ref = command.event;
  picks_.ask(std::move(pick));
}

void InspectSession::carry_out(const ui::state::GoToEvent& command) {
  Pick pick;
  pick.place = command.place;
  pick.reveals = true;
  picks_.ask(std::move(pick));
}

void InspectSession::carry_out(const ui::state::GoToNeighbour& command) {
  Pick pick;
  pick.place.ref = command.event;
  pick.direction = command.direction;
  pick.reveals = true;
  picks_.ask(std::move(pick));
}

void InspectSession::carry_out(const ui::state::DropEvent&) {
  picks_.cancel();
  publish(opened().generation, [](ui::state::InspectView& view) { view.details.reset(); });
}

void InspectSession::carry_out(const ui::state::FindNames& command) {
  {
    const std::lock_guard lock(mutex_);
    pattern_ = command.pattern;
  }
  finds_.ask(command.pattern);
}

void InspectSession::carry_out(const ui::state::ClearFind&) {
  finds_.cancel();
  publish(opened().generation, [this](ui::state::InspectView& view) {
    pattern_ = {};
    view.hits.reset();
  });
}

void InspectSession::carry_out(const ui::state::GoToHit& command) {
  Pick pick;
  pick.reveals = true;
  pick.direction = command.direction;
  pick.from_ns = command.from_ns;
  {
    const std::lock_guard lock(mutex_);
    pick.pattern = pattern_;
  }
  if (!pick.pattern.text.empty()) picks_.ask(std::move(pick));
}

void InspectSession::carry_out(const ui::state::ChangeBookmark& command) {
  std::filesystem::path run;
  std::uint64_t generation = 0;
  {
    const std::lock_guard lock(mutex_);
    run = run_;
    generation = generation_;
  }
  if (run.empty()) return;
  publish(generation, [&](ui::state::InspectView& view) {
    trace::model::change_bookmarks(view.bookmarks, command.change);
  });
  bookmarks_.change(run, command.change);
}

void InspectSession::carry_out(const ui::state::ShowMemory& command) {
  {
    const std::lock_guard lock(mutex_);
    memory_request_ = command.request;
  }
  memories_.ask(command.request);
}

void InspectSession::carry_out(const ui::state::RunSql& command) {
  publish(opened().generation, [&](ui::state::InspectView& view) {
    view.sql.running = true;
    auto& history = view.sql.history;
    std::erase(history, command.query);
    history.insert(history.begin(), command.query);
    if (history.size() > kMostHistory) history.pop_back();
  });
  queries_.ask(command.query);
}

void InspectSession::carry_out(const ui::state::StopSql&) {
  queries_.cancel();
  publish(opened().generation, [](ui::state::InspectView& view) { view.sql.running = false; });
}

}  // namespace shardlens::app::session
