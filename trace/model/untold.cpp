#include "trace/model/untold.h"

#include <algorithm>
#include <iterator>

#include "trace/base/text.h"

namespace shardlens::trace::model {

namespace {

// "step 3", "steps 3 to 6", "steps 2, 3 to 6 and 9"; of a schedule that repeats its first ones.
std::string steps_text(const std::vector<std::int64_t>& steps) {
  constexpr std::size_t kMostParts = 4;
  if (steps.empty()) return "no steps";
  std::vector<std::string> parts;
  for (auto first = steps.begin(); first != steps.end();) {
    const auto next = std::adjacent_find(first, steps.end(),
                                         [](auto step, auto behind) { return behind != step + 1; });
    const auto last = next == steps.end() ? std::prev(next) : next;
    parts.push_back(std::to_string(*first) + (first == last ? "" : " to " + std::to_string(*last)));
    first = std::next(last);
  }
  if (parts.size() > kMostParts) {
    const std::size_t more = parts.size() - kMostParts;
    parts.resize(kMostParts);
    parts.push_back(std::to_string(more) + " more");
  }
  return (steps.size() == 1 ? "step " : "steps ") + base::listed(parts);
}

}  // namespace

bool is_untold(const Collective& call) {
  return call.function == CollectiveFunction::kOther && call.tag_kind == TagKind::kNone;
}

bool holds_collectives(std::string_view sources) {
  return sources.find(kNoKernels) == std::string_view::npos;
}

std::string missing_collectives(std::string_view sources) {
  if (holds_collectives(sources)) return "";
  return "NCCL was asked for collectives, but the trace holds none of their kernels: where the "
         "time of steps went, how much of it was communication and what was sent is not known. "
         "Profile with ProfilerActivity.CUDA";
}

std::string cut_off_trace(std::string_view sources) {
  if (sources.find(kCutOff) == std::string_view::npos) return "";
  return "A trace was cut off: what came last in its file is missing, and steps that the records "
         "of its GPU do not reach have no details";
}

bool marks_steps(std::string_view sources) {
  return !sources.ends_with(kStepsOfOptimizer) && !sources.ends_with(kOneStep);
}

std::string unmarked_steps(std::string_view sources) {
  if (marks_steps(sources)) return "";
  return std::string(sources.ends_with(kOneStep)
                         ? "No steps are marked, so that all that was recorded counts as one: it "
                           "cannot be held against steps of other runs"
                         : "No steps are marked: each is taken to end with its optimizer's step") +
         ". Give torch.profiler.profile a schedule, without which it marks no steps, and call its "
         "step() after each";
}

std::string different_steps(const std::map<int, std::vector<std::int64_t>>& steps,
                            bool are_marked) {
  const auto other = std::ranges::find_if(
      steps, [&](const auto& of_rank) { return of_rank.second != steps.begin()->second; });
  if (other == steps.end()) return "";
  std::vector<std::int64_t> shared = steps.begin()->second;
  for (const auto& [rank, own] : steps) {
    std::vector<std::int64_t> both;
    std::ranges::set_intersection(shared, own, std::back_inserter(both));
    shared = std::move(both);
  }
  const auto& [first, first_steps] = *steps.begin();
  const std::string waits = "how long they waited for each other";
  const std::string told = "Ranks were recorded in different steps: rank " + std::to_string(first) +
                           " in " + steps_text(first_steps) + ", rank " +
                           std::to_string(other->first) + " in " + steps_text(other->second) + ". ";
  const std::string known = !are_marked
                                ? "As not all of them mark their steps, nothing tells " + waits
                            : shared.empty() ? "They have none in common, so nothing tells " + waits
                                             : "What they did together, and " + waits +
                                                   ", is known of " + steps_text(shared) + " alone";
  return told + known + ". Record all ranks with the same schedule";
}

}  // namespace shardlens::trace::model
