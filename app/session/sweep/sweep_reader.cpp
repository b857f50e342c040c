#include "app/session/sweep/sweep_reader.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "app/session/jobs/measured_run.h"
#include "app/session/runs/library_run.h"
#include "app/session/runs/run_banners.h"
#include "app/session/sweep/shown_sweep.h"
#include "app/session/tuning/prediction_source.h"
#include "app/sweep/sweep_file.h"

namespace shardlens::app::session {

namespace fs = std::filesystem;
using trace::base::Result;
using ui::state::ShownSweep;

std::vector<std::string> newest_sweeps(const fs::path& runs_dir) {
  std::vector<std::pair<fs::file_time_type, std::string>> dated;
  for (auto& name : sweep::sweep_names(runs_dir)) {
    std::error_code error;
    const auto time = fs::last_write_time(sweep::sweep_folder(runs_dir, name), error);
    dated.emplace_back(error ? fs::file_time_type::min() : time, std::move(name));
  }
  std::ranges::stable_sort(dated, std::ranges::greater{},
                           [](const auto& entry) { return entry.first; });
  std::vector<std::string> names;
  for (auto& [time, name] : dated) names.push_back(std::move(name));
  return names;
}

Result<sweep::WholeRun> SweepSource::read_run(const fs::path& run) {
  const auto known = runs_.find(run);
  if (known != runs_.end()) return known->second.run;
  TRY_ASSIGN(const LibraryRun record, read_library_run(run));
  KnownRun read{measured(record), banners_of(record.info)};
  return runs_.emplace(run, std::move(read)).first->second.run;
}

search::Standing SweepSource::standing_of(const sweep::Sweep& grid) {
  if (!machine_) machine_ = this_machine();
  const std::pair of{grid.created_ns(), grid.plan().search->goal};
  if (!forecasts_ || forecasts_of_ != of) {
    forecasts_.emplace(grid.plan(), forecast_sources(*machine_));
  }
  forecasts_of_ = of;
  return search::standing_of(grid.plan(), grid.results(), *forecasts_);
}

ShownSweep SweepSource::read(const std::string& name) {
  if (std::exchange(name_, name) != name || !predictor_) {
    runs_.clear();
    predictor_ = std::make_shared<sweep::SweepPredictor>(learn_run);
    forecasts_.reset();
  }
  const auto there =
      sweep::Sweep::look_at(runs_dir_, name, [this](const fs::path& run) { return read_run(run); });
  if (!there) return {.name = name, .problem = there.error().message};
  // A search predicts by itself.
  const bool is_search = there->plan().search.has_value();
  auto shown = shown_sweep(
      there->plan(), there->results(),
      is_search ? sweep::SweepPredictions{} : predictor_->predict(there->plan(), there->results()));
  if (is_search) show_search(there->plan(), standing_of(*there), there->results(), shown);
  std::vector<std::vector<std::string>> banners;  // of the runs that count
  for (const auto& [slot, result] : there->results()) {
    const auto known = runs_.find(result.folder);
    if (known != runs_.end()) banners.push_back(known->second.banners);
  }
  shown.banners = banners_in_common(banners);
  if (sweep::Sweep::is_held(runs_dir_, name)) shown.phase = ui::state::SweepPhase::kElsewhere;
  return shown;
}

SweepReader::SweepReader(fs::path runs_dir, std::function<void()> on_change)
    : runs_dir_(std::move(runs_dir)),
      on_change_(std::move(on_change)),
      source_(runs_dir_),
      reading_([this](const Question& question, const auto&) { answer(question); }) {}

// Its file is replaced in its folder.
trace::base::FileStamp SweepReader::stamp_of(const std::string& name) const {
  return trace::base::stamp_of(sweep::sweep_folder(runs_dir_, name));
}

void SweepReader::answer(const Question& question) {
  ReadSweeps now{.names = newest_sweeps(runs_dir_), .shown = nullptr, .is_read = true};
  std::string name = question.name;
  if (name.empty() && !now.names.empty()) name = now.names.front();
  const auto stamp = stamp_of(name);
  const auto is_same = [&] { return stamp == stamp_ && sweep::Sweep::is_held(runs_dir_, name); };
  if (question.only_if_changed && is_same()) return;
  stamp_ = stamp;
  try {
    if (!name.empty()) now.shown = std::make_shared<const ShownSweep>(source_.read(name));
  } catch (const std::exception& error) {
    now.shown =
        std::make_shared<const ShownSweep>(ShownSweep{.name = name, .problem = error.what()});
  }
  {
    const std::lock_guard lock(mutex_);
    now.asked = question.number;
    now.version = read_.version + 1;
    read_ = std::move(now);
  }
  on_change_();
}

std::uint64_t SweepReader::show(const std::string& name) {
  asked_ = {.name = name, .number = asked_.number + 1};
  reading_.ask(asked_);
  return asked_.number;
}

void SweepReader::look_again() {
  if (!reading_.is_idle()) return;
  Question again = asked_;
  again.only_if_changed = true;
  reading_.ask(std::move(again));
}

ReadSweeps SweepReader::state() const {
  const std::lock_guard lock(mutex_);
  return read_;
}

}  // namespace shardlens::app::session
