// A run as `report` and `compare` need it: read once, analysed; and whether it can be. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/analysis/hang/hang_diagnosis.h"
#include "trace/base/result.h"
#include "trace/store/upkeep/verify.h"

namespace shardlens::app::report {

struct StepRange {  // both inclusive
  std::int64_t first = 0;
  std::int64_t last = INT64_MAX;

  bool holds(std::int64_t step) const { return first <= step && step <= last; }
};
// "10..20", "10..", "..20" or "10".
trace::base::Result<StepRange> parse_step_range(const std::string& text);

struct RunReport {
  trace::analysis::RunFigures figures;
  std::optional<StepRange> range;  // only these steps are measured
  trace::analysis::HangDiagnosis
      diagnosis;                      // of a failed run: who did not arrive where; else empty
  int failed_rank = -1;               // the rank that the reason names
  std::vector<std::string> log_tail;  // of that rank
  std::filesystem::path saved_model;  // the folder that transformers or peft loads; "": none
};

// `range`: these steps are measured, in place of all but skip_steps. `ended`: how the run ended
// according to whoever ran it, which its files do not say if that could not be saved.
trace::base::Result<trace::analysis::RunFigures> load_run(const std::filesystem::path& run,
                                                          std::optional<StepRange> range = {});
trace::base::Result<RunReport> load_report(const std::filesystem::path& run,
                                           std::optional<StepRange> range = {},
                                           const trace::model::RunInfo* ended = nullptr);

// Its figures over all measured steps, whatever `range` it was loaded with.
trace::analysis::RunFigures whole_run(const RunReport& report);

// The step in which a moment lies on any rank; none: between or outside of them.
std::optional<std::int64_t> step_at(const trace::analysis::RunFigures& figures,
                                    std::int64_t time_ns);

// All that `verify` looks at: the files themselves, and whether `report` can be made of them.
// Errors: those of verify_run().
trace::base::Result<trace::store::VerifyReport> check_run(
    const std::filesystem::path& run, const trace::store::VerifyOptions& options = {});

}  // namespace shardlens::app::report
