// Costs of collectives on disk: a JSON document with what they were measured on, and those that a
// library of runs keeps beside its runs. Any thread; waits for the disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/result.h"
#include "trace/job/settings/grammars.h"
#include "trace/model/run_info.h"
#include "trace/predict/costs/collective_costs.h"

namespace shardlens::trace::predict {

// What costs hold for: another of these, and transfers take another time.
struct CommunicationSetup {
  std::string device;       // "cpu", "cuda"
  std::string device_name;  // "NVIDIA H100 80GB HBM3"; "": not known
  std::string backend;      // "gloo", "nccl"
  int ranks = 0;            // of the job, which share a machine's cores and links
  int hosts = 1;            // that they run on; 0: not known
  bool shared_gpu = false;  // several ranks on one
  std::string link;         // between ranks, as RankInfo has it; "": not known
  bool tells_link = true;   // else it is of another program, which may have had any
  std::optional<job::SimulatedLink> simulated_link;
  // NCCL's variables, lines "NAME=value"; none: not known.
  std::optional<std::string> environment;
};

// Of a recorded run, as far as its launcher and its ranks tell it.
CommunicationSetup setup_of(const model::RunInfo& info, const std::vector<model::RankInfo>& ranks);
// Whether costs that were measured on `measured` hold for `wanted`. What a table or another
// program's trace does not tell of link, hosts and environment may be anything; another device or
// number of ranks never.
bool holds_for(const CommunicationSetup& measured, const CommunicationSetup& wanted);

enum class CostsSource : std::uint8_t { kCalibration, kNcclTests };
std::string_view to_string(CostsSource);  // "shardlens calibrate", "nccl-tests"

struct CostsFile {
  CommunicationSetup setup;
  CostsSource source = CostsSource::kCalibration;
  std::string host;              // "": not known, as below
  std::string program;           // "shardlens 0.1.0"
  std::string versions;          // "LibTorch 2.11.0, …"
  std::string data_type;         // "float32"
  std::int64_t measured_ns = 0;  // CLOCK_REALTIME; 0: not known
  std::optional<double> seconds;
  std::optional<std::int64_t> seed;  // of the order in which sizes were measured
  std::vector<CostRow> rows;         // by kind, then by size

  CollectiveCosts costs() const { return CollectiveCosts(measured_from(rows)); }
};

std::string costs_json(const CostsFile& file);
// `name` is what messages call it. Errors: kForeign, no costs; kOtherVersion; kDamaged, by key.
base::Result<CostsFile> parse_costs(std::string_view json, const std::string& name);

// Errors as above, and kMissing, kIo.
base::Result<CostsFile> read_costs(const std::filesystem::path& path);
// Complete or not at all; replaces what is there. Errors: kIo, kDiskFull.
base::Result<void> write_costs(const std::filesystem::path& path, const CostsFile& file);

// In a library's folder, where costs are kept for whoever predicts. Holds no run, so that the
// library passes it over.
inline constexpr std::string_view kCostsFolder = ".shardlens-costs";

// Replaces what the same source had measured of the same setup, and from nccl-tests of the same
// functions. Returns the file. Errors: kIo, kDiskFull.
base::Result<std::filesystem::path> keep_costs(const std::filesystem::path& library,
                                               const CostsFile& file);

// What is kept for this setup: the newest calibration, then what others know beyond it. None:
// nothing is. Error: a file in the folder is damaged or foreign, by name; one of another version of
// the format is passed over.
base::Result<std::optional<CollectiveCosts>> costs_for(const CommunicationSetup& setup,
                                                       const std::filesystem::path& library);

}  // namespace shardlens::trace::predict
