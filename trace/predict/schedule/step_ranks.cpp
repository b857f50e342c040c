#include "trace/predict/schedule/step_ranks.h"

#include <algorithm>
#include <cmath>

namespace shardlens::trace::predict {

namespace {

double computed_ns(const RankWork& rank) {
  auto sum = static_cast<double>(rank.optimizer_ns);
  for (const MicroBatchWork& work : rank.micro_batches) {
    sum += static_cast<double>(work.end.computed_ns);
  }
  return sum;
}

// Behind the start of the first rank: absolute times are more than a double tells.
double start_ns(const StepWork& step, std::size_t rank) {
  return static_cast<double>(step.ranks[rank].start_ns - step.ranks.front().start_ns);
}

double mean_start_ns(const StepWork& step) {
  double sum = 0;
  for (std::size_t i = 0; i < step.ranks.size(); ++i) sum += start_ns(step, i);
  return sum / static_cast<double>(step.ranks.size());
}

// Of the variance between steps, without what the ranks' own makes of it.
double shared_part(const std::vector<StepWork>& steps, const StepSpread& spread) {
  const std::size_t ranks = spread.of_ranks_ns.size();
  if (ranks < 2 || steps.size() < 2) return 0;
  double between = 0, left = 0;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const double of_step = spread.of_steps_ns[s] - spread.mean_ns;
    between += static_cast<double>(ranks) * of_step * of_step;
    for (std::size_t r = 0; r < ranks; ++r) {
      const double own = computed_ns(steps[s].ranks[r]) - of_step - spread.of_ranks_ns[r];
      left += own * own;
    }
  }
  return between > 0 ? std::max(0.0, 1 - left / static_cast<double>(ranks - 1) / between) : 0;
}

// What a rank lies beside the mean of its step's n recorded ranks, itself among them, varies less
// than what it has by itself. So many times as far from another step's mean, as far as that is
// `shared`, the variance among all ranks of that step is as great as among as many recorded ones.
double apart(std::size_t recorded, std::size_t ranks, double shared) {
  if (recorded < 2) return 1;
  const auto n = static_cast<double>(recorded), all = static_cast<double>(ranks);
  return std::sqrt((1 + shared / (all - 1)) * n / (n - 1));
}

}  // namespace

StepSpread step_spread(const std::vector<StepWork>& steps) {
  StepSpread spread;
  if (steps.empty()) return spread;
  const std::size_t ranks = steps.front().ranks.size();
  const auto step_count = static_cast<double>(steps.size());
  const auto rank_count = static_cast<double>(ranks);
  spread.of_steps_ns.resize(steps.size());
  spread.of_ranks_ns.resize(ranks);
  spread.rank_starts_ns.resize(ranks);
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const double mean_start = mean_start_ns(steps[s]);
    for (std::size_t r = 0; r < ranks; ++r) {
      const double ns = computed_ns(steps[s].ranks[r]);
      spread.of_steps_ns[s] += ns / rank_count;
      spread.of_ranks_ns[r] += ns / step_count;
      spread.mean_ns += ns / rank_count / step_count;
      spread.rank_starts_ns[r] += (start_ns(steps[s], r) - mean_start) / step_count;
    }
  }
  spread.shared = shared_part(steps, spread);
  return spread;
}

std::vector<StepRank> ranks_of_step(const std::vector<StepWork>& steps, const StepSpread& spread,
                                    std::size_t step, std::size_t ranks) {
  const StepWork& own = steps[step];
  const std::size_t recorded = own.ranks.size();
  std::vector<StepRank> all;
  for (std::size_t i = 0; i < std::min(ranks, recorded); ++i) {
    all.push_back({&own.ranks[i], own.ranks[i].start_ns});
  }
  for (std::size_t i = recorded; i < ranks; ++i) {
    // Neighbouring steps resemble each other.
    const std::size_t away =
        std::max<std::size_t>(1, (i - recorded + 1) * steps.size() / (ranks - recorded + 1));
    const std::size_t other = (step + away) % steps.size(), rank = i % recorded;
    const StepWork& like = steps[other];
    const double late = spread.rank_starts_ns[rank];
    const double behind = start_ns(like, rank) - mean_start_ns(like) - late;
    const double start = mean_start_ns(own) + late + apart(recorded, ranks, 1) * behind;
    const double took = computed_ns(like.ranks[rank]);
    const double beside =
        took - spread.of_steps_ns[other] - spread.of_ranks_ns[rank] + spread.mean_ns;
    const double takes = spread.of_ranks_ns[rank] +
                         spread.shared * (spread.of_steps_ns[step] - spread.mean_ns) +
                         apart(recorded, ranks, spread.shared) * beside;
    const bool is_known = recorded > 1 && took > 0;
    all.push_back({&like.ranks[rank], own.ranks.front().start_ns + std::llround(start),
                   is_known ? std::max(0.0, takes / took) : 1});
  }
  return all;
}

}  // namespace shardlens::trace::predict
