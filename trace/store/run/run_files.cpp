#include "trace/store/run/run_files.h"

#include <optional>
#include <string_view>
#include <system_error>

#include "trace/base/text.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::trace::store {

namespace fs = std::filesystem;

std::optional<int> rank_of_file_name(std::string_view name) {
  constexpr std::string_view kPrefix = "rank_", kSuffix = ".sqlite";
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  if (name.size() <= kSuffix.size()) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  const auto rank = base::number_from<int>(name);
  return rank && *rank >= 0 ? rank : std::nullopt;
}

base::Result<std::vector<TraceFile>> open_run_files(const fs::path& run,
                                                    std::vector<std::string>* left_out) {
  TRY(read_run_info(run));
  std::vector<TraceFile> files;
  std::error_code error;
  if (!fs::is_directory(run, error)) {
    TRY_ASSIGN(TraceFile packed, TraceFile::open(run));
    files.push_back(std::move(packed));
    return files;
  }
  TRY_ASSIGN(TraceFile run_file, TraceFile::open(run / kRunFile));
  files.push_back(std::move(run_file));
  std::optional<base::Error> problem;
  for (const auto& [rank, path] : rank_files(run)) {
    auto file = TraceFile::open(path);
    if (file) {
      files.push_back(std::move(*file));
      continue;
    }
    if (left_out == nullptr) return tl::make_unexpected(file.error());
    left_out->push_back(file.error().message);
    if (!problem) problem = file.error();
  }
  if (problem && files.size() == 1) return tl::make_unexpected(*problem);
  return files;
}

std::vector<Database*> databases_of(std::vector<TraceFile>& files) {
  std::vector<Database*> databases;
  for (TraceFile& file : files) databases.push_back(&file.database());
  return databases;
}

std::map<int, fs::path> rank_files(const fs::path& run_folder) {
  std::map<int, fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(run_folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const auto rank = rank_of_file_name(entry->path().filename().string());
    if (rank) files[*rank] = entry->path();
  }
  return files;
}

base::Result<std::vector<int>> ranks_in(Database& database) {
  TRY_ASSIGN(auto statement,
             database.prepare("select distinct rank from meta where rank >= 0 order by rank"));
  std::vector<int> ranks;
  while (true) {
    TRY_ASSIGN(const bool more, statement.step());
    if (!more) return ranks;
    ranks.push_back(static_cast<int>(statement.integer(0)));
  }
}

}  // namespace shardlens::trace::store
