#include "app/session/runs/run_numbers.h"

#include <algorithm>
#include <tuple>

#include "trace/store/run/library_file.h"

namespace shardlens::app::session {

namespace {

bool is_older_run(const trace::model::RunInfo* a, const trace::model::RunInfo* b) {
  return std::tie(a->start_ns, a->folder) < std::tie(b->start_ns, b->folder);
}

}  // namespace

RunNumbering::Key RunNumbering::key_of(const trace::model::RunInfo& run) {
  return {std::filesystem::path(run.folder).filename().string(), run.start_ns};
}

std::int64_t RunNumbering::number_of(const trace::model::RunInfo& run) const {
  const auto found = numbers_.find(key_of(run));
  return found == numbers_.end() ? 0 : found->second;
}

std::string RunNumbering::number(std::vector<const trace::model::RunInfo*> runs) {
  std::erase_if(runs, [this](const auto* run) { return number_of(*run) != 0; });
  // Once even without runs: numbers of deleted ones are not used again.
  if (std::exchange(asked_, true) && runs.empty()) return problem_;
  std::ranges::sort(runs, is_older_run);
  std::vector<trace::store::RunPlace> places;
  for (const auto* run : runs) {
    auto [file_name, start_ns] = key_of(*run);
    places.push_back({std::move(file_name), start_ns});
  }
  const auto given = trace::store::number_runs(runs_dir_, places);
  if (given) next_ = std::max(next_, given->next);
  if (runs.empty()) return problem_;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    numbers_[key_of(*runs[i])] = given ? given->numbers[i] : next_++;
  }
  if (!given) problem_ = "The numbers of runs are not kept: " + given.error().message;
  return problem_;
}

}  // namespace shardlens::app::session
