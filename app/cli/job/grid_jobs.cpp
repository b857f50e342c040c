#include "app/cli/job/grid_jobs.h"

#include <algorithm>

#include "app/cli/terminal/output.h"
#include "app/session/runs/run_banners.h"
#include "trace/job/huggingface/find_model.h"

namespace shardlens::app::cli {

void print_left_out(const std::vector<std::string>& points, const std::string& what) {
  constexpr std::size_t kNamed = 4;  // where many are left out
  for (std::size_t i = 0; i < std::min(points.size(), kNamed); ++i) {
    print_message("Left out: " + points[i]);
  }
  if (points.size() <= kNamed) return;
  print_message("… and " + std::to_string(points.size() - kNamed) + " more that " + what);
}

void say_that_nothing_is_saved(const sweep::SweepPoints& points) {
  const bool would_be = std::ranges::any_of(points.settings, [](const auto& settings) {
    return trace::job::saves_checkpoints(settings) || trace::job::leaves_model(settings);
  });
  if (would_be) {
    print_message("The runs are measured and save neither checkpoints nor models");
  }
}

std::vector<std::string> common_banners(const sweep::PointJobs& jobs) {
  std::vector<std::vector<std::string>> banners;
  for (const auto& job : jobs) banners.push_back(session::banners_of(*job));
  return session::banners_in_common(banners);
}

}  // namespace shardlens::app::cli
