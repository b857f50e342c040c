#include "app/launch/culprit.h"

#include <chrono>
#include <string_view>

#include "trace/analysis/run/run_analysis.h"
#include "trace/store/read/run_reader.h"

namespace shardlens::app::launch {
namespace {

// The end of a job is not held up for longer; reports name the culprit anyway.
constexpr std::chrono::seconds kPatience{5};

std::string_view deed(trace::analysis::HangCause cause) {
  switch (cause) {
    case trace::analysis::HangCause::kMismatch:
      return "entered a different one";
    case trace::analysis::HangCause::kSkipped:
      return "left out a collective";
    case trace::analysis::HangCause::kStopped:
      return "showed no sign of life";
    case trace::analysis::HangCause::kNotArrived:
      return "never arrived";
    case trace::analysis::HangCause::kNone:
    case trace::analysis::HangCause::kSlow:
      break;
  }
  return "";
}

}  // namespace

trace::analysis::HangDiagnosis diagnose_files(const std::filesystem::path& folder,
                                              const trace::model::RunInfo& ended) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  auto reader = trace::store::RunReader::open(folder);
  if (!reader) return {};
  trace::analysis::RunAnalysis analysis(ended);
  for (;;) {
    const auto batches = (*reader)->poll();
    if (!batches || std::chrono::steady_clock::now() > deadline) return {};
    if (batches->empty()) break;
    for (const auto& batch : *batches) analysis.add(batch);
  }
  return trace::analysis::diagnose_hang(analysis.figures(), analysis.strings());
}

std::string with_culprit(std::string reason, const trace::analysis::HangDiagnosis& diagnosis) {
  const auto what = deed(diagnosis.cause);
  const std::string rank = "rank " + std::to_string(diagnosis.rank) + " ";
  if (diagnosis.rank < 0 || what.empty()) return reason;
  const bool is_absent = diagnosis.cause == trace::analysis::HangCause::kStopped ||
                         diagnosis.cause == trace::analysis::HangCause::kNotArrived;
  if (is_absent && reason.starts_with(rank)) return reason;
  if (reason.ends_with('.')) reason.pop_back();
  return reason + "; " + rank + std::string(what);
}

}  // namespace shardlens::app::launch
