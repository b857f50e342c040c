#include "trace/timeline/values/straggler_figures.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "trace/base/saturated.h"

namespace shardlens::trace::timeline {

namespace {

void fill_waits(StragglerCall& call, std::span<const StragglerRow> rows,
                std::int64_t clock_error_ns) {
  std::int64_t before_latest = call.first_start_ns;
  for (const StragglerPart& part : call.parts) {
    if (part.rank != call.last_rank) before_latest = std::max(before_latest, part.start_ns);
  }
  if (base::saturated_difference(call.latest_start_ns, before_latest) <= clock_error_ns)
    call.last_rank = -1;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    StragglerPart& part = call.parts[i];
    const std::int64_t late_ns = base::saturated_difference(part.start_ns, call.first_start_ns);
    if (clock_error_ns == 0 || late_ns > clock_error_ns) part.late_ns = late_ns;
    const analysis::CallWait& wait = rows[i].wait;
    part.has_left = wait.has_left;
    part.wait_ns = wait.wait_ns;
    part.transfer_ns = wait.transfer_ns;
    call.wait_ns = base::saturated_add(call.wait_ns, wait.wait_ns.value_or(0));
  }
}

StragglerCall call_of_rows(std::span<const StragglerRow> rows) {
  const model::Collective& any = *rows.front().collective;
  StragglerCall call;
  call.function = any.function;
  call.process_group = any.process_group;
  call.sequence = any.sequence;
  call.step = any.step;
  call.bytes = any.bytes;
  call.first_start_ns = call.latest_start_ns = any.start_ns;
  call.end_ns = any.end_ns;
  call.last_rank = any.rank;
  for (const StragglerRow& row : rows) {
    const model::Collective& c = *row.collective;
    call.parts.push_back(
        {c.rank, c.start_ns, std::max(c.start_ns, c.end_ns), false, {}, {}, {}, row.ref});
    call.first_start_ns = std::min(call.first_start_ns, c.start_ns);
    call.end_ns = std::max(call.end_ns, c.end_ns);
    if (c.start_ns > call.latest_start_ns) {
      call.latest_start_ns = c.start_ns;
      call.last_rank = c.rank;
    }
  }
  return call;
}

void count_ranks(const StragglerCall& call, bool are_clocks_known,
                 std::map<int, StragglerRank>& ranks) {
  std::int64_t alone_ns = call.wait_ns;  // of the rank that waited least
  for (const StragglerPart& part : call.parts) {
    StragglerRank& rank = ranks[part.rank];
    rank.rank = part.rank;
    ++rank.calls;
    rank.timed_calls += are_clocks_known ? 1 : 0;
    rank.late_ns = base::saturated_add(rank.late_ns, part.late_ns.value_or(0));
    rank.waited_ns = base::saturated_add(rank.waited_ns, part.wait_ns.value_or(0));
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

std::optional<std::int64_t> StragglerCall::longest_wait_ns() const {
  return std::ranges::max(parts, {}, &StragglerPart::wait_ns).wait_ns;
}

std::optional<std::int64_t> StragglerCall::transfer_ns() const {
  return std::ranges::max(parts, {}, &StragglerPart::transfer_ns).transfer_ns;
}

void StragglerSums::add(std::span<const StragglerRow> rows, std::string tag,
                        std::int64_t clock_error_ns) {
  if (rows.size() < 2) return add_unmatched(std::ssize(rows));
  StragglerCall call = call_of_rows(rows);
  call.tag = std::move(tag);
  fill_waits(call, rows, clock_error_ns);
  figures_.clock_error_ns = std::max(figures_.clock_error_ns, clock_error_ns);
  ++figures_.matched;
  count_ranks(call, clock_error_ns != analysis::kUnknownClockError, ranks_);
  figures_.calls.push_back(std::move(call));
  std::size_t& most = limits_.most_calls;
  most = std::min(most, std::max<std::size_t>(limits_.most_parts / rows.size(), 1));
  if (figures_.calls.size() >= 2 * most + 64) keep_longest_waits(figures_.calls, most);
}

StragglerFigures StragglerSums::take() {
  keep_longest_waits(figures_.calls, limits_.most_calls);
  std::ranges::sort(figures_.calls, {}, [](const StragglerCall& call) {
    return std::tuple(call.first_start_ns, call.process_group, call.sequence);
  });
  for (const auto& [number, rank] : ranks_) figures_.ranks.push_back(rank);
  return std::move(figures_);
}

}  // namespace shardlens::trace::timeline
