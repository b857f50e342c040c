// Runs whose files tell all that files can, and what takes that away: for tests of what is told
// where something is not known.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace shardlens::app::report {

struct NullableColumn {
  std::string table, name;
  bool is_real = false;
};
std::vector<NullableColumn> nullable_columns();

// Of every rank's file.
void change(const std::filesystem::path& run, const std::string& sql);

// In an empty library. Kinds: "own"; "foreign": of a program that was not ours, without settings;
// "imported": exported by PyTorch's profiler. Returns its folder.
std::filesystem::path write_known_run(const std::string& kind,
                                      const std::filesystem::path& runs_dir);

}  // namespace shardlens::app::report
