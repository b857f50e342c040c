#include "trace/predict/costs/costs_library.h"

#include <algorithm>
#include <set>
#include <string>
#include <system_error>
#include <tuple>
#include <vector>

#include "trace/base/checksum.h"
#include "trace/base/file_system.h"

namespace shardlens::trace::predict {

namespace fs = std::filesystem;
using base::ErrorKind;
using base::Result;

namespace {

constexpr std::string_view kSuffix = ".json";

// Never through a link: libraries come from elsewhere, too.
bool is_own_folder(const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(fs::symlink_status(folder, error));
}

// The same only for what is measured again.
fs::path file_name(const CostsFile& file) {
  CostsFile what = file;
  what.program = what.versions = what.data_type = what.host = "";
  what.measured_ns = 0;
  what.seconds.reset();
  what.seed.reset();
  what.rows.clear();
  std::string key = costs_json(what);
  if (file.source == CostsSource::kNcclTests) {
    std::set<CollectiveKind> kinds;
    for (const CostRow& row : file.rows) kinds.insert(row.kind);
    for (const auto& kind : kinds) key += std::string(to_string(kind.function)) + " ";
  }
  return file.setup.backend + "-" + std::to_string(file.setup.ranks) + "-ranks-" +
         base::checksum_text(base::checksum_of(key)) + std::string(kSuffix);
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    const bool is_file = fs::is_regular_file(entry->symlink_status(ignored));
    if (is_file && entry->path().extension() == kSuffix) files.push_back(entry->path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

Result<fs::path> keep_costs(const fs::path& library, const CostsFile& file) {
  const fs::path folder = library / kCostsFolder;
  std::error_code error;
  fs::create_directories(folder, error);
  if (!is_own_folder(folder)) {
    return base::fail(ErrorKind::kIo, "The costs cannot be kept: " + base::quoted(folder) +
                                          " is no folder" + (error ? ": " + error.message() : "") +
                                          ". Name another --runs-dir.");
  }
  const fs::path path = folder / file_name(file);
  TRY(write_costs(path, file));
  return path;
}

Result<std::optional<CollectiveCosts>> costs_for(const CommunicationSetup& setup,
                                                 const fs::path& library) {
  const fs::path folder = library / kCostsFolder;
  if (!is_own_folder(folder)) return std::nullopt;
  std::vector<CostsFile> found;
  for (const fs::path& path : files_in(folder)) {
    auto file = read_costs(path);
    if (!file && file.error().kind == ErrorKind::kOtherVersion) continue;
    if (!file) return tl::make_unexpected(file.error());
    if (holds_for(file->setup, setup)) found.push_back(std::move(*file));
  }
  if (found.empty()) return std::nullopt;
  std::ranges::stable_sort(found, [](const CostsFile& a, const CostsFile& b) {
    return std::tuple(a.source, -a.measured_ns) < std::tuple(b.source, -b.measured_ns);
  });
  CollectiveCosts costs = found.front().costs();
  for (std::size_t i = 1; i < found.size(); ++i) costs = costs.filled_from(found[i].costs());
  return costs;
}

}  // namespace shardlens::trace::predict
