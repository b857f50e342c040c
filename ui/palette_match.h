// Finds commands by what was typed. Free of ImGui.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace shardlens::ui {

// How well `query` matches, its letters in order within `text`; negative: not at all. Starts of
// words and runs of letters count more.
int match_score(std::string_view query, std::string_view text);

// Indices of the matching texts, best first; all of them for an empty query.
std::vector<std::size_t> best_matches(std::string_view query,
                                      const std::vector<std::string>& texts);

// "bucket_cap_mb 60" or "bucket_cap_mb=60": a knob to set. Empty name: it is not that.
struct TypedAssignment {
  std::string name, value;
};
TypedAssignment typed_assignment(std::string_view query);

}  // namespace shardlens::ui
