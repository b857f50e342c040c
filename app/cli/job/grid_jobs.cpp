#include "app/cli/job/grid_jobs.h"

#include <algorithm>
#include <utility>

#include "app/cli/terminal/output.h"
#include "app/session/runs/run_banners.h"

namespace shardlens::app::cli {

using sweep::SweepPoints;

void keep_only(const std::vector<bool>& keep, SweepPoints& points, sweep::PointJobs& jobs) {
  points = sweep::chosen_points(points, keep);
  sweep::PointJobs kept;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (keep[i]) kept.push_back(std::move(jobs[i]));
  }
  jobs = std::move(kept);
}

void leave_out_doubles(SweepPoints& points, sweep::PointJobs& jobs) {
  const auto firsts = sweep::doubles_of(jobs);
  std::vector<bool> keep;
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    keep.push_back(firsts[i] == i);
    if (keep.back() || ++left_out > kPointsNamed) continue;
    print_message("Left out: " + sweep::point_text(points, i) + " does the same as " +
                  sweep::point_text(points, firsts[i]));
  }
  if (left_out > kPointsNamed) {
    print_message("… and " + std::to_string(left_out - kPointsNamed) +
                  " more that do the same as others");
  }
  keep_only(keep, points, jobs);
}

std::vector<std::string> common_banners(const sweep::PointJobs& jobs) {
  auto common = session::banners_of(*jobs.front());
  for (const auto& job : jobs) {
    const auto banners = session::banners_of(*job);
    std::erase_if(common, [&](const std::string& banner) {
      return std::ranges::find(banners, banner) == banners.end();
    });
  }
  return common;
}

}  // namespace shardlens::app::cli
