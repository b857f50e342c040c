#include "trace/interop/marks/call_places.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <utility>

#include "trace/model/untold.h"

namespace shardlens::trace::interop {

namespace {

bool are_of_same_steps(std::span<const RankCalls> ranks) {
  return std::ranges::all_of(ranks, [&](const RankCalls& each) {
    return each.steps == ranks.front().steps && each.are_marked == ranks.front().are_marked;
  });
}

// What comes before a rank's first step is counted back from it: another rank may have recorded it
// as of a step.
std::int64_t calls_before(const RankCalls& rank) {
  return std::ranges::count_if(rank.call_steps, [&](std::int64_t step) {
    return !rank.steps.empty() && step < rank.steps.front();
  });
}

// By step: the first place of its calls, of which there are as many as any rank has. `end`: behind
// them all.
std::map<std::int64_t, std::int64_t> first_places(std::span<const RankCalls> ranks,
                                                  std::int64_t& end) {
  std::map<std::int64_t, std::int64_t> places;  // at first the most calls of a rank
  for (const RankCalls& rank : ranks) {
    if (rank.steps.empty() || !rank.are_marked) continue;
    end = std::max(end, calls_before(rank));
    std::map<std::int64_t, std::int64_t> counts{{rank.steps.front(), 0}};
    for (const std::int64_t step : rank.call_steps) {
      if (step >= rank.steps.front()) ++counts[step];
    }
    for (const auto& [step, count] : counts) places[step] = std::max(places[step], count);
  }
  for (auto& [step, most] : places) {
    const std::int64_t first = end;
    end += most;
    most = first;
  }
  return places;
}

}  // namespace

bool may_be_between_two(const model::Collective& call) {
  return call.function == model::CollectiveFunction::kSend ||
         call.function == model::CollectiveFunction::kReceive || model::is_untold(call);
}

RankCalls calls_by_step(std::span<const model::Step> steps, std::span<const std::int64_t> asked_ns,
                        bool are_marked) {
  RankCalls calls{.steps = {}, .call_steps = {}, .are_marked = are_marked, .asked_before = 0};
  for (const model::Step& step : steps) calls.steps.push_back(step.index);
  // No job counts its steps otherwise: such numbers tell nothing.
  const auto unordered = std::ranges::adjacent_find(calls.steps, std::ranges::greater_equal());
  if (unordered != calls.steps.end()) calls.are_marked = false;
  for (const std::int64_t time_ns : asked_ns) {
    const auto next = std::ranges::upper_bound(steps, time_ns, {}, &model::Step::start_ns);
    const std::int64_t before_first = steps.empty() ? -1 : steps.front().index - 1;
    calls.call_steps.push_back(next == steps.begin() ? before_first : std::prev(next)->index);
  }
  return calls;
}

std::vector<std::vector<std::int64_t>> places_of_calls(std::span<const RankCalls> ranks) {
  const bool is_by_order = are_of_same_steps(ranks);
  std::int64_t end = 0;
  const auto first = first_places(ranks, end);
  std::int64_t most_before = 0;
  for (const RankCalls& rank : ranks) most_before = std::max(most_before, rank.asked_before);
  std::vector<std::vector<std::int64_t>> places;
  for (const RankCalls& rank : ranks) {
    auto& own = places.emplace_back();
    const std::int64_t fewer_before = most_before - rank.asked_before;
    auto next = first;
    const bool is_by_step = rank.are_marked && !rank.steps.empty();
    if (is_by_step) {
      const std::int64_t first_step = rank.steps.front();
      next[first_step - 1] = first.at(first_step) - calls_before(rank);
    }
    for (const std::int64_t step : rank.call_steps) {
      own.push_back(is_by_order  ? fewer_before + std::ssize(own)
                    : is_by_step ? next.at(step)++
                                 : end++);
    }
  }
  return places;
}

namespace {

// A GPU's that run before all that the host is seen to launch.
std::int64_t asked_before(const model::Batch& batch, const std::vector<model::Collective*>& calls) {
  if (!batch.rank_info || !batch.rank_info->device.starts_with("cuda")) return 0;
  const auto first = std::ranges::find_if(
      calls, [](const model::Collective* call) { return call->enqueued_ns > 0; });
  return first == calls.end() ? 0 : first - calls.begin();
}

RankCalls calls_of(const model::Batch& batch, const std::vector<model::Collective*>& calls) {
  const std::int64_t before = asked_before(batch, calls);
  std::vector<std::int64_t> asked_ns(static_cast<std::size_t>(before), INT64_MIN);
  for (auto i = static_cast<std::size_t>(before); i < calls.size(); ++i) {
    asked_ns.push_back(calls[i]->enqueued_ns > 0 ? calls[i]->enqueued_ns : calls[i]->start_ns);
  }
  const bool are_marked = !batch.rank_info || model::marks_steps(batch.rank_info->sources);
  RankCalls of_rank = calls_by_step(batch.steps, asked_ns, are_marked);
  of_rank.asked_before = before;
  return of_rank;
}

}  // namespace

void number_calls(std::map<int, model::Batch>& rows) {
  // By group and its first member: the calls of each rank, in the order in which it asked for them.
  using OfRank = std::map<int, std::vector<model::Collective*>>;
  std::map<std::pair<int, int>, OfRank> groups;
  for (auto& [rank, batch] : rows) {
    std::map<int, OfRank*> of_group;
    for (const model::ProcessGroup& group : batch.process_groups) {
      const int first = group.ranks.empty() ? -1 : group.ranks.front();
      of_group[group.id] = &groups[{group.id, first}];
    }
    for (model::Collective& call : batch.collectives) {
      if (may_be_between_two(call)) continue;
      const auto group = of_group.find(call.process_group);
      if (group != of_group.end()) (*group->second)[rank].push_back(&call);
    }
  }
  for (const auto& [group, by_rank] : groups) {
    std::vector<RankCalls> ranks;
    for (const auto& [rank, calls] : by_rank) ranks.push_back(calls_of(rows.at(rank), calls));
    const auto places = places_of_calls(ranks);
    std::size_t i = 0;
    for (const auto& [rank, calls] : by_rank) {
      for (std::size_t call = 0; call < calls.size(); ++call) {
        if (calls[call]->sequence < 0) calls[call]->sequence = places[i][call];
      }
      ++i;
    }
  }
}

}  // namespace shardlens::trace::interop
