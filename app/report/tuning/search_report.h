// What a search did, found, and how sure it is, as text for people and as JSON. Any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/report/report_json.h"
#include "app/search/outcome.h"

namespace shardlens::app::report {

struct SearchRun {
  sweep::Slot slot;
  std::optional<search::Why> why;   // none: found there, of an earlier start
  std::optional<double> predicted;  // cost, before it ran
};

struct SearchReport {
  sweep::SweepPlan plan;
  search::SearchJob job;  // of `plan`
  sweep::SweepResults results;
  std::vector<SearchRun> runs;             // in the order in which they ran
  std::vector<search::Belief> beliefs;     // in the end
  std::optional<search::Outcome> outcome;  // none: the start could not be measured
  std::string status;                      // "done", "stopped" or "failed"
  std::string reason;                      // why it ended, as a sentence
  double seconds = 0;
  std::vector<std::string> banners;
};

Json search_json(const SearchReport& report);
std::string search_text(const SearchReport& report);

std::string cost_text(double cost, search::Goal goal);  // "404 ms", "1.21 k tokens/s", "137 MiB"
std::string_view why_text(search::Why why);             // "may win"

}  // namespace shardlens::app::report
