// Looking around in one run, behind the Inspect workspace: takes what the panels ask for, lets
// workers answer, publishes what has come. Calls return at once. Interface thread only, but view().
// Destroying it waits until bookmarks are written.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/session/worker/latest_worker.h"
#include "app/session/worker/notice.h"
#include "trace/base/result.h"
#include "trace/explore/run_explorer.h"
#include "trace/model/bookmarks.h"
#include "ui/state/commands.h"
#include "ui/state/inspect_view.h"

namespace shardlens::app::session {

class InspectSession {
 public:
  // `notice`: why a change of bookmarks was not kept. `on_publish`: called on any thread when
  // view() has changed.
  InspectSession(Notice& notice, std::function<void()> on_publish);

  // "" closes the run that is open. Of a live run, what it commits comes in. Where `replacements`
  // changes of the same `run`, another one may be at its place, which is opened.
  void show(const std::filesystem::path& run, bool is_live, std::uint64_t replacements = 0);

  // A replay has come so far: nothing later is counted or gone to. INT64_MAX: all is known.
  void show_until(std::int64_t time_ns);

  void carry_out(const ui::state::ShowTimeline& command);
  void carry_out(const ui::state::SelectRange& command);
  void carry_out(const ui::state::PickEvent& asked) { picks_.ask({.place = {.ref = asked.event}}); }
  void carry_out(const ui::state::DropEvent& command);
  void carry_out(const ui::state::FindNames& command);
  void carry_out(const ui::state::GoToHit& command);
  void carry_out(const ui::state::GoToEvent& command) {
    picks_.ask({.place = command.place, .reveals = true});
  }
  void carry_out(const ui::state::GoToNeighbour& command) {
    picks_.ask({.place = {.ref = command.event}, .reveals = true, .direction = command.direction});
  }
  void carry_out(const ui::state::ChangeBookmark& command);
  void carry_out(const ui::state::ShowMemory& command);
  void carry_out(const ui::state::RunSql& command);
  void carry_out(const ui::state::StopSql& command);

  // The same pointer until something changes; null while no run is open.
  std::shared_ptr<const ui::state::InspectView> view() const;
  // Until everything asked for has been answered: for pictures of a run that is not live.
  void wait_until_idle();

 private:
  struct Opening {
    std::filesystem::path run;
    std::uint64_t generation = 0;
  };
  // What is to be picked: a place, the hit next to a time, or what is next to the place on its row.
  struct Pick {
    trace::timeline::EventPlace place{};
    bool reveals = false;
    int direction = 0;  // 0: `place`
    std::int64_t from_ns = 0;
    trace::timeline::NamePattern pattern{};  // of a hit; "" for a neighbour on the row
  };
  struct Opened {
    std::filesystem::path run;
    std::uint64_t generation = 0;                           // grows with every run that is shown
    std::shared_ptr<trace::explore::RunExplorer> explorer;  // null: not opened yet
  };
  // What panels asked of the run last, and ask again when more of it is known.
  struct Asked {
    trace::timeline::PictureRequest picture;
    trace::timeline::TimeRange range;
    trace::timeline::NamePattern pattern;
    std::optional<trace::timeline::StepMemoryRequest> memory;
  };
  using UnwrittenBookmarks =
      std::map<std::filesystem::path, std::vector<trace::model::BookmarkChange>>;  // by run
  using Wanted = std::function<bool()>;

  bool open(const Opening& opening);
  void open_and_follow(const Opening& opening, const Wanted& wanted);
  bool read_all(const Opened& opened, const Wanted& wanted);
  void follow(const Opened& opened, const Wanted& wanted);
  void publish_rows(const Opened& opened, double progress, const Wanted& wanted);
  void publish_so_far(const Opened& opened);
  void publish_problem(std::uint64_t generation, const std::string& problem);
  void could_not_answer(const std::string& why);
  void draw_picture(const trace::timeline::PictureRequest& request, const Wanted& wanted);
  void count_range(const trace::timeline::TimeRange& range, const Wanted& wanted);
  void find_names(const trace::timeline::NamePattern& pattern, const Wanted& wanted);
  static std::optional<trace::timeline::EventPlace> place_of(trace::explore::RunExplorer& explorer,
                                                             const Pick& pick,
                                                             const Wanted& wanted);
  void pick(const Pick& pick, const Wanted& wanted);
  void lay_out_memory(const trace::timeline::StepMemoryRequest& request, const Wanted& wanted);
  void ask_figures_again();
  void write_bookmarks();
  void take_bookmarks(const std::filesystem::path& run,
                      const trace::base::Result<trace::model::Bookmarks>& bookmarks);
  void run_sql(const std::string& query, const Wanted& wanted);

  std::int64_t until() const;
  Opened opened() const;
  Asked asked() const;
  // False: it was asked already.
  template <typename Value>
  bool note_asked(Value Asked::*what, const Value& value);
  template <typename Action>
  void for_each_worker(Action action);
  void publish(std::uint64_t generation,
               const std::function<void(ui::state::InspectView&)>& change);

  Notice& notice_;
  const std::function<void()> on_publish_;

  mutable std::mutex mutex_;  // guards what follows
  Opened opened_;
  Asked asked_;
  bool is_live_ = false;
  std::uint64_t replacements_ = 0;  // as show() was told
  std::int64_t until_ns_ = INT64_MAX, counted_until_ns_ = INT64_MAX;
  std::chrono::steady_clock::time_point counted_{};  // when the replay's range was asked for
  ui::state::InspectView draft_;
  std::shared_ptr<const ui::state::InspectView> view_;
  trace::model::Bookmarks kept_bookmarks_;  // of the run that is shown, as its file last had them
  UnwrittenBookmarks unwritten_bookmarks_;

  // Last: stop first.
  LatestWorker<trace::timeline::PictureRequest> pictures_;
  LatestWorker<trace::timeline::TimeRange> ranges_;
  LatestWorker<trace::timeline::NamePattern> finds_;
  LatestWorker<Pick> picks_;
  LatestWorker<trace::timeline::StepMemoryRequest> memories_;
  LatestWorker<std::string> queries_;
  LatestWorker<Opening> opener_;
  LatestWorker<std::monostate> bookmarks_;  // writes all that are not
};

}  // namespace shardlens::app::session
