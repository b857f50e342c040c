// Finds commands by what was typed. Free of ImGui.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shardlens::ui::present {

// How well `query` matches `text`, the best first: the same words, its beginning, beginnings of its
// words, a part of it, an abbreviation ("bcm" of "bucket_cap_mb").
enum class Match : std::uint8_t { kExact, kPrefix, kWords, kPart, kAbbreviation, kNone };
Match match_of(std::string_view query, std::string_view text);

// What can be found: by its title first, then by other words for it.
struct Findable {
  std::string title, words;
  bool is_weighty = false;  // is not found by what may be meant otherwise
};
// Indices of the matching ones, best first; all of them for an empty query.
std::vector<std::size_t> best_matches(std::string_view query, const std::vector<Findable>& all);

// "bucket_cap_mb 60" or "bucket_cap_mb=60": a knob to set; with "=" whatever the value. Empty name:
// it is not that.
struct TypedAssignment {
  std::string name, value;
};
TypedAssignment typed_assignment(std::string_view query);

// "open /data/rank0.json": the path; "" where it is not that.
std::string typed_path(std::string_view query);

}  // namespace shardlens::ui::present
