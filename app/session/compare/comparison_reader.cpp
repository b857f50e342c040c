#include "app/session/compare/comparison_reader.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "app/session/runs/library_run.h"
#include "app/session/worker/read_safely.h"
#include "trace/base/file_system.h"
#include "trace/base/wall_clock.h"
#include "trace/model/acting_settings.h"
#include "trace/store/read/run_reader.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::app::session {

namespace fs = std::filesystem;

namespace {

constexpr int kMostAlike = 16;  // read whole: seconds each if they are large
// Beyond these of all runs that are read: a second or two, once.
constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;

bool is_in(const trace::analysis::RunFigures& run, const fs::path& folder) {
  return !folder.empty() &&
         trace::base::is_same_file(trace::store::library_of(run.info.folder), folder);
}

// As far as run.sqlite tells; the machine is seen once the run is read.
bool may_be_sibling(const trace::model::RunInfo& run, const trace::analysis::RunFigures& of) {
  return trace::analysis::is_same_job({&run, "", ""}, {&of.info, "", ""}) &&
         !trace::base::is_same_file(run.folder, of.info.folder);
}

bool acts_alike(const trace::model::RunInfo& a, const trace::model::RunInfo& b) {
  return trace::model::acting_settings(a, {}) == trace::model::acting_settings(b, {});
}

std::int64_t bytes_of(const fs::path& run) {
  std::error_code error;
  if (!fs::is_directory(run, error)) return trace::base::file_size_or_zero(run);
  std::int64_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(run, error)) {
    if (entry.path().extension() == ".sqlite") bytes += trace::base::file_size_or_zero(entry);
  }
  return bytes;
}

// Nothing where it cannot be read: the library's table names it.
void read_into(std::vector<LibraryRun>& runs, const fs::path& folder) {
  const trace::store::RunStamp stamp = trace::store::run_stamp(folder);
  auto record = read_safely(folder.string(), [&] { return read_library_run(folder); });
  if (!record) return;
  if (trace::store::run_stamp(folder) == stamp) keep_record(*record, stamp);
  runs.push_back(std::move(*record));
}

}  // namespace

std::vector<LibraryRun> siblings_of(const trace::analysis::RunFigures& first,
                                    const trace::analysis::RunFigures& second,
                                    const fs::path& runs_dir, const fs::path& examples) {
  const fs::path& library = is_in(first, examples) && is_in(second, examples) ? examples : runs_dir;
  std::vector<LibraryRun> siblings;
  std::error_code error;
  if (!fs::is_directory(library, error)) return siblings;
  std::vector<fs::path> alike, others;  // newest first
  for (const auto& info : trace::store::list_runs(library).runs) {
    if (!may_be_sibling(info, first) || !may_be_sibling(info, second)) continue;
    if (info.status == trace::model::RunStatus::kRunning) continue;
    if (auto kept = kept_record(info.folder, trace::store::run_stamp(info.folder))) {
      siblings.push_back(std::move(*kept));
      continue;
    }
    const bool is_alike = acts_alike(info, first.info) || acts_alike(info, second.info);
    (is_alike ? alike : others).push_back(info.folder);
  }
  if (alike.size() > kMostAlike) alike.resize(kMostAlike);
  std::int64_t bytes = 0;
  for (const auto& folder : alike) {
    bytes += bytes_of(folder);
    read_into(siblings, folder);
  }
  for (const auto& folder : others) {
    bytes += bytes_of(folder);
    if (bytes > kMostBytes) break;
    read_into(siblings, folder);
  }
  return siblings;
}

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
