#include "app/session/run_words.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "app/session/record_cache.h"
#include "trace/model/printable.h"
#include "trace/model/text.h"
#include "trace/store/file_system.h"

namespace shardlens::app {

namespace fs = std::filesystem;
using trace::Result;

namespace {

constexpr std::chrono::seconds kLongestWait{30};  // for a run that is being made

Result<void> check_name(const fs::path& runs_dir, const fs::path& run, const std::string& name) {
  if (name.empty() || name != trace::printable_line(name)) {
    return trace::fail(trace::ErrorKind::kUsage, "A run needs a name of letters and signs.");
  }
  for (const auto& other : trace::list_runs(runs_dir).runs) {
    if (other.name != name || fs::path(other.folder).filename() == run.filename()) continue;
    return trace::fail(trace::ErrorKind::kUsage, "Another run of this library is called “" + name +
                                                     "”. Choose another name.");
  }
  return {};
}

}  // namespace

Result<void> change_words(const fs::path& runs_dir, const fs::path& run, trace::RunWords words) {
  std::optional<trace::FolderLock> claim;  // until the name is written, nobody else may take it
  if (words.name) {
    words.name = std::string(trace::trimmed(*words.name));
    TRY_ASSIGN(auto lock, trace::FolderLock::acquire(runs_dir, kLongestWait));
    claim.emplace(std::move(lock));
    TRY(check_name(runs_dir, run, *words.name));
  }
  auto known = kept_record(run, trace::run_stamp(run));
  TRY(trace::write_words(run, words));
  if (!known) return {};
  if (words.name) known->info.name = *words.name;
  if (words.note) known->info.note = *words.note;
  if (words.tags) known->info.tags = *words.tags;
  keep_record(*known, trace::run_stamp(run));
  return {};
}

std::vector<std::string> tags_from_text(std::string_view text) {
  std::vector<std::string> tags;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(", \t\n"), text.size());
    std::string tag(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!tag.empty() && std::ranges::find(tags, tag) == tags.end()) tags.push_back(std::move(tag));
  }
  return tags;
}

}  // namespace shardlens::app
