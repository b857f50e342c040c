#include "app/calibration/calibration_run.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trace/predict/costs/matched_calls.h"
#include "trace/store/read/run_reader.h"

namespace shardlens::app::calibration {
namespace {

namespace fs = std::filesystem;
using trace::base::Result;
using trace::predict::MatchedCalls;

// The ranks' step 0 only finds out what fits into the time.
constexpr std::int64_t kFirstMeasuredStep = 1;
constexpr std::int64_t kValueBytes = 4;  // of float32, which is what they move

using RankInfos = std::map<int, trace::model::RankInfo>;

// Not barriers, sends and receives, and calls of unknown size.
bool tells_transfer(const trace::model::Collective& call) {
  using trace::model::CollectiveFunction;
  return call.step >= kFirstMeasuredStep && call.sequence >= 0 && call.bytes > 0 &&
         trace::model::is_plausible_size(call.bytes) && call.start_ns <= call.end_ns &&
         call.function != CollectiveFunction::kSend &&
         call.function != CollectiveFunction::kReceive;
}

// Of each call whose ranks all told of it: from the last one's start to the last one's end. Calls
// between hosts are left out, since nothing here tells how far their clocks are apart.
trace::predict::MeasuredCollectives transfers_of(int ranks, const trace::model::Batch& told,
                                                 const RankInfos& infos) {
  MatchedCalls matched(ranks);
  for (const auto& group : told.process_groups) matched.add(group);
  std::map<MatchedCalls::Key, std::set<std::string>> hosts;
  for (const auto& call : told.collectives) {
    const auto info = infos.find(call.rank);
    hosts[matched.add(call)].insert(info == infos.end() ? "" : info->second.host);
  }
  return matched.measured([&](const MatchedCalls::Key& key, const MatchedCalls::Call&) {
    return hosts.at(key).size() == 1;
  });
}

}  // namespace

launch::JobRequest calibration_request(const trace::job::Settings& settings,
                                       const fs::path& folder) {
  const trace::job::Settings defaults;
  launch::JobRequest request;
  request.settings = settings;
  request.settings.record = defaults.record;
  request.settings.record_limit_mb = defaults.record_limit_mb;
  request.settings.record_allocations = "off";
  request.settings.inject = defaults.inject;
  request.settings.resume = defaults.resume;
  request.runs_dir = folder;
  request.name = "calibration";
  return request;
}

launch::JobOptions calibration_options(double seconds) {
  launch::JobOptions options;
  options.rank_arguments = {"--calibrate", std::to_string(seconds)};
  return options;
}

Result<MeasuredCosts> read_calibration(const fs::path& run, double seconds) {
  TRY_ASSIGN(const auto reader, trace::store::RunReader::open(run));
  TRY_ASSIGN(const trace::model::RunInfo info, reader->info());
  trace::model::Batch told;  // of groups, and calls that count
  RankInfos ranks;
  TRY_ASSIGN(const auto problems,
             trace::store::read_everything(*reader, [&](const trace::model::Batch& batch) {
               told.process_groups.insert(told.process_groups.end(), batch.process_groups.begin(),
                                          batch.process_groups.end());
               std::ranges::copy_if(batch.collectives, std::back_inserter(told.collectives),
                                    tells_transfer);
               if (batch.rank_info) {
                 ranks[batch.rank_info->rank] = *batch.rank_info;
               }
             }));
  if (!problems.empty()) {
    return trace::base::fail(trace::base::ErrorKind::kDamaged, problems.front());
  }
  MeasuredCosts measured;
  trace::predict::CostsFile& file = measured.file;
  file.rows = trace::predict::rows_of(transfers_of(info.world_size, told, ranks));
  if (file.rows.empty()) {
    return trace::base::fail(
        trace::base::ErrorKind::kFailed,
        "No collective was recorded by all ranks. `shardlens doctor` says what works on this "
        "machine.");
  }
  std::vector<trace::model::RankInfo> infos;
  for (auto& [rank, each] : ranks) infos.push_back(std::move(each));
  file.setup = trace::predict::setup_of(info, infos);
  file.source = trace::predict::CostsSource::kCalibration;
  file.program = info.program;
  file.data_type = "float32";
  file.measured_ns = info.start_ns;
  file.seconds = seconds;
  file.seed = info.settings.seed;
  if (!infos.empty()) {
    file.host = infos.front().host;
    file.versions = infos.front().versions;
    measured.largest_bytes = kValueBytes * infos.front().parameters;
  }
  return measured;
}

}  // namespace shardlens::app::calibration
