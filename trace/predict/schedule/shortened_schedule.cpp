#include "trace/predict/schedule/shortened_schedule.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "trace/base/intervals.h"

namespace shardlens::trace::predict {

namespace {

// When calls, one or several at once, pass a simulated link for as long as they have to.
class LinkTimes {
 public:
  LinkTimes() = default;
  LinkTimes(const StepProgram& program, const StepSchedule& schedule) {
    std::vector<base::Interval> passages;
    for (const CallTime& call : schedule.calls) {
      const std::int64_t least_ns = program.calls[call.call].least_ns;
      passages.push_back({std::max(call.start_ns, call.end_ns - least_ns), call.end_ns});
    }
    times_ = base::normalize(std::move(passages));
    for (const base::Interval& each : times_) {
      before_ns_.push_back(before_ns_.back() + each.length());
    }
  }

  std::int64_t until(std::int64_t time_ns) const {
    const auto next = base::first_ending_after(times_, time_ns);
    const std::int64_t sum_ns = before_ns_[static_cast<std::size_t>(next - times_.begin())];
    if (next == times_.end()) return sum_ns;
    return sum_ns + std::max<std::int64_t>(0, time_ns - next->start_ns);
  }

 private:
  base::Intervals times_;
  std::vector<std::int64_t> before_ns_{0};  // each of them, and behind the last
};

}  // namespace

Shortening shortening_to(const StepProgram& program, const StepSchedule& schedule,
                         std::int64_t from_ns, std::int64_t end_ns) {
  const std::int64_t took_ns = end_ns - from_ns;
  std::int64_t kept_ns = LinkTimes(program, schedule).until(schedule.end_ns);
  const bool keeps_links = kept_ns <= took_ns;
  if (!keeps_links) kept_ns = 0;
  return {static_cast<double>(took_ns - kept_ns) /
              static_cast<double>(schedule.end_ns - from_ns - kept_ns),
          keeps_links};
}

void shorten(const StepProgram& program, std::int64_t from_ns, const Shortening& by,
             StepSchedule& schedule) {
  const LinkTimes links = by.keeps_links ? LinkTimes(program, schedule) : LinkTimes();
  const auto move = [&](std::int64_t& time_ns) {
    const std::int64_t kept_ns = links.until(time_ns);
    const auto rest_ns = static_cast<double>(time_ns - from_ns - kept_ns);
    time_ns = from_ns + kept_ns + std::llround(by.to * rest_ns);
  };
  const auto length_ns = [&] { return static_cast<double>(schedule.end_ns - schedule.start_ns); };
  const auto waited_ns = [&] {
    std::int64_t sum = schedule.waited_ns();
    for (const auto& wait : schedule.waits_of_others) sum += wait.end_ns - wait.start_ns;
    return static_cast<double>(sum);
  };
  const double before_ns = length_ns(), waited_before_ns = waited_ns();
  for (CallTime& call : schedule.calls) {
    for (auto* time_ns : {&call.ready_ns, &call.start_ns, &call.end_ns}) move(*time_ns);
  }
  for (auto* waits : {&schedule.waits, &schedule.waits_of_others}) {
    for (StepSchedule::Wait& wait : *waits) {
      for (auto* time_ns : {&wait.start_ns, &wait.end_ns}) move(*time_ns);
    }
  }
  for (auto* time_ns : {&schedule.start_ns, &schedule.backward_end_ns, &schedule.end_ns}) {
    move(*time_ns);
  }
  const double whole = before_ns > 0 ? length_ns() / before_ns : by.to;
  schedule.mean_ns *= whole;
  schedule.contended_ns *= whole;
  // What was waited for keeps what its link takes, which is more than its share of the step.
  if (waited_before_ns > 0) schedule.exposed_ns *= waited_ns() / waited_before_ns;
}

}  // namespace shardlens::trace::predict
