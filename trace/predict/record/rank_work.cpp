#include "trace/predict/record/rank_work.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

namespace shardlens::trace::predict {

namespace {

using base::Interval;
using base::Intervals;

// When the rank waited: where it computed nothing and a collective ended.
Intervals waits_of(const RankRecord& record) {
  Intervals waits;
  for (const std::int64_t end_ns : record.call_ends_ns) {
    const auto next = base::first_ending_after(record.computes, end_ns);
    if (next != record.computes.end() && next->start_ns < end_ns) continue;  // it computed
    const std::int64_t since =
        next == record.computes.begin() ? record.step.start_ns : std::prev(next)->end_ns;
    waits.push_back({since, end_ns});
  }
  return base::normalize(std::move(waits));
}

Intervals marked_works(const RankRecord& record) {
  Intervals works;
  for (const UnitWorkMark& mark : record.unit_works) works.push_back(mark.time);
  return base::normalize(std::move(works));
}

// What of it was not waiting for a collective.
std::vector<UnitWork> unit_works(const RankRecord& record, const Intervals& waits) {
  if (record.unit_works.empty()) return {};
  Intervals calls;
  for (const UnitCall& call : record.unit_calls) calls.push_back({call.start_ns, call.end_ns});
  const Intervals awaited = base::intersect(waits, base::normalize(std::move(calls)));
  std::vector<UnitWork> works;
  for (const auto& [what, unit, time] : record.unit_works) {
    works.push_back({what, unit, time.length() - base::length_within(awaited, time)});
  }
  return works;
}

// Of one micro-batch.
class MicroBatchReader {
 public:
  // `taken_out`: the rank waited, or worked for its units.
  MicroBatchReader(const RankRecord& record, const Intervals& waits, const Intervals& taken_out,
                   std::int64_t begin_ns, const Interval& forward, const Interval& backward)
      : record_(record),
        waits_(waits),
        taken_out_(taken_out),
        contended_(base::subtract(record.works, taken_out)),
        steady_(base::subtract(record.steady, taken_out)),
        gradient_work_(base::subtract(record.gradient_work, taken_out)),
        begin_ns_(begin_ns),
        forward_(forward),
        backward_(backward) {}

  MicroBatchWork read(const ExpectedWork& expected) const {
    MicroBatchWork work{.forward_begin = moment(forward_.start_ns),
                        .backward_begin = moment(backward_.start_ns),
                        .end = moment(backward_.end_ns)};
    work.steady_ns = base::length_within(steady_, {begin_ns_, backward_.end_ns});
    work.gradients_ns = base::length_within(gradient_work_, backward_);
    for (const std::int64_t time : within(record_.gradients_ns, backward_, std::identity{})) {
      work.gradients.push_back(moment(time));
    }
    if (expected.units > 1) {
      work.forwards = forwards(expected.units);
      work.backwards = backwards(work, expected.units);
    }
    return work;
  }

 private:
  Moment moment(std::int64_t time_ns) const {
    const Interval until{begin_ns_, std::max(time_ns, begin_ns_)};
    return {until.length() - base::length_within(taken_out_, until),
            base::length_within(contended_, until)};
  }

  std::vector<UnitCall> calls(UnitCall::What what, const Interval& phase) const {
    std::vector<UnitCall> found;
    for (const UnitCall& call : within(record_.unit_calls, phase, &UnitCall::enqueued_ns)) {
      if (call.what == what) found.push_back(call);
    }
    return found;
  }

  // When the host marked that of a unit; none: it did not.
  std::optional<std::int64_t> marked(UnitMark::What what, int unit, const Interval& phase) const {
    for (const UnitMark& mark : within(record_.unit_marks, phase, &UnitMark::time_ns)) {
      if (mark.unit == unit && mark.what == what) return mark.time_ns;
    }
    return std::nullopt;
  }

  // When each unit was first used: it was gathered then, or, where that was asked for ahead and the
  // host marks nothing, the next one was asked for right after it. What was not gathered, since it
  // still was, the host may mark.
  std::map<int, std::int64_t> uses(UnitCall::What what, const Interval& phase) const {
    std::map<int, std::int64_t> begins;
    const auto gathers = calls(what, phase);
    const auto use = what == UnitCall::What::kForwardGather ? UnitMark::What::kForward
                                                            : UnitMark::What::kBackward;
    for (std::size_t i = 0; i < gathers.size(); ++i) {
      const UnitCall& gather = gathers[i];
      if (!gather.is_ahead) {
        begins.try_emplace(gather.unit, gather.enqueued_ns);
      } else if (const auto mark = marked(use, gather.unit, phase)) {
        begins.try_emplace(gather.unit, *mark);
      } else if (i + 1 < gathers.size() && gathers[i + 1].is_ahead) {
        begins.try_emplace(gather.unit, gathers[i + 1].enqueued_ns);
      } else if (gather.end_ns > gather.enqueued_ns && waited_until(gather.end_ns)) {
        begins.try_emplace(gather.unit, gather.end_ns);
      }
    }
    for (const UnitMark& mark : within(record_.unit_marks, phase, &UnitMark::time_ns)) {
      if (mark.what == use) begins.try_emplace(mark.unit, mark.time_ns);
    }
    return begins;
  }

  bool waited_until(std::int64_t time_ns) const {
    const auto found = std::ranges::lower_bound(waits_, time_ns, {}, &Interval::end_ns);
    return found != waits_.end() && found->end_ns == time_ns;
  }

  // Forward enters units in their order. One whose begin is not known counts as long after the one
  // before as that was after its own predecessor.
  std::vector<UnitForward> forwards(std::size_t units) const {
    const auto begins = uses(UnitCall::What::kForwardGather, forward_);
    std::vector<UnitForward> found;
    for (int unit = 1; unit < static_cast<int>(units); ++unit) {
      const auto begin = begins.find(unit);
      if (begin != begins.end()) {
        found.push_back({unit, moment(begin->second)});
      } else if (found.size() >= 2) {
        const Moment &last = found.back().begin, &before = found[found.size() - 2].begin;
        found.push_back({unit,
                         {2 * last.computed_ns - before.computed_ns,
                          2 * last.contended_ns - before.contended_ns}});
      } else {
        return {};
      }
    }
    return found;
  }

  // When the host came from a unit to another one, where it marks that: its gradients may come
  // later.
  std::map<int, std::int64_t> left() const {
    std::map<int, std::int64_t> times;
    std::optional<int> at;
    for (const UnitMark& mark : within(record_.unit_marks, backward_, &UnitMark::time_ns)) {
      if (at && mark.unit != *at) times.try_emplace(*at, mark.time_ns);
      at = mark.what == UnitMark::What::kBackward ? std::optional(mark.unit) : std::nullopt;
    }
    return times;
  }

  std::vector<UnitBackward> backwards(const MicroBatchWork& work, std::size_t units) const {
    const auto reductions = calls(UnitCall::What::kReduce, backward_);
    std::map<int, std::int64_t> launched;
    for (const UnitCall& call : reductions) launched.try_emplace(call.unit, call.enqueued_ns);
    // Of micro-batches that reduce nothing.
    for (const UnitMark& mark : within(record_.unit_marks, backward_, &UnitMark::time_ns)) {
      if (mark.what == UnitMark::What::kGradients) launched.try_emplace(mark.unit, mark.time_ns);
    }
    const auto begins = uses(UnitCall::What::kBackwardGather, backward_);
    const auto lefts = left();
    std::vector<UnitBackward> found;
    for (int unit = static_cast<int>(units); --unit > 0;) {
      const auto end = launched.find(unit);
      if (end == launched.end()) return {};
      UnitBackward& each = found.emplace_back(UnitBackward{.unit = unit});
      const auto left = lefts.find(unit);
      each.end = moment(left == lefts.end() ? end->second : std::min(end->second, left->second));
      if (found.size() > 1) {
        each.begin = found[found.size() - 2].end;
      } else if (const auto begin = begins.find(unit); begin != begins.end()) {
        each.begin = moment(begin->second);
      }
    }
    if (!found.empty() && found.front().begin == Moment{}) guess_first(work, found);
    return found;
  }

  // The unit that backward comes to first, behind the model's head, computes as long as the others.
  static void guess_first(const MicroBatchWork& work, std::vector<UnitBackward>& found) {
    UnitBackward& first = found.front();
    first.begin = work.backward_begin;
    if (found.size() < 2) return;
    const auto others = static_cast<std::int64_t>(found.size()) - 1;
    const std::int64_t length = (found.back().end.computed_ns - first.end.computed_ns) / others;
    first.begin.computed_ns =
        std::max(work.backward_begin.computed_ns, first.end.computed_ns - length);
    first.begin.contended_ns = std::min(first.begin.contended_ns, first.begin.computed_ns);
  }

  const RankRecord& record_;
  const Intervals &waits_, &taken_out_;
  Intervals contended_, steady_, gradient_work_;
  std::int64_t begin_ns_;
  Interval forward_, backward_;
};

// That of each backward pass: of several before it the last; fewer than those where there is none,
// or one behind them.
std::vector<Interval> forwards_of(const RankRecord& record) {
  if (record.forwards.size() == record.backwards.size()) return record.forwards;
  std::vector<Interval> forwards;
  auto next = record.forwards.begin();
  for (const Interval& backward : record.backwards) {
    const auto first = next;
    while (next != record.forwards.end() && next->start_ns < backward.start_ns) ++next;
    if (next != first) forwards.push_back(*std::prev(next));
  }
  if (next != record.forwards.end()) forwards.clear();
  return forwards;
}

}  // namespace

std::optional<RankWork> rank_work(const RankRecord& record, const ExpectedWork& expected) {
  const auto& backwards = record.backwards;
  const std::vector<Interval> forwards = forwards_of(record);
  if (backwards.empty() || forwards.size() != backwards.size()) return std::nullopt;
  const Intervals waits = waits_of(record);
  const Intervals taken_out = base::unite(waits, marked_works(record));
  RankWork work{.start_ns = record.step.start_ns, .end_ns = record.step.end_ns};
  work.unit_works = unit_works(record, waits);
  std::int64_t begin_ns = record.step.start_ns;
  for (std::size_t i = 0; i < backwards.size(); ++i) {
    const MicroBatchReader reader(record, waits, taken_out, begin_ns, forwards[i], backwards[i]);
    work.micro_batches.push_back(reader.read(expected));
    const std::size_t gradients = work.micro_batches.back().gradients.size();
    if (expected.gradients > 0 && gradients != expected.gradients) return std::nullopt;
    begin_ns = backwards[i].end_ns;
  }
  work.backward_end_ns = begin_ns;
  for (const Interval& optimizer : record.optimizers) {
    work.optimizer_ns += base::length_within(record.computes, optimizer);
  }
  return work;
}

}  // namespace shardlens::trace::predict
