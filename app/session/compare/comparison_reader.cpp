#include "app/session/compare/comparison_reader.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/session/compare/run_siblings.h"
#include "app/session/worker/read_safely.h"
#include "trace/base/wall_clock.h"
#include "trace/store/read/run_reader.h"

namespace shardlens::app::session {

std::vector<ComparisonQuestion::Run> compared_runs(const std::vector<std::string>& folders,
                                                   LedgerRows rows) {
  std::vector<ComparisonQuestion::Run> runs;
  for (const std::string& folder : folders) {
    const auto* row = row_of(rows, folder);
    runs.push_back({folder, row != nullptr ? RunLabel{row->ordinal, row->name} : RunLabel{}});
  }
  return runs;
}

ui::state::ComparisonView unread_comparison(const ComparisonQuestion& question) {
  ui::state::ComparisonView view;
  view.step = question.step;
  for (const auto& run : question.runs) {
    std::string name = run.label.name;
    if (name.empty()) name = std::filesystem::path(run.folder).filename().string();
    view.runs.push_back(
        {.folder = run.folder, .name = std::move(name), .ordinal = run.label.ordinal});
  }
  view.differences.resize(view.runs.empty() ? 0 : view.runs.size() - 1);
  return view;
}

void ComparisonReader::tell_known(ui::state::ComparedRun& run) const {
  const auto feed = feeds_.find(run.folder);
  if (feed == feeds_.end()) return;
  run.run = feed->second.view;
  run.problem = feed->second.problem;
}

const trace::analysis::NamedTimes* ComparisonReader::times_of(const std::string& folder) const {
  const auto feed = feeds_.find(folder);
  return feed == feeds_.end() || !feed->second.times ? nullptr : &*feed->second.times;
}

// The same view as before where nothing is new.
auto ComparisonReader::read(const ComparisonQuestion::Run& run, std::int64_t step)
    -> trace::base::Result<View> {
  Feed& feed = feeds_[run.folder];
  if (feed.follower && feed.follower->is_replaced()) feed = {};
  if (!feed.follower) {
    TRY_ASSIGN(feed.follower, open_(run.folder));
  }
  TRY_ASSIGN(const bool has_new_status, feed.follower->refresh_info());
  TRY_ASSIGN(const bool has_new_rows, feed.follower->advance());
  const bool is_same = feed.view && !has_new_status && !has_new_rows && feed.label == run.label;
  if (is_same && feed.step == step) return feed.view;
  feed.follower->select_step(step < 0 ? std::nullopt : std::optional(step));
  TRY_ASSIGN(feed.view, feed.follower->view(trace::base::wall_clock_ns(), false, run.label));
  // A run whose events cannot be read is compared by its figures alone.
  if (!feed.times || has_new_rows) {
    auto times = read_safely(run.folder, [&] { return read_named_times(feed.view->figures); });
    feed.times = times ? std::optional(std::move(*times)) : std::nullopt;
  }
  if (!is_same) feed.version = ++last_version_;
  feed.label = run.label;
  feed.step = step;
  feed.problem.clear();
  feed.follower->keep();
  return feed.view;
}

auto ComparisonReader::difference(const ComparisonQuestion& question, std::size_t index)
    -> Difference {
  const std::string& folder = question.runs[index].folder;
  const Feed& base = feeds_.at(question.runs[0].folder);
  Feed& feed = feeds_.at(folder);
  const Compared compared{base.version, feed.version, question.ended_runs};
  if (feed.difference && feed.compared == compared) return feed.difference;
  const auto &from = base.view->figures, &to = feed.view->figures;
  const auto siblings = siblings_of(from, to, question.runs_dir);
  feed.difference =
      std::make_shared<const trace::analysis::RunDifference>(trace::analysis::difference_between(
          {from, times_of(question.runs[0].folder)}, {to, times_of(folder)}, noise_runs(siblings)));
  feed.compared = compared;
  return feed.difference;
}

void ComparisonReader::answer(const ComparisonQuestion& question,
                              const std::function<bool()>& wanted,
                              const std::function<void(ui::state::ComparisonView)>& publish) {
  std::erase_if(feeds_, [&](const auto& feed) {
    return std::ranges::find(question.runs, feed.first, &ComparisonQuestion::Run::folder) ==
           question.runs.end();
  });
  ui::state::ComparisonView view = unread_comparison(question);
  for (auto& run : view.runs) tell_known(run);
  for (std::size_t i = 0; i < question.runs.size(); ++i) {
    if (!wanted()) return;
    const ComparisonQuestion::Run& asked = question.runs[i];
    ui::state::ComparedRun& run = view.runs[i];
    auto read_run = read_safely(asked.folder, [&] { return read(asked, question.step); });
    if (read_run) {
      run.run = std::move(*read_run);
      run.problem.clear();
      if (asked.label.name.empty()) run.name = run.run->figures.info.name;
    } else {
      run.run = nullptr;
      run.problem = read_run.error().message;
      Feed& feed = feeds_[asked.folder];
      feed = {};
      feed.problem = run.problem;
    }
    if (i > 0 && view.runs[0].run && run.run) {
      auto compared = read_safely(asked.folder, [&]() -> trace::base::Result<Difference> {
        return difference(question, i);
      });
      if (compared) view.differences[i - 1] = std::move(*compared);
      if (!compared) run.problem = compared.error().message;
    }
    const bool is_last = i + 1 == question.runs.size();
    // What is looked at again stays on screen until all of it is there.
    if (is_last || view.is_reading()) publish(view);
  }
}

trace::base::Result<trace::analysis::NamedTimes> read_named_times(
    const trace::analysis::RunFigures& run) {
  trace::analysis::NamedTimesReader times(run);
  const auto window = times.window();
  if (window.length() <= 0) return times.times();
  TRY_ASSIGN(const auto reader, trace::store::RunReader::open(run.info.folder));
  TRY(reader->read_facts([&](const trace::model::Batch& batch) { times.learn(batch); }));
  TRY(reader->read_range(window.start_ns, window.end_ns,
                         [&](const trace::model::Batch& batch) { times.add(batch); }));
  return times.times();
}

}  // namespace shardlens::app::session
