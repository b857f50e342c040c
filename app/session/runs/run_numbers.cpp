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
  const Key key = key_of(run);
  for (const auto* numbers : {&numbers_, &provisional_}) {
    if (const auto found = numbers->find(key); found != numbers->end()) return found->second;
  }
  return 0;
}

std::string RunNumbering::number(std::vector<const trace::model::RunInfo*> runs) {
  std::erase_if(runs, [this](const auto* run) { return numbers_.contains(key_of(*run)); });
  // Once even without runs: numbers of deleted ones are not used again.
  if (std::exchange(asked_, true) && runs.empty()) return "";
  std::ranges::sort(runs, is_older_run);
  std::vector<trace::store::RunPlace> places;
  for (const auto* run : runs) {
    auto [file_name, start_ns] = key_of(*run);
    places.push_back({std::move(file_name), start_ns});
  }
  const auto given = trace::store::number_runs(runs_dir_, places);
  if (!given) {
    for (const auto* run : runs) provisional_.try_emplace(key_of(*run), next());
    return runs.empty() ? "" : "The numbers of runs are not kept: " + given.error().message;
  }
  provisional_.clear();
  next_ = std::max(next_, given->next);
  for (std::size_t i = 0; i < runs.size(); ++i) numbers_[key_of(*runs[i])] = given->numbers[i];
  return "";
}

}  // namespace shardlens::app::session
