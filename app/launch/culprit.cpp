#include "app/launch/culprit.h"

#include <chrono>
#include <string_view>

#include "trace/analysis/run/run_analysis.h"
#include "trace/store/read/run_reader.h"

namespace shardlens::app {
namespace {

// The end of a job is not held up for longer; reports name the culprit anyway.
constexpr std::chrono::seconds kPatience{5};

std::string_view deed(trace::HangCause cause) {
  switch (cause) {
    case trace::HangCause::kMismatch:
      return "entered a different one";
    case trace::HangCause::kSkipped:
      return "left out a collective";
    case trace::HangCause::kStopped:
      return "showed no sign of life";
    case trace::HangCause::kNotArrived:
      return "never arrived";
    case trace::HangCause::kNone:
    case trace::HangCause::kSlow:
      break;
  }
  return "";
}

}  // namespace

trace::HangDiagnosis diagnose_files(const std::filesystem::path& folder,
                                    const trace::RunInfo& ended) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  auto reader = trace::RunReader::open(folder);
  if (!reader) return {};
  trace::RunAnalysis analysis(ended);
  for (;;) {
    const auto batches = (*reader)->poll();
    if (!batches || std::chrono::steady_clock::now() > deadline) return {};
    if (batches->empty()) break;
    for (const auto& batch : *batches) analysis.add(batch);
  }
  return trace::diagnose_hang(analysis.figures(), analysis.strings());
}

std::string with_culprit(std::string reason, const trace::HangDiagnosis& diagnosis) {
  const auto what = deed(diagnosis.cause);
  const std::string rank = "rank " + std::to_string(diagnosis.rank) + " ";
  if (diagnosis.rank < 0 || what.empty()) return reason;
  const bool is_absent = diagnosis.cause == trace::HangCause::kStopped ||
                         diagnosis.cause == trace::HangCause::kNotArrived;
  if (is_absent && reason.starts_with(rank)) return reason;
  if (reason.ends_with('.')) reason.pop_back();
  return reason + "; " + rank + std::string(what);
}

}  // namespace shardlens::app
