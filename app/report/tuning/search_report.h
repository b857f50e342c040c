// What a search did, found, and how sure it is, as text for people and as JSON. Any thread.
#pragma once

#include <string>
#include <vector>

#include "app/report/json.h"
#include "app/search/search_loop.h"

namespace shardlens::app::report {

struct SearchReport {
  const sweep::SweepPlan& plan;  // which has a search
  const sweep::SweepResults& results;
  search::Standing standing{};            // in the end
  std::vector<search::SearchRun> runs{};  // in the order in which they ran
  std::string status{};                   // "done", "stopped" or "failed"
  std::string reason{};                   // why it ended, as a sentence
  double seconds = 0;
  std::vector<std::string> banners{};

  search::Goal goal() const { return plan.search->goal; }
};

Json search_json(const SearchReport& report);
std::string search_text(const SearchReport& report);

}  // namespace shardlens::app::report
