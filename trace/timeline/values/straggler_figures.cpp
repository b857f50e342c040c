#include "trace/timeline/values/straggler_figures.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "trace/analysis/figures/labels.h"
#include "trace/base/saturated.h"

namespace shardlens::trace::timeline {

namespace {

// Which ranks must be there. A number of a group is unique within a rank only.
class StragglerGroups {
 public:
  explicit StragglerGroups(std::span<const analysis::ProcessGroupFigures> groups) {
    for (const analysis::ProcessGroupFigures& group : groups) {
      for (const int rank : group.ranks) by_rank_[{group.id, rank}] = &group;
    }
  }
  int first_member(const model::Collective& c) const {
    const auto found = by_rank_.find({c.process_group, c.rank});
    return found == by_rank_.end() ? 0 : found->second->ranks.front();
  }
  std::size_t size(const model::Collective& c, std::size_t taking_part) const {
    const auto found = by_rank_.find({c.process_group, c.rank});
    return found == by_rank_.end() ? std::max<std::size_t>(2, taking_part)
                                   : found->second->ranks.size();
  }

 private:
  std::map<std::pair<int, int>, const analysis::ProcessGroupFigures*> by_rank_;
};

bool waits_for_all(model::CollectiveFunction function) {
  return function != model::CollectiveFunction::kSend &&
         function != model::CollectiveFunction::kReceive;
}

struct StragglerKey {
  int group = 0, first_member = 0;
  std::int64_t sequence = 0;
  model::CollectiveFunction function = model::CollectiveFunction::kOther;
  int rank = 0;
  std::int64_t start_ns = 0;
  std::uint32_t index = 0;

  auto call() const { return std::tie(group, first_member, sequence, function); }
  bool operator<(const StragglerKey& other) const {
    return std::tuple(call(), rank, start_ns, index) <
           std::tuple(other.call(), other.rank, other.start_ns, other.index);
  }
};

std::vector<StragglerKey> sorted_keys(std::span<const model::Collective> collectives,
                                      const StragglerGroups& groups) {
  std::vector<StragglerKey> keys;
  keys.reserve(collectives.size());
  for (std::size_t i = 0; i < collectives.size(); ++i) {
    const model::Collective& c = collectives[i];
    if (c.sequence < 0 || !waits_for_all(c.function)) continue;
    keys.push_back({c.process_group, groups.first_member(c), c.sequence, c.function, c.rank,
                    c.start_ns, static_cast<std::uint32_t>(i)});
  }
  std::sort(keys.begin(), keys.end());
  // Contradictory: one rank cannot take part twice.
  const auto repeated = std::ranges::unique(
      keys, [](const auto& a, const auto& b) { return a.rank == b.rank && a.call() == b.call(); });
  keys.erase(repeated.begin(), repeated.end());
  return keys;
}

void fill_waits(StragglerCall& call, std::int64_t clock_error_ns) {
  std::int64_t before_latest = call.first_start_ns;
  for (const StragglerPart& part : call.parts) {
    if (part.rank != call.last_rank) before_latest = std::max(before_latest, part.start_ns);
  }
  if (base::saturated_difference(call.latest_start_ns, before_latest) <= clock_error_ns)
    call.last_rank = -1;
  for (StragglerPart& part : call.parts) {
    part.has_left = part.start_ns < call.latest_start_ns && part.end_ns <= call.latest_start_ns;
    if (part.has_left) continue;
    const std::int64_t wait = base::saturated_difference(call.latest_start_ns, part.start_ns);
    part.wait_ns = wait > clock_error_ns ? wait : 0;
    part.transfer_ns = base::saturated_difference(part.end_ns, call.latest_start_ns);
    call.wait_ns = base::saturated_add(call.wait_ns, part.wait_ns);
  }
}

StragglerCall call_of_parts(std::span<const StragglerKey> keys,
                            std::span<const model::Collective> collectives,
                            std::span<const EventRef> refs) {
  const model::Collective& any = collectives[keys.front().index];
  StragglerCall call;
  call.function = any.function;
  call.process_group = any.process_group;
  call.sequence = any.sequence;
  call.step = any.step;
  call.bytes = any.bytes;
  call.first_start_ns = call.latest_start_ns = any.start_ns;
  call.end_ns = any.end_ns;
  call.last_rank = any.rank;
  for (const StragglerKey& key : keys) {
    const model::Collective& c = collectives[key.index];
    const EventRef ref = key.index < refs.size() ? refs[key.index] : EventRef{};
    call.parts.push_back({c.rank, c.start_ns, std::max(c.start_ns, c.end_ns), false, 0, 0, ref});
    call.first_start_ns = std::min(call.first_start_ns, c.start_ns);
    call.end_ns = std::max(call.end_ns, c.end_ns);
    if (c.start_ns > call.latest_start_ns) {
      call.latest_start_ns = c.start_ns;
      call.last_rank = c.rank;
    }
  }
  return call;
}

std::vector<int> ranks_of(const StragglerCall& call) {
  std::vector<int> ranks;
  for (const StragglerPart& part : call.parts) ranks.push_back(part.rank);
  return ranks;
}

void count_ranks(const StragglerCall& call, std::map<int, StragglerRank>& ranks) {
  std::int64_t alone_ns = call.wait_ns;  // of the rank that waited least
  for (const StragglerPart& part : call.parts) {
    StragglerRank& rank = ranks[part.rank];
    rank.rank = part.rank;
    ++rank.calls;
    rank.late_ns = base::saturated_add(
        rank.late_ns, base::saturated_difference(part.start_ns, call.first_start_ns));
    rank.waited_ns = base::saturated_add(rank.waited_ns, part.wait_ns);
    if (part.rank != call.last_rank && !part.has_left) {
      alone_ns =
          std::min(alone_ns, base::saturated_difference(call.latest_start_ns, part.start_ns));
    }
  }
  if (call.last_rank < 0) return;
  StragglerRank& last = ranks[call.last_rank];
  ++last.times_last;
  last.caused_ns = base::saturated_add(last.caused_ns, call.wait_ns);
  last.alone_ns = base::saturated_add(last.alone_ns, alone_ns);
}

// The longest waits, as many as were asked for; called now and then, so that memory stays bounded.
void keep_longest_waits(std::vector<StragglerCall>& calls, std::size_t most) {
  if (calls.size() <= most) return;
  const auto rank_of = [](const StragglerCall& call) {
    return std::tuple(-call.wait_ns, call.first_start_ns, call.process_group, call.sequence);
  };
  std::ranges::nth_element(calls, calls.begin() + static_cast<std::ptrdiff_t>(most), {}, rank_of);
  calls.resize(most);
}

}  // namespace

const StragglerPart* StragglerCall::part_of(int rank) const {
  const auto found = std::ranges::lower_bound(parts, rank, {}, &StragglerPart::rank);
  return found != parts.end() && found->rank == rank ? &*found : nullptr;
}

std::int64_t StragglerCall::longest_wait_ns() const {
  std::int64_t longest = 0;
  for (const StragglerPart& part : parts) longest = std::max(longest, part.wait_ns);
  return longest;
}

std::int64_t StragglerCall::transfer_ns() const {
  std::int64_t longest = 0;
  for (const StragglerPart& part : parts) longest = std::max(longest, part.transfer_ns);
  return longest;
}

StragglerFigures straggler_figures(std::span<const model::Collective> collectives,
                                   std::span<const EventRef> refs,
                                   std::span<const analysis::ProcessGroupFigures> groups,
                                   const model::StringTable& strings,
                                   const StragglerOptions& options) {
  StragglerFigures figures;
  const analysis::HostClocks one_clock;
  analysis::CallClockErrors errors(options.clocks != nullptr ? *options.clocks : one_clock);
  const StragglerGroups known(groups);
  const std::vector<StragglerKey> keys = sorted_keys(collectives, known);
  std::map<int, StragglerRank> ranks;
  std::size_t used = 0, most = options.most_calls;
  for (auto at = keys.begin(); at != keys.end();) {
    const auto end =
        std::find_if(at, keys.end(), [&](const auto& key) { return key.call() != at->call(); });
    const model::Collective& any = collectives[at->index];
    const auto count = static_cast<std::size_t>(end - at);
    if (count >= 2 && count >= known.size(any, count)) {
      StragglerCall call = call_of_parts({at, end}, collectives, refs);
      const std::int64_t error_ns = errors.error_ns(ranks_of(call));
      fill_waits(call, error_ns);
      figures.clock_error_ns = std::max(figures.clock_error_ns, error_ns);
      call.tag =
          analysis::tag_text(any.tag_kind, any.tag_index, strings.get(any.rank, any.tag_name));
      used += count;
      ++figures.matched;
      count_ranks(call, ranks);
      figures.calls.push_back(std::move(call));
      most = std::min(most, std::max<std::size_t>(options.most_parts / count, 1));
      if (figures.calls.size() >= 2 * most + 64) keep_longest_waits(figures.calls, most);
    }
    at = end;
  }
  keep_longest_waits(figures.calls, most);
  std::ranges::sort(figures.calls, {}, [](const StragglerCall& call) {
    return std::tuple(call.first_start_ns, call.process_group, call.sequence);
  });
  figures.unmatched = static_cast<std::int64_t>(collectives.size() - used);
  for (const auto& [number, rank] : ranks) figures.ranks.push_back(rank);
  return figures;
}

}  // namespace shardlens::trace::timeline
