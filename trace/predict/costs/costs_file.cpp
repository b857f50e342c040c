#include "trace/predict/costs/costs_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <system_error>
#include <tuple>
#include <vector>

#include "trace/base/checksum.h"
#include "trace/base/file_system.h"
#include "trace/base/printable.h"
#include "trace/base/text.h"
#include "trace/job/huggingface/config_keys.h"
#include "trace/job/library_environment.h"

namespace shardlens::trace::predict {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Parsed = nlohmann::json;
using base::ErrorKind;
using base::Result;

namespace {

constexpr std::string_view kFormat = "shardlens costs";
constexpr std::int64_t kVersion = 1;
constexpr std::int64_t kLargestFile = std::int64_t{16} << 20;
constexpr std::int64_t kMostRanks = 1 << 20;
constexpr std::int64_t kLongestNs = std::int64_t{1} << 53;  // a hundred days

Json text_json(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

template <typename Value>
Json optional_json(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json link_json(const std::optional<job::SimulatedLink>& link) {
  if (!link) return nullptr;
  Json json = {{"latency_us", link->latency_us}, {"gbit_per_s", link->gbit_per_s}};
  if (link->nodes > 0) json["nodes"] = link->nodes;
  return json;
}

using Keys = job::ConfigKeys;

int ranks_from(Keys& keys, const char* key) {
  return static_cast<int>(keys.count(key, {1, kMostRanks}));
}

std::optional<double> number_from(Keys& keys, const char* key, double most) {
  if (!keys.has(key)) return std::nullopt;
  return keys.number(key, 0, most);
}

std::optional<std::int64_t> count_from(Keys& keys, const char* key, job::CountRange range) {
  if (!keys.has(key)) return std::nullopt;
  return keys.count(key, range);
}

CommunicationSetup setup_from(Keys& keys) {
  CommunicationSetup setup;
  setup.device = keys.text("device");
  setup.device_name = keys.text("device_name");
  setup.backend = keys.text("backend");
  setup.ranks = ranks_from(keys, "ranks");
  setup.hosts = ranks_from(keys, "hosts");
  setup.shared_gpu = keys.flag("shared_gpu", false);
  setup.link = keys.text("link");
  if (keys.has("simulated_link")) {
    Keys inner = keys.inside("simulated_link");
    setup.simulated_link = job::SimulatedLink{inner.number("latency_us", 0, 1e12),
                                              inner.number("gbit_per_s", 1e-9, 1e12),
                                              inner.count("nodes", {1, kMostRanks}, 0)};
  }
  if (const std::string lines = keys.text("environment"); !lines.empty()) {
    setup.environment = lines == "none" ? "" : lines;
  }
  if (setup.device.empty()) keys.damaged("device", "is missing");
  // A library names files by it, also of those that come from elsewhere.
  if (setup.backend != "gloo" && setup.backend != "nccl") {
    keys.damaged("backend", "is neither gloo nor nccl");
  }
  return setup;
}

CostRow row_from(Keys& keys) {
  CostRow row;
  const std::string function = keys.text("function");
  const auto known = base::enum_from_text(function, model::CollectiveFunction::kAllToAll);
  if (!known) {
    keys.damaged("function", "is no collective: \"" + base::shortened(function, 40) + "\"");
  }
  row.kind.function = known.value_or(model::CollectiveFunction::kOther);
  row.kind.ranks = ranks_from(keys, "ranks");
  row.bytes = keys.count("bytes", {1, std::int64_t{1} << 56});
  row.count = count_from(keys, "count", {1, kLongestNs});
  const double longest = static_cast<double>(kLongestNs);
  row.median_ns = keys.number("median_ns", 0, longest);
  row.lower_quartile_ns = number_from(keys, "lower_quartile_ns", longest);
  row.upper_quartile_ns = number_from(keys, "upper_quartile_ns", longest);
  if (row.lower_quartile_ns.value_or(row.median_ns) > row.median_ns ||
      row.upper_quartile_ns.value_or(row.median_ns) < row.median_ns) {
    keys.damaged("median_ns", "does not lie between the quartiles");
  }
  return row;
}

// Of a run's noted variables those that decide how NCCL transfers.
std::string nccl_variables(std::string_view noted) {
  std::string lines;
  for (const auto& [name, value] : job::parse_environment(noted)) {
    if (name.starts_with("NCCL_")) lines += name + "=" + value + "\n";
  }
  return lines;
}

Result<CostsFile> damaged(const std::string& name, const std::string& problem) {
  return base::fail(ErrorKind::kDamaged,
                    name + " is damaged: " + base::printable_line(problem) +
                        ". Delete it, and measure again with `shardlens calibrate`.");
}

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

std::string_view to_string(CostsSource source) {
  switch (source) {
    case CostsSource::kCalibration:
      return "shardlens calibrate";
    case CostsSource::kNcclTests:
      return "nccl-tests";
  }
  return "unknown";
}

CommunicationSetup setup_of(const model::RunInfo& info, const std::vector<model::RankInfo>& ranks) {
  CommunicationSetup setup;
  setup.device = info.device;
  setup.backend = info.device == "cuda" ? "nccl" : "gloo";
  setup.ranks = info.world_size;
  setup.shared_gpu = info.shared_gpu;
  if (const auto link = job::parse_simulated_link(info.settings.simulate_link)) {
    setup.simulated_link = *link;
  }
  std::set<std::string> hosts;
  for (const model::RankInfo& rank : ranks) hosts.insert(rank.host);
  setup.hosts = std::max(1, static_cast<int>(hosts.size()));
  const bool is_ours = model::has_settings(info);
  if (!is_ours && hosts == std::set<std::string>{""}) setup.hosts = 0;
  if (ranks.empty()) return setup;
  setup.device_name = ranks.front().device_name;
  setup.link = ranks.front().link;
  setup.tells_link = is_ours || !setup.link.empty();
  const std::string& environment = ranks.front().environment;
  if (is_ours || !environment.empty()) setup.environment = nccl_variables(environment);
  return setup;
}

bool holds_for(const CommunicationSetup& measured, const CommunicationSetup& wanted) {
  return !measured.device_name.empty() && measured.device_name == wanted.device_name &&
         measured.device == wanted.device && measured.backend == wanted.backend &&
         measured.ranks == wanted.ranks && (wanted.hosts == 0 || measured.hosts == wanted.hosts) &&
         measured.shared_gpu == wanted.shared_gpu &&
         measured.simulated_link == wanted.simulated_link &&
         (measured.link.empty() || !wanted.tells_link || measured.link == wanted.link) &&
         (!measured.environment || !wanted.environment ||
          measured.environment == wanted.environment);
}

std::string costs_json(const CostsFile& file) {
  const CommunicationSetup& setup = file.setup;
  Json environment = optional_json(setup.environment);
  if (setup.environment && setup.environment->empty()) environment = "none";
  Json json = {{"format", kFormat},
               {"version", kVersion},
               {"source", to_string(file.source)},
               {"program", text_json(file.program)},
               {"versions", text_json(file.versions)},
               {"host", text_json(file.host)},
               {"device", setup.device},
               {"device_name", text_json(setup.device_name)},
               {"backend", setup.backend},
               {"ranks", setup.ranks},
               {"hosts", setup.hosts},
               {"shared_gpu", setup.shared_gpu},
               {"link", text_json(setup.link)},
               {"simulated_link", link_json(setup.simulated_link)},
               {"environment", std::move(environment)},
               {"data_type", text_json(file.data_type)},
               {"measured_ns", file.measured_ns == 0 ? Json(nullptr) : Json(file.measured_ns)},
               {"seconds", optional_json(file.seconds)},
               {"seed", optional_json(file.seed)},
               {"costs", Json::array()}};
  for (const CostRow& row : file.rows) {
    json["costs"].push_back({{"function", to_string(row.kind.function)},
                             {"ranks", row.kind.ranks},
                             {"bytes", row.bytes},
                             {"count", optional_json(row.count)},
                             {"median_ns", row.median_ns},
                             {"lower_quartile_ns", optional_json(row.lower_quartile_ns)},
                             {"upper_quartile_ns", optional_json(row.upper_quartile_ns)}});
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<CostsFile> parse_costs(std::string_view text, const std::string& name) {
  const Parsed json = job::parse_config(text);
  const bool is_object = json.is_object();
  const auto format = is_object ? json.find("format") : json.end();
  if (json.is_discarded() && text.find(kFormat) != std::string_view::npos) {
    return damaged(name, "it is no JSON, cut short or nested too deeply");
  }
  if (!is_object || format == json.end() || *format != kFormat) {
    return base::fail(ErrorKind::kForeign,
                      name +
                          " holds no costs of collectives. `shardlens calibrate -o FILE` writes "
                          "them; a table of nccl-tests is read in with --from.");
  }
  job::ConfigProblems problems;
  Keys keys(json, problems);
  const std::int64_t version = keys.count("version", {kVersion, INT64_MAX});
  if (version != kVersion) {
    return base::fail(ErrorKind::kOtherVersion,
                      name + " has version " + std::to_string(version) +
                          " of the format, and this program reads version " +
                          std::to_string(kVersion) + ". Measure again with `shardlens calibrate`.");
  }
  CostsFile file;
  const auto source = base::enum_from_text(keys.text("source"), CostsSource::kNcclTests);
  if (!source) keys.damaged("source", "is neither a calibration nor nccl-tests");
  file.source = source.value_or(CostsSource::kCalibration);
  file.setup = setup_from(keys);
  file.host = keys.text("host");
  file.program = keys.text("program");
  file.versions = keys.text("versions");
  file.data_type = keys.text("data_type");
  file.measured_ns = keys.count("measured_ns", {1, INT64_MAX}, 0);
  file.seconds = number_from(keys, "seconds", 1e9);
  file.seed = count_from(keys, "seed", {INT64_MIN, INT64_MAX});
  const Parsed* rows = keys.find("costs");
  if (rows == nullptr || !rows->is_array()) keys.damaged("costs", "is no list");
  if (!problems.empty()) return damaged(name, problems.damaged.front());
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const std::string place = "costs[" + std::to_string(i) + "]";
    if (!(*rows)[i].is_object()) return damaged(name, place + " is no object");
    Keys row_keys((*rows)[i], problems, place + ".");
    file.rows.push_back(row_from(row_keys));
    if (!problems.empty()) return damaged(name, problems.damaged.front());
  }
  if (file.rows.empty()) return damaged(name, "costs is empty");
  return file;
}

Result<CostsFile> read_costs(const fs::path& path) {
  const std::string name = base::quoted(path);
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::exists(status)) {
    return base::fail(ErrorKind::kMissing,
                      name + " does not exist. `shardlens calibrate -o FILE` writes such a file.");
  }
  if (!fs::is_regular_file(status)) {
    return base::fail(ErrorKind::kForeign, name + " is no file that could hold costs.");
  }
  if (base::file_size_or_zero(path) > kLargestFile) {
    return base::fail(ErrorKind::kForeign, name + " is too large to hold costs of collectives.");
  }
  const auto text = base::whole_text(path);
  if (!text) return base::fail(ErrorKind::kIo, name + " cannot be read. May you read it?");
  return parse_costs(*text, name);
}

Result<void> write_costs(const fs::path& path, const CostsFile& file) {
  const std::error_code error = base::replace_text(path, costs_json(file));
  if (!error) return {};
  return base::fail(
      base::write_error_kind(error.value()),
      "The costs cannot be written to " + base::quoted(path) + ": " + error.message() + ".");
}

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
