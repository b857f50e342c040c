#include "app/launch/program_files.h"

#include <unistd.h>

#include <system_error>

namespace shardlens::app::launch {

namespace fs = std::filesystem;

fs::path program_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::current_path(error) : program.parent_path();
}

fs::path bundled_folder(std::string_view name) {
  std::error_code error;
  auto folder = program_folder();
  const auto installed = folder / "../share/shardlens" / name;
  if (fs::is_directory(installed, error)) return installed;
  for (int up = 0; up < 4; ++up, folder = folder.parent_path()) {
    const auto built = folder / "assets" / name;
    if (fs::is_directory(built, error)) return built;
  }
  return {};
}

fs::path bundled_runs() { return bundled_folder("runs"); }

trace::base::Result<fs::path> find_rank_program() {
  const fs::path program = program_folder() / kRankProgram;
  if (access(program.c_str(), X_OK) == 0) return program;
  return trace::base::fail(
      trace::base::ErrorKind::kMissing,
      "The trainer is not built: there is no " + program.string() +
          ". Type ./run (without --viewer), which fetches LibTorch and builds it, or "
          "configure CMake with -DSHARDLENS_TRAINER=ON.");
}

trace::base::Result<fs::path> find_record_library() {
  const fs::path library = program_folder() / kRecordLibrary;
  if (access(library.c_str(), R_OK) == 0) return library;
  return trace::base::fail(
      trace::base::ErrorKind::kMissing,
      "The recorder is not built: there is no " + library.string() +
          ". Type ./run record, which builds it, or configure CMake with -DSHARDLENS_TRAINER=ON.");
}

}  // namespace shardlens::app::launch
