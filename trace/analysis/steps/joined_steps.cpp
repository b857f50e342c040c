#include "trace/analysis/steps/joined_steps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "trace/base/saturated.h"

namespace shardlens::trace::analysis {

namespace {

// Ranks reduce loss and norm, so that all report the same; the mean is for those that do not.
template <typename Reports, typename Member>
double combined(const Reports& reports, Member member) {
  double sum = 0, count = 0, first = 0;
  bool are_equal = true;
  for (const auto& report : reports) {
    const double value = report.*member;
    // Not a number means "not known", unless the rank says that it really was.
    if (!report.present || (std::isnan(value) && !report.nonfinite)) continue;
    if (count == 0) first = value;
    are_equal = are_equal && value == first;
    sum += value;
    ++count;
  }
  if (count == 0) return std::numeric_limits<double>::quiet_NaN();
  return are_equal ? first : sum / count;
}

// A sum over ranks is known only if every rank tells its part.
void add_told(std::optional<std::int64_t>& sum, std::int64_t told, bool is_first) {
  if (is_first) sum = 0;
  if (sum)
    sum = told == model::kNotKnown ? std::nullopt : std::optional(base::saturated_add(*sum, told));
}

}  // namespace

void JoinedSteps::set_rank_count(std::size_t ranks) {
  ranks_ = ranks;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    steps_[i].ranks.resize(ranks);
    reports_[i].ranks.resize(ranks);
  }
}

void JoinedSteps::set_world_size(std::size_t ranks) {
  world_size_ = ranks;
  for (std::size_t i = 0; i < steps_.size(); ++i) tell_complete(i);
}

void JoinedSteps::tell_complete(std::size_t position) {
  steps_[position].complete = reports_[position].present >= world_size_;
}

void JoinedSteps::leave_out_last(bool is_left_out) {
  for (const std::int64_t index : std::exchange(left_out_, {})) tell_complete(position_of(index));
  if (!is_left_out) return;
  std::set<std::size_t> seen;  // ranks
  for (std::size_t i = steps_.size(); i-- > 0 && seen.size() < ranks_;) {
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      if (!reports_[i].ranks[rank].present || !seen.insert(rank).second) continue;
      if (std::exchange(steps_[i].complete, false)) left_out_.push_back(steps_[i].index);
    }
  }
}

bool JoinedSteps::is_skipped(std::int64_t index) const {
  return steps_.empty() ? skip_steps_ > 0 : index - steps_.front().index < skip_steps_;
}

StepFigures JoinedSteps::new_step(std::int64_t index) const {
  StepFigures step;
  step.index = index;
  step.warmup = is_skipped(index);
  step.start_ns = INT64_MAX;
  step.end_ns = INT64_MIN;
  step.ranks.resize(ranks_);
  return step;
}

// Once the first step is another one.
void JoinedSteps::mark_skipped() {
  for (StepFigures& step : steps_) step.warmup = is_skipped(step.index);
}

void JoinedSteps::make_room(const std::vector<model::Step>& rows) {
  std::vector<std::int64_t> fresh;
  for (const model::Step& row : rows) {
    if (find(row.index) == nullptr) fresh.push_back(row.index);
  }
  std::ranges::sort(fresh);
  fresh.erase(std::ranges::unique(fresh).begin(), fresh.end());
  const std::size_t known = steps_.size();
  for (const std::int64_t index : fresh) {
    steps_.push_back(new_step(index));
    reports_.push_back({std::vector<Report>(ranks_), 0});
  }
  const bool was_in_order = known == 0 || fresh.empty() || steps_[known - 1].index < fresh.front();
  if (was_in_order) return;
  std::vector<std::size_t> order(steps_.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::inplace_merge(order, order.begin() + static_cast<std::ptrdiff_t>(known), {},
                             [&](std::size_t i) { return steps_[i].index; });
  std::vector<StepFigures> steps;
  std::vector<Reports> reports;
  steps.reserve(order.size());
  reports.reserve(order.size());
  for (const std::size_t i : order) {
    steps.push_back(std::move(steps_[i]));
    reports.push_back(std::move(reports_[i]));
  }
  steps_ = std::move(steps);
  reports_ = std::move(reports);
  mark_skipped();
}

std::size_t JoinedSteps::position_of(std::int64_t index) const {
  const auto found = std::ranges::lower_bound(steps_, index, {}, &StepFigures::index);
  const bool is_there = found != steps_.end() && found->index == index;
  return is_there ? static_cast<std::size_t>(found - steps_.begin()) : steps_.size();
}

void JoinedSteps::add(const std::vector<model::Step>& steps) {
  make_room(steps);
  for (const model::Step& step : steps) add_row(step);
}

void JoinedSteps::add_row(const model::Step& row) {
  const auto position = position_of(row.index);
  const auto rank = static_cast<std::size_t>(row.rank);
  auto& step = steps_[position];
  auto& reports = reports_[position];
  reports.ranks[rank] = {true, row.nonfinite, row.loss, row.gradient_norm};
  ++reports.present;
  tell_complete(position);
  step.start_ns = std::min(step.start_ns, row.start_ns);
  step.end_ns = std::max(step.end_ns, row.end_ns);
  step.ranks[rank].start_ns = row.start_ns;
  step.ranks[rank].step_ns = row.end_ns - row.start_ns;
  const bool is_first = reports.present == 1;
  add_told(step.tokens, row.tokens, is_first);
  add_told(step.samples, row.samples, is_first);
  add_told(step.model_flops, row.model_flops, is_first);
  if (!std::isnan(row.learning_rate)) {
    step.learning_rate =
        std::max(step.learning_rate.value_or(row.learning_rate), row.learning_rate);
  }
  if (row.nonfinite && (!step.nonfinite || row.rank < step.nonfinite_rank)) {
    step.nonfinite = true;
    step.nonfinite_rank = row.rank;
  }
  combine_losses(position);
}

void JoinedSteps::combine_losses(std::size_t position) {
  auto& step = steps_[position];
  const auto& reports = reports_[position].ranks;
  step.loss = combined(reports, &Report::loss);
  step.gradient_norm = combined(reports, &Report::gradient_norm);
  const auto slowest =
      std::max_element(step.ranks.begin(), step.ranks.end(),
                       [](const auto& a, const auto& b) { return a.step_ns < b.step_ns; });
  step.slowest_rank = static_cast<int>(slowest - step.ranks.begin());
}

void JoinedSteps::set_breakdown(int rank, std::int64_t index, const StepBreakdown& breakdown) {
  const std::size_t position = position_of(index);
  if (position == steps_.size()) return;
  steps_[position].ranks[static_cast<std::size_t>(rank)] = breakdown;
}

const StepFigures* JoinedSteps::find(std::int64_t index) const {
  const std::size_t position = position_of(index);
  return position == steps_.size() ? nullptr : &steps_[position];
}

}  // namespace shardlens::trace::analysis
