#include "app/session/lessons/lesson_session.h"

#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "app/lessons/lesson_file.h"
#include "app/session/runs/listed_runs.h"
#include "trace/base/file_system.h"
#include "trace/base/number_text.h"
#include "trace/base/words/suggestion.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::app::session {

namespace fs = std::filesystem;
using trace::base::ErrorKind;
using trace::base::fail;
using trace::base::Result;

namespace {

// The packed file that a lesson probably meant; "": none is near.
std::string nearest_file(std::string_view name, const fs::path& folder,
                         const LessonPlaces& places) {
  constexpr std::string_view kSuffix = trace::store::kPackedSuffix;
  std::vector<std::string> files;  // without their suffix, which makes all alike
  for (const fs::path& place : {folder, places.examples}) {
    for (const fs::path& file : trace::base::entries_of(place)) {
      if (file.extension() == kSuffix) files.push_back(file.stem().string());
    }
  }
  const std::vector<std::string_view> names(files.begin(), files.end());
  if (name.ends_with(kSuffix)) name.remove_suffix(kSuffix.size());
  const auto nearest = trace::base::nearest_names(name, names);
  if (nearest.empty() || !trace::base::is_near(name, nearest.front())) return "";
  return std::string(nearest.front()) + std::string(kSuffix);
}

// Opens no run of the library as long as a file has the name, which is what lessons write.
Result<fs::path> find_run_of_lesson(const std::string& name, const fs::path& folder,
                                    const LessonPlaces& places) {
  for (const fs::path& place : {folder, places.examples}) {
    for (const std::string& file : {name, name + std::string(trace::store::kPackedSuffix)}) {
      std::error_code error;
      if (!place.empty() && fs::exists(place / file, error)) return place / file;
    }
  }
  const auto beside = trace::store::find_run(name, folder);
  if (beside && beside->parent_path() == folder) return beside;  // not one of the working folder
  auto listed = find_listed_run(name, places.runs_dir, places.examples);
  if (listed) return listed;
  const std::string meant = nearest_file(name, folder, places);
  if (meant.empty()) return listed;
  return fail(ErrorKind::kMissing,
              "there is no run '" + name + "' beside the lesson, in " +
                  trace::base::quoted(places.runs_dir) +
                  " or among those that came with the program. Did you mean '" + meant + "'?");
}

}  // namespace

ui::state::LessonShelf read_shelf(const std::vector<fs::path>& files) {
  return lessons::read_lessons(files.empty() ? std::vector{lessons::bundled_lessons()} : files);
}

Result<void> check_page(const ui::state::LessonShelf& shelf, int lesson, int page) {
  const auto is_within = [](int index, std::size_t count) {
    return index >= 0 && static_cast<std::size_t>(index) < count;
  };
  if (!is_within(lesson, shelf.lessons.size())) {
    const std::string why = shelf.problems.empty() ? "" : " " + shelf.problems.front();
    return fail(ErrorKind::kUsage, "There is no lesson " + std::to_string(lesson + 1) + "; there " +
                                       (shelf.lessons.size() == 1 ? "is " : "are ") +
                                       trace::base::counted(shelf.lessons.size(), "lesson") + "." +
                                       why);
  }
  const auto& chosen = shelf.lessons[static_cast<std::size_t>(lesson)];
  if (is_within(page, chosen.pages.size())) return {};
  return fail(ErrorKind::kUsage, "\"" + chosen.title + "\" has no page " +
                                     std::to_string(page + 1) + "; it has " +
                                     trace::base::counted(chosen.pages.size(), "page") + ".");
}

FoundView find_view(const ui::state::GoToView& asked, const LessonPlaces& places) {
  FoundView found{asked.address, asked.replay_speed, {}, {}};
  const fs::path file(asked.lesson_file);
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const auto add = [&](std::string& name) {
    if (!found.problem.empty()) return;
    const auto run = find_run_of_lesson(name, folder, places);
    if (!run) {
      found.problem = file.filename().string() + ": " + run.error().message;
      return;
    }
    const fs::path path = run->has_filename() ? *run : run->parent_path();  // of "my_run/"
    found.runs.push_back(path.string());
    name = path.filename().string();
  };
  add(found.address.run);
  for (std::string& other : found.address.others) add(other);
  return found;
}

LessonSession::LessonSession(LessonPlaces places, std::function<void()> on_change)
    : places_(std::move(places)),
      on_change_(std::move(on_change)),
      worker_([this](const Request& request,
                     const std::function<bool()>& wanted) { answer(request, wanted); },
              [this](const std::string& why) {
                if (shelf()) return;
                ui::state::LessonShelf failed;
                failed.problems = {why};
                publish(std::move(failed));
              }) {}

void LessonSession::enter() {
  if (!std::exchange(is_asked_, true)) worker_.ask({});
}

void LessonSession::leave() {
  is_asked_ = shelf() != nullptr;
  const std::lock_guard lock(mutex_);  // also where the worker is told: see answer()
  found_.reset();
  worker_.cancel();
}

void LessonSession::look_for(const ui::state::GoToView& asked) {
  is_asked_ = true;
  const std::lock_guard lock(mutex_);  // likewise
  found_.reset();
  worker_.ask({asked});
}

std::shared_ptr<const ui::state::LessonShelf> LessonSession::shelf() const {
  const std::lock_guard lock(mutex_);
  return shelf_;
}

std::optional<FoundView> LessonSession::take_found() {
  const std::lock_guard lock(mutex_);
  return std::exchange(found_, std::nullopt);
}

void LessonSession::publish(ui::state::LessonShelf shelf) {
  {
    const std::lock_guard lock(mutex_);
    shelf_ = std::make_shared<const ui::state::LessonShelf>(std::move(shelf));
  }
  on_change_();
}

void LessonSession::answer(const Request& request, const std::function<bool()>& wanted) {
  if (!shelf()) publish(read_shelf(places_.lessons));
  if (!request.view) return;
  auto found = find_view(*request.view, places_);
  {
    const std::lock_guard lock(mutex_);
    if (!wanted()) return;  // else it would come in place of what was asked for since
    found_ = std::move(found);
  }
  on_change_();
}

}  // namespace shardlens::app::session
