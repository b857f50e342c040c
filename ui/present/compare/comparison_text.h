// What a comparison of two runs comes to, in words: the same for the command line, its JSON and the
// window. Free of ImGui; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trace/analysis/compare/run_difference.h"

namespace shardlens::ui::present {

struct ComparisonSentence {
  // Of the second run, against the first: "faster by 13.4 ± 1.1 ms, all of it exposed
  // communication", "no difference beyond noise (+0.3 ± 1.1 ms)", "slower by 2.1 ms (perhaps by
  // chance)". Never "".
  std::string text;
  // What it does not know: "how far starts of the same settings lie apart is not known …"; "" if
  // nothing stands in the way. A sentence without a full stop.
  std::string caveat;
};
// "other batch, other model"; "": they are.
std::string why_not_comparable(const trace::analysis::Comparison& comparison);
ComparisonSentence comparison_sentence(const trace::analysis::Comparison& comparison,
                                       const trace::analysis::StepExplanation& explanation);

// What the second run was told otherwise: "bucket_cap_mb 1 → 4, ranks 2 → 4", "same settings".
std::string settings_text(const trace::analysis::Comparison& comparison);

// "compute", "waiting for the last rank", "backward": of a part or a phase.
std::string_view share_title(const trace::analysis::ShareDifference& share);
// "−9.2 ms ± 1.1"; without an interval "−9.20 ms".
std::string share_text(const trace::analysis::ShareDifference& share);
// "beyond noise", "within noise", "not known".
std::string_view verdict_text(const std::optional<bool>& beyond_noise);
// The same of a detail, where `first` and `second` are what the runs are called: also "only in A",
// and of memory, which does not scatter, "different" or "equal".
std::string detail_verdict_text(const trace::analysis::DetailDifference& detail,
                                const std::string& first, const std::string& second);

}  // namespace shardlens::ui::present
