#include "app/session/inspect/inspect_session.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "app/session/inspect/sql_answer.h"
#include "app/session/runs/run_liveness.h"
#include "app/session/runs/run_words.h"
#include "app/session/worker/free_memory.h"
#include "app/session/worker/read_safely.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/sqlite/stop_reading.h"

namespace shardlens::app::session {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

// Columns of the overview: more than any window has pixels for.
constexpr double kOverviewColumns = 4096;
// How often what was read in the background, or committed by a live run, goes on screen.
constexpr auto kProgressPause = 150ms;
constexpr int kProgressShare = 5;  // times what showing it takes
constexpr auto kLivePoll = 100ms;
constexpr auto kLiveCount = 1s;
constexpr std::size_t kMostHistory = 50;

}  // namespace

InspectSession::InspectSession(Notice& notice, std::function<void()> on_publish)
    : notice_(notice),
      on_publish_(std::move(on_publish)),
      pictures_([this](const auto& request, const auto& wanted) { draw_picture(request, wanted); },
                std::bind_front(&InspectSession::could_not_answer, this)),
      ranges_([this](const auto& range, const auto& wanted) { count_range(range, wanted); },
              std::bind_front(&InspectSession::could_not_answer, this)),
      finds_([this](const auto& pattern, const auto& wanted) { find_names(pattern, wanted); }),
      picks_([this](const auto& what, const auto& wanted) { pick(what, wanted); },
             [this](const auto& why) {
               notice_.say_why_not(unreadable_text(opened().run.string(), why));
             }),
      memories_([this](const auto& what, const auto& wanted) { lay_out_memory(what, wanted); },
                std::bind_front(&InspectSession::could_not_answer, this)),
      queries_([this](const auto& query, const auto& wanted) { run_sql(query, wanted); }),
      opener_([this](const auto& what, const auto& wanted) { open_and_follow(what, wanted); },
              std::bind_front(&InspectSession::could_not_answer, this)),
      bookmarks_([this](const auto&, const auto&) { write_bookmarks(); }) {}

std::shared_ptr<const ui::state::InspectView> InspectSession::view() const {
  const std::lock_guard lock(mutex_);
  return view_;
}

InspectSession::Opened InspectSession::opened() const {
  const std::lock_guard lock(mutex_);
  return opened_;
}

InspectSession::Asked InspectSession::asked() const {
  const std::lock_guard lock(mutex_);
  return asked_;
}

template <typename Value>
bool InspectSession::note_asked(Value Asked::*what, const Value& value) {
  const std::lock_guard lock(mutex_);
  return std::exchange(asked_.*what, value) != value;
}

template <typename Action>
void InspectSession::for_each_worker(Action action) {
  action(opener_);
  action(pictures_);
  action(ranges_);
  action(finds_);
  action(picks_);
  action(memories_);
  action(queries_);
}

void InspectSession::publish(std::uint64_t generation,
                             const std::function<void(ui::state::InspectView&)>& change) {
  {
    const std::lock_guard lock(mutex_);
    if (generation != opened_.generation || opened_.run.empty()) return;
    change(draft_);
    view_ = std::make_shared<const ui::state::InspectView>(draft_);
  }
  on_publish_();
}

void InspectSession::show(const std::filesystem::path& run, bool is_live,
                          std::uint64_t replacements) {
  Opening opening{run, 0};
  {
    const std::lock_guard lock(mutex_);
    const bool was_live = std::exchange(is_live_, is_live);
    const bool is_other = std::exchange(replacements_, replacements) != replacements;
    if (run == opened_.run && !is_other) {
      // Whoever follows may have left when the run was over, or not known yet to live.
      if (is_live && !was_live) opener_.ask({run, opened_.generation});
      return;
    }
    // Panels look at the same place, and do not ask again.
    if (run != opened_.run) asked_ = {};
    opened_ = {run, opened_.generation + 1, nullptr};
    opening.generation = opened_.generation;
    kept_bookmarks_ = {};
    auto history = std::move(draft_.sql.history);
    draft_ = {};
    draft_.run_folder = run.string();
    draft_.sql.history = std::move(history);
    draft_.sql.tables = sql_tables();
    view_ = run.empty() ? nullptr : std::make_shared<const ui::state::InspectView>(draft_);
  }
  for_each_worker([](auto& worker) { worker.cancel(); });
  opener_.ask(std::move(opening));
  on_publish_();
}

std::int64_t InspectSession::until() const {
  const std::lock_guard lock(mutex_);
  return until_ns_;
}

void InspectSession::show_until(std::int64_t time_ns) {
  {
    const std::lock_guard lock(mutex_);
    until_ns_ = time_ns;
    // As often as figures of a live run; at once where a replay begins or ends.
    const bool jumps = (until_ns_ == INT64_MAX) != (counted_until_ns_ == INT64_MAX);
    const auto now = Clock::now();
    if (until_ns_ == counted_until_ns_ || (!jumps && now - counted_ < kLiveCount)) return;
    counted_until_ns_ = until_ns_;
    counted_ = now;
    if (!opened_.explorer) return;
  }
  ask_figures_again();
}

void InspectSession::wait_until_idle() {
  bookmarks_.wait_until_idle();
  // Each answer may ask for another one.
  for (bool all_idle = false; !all_idle;) {
    for_each_worker([](auto& worker) { worker.wait_until_idle(); });
    all_idle = true;
    for_each_worker([&](const auto& worker) { all_idle = all_idle && worker.is_idle(); });
  }
}

// ---- opening, reading on, following -------------------------------------------------------------

void InspectSession::publish_problem(std::uint64_t generation, const std::string& problem) {
  publish(generation, [&](ui::state::InspectView& view) { view.problem = problem; });
}

// What no file should be able to cause.
void InspectSession::could_not_answer(const std::string& why) {
  const auto opened = this->opened();
  publish_problem(opened.generation, unreadable_text(opened.run.string(), why));
}

bool InspectSession::open(const Opening& opening) {
  bool is_live = false;
  {
    const std::lock_guard lock(mutex_);
    is_live = is_live_;
  }
  auto explorer = trace::explore::RunExplorer::open(opening.run, {}, is_live);
  if (!explorer) {
    publish_problem(opening.generation, explorer.error().message);
    return false;
  }
  {
    const std::lock_guard lock(mutex_);
    if (opening.generation != opened_.generation) return false;
    opened_.explorer = std::move(*explorer);
  }
  auto info = trace::store::read_run_info(opening.run);
  publish(opening.generation, [&](ui::state::InspectView& view) {
    view.problem.clear();
    if (info) view.bookmarks = kept_bookmarks_ = std::move(info->bookmarks);
  });
  return true;
}

void InspectSession::open_and_follow(const Opening& opening, const Wanted& wanted) {
  if (opening.run.empty()) return;
  auto opened = this->opened();
  if (!opened.explorer || opened.generation != opening.generation) {
    if (!open(opening)) return;
    opened = this->opened();
    if (!opened.explorer || opened.generation != opening.generation) return;
    publish_rows(opened, 0, wanted);
    publish_so_far(opened);
  }
  if (!read_all(opened, wanted)) return;
  give_back_memory();
  ask_figures_again();
  follow(opened, wanted);
}

void InspectSession::publish_rows(const Opened& opened, double progress, const Wanted& wanted) {
  const auto rows = opened.explorer->rows();
  const double columns = static_cast<double>(rows->end_ns - rows->start_ns) / kOverviewColumns;
  trace::timeline::PictureRequest request{{{0, rows->start_ns, rows->end_ns}},
                                          std::max(columns, 1.0)};
  auto overview = opened.explorer->picture(request, wanted);
  publish(opened.generation, [&](ui::state::InspectView& view) {
    view.rows = rows;
    view.progress = progress;
    if (overview) {
      view.overview =
          std::make_shared<const trace::timeline::TimelinePicture>(std::move(*overview));
    }
  });
  auto shown = asked().picture;
  if (!shown.windows.empty() && wanted()) pictures_.ask(std::move(shown));
}

// Publishes the whole run's tables while they grow, unless another range is asked for, or they are
// complete.
void InspectSession::publish_so_far(const Opened& opened) {
  {
    const std::lock_guard lock(mutex_);
    const bool has_figures = draft_.range && draft_.range->fraction >= 1;
    if (has_figures || asked_.range != trace::timeline::TimeRange{} || until_ns_ != INT64_MAX)
      return;
  }
  auto figures = opened.explorer->whole_so_far();
  if (!figures) return;
  publish(opened.generation, [&](ui::state::InspectView& view) {
    if (asked_.range != trace::timeline::TimeRange{} || until_ns_ != INT64_MAX) return;
    view.counting_range = figures->fraction < 1;
    view.range = std::move(figures);
  });
}

bool InspectSession::read_all(const Opened& opened, const Wanted& wanted) {
  auto next = Clock::now() + kProgressPause;
  while (wanted()) {
    const auto more = opened.explorer->work();
    if (!more) {
      publish_problem(opened.generation, more.error().message);
      return false;
    }
    if (!*more) break;
    const auto began = Clock::now();
    if (began < next) continue;
    publish_rows(opened, opened.explorer->progress(), wanted);
    publish_so_far(opened);
    // A picture of hundreds of ranks must not take the time that reading needs.
    const auto cost = Clock::now() - began;
    next = Clock::now() + std::max<Clock::duration>(kProgressPause, kProgressShare * cost);
  }
  if (!wanted()) return false;
  publish_rows(opened, 1, wanted);
  return true;
}

// Ends a while after the run has: what ranks committed last was then read.
void InspectSession::follow(const Opened& opened, const Wanted& wanted) {
  auto counted = Clock::now(), until = Clock::time_point::min();
  bool is_uncounted = false;
  for (bool goes_on = true; goes_on && wanted();) {
    bool live = false;
    {
      const std::lock_guard lock(mutex_);
      live = is_live_;
    }
    if (live) until = Clock::now() + kReadOnAfterEnd;
    goes_on = Clock::now() < until;
    const auto news = opened.explorer->refresh(!live);
    if (news && *news) is_uncounted = read_all(opened, wanted) || is_uncounted;
    if (is_uncounted && (!live || Clock::now() - counted >= kLiveCount)) {
      ask_figures_again();
      counted = Clock::now();
      is_uncounted = false;
    }
    if (goes_on) std::this_thread::sleep_for(kLivePoll);
  }
}

// ---- answers ------------------------------------------------------------------------------------

void InspectSession::draw_picture(const trace::timeline::PictureRequest& request,
                                  const Wanted& wanted) {
  const auto [run, generation, explorer] = opened();
  if (!explorer) return;
  auto picture = explorer->picture(request, wanted);
  if (!picture) {
    if (wanted()) publish_problem(generation, picture.error().message);
    return;
  }
  publish(generation, [&](ui::state::InspectView& view) {
    view.picture = std::make_shared<const trace::timeline::TimelinePicture>(std::move(*picture));
  });
}

void InspectSession::count_range(const trace::timeline::TimeRange& asked, const Wanted& wanted) {
  const auto opened = this->opened();
  if (!opened.explorer) return;
  publish(opened.generation, [](ui::state::InspectView& view) { view.counting_range = true; });
  const bool is_whole = asked == trace::timeline::TimeRange{};
  trace::timeline::TimeRange range = is_whole ? opened.explorer->whole() : asked;
  const std::int64_t until_ns = until();
  const bool is_so_far = is_whole && until_ns < range.end_ns;
  range.end_ns = std::max(range.start_ns, std::min(range.end_ns, until_ns));
  auto figures =
      read_safely(opened.run.string(), [&] { return opened.explorer->statistics(range, wanted); });
  if (!figures && !wanted()) return;  // the next one is being counted
  publish(opened.generation, [&](ui::state::InspectView& view) {
    view.counting_range = false;
    if (!figures) {
      view.problem = figures.error().message;
      return;
    }
    figures->is_whole_run = is_whole;
    figures->is_so_far = is_so_far;
    view.range = std::make_shared<const trace::timeline::RangeFigures>(std::move(*figures));
  });
  if (is_whole) give_back_memory();
}

// What was asked for before everything was read, or before a replay came further.
void InspectSession::ask_figures_again() {
  const Asked again = asked();
  ranges_.ask(again.range);
  if (!again.pattern.text.empty()) finds_.ask(again.pattern);
  if (again.memory) memories_.ask(*again.memory);
}

void InspectSession::lay_out_memory(const trace::timeline::StepMemoryRequest& request,
                                    const Wanted& wanted) {
  const auto [run, generation, explorer] = opened();
  if (!explorer) return;
  auto memory = explorer->memory(request, wanted, until());
  if (!wanted()) return;
  publish(generation, [&](ui::state::InspectView& view) {
    // Steps that were not read yet may have it; then this is asked again.
    if (memory && !memory->allocations && view.progress < 1) return;
    if (memory) {
      view.memory = std::make_shared<const trace::timeline::StepMemory>(std::move(*memory));
    } else {
      view.problem = memory.error().message;
    }
  });
}

void InspectSession::find_names(const trace::timeline::NamePattern& pattern, const Wanted& wanted) {
  const auto opened = this->opened();
  if (!opened.explorer) return;
  auto hits = read_safely(opened.run.string(),
                          [&] { return opened.explorer->find(pattern, wanted, until()); });
  if (!hits && !wanted()) return;
  publish(opened.generation, [&](ui::state::InspectView& view) {
    if (asked_.pattern != pattern) return;  // cleared meanwhile, or another one is being looked for
    auto found = std::make_shared<trace::timeline::NameHits>();
    if (hits) *found = std::move(*hits);
    if (!hits) {
      found->pattern = pattern;
      found->problem = hits.error().message;
    }
    view.hits = std::move(found);
  });
}

std::optional<trace::timeline::EventPlace> InspectSession::place_of(
    trace::explore::RunExplorer& explorer, const Pick& pick, const Wanted& wanted) {
  if (pick.direction == 0) return pick.place;
  if (pick.pattern.text.empty()) return explorer.neighbour_event(pick.place.ref, pick.direction);
  return explorer.neighbour_hit(pick.pattern, pick.direction, pick.from_ns, wanted);
}

void InspectSession::pick(const Pick& pick, const Wanted& wanted) {
  const auto [run, generation, explorer] = opened();
  if (!explorer) return;
  const auto place = place_of(*explorer, pick, wanted);
  if (!place) return;  // the first or the last one is on screen already
  if (place->start_ns > until()) return;
  auto details = explorer->details(place->ref);
  if (!details && wanted()) notice_.say_why_not(details.error().message);
  publish(generation, [&](ui::state::InspectView& view) {
    if (!wanted()) return;
    if (details) {
      view.details = std::make_shared<const trace::timeline::EventDetails>(std::move(*details));
    }
    if (!pick.reveals) return;
    view.reveal = details ? view.details->place : *place;
    ++view.reveal_number;
  });
}

// Of each run at once what has come so far.
void InspectSession::write_bookmarks() {
  const trace::store::StopReading::OnBehalf nobody(nullptr);  // also when the window closes
  UnwrittenBookmarks unwritten;
  {
    const std::lock_guard lock(mutex_);
    unwritten = std::exchange(unwritten_bookmarks_, {});
  }
  for (const auto& [run, changes] : unwritten) take_bookmarks(run, change_bookmarks(run, changes));
}

// What was shown at once is true then, or goes again.
void InspectSession::take_bookmarks(const std::filesystem::path& run,
                                    const trace::base::Result<trace::model::Bookmarks>& bookmarks) {
  if (!bookmarks) {
    notice_.say_why_not("The bookmark was not kept: " + bookmarks.error().message);
  }
  const auto opened = this->opened();
  if (run != opened.run) return;
  auto kept = bookmarks;
  if (!kept) {
    if (const auto info = trace::store::read_run_info(run)) kept = info->bookmarks;
  }
  publish(opened.generation, [&](ui::state::InspectView& view) {
    if (kept) kept_bookmarks_ = std::move(*kept);
    // What has come since is shown already.
    if (!unwritten_bookmarks_.contains(run)) view.bookmarks = kept_bookmarks_;
  });
}

void InspectSession::run_sql(const std::string& query, const Wanted& wanted) {
  const auto opened = this->opened();
  auto answer = std::make_shared<const ui::state::SqlAnswer>(ask_sql(opened.run, query, wanted));
  publish(opened.generation, [&](ui::state::InspectView& view) {
    if (!wanted() && view.sql.running) return;  // another one runs
    view.sql.running = false;
    view.sql.answer = answer;
  });
}

// ---- what panels ask for ------------------------------------------------------------------------

void InspectSession::carry_out(const ui::state::ShowTimeline& command) {
  if (note_asked(&Asked::picture, command.request)) pictures_.ask(command.request);
}

void InspectSession::carry_out(const ui::state::SelectRange& command) {
  if (note_asked(&Asked::range, command.range)) ranges_.ask(command.range);
}

void InspectSession::carry_out(const ui::state::DropEvent&) {
  picks_.cancel();
  publish(opened().generation, [](ui::state::InspectView& view) { view.details.reset(); });
}

void InspectSession::carry_out(const ui::state::FindNames& command) {
  if (!command.pattern.text.empty()) {
    note_asked(&Asked::pattern, command.pattern);
    return finds_.ask(command.pattern);
  }
  finds_.cancel();
  publish(opened().generation, [this](ui::state::InspectView& view) {
    asked_.pattern = {};
    view.hits.reset();
  });
}

void InspectSession::carry_out(const ui::state::GoToHit& command) {
  const auto pattern = asked().pattern;
  if (pattern.text.empty()) return;
  picks_.ask({.reveals = true,
              .direction = command.direction,
              .from_ns = command.from_ns,
              .pattern = pattern});
}

void InspectSession::carry_out(const ui::state::ChangeBookmark& command) {
  const auto opened = this->opened();
  if (opened.run.empty()) return;
  publish(opened.generation, [&](ui::state::InspectView& view) {
    trace::model::change_bookmarks(view.bookmarks, command.change);
    unwritten_bookmarks_[opened.run].push_back(command.change);
  });
  bookmarks_.ask({});
}

void InspectSession::carry_out(const ui::state::ShowMemory& command) {
  note_asked(&Asked::memory, std::optional(command.request));
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
