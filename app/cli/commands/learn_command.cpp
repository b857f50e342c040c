// `shardlens learn`: lessons beside views of recorded runs, in the window, as text, or checked.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/commands.h"
#include "app/cli/terminal/lesson_text.h"
#include "app/cli/terminal/options.h"
#include "app/cli/terminal/output.h"
#include "app/launch/program_files.h"
#include "app/report/report_json.h"
#include "app/session/lessons/lesson_session.h"
#include "app/window/window_main.h"
#include "trace/base/number_text.h"
#include "trace/base/printable.h"
#include "trace/base/text.h"
#include "trace/explore/run_explorer.h"
#include "trace/job/settings/settings.h"
#include "trace/model/run_info.h"
#include "trace/store/run/run_folder.h"
#include "ui/state/view_address.h"

namespace shardlens::app::cli {
namespace {

namespace fs = std::filesystem;
using ui::state::Lesson;
using ui::state::LessonPage;
using ui::state::LessonShelf;

struct LearnArguments : CommonArguments {
  std::vector<fs::path> files;
  int lesson = 0, page = 0;  // counted from 1; 0: not given
  bool list = false, check = false;
  Surroundings surroundings;
};

report::Json page_json(const LessonPage& page) {
  return {{"title", page.title},
          {"view", page.view ? report::Json(address_text(*page.view)) : report::Json(nullptr)},
          {"replay_speed", report::known(page.replay_speed > 0, page.replay_speed)},
          {"question", report::text_or_null(page.question)}};
}

report::Json lesson_json(const Lesson& lesson) {
  return {{"title", lesson.title},
          {"file", lesson.file},
          {"pages", report::array_of(lesson.pages, page_json)}};
}

std::string list_text(const LessonShelf& shelf) {
  std::string text;
  for (std::size_t i = 0; i < shelf.lessons.size(); ++i) {
    const Lesson& lesson = shelf.lessons[i];
    text += std::to_string(i + 1) + ". " + lesson.title + "\n";
    for (std::size_t page = 0; page < lesson.pages.size(); ++page) {
      text += "     " + std::to_string(page + 1) + ". " + lesson.pages[page].title + "\n";
    }
  }
  return text;
}

int list(const LearnArguments& options, const LessonShelf& shelf) {
  if (options.as_json()) {
    print_result(report::dump_json(report::array_of(shelf.lessons, lesson_json)));
  } else {
    print_result(list_text(shelf));
  }
  for (const std::string& problem : shelf.problems) print_message("error: " + problem);
  return shelf.problems.empty() ? kDone : kFailed;
}

// "": the run has the step that the view names, or does not tell: settings do where it is not
// another program's and began at step 0.
std::string missing_step(const ui::state::ViewAddress& view, const trace::model::RunInfo& run) {
  const trace::job::Settings& settings = run.settings;
  const bool tells = trace::model::has_settings(run) && !trace::job::resumes(settings);
  if (!tells || view.step < settings.steps) return "";
  return view.run + " has steps 0 to " + std::to_string(settings.steps - 1) + ", and no step " +
         std::to_string(view.step);
}

// "": each range of times that the view names lies in the run, at least in part. Where it shows
// steps, `shown` counts from their starts, and tells nothing of that.
std::string missing_time(const ui::state::ViewAddress& view, const fs::path& run) {
  const auto shown = view.steps_of_rank < 0 ? view.shown : std::nullopt;
  if (!shown && !view.selected) return "";
  const auto opened = trace::explore::RunExplorer::open(run);
  if (!opened) return opened.error().message;
  trace::explore::RunExplorer& explorer = **opened;
  while (!explorer.rows()->has_all_rows && explorer.work().value_or(false)) {
  }
  const auto rows = explorer.rows();
  const std::int64_t length_ns = rows->end_ns - rows->start_ns;
  for (const auto& times : {shown, view.selected}) {
    if (!times || (times->from_ns < length_ns && times->to_ns > 0)) continue;
    return view.run + " has times from 0 to " + std::to_string(length_ns) + " ns, and none of " +
           std::to_string(times->from_ns) + ".." + std::to_string(times->to_ns);
  }
  return "";
}

// What is wrong with the view of one page; "": nothing.
std::string problem_of(const Lesson& lesson, std::size_t number, const fs::path& runs_dir) {
  const LessonPage& page = lesson.pages[number];
  if (!page.view) return "";
  const auto found =
      session::find_view({*page.view, page.replay_speed, lesson.file},
                         {.lessons = {}, .runs_dir = runs_dir, .examples = launch::bundled_runs()});
  const std::string file = fs::path(lesson.file).filename().string() + ": ";
  std::string problem = found.problem;
  for (const std::string& run : found.runs) {
    if (!problem.empty()) break;
    const auto read = trace::store::read_run_info(run);
    std::string why;
    if (!read) {
      why = read.error().message;
    } else if (run == found.runs.front()) {
      why = missing_step(*page.view, *read);
      if (why.empty()) why = missing_time(*page.view, run);
    }
    if (!why.empty()) problem = file + why;
  }
  if (problem.empty()) return "";
  return problem + " (page " + std::to_string(number + 1) + ", \"" + page.title + "\")";
}

int check(const LearnArguments& options, const LessonShelf& shelf) {
  std::vector<std::string> problems = shelf.problems;
  std::size_t pages = 0;
  for (const Lesson& lesson : shelf.lessons) {
    pages += lesson.pages.size();
    for (std::size_t i = 0; i < lesson.pages.size(); ++i) {
      auto problem = problem_of(lesson, i, options.runs_dir);
      if (!problem.empty()) problems.push_back(std::move(problem));
    }
  }
  if (options.as_json()) {
    print_result(report::dump_json({{"intact", problems.empty()},
                                    {"lessons", shelf.lessons.size()},
                                    {"pages", pages},
                                    {"problems", problems}}));
    return problems.empty() ? kDone : kFailed;
  }
  for (const std::string& problem : problems) {
    print_result(trace::base::printable_line(problem) + "\n");
  }
  if (problems.empty()) {
    print_result("Intact: " + trace::base::counted(shelf.lessons.size(), "lesson") + " with " +
                 trace::base::counted(pages, "page") +
                 "; every run, step and time that they name is there\n");
  }
  return problems.empty() ? kDone : kFailed;
}

void print_lessons(const LearnArguments& options, const LessonShelf& shelf) {
  if (options.page > 0) {
    const auto page = static_cast<std::size_t>(options.page);
    const Lesson& lesson = shelf.lessons[static_cast<std::size_t>(options.lesson) - 1];
    return print_result(page_text(lesson.pages[page - 1], page));
  }
  for (std::size_t i = 0; i < shelf.lessons.size(); ++i) {
    const bool is_asked_for =
        options.lesson == 0 || static_cast<std::size_t>(options.lesson) == i + 1;
    if (!is_asked_for) continue;
    print_result((i > 0 && options.lesson == 0 ? "\n\n" : "") + lesson_text(shelf.lessons[i]));
  }
}

trace::base::Result<int> open_window(const LearnArguments& options) {
  window::WindowOptions window;
  window.runs_dir = options.runs_dir;
  window.preferences = options.surroundings.preferences;
  window.home = options.surroundings.home;
  window.learns = true;
  window.lessons = options.files;
  window.lesson = options.lesson - 1;
  window.page = std::max(options.page, 1) - 1;
  return window::run_window(window).map([] { return kDone; });
}

trace::base::Result<int> learn(const LearnArguments& options) {
  const LessonShelf shelf = session::read_shelf(options.files);
  if (options.check) return check(options, shelf);
  if (options.list || options.as_json()) return list(options, shelf);
  if (shelf.lessons.empty()) {
    return trace::base::fail(trace::base::ErrorKind::kFailed,
                             trace::base::joined(shelf.problems, ". "));
  }
  if (options.lesson > 0) {
    TRY(session::check_page(shelf, options.lesson - 1, std::max(options.page, 1) - 1));
  }
  if (options.surroundings.has_display) return open_window(options);
  print_lessons(options, shelf);
  for (const std::string& problem : shelf.problems) print_message("error: " + problem);
  return shelf.problems.empty() ? kDone : kFailed;
}

}  // namespace

void add_learn_command(CommandLine& line) {
  const auto [command, options] =
      add_command(line, "learn", "Lessons on how it works, beside views of recorded runs", learn);
  options->surroundings = line.surroundings;
  command->add_option("FILE", options->files,
                      "Lessons: Markdown files, or folders of them; those that came with the\n"
                      "program if none is given");
  auto* const lesson =
      command->add_option("--lesson", options->lesson, "Begins with this one, counted from 1")
          ->type_name("N")
          ->check(CLI::PositiveNumber);
  command->add_option("--page", options->page, "Of that lesson, counted from 1")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->needs(lesson);
  auto* const lists = command->add_flag("--list", options->list, "Prints their titles and pages");
  command
      ->add_flag("--check", options->check,
                 "Whether they can be shown: how they are written, and that the runs, steps\n"
                 "and times are there that they name. The exit code is 1 if anything is wrong")
      ->excludes(lists);
  add_common(*command, *options);
  command->footer(
      "With no display it prints them as text, with the commands that open their views. Runs are\n"
      "looked for beside the lesson's file first, then among those that came with the program,\n"
      "then in the library. How a lesson is written: assets/lessons/README.md.\n\n"
      "Examples:\n"
      "  shardlens learn\n"
      "  shardlens learn --lesson 3 --page 2\n"
      "  shardlens learn workshop/ --check");
}

}  // namespace shardlens::app::cli
