#include "trace/store/run/rank_files.h"

#include <charconv>
#include <optional>
#include <string_view>

namespace shardlens::trace {

namespace fs = std::filesystem;

namespace {

// "rank_12.sqlite" is 12.
std::optional<int> rank_of_file_name(std::string_view name) {
  constexpr std::string_view kPrefix = "rank_", kSuffix = ".sqlite";
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  if (name.size() <= kSuffix.size()) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  int rank = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), rank);
  const bool whole = error == std::errc() && end == name.data() + name.size();
  return whole && rank >= 0 ? std::optional(rank) : std::nullopt;
}

}  // namespace

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

Result<std::vector<int>> ranks_in(Database& database) {
  TRY_ASSIGN(auto statement,
             database.prepare("select distinct rank from meta where rank >= 0 order by rank"));
  std::vector<int> ranks;
  while (true) {
    TRY_ASSIGN(const bool more, statement.step());
    if (!more) return ranks;
    ranks.push_back(static_cast<int>(statement.integer(0)));
  }
}

}  // namespace shardlens::trace
