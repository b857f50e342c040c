// The lessons behind the Learn workspace: reads them, and finds the runs that their pages show, on
// a thread of its own. Interface thread only, but for the functions; `on_change` comes from others.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/session/worker/latest_worker.h"
#include "trace/base/result.h"
#include "ui/state/commands.h"
#include "ui/state/lesson.h"

namespace shardlens::app::session {

struct LessonPlaces {
  std::vector<std::filesystem::path> lessons;  // files or folders; empty: came with the program
  std::filesystem::path runs_dir;
  std::filesystem::path examples;  // runs that came with the program; "": none
};

// Any thread; waits for the disk.
ui::state::LessonShelf read_shelf(const std::vector<std::filesystem::path>& files);
// Both counted from 0. Error kUsage says how many there are.
trace::base::Result<void> check_page(const ui::state::LessonShelf& shelf, int lesson, int page);

struct FoundView {
  ui::state::ViewAddress address;  // as asked for, its runs by the names of their files
  double replay_speed = 0;
  std::vector<std::string> runs;  // where they lie, in the address's order
  std::string problem;            // "buckets.md: there is no run …"; "": all are there
};
// Beside the lesson first, then among the examples, then as `--view` finds runs: one that the user
// has called like an example is not what a lesson speaks of. Any thread; waits for the disk.
FoundView find_view(const ui::state::GoToView& asked, const LessonPlaces& places);

class LessonSession {
 public:
  LessonSession(LessonPlaces places, std::function<void()> on_change);

  void enter();  // the lessons are read, the first time
  void leave();  // what was asked for is not wanted any more
  void look_for(const ui::state::GoToView& asked);

  // Null: not read yet. The same pointer from then on.
  std::shared_ptr<const ui::state::LessonShelf> shelf() const;
  // What the newest look_for() found; once.
  std::optional<FoundView> take_found();
  void wait_until_idle() { worker_.wait_until_idle(); }

 private:
  struct Request {
    std::optional<ui::state::GoToView> view;  // none: the lessons alone
  };

  void answer(const Request& request, const std::function<bool()>& wanted);
  void publish(ui::state::LessonShelf shelf);

  const LessonPlaces places_;
  const std::function<void()> on_change_;
  bool is_asked_ = false;

  mutable std::mutex mutex_;  // guards what follows
  std::shared_ptr<const ui::state::LessonShelf> shelf_;
  std::optional<FoundView> found_;

  LatestWorker<Request> worker_;  // last: stops first
};

}  // namespace shardlens::app::session
