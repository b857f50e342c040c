#include "app/report/run_check.h"

#include "app/report/report_json.h"
#include "app/report/run_report.h"
#include "trace/base/file_system.h"
#include "trace/store/sqlite/stop_reading.h"

namespace shardlens::app::report {
namespace {

// All that `report` does: what it cannot read or refuses is damage, too.
trace::base::Result<void> read_as_report_does(const std::filesystem::path& run,
                                              trace::store::VerifyReport& verified) {
  const auto cannot = [&](const std::string& why) {
    trace::store::Damage damage;
    damage.file = trace::base::quoted(run);
    damage.what = "no report can be made: " + why;
    verified.damage.push_back(std::move(damage));
  };
  const auto report = load_report(run);
  if (trace::store::StopReading::wanted()) {
    return trace::base::fail(trace::base::ErrorKind::kFailed,
                             "the check was stopped before its end");
  }
  if (!report) {
    cannot(report.error().message);
    return {};
  }
  for (const std::string& problem : report->figures.info.unreadable) cannot(problem);
  static_cast<void>(report_json(*report));
  return {};
}

}  // namespace

trace::base::Result<trace::store::VerifyReport> check_run(
    const std::filesystem::path& run, const trace::store::VerifyOptions& options) {
  TRY_ASSIGN(auto report, trace::store::verify_run(run, options));
  if (report.damage.empty()) TRY(read_as_report_does(run, report));
  return report;
}

}  // namespace shardlens::app::report
