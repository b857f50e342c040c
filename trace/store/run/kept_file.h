// What this program found out about a run, kept so that the next opening has it at once: in the
// run's folder, or of a packed run in a folder beside it. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace shardlens::trace::store {

// Tells whether a run changed on disk without opening it: by names, sizes and times of its trace
// files.
struct RunStamp {
  // The clock's epoch may lie in the future (2174 in libstdc++).
  std::filesystem::file_time_type newest = std::filesystem::file_time_type::min();
  std::uint64_t files = 0;  // all of them
  std::uint64_t inode = 0;  // of the file that says what run it is: another run has another
  bool operator==(const RunStamp&) const = default;
};
RunStamp run_stamp(const std::filesystem::path& run);
// Its recorder may be at work.
bool was_just_written(const RunStamp& stamp);
// It is still as `stamp` says and nobody writes: what was found out since then may be kept.
bool is_settled(const std::filesystem::path& run, const RunStamp& stamp);

// The folder beside packed runs for what is kept of them. It is ours alone: what it holds of runs
// that are gone is deleted.
inline constexpr const char* kKeptFolder = ".shardlens-kept";

std::filesystem::path kept_path(const std::filesystem::path& run, std::string_view name);
// What was kept of a run whose files were as `stamp` says. None when they have changed since, when
// another build of this program kept it, or when it is damaged.
std::optional<std::string> read_kept(const std::filesystem::path& run, std::string_view name,
                                     const RunStamp& stamp);
// Complete or not at all, whoever else looks at the same run. Nothing is kept, nor said, where it
// cannot be written.
void keep(const std::filesystem::path& run, std::string_view name, const RunStamp& stamp,
          std::string_view content);
// What was kept at `before` holds at `now`, too: it is not written again.
void keep_on(const std::filesystem::path& run, std::string_view name, const RunStamp& before,
             const RunStamp& now);
// What was kept of packed runs of this folder that are no longer there.
void drop_kept_of_gone_runs(const std::filesystem::path& folder);

}  // namespace shardlens::trace::store
