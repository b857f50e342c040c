// Details of operators, kernels, launches, copies and allocations.
#include <algorithm>
#include <tuple>

#include "trace/analysis/steps/step_breakdown.h"
#include "trace/base/saturated.h"
#include "trace/base/words/quantity.h"
#include "trace/explore/find/event_facts.h"
#include "trace/explore/find/event_finder.h"
#include "trace/explore/run/lane_events.h"
#include "trace/explore/run/window_activity.h"
#include "trace/timeline/pieces/collective_parts.h"
#include "trace/timeline/words/kernel_class.h"

namespace shardlens::trace::explore::detail {

namespace {

// How many of the kernels that an operator started get a link; the summary counts all of them.
constexpr std::size_t kMostStartedLinks = 3;

class BulkFacts {
 public:
  BulkFacts(const RunSnapshot& run, const RankSnapshot& rank, FoundEvent found)
      : run_(run), rank_(rank), finder_(run), found_(std::move(found)), sheet_(run, rank) {}

  timeline::EventDetails gather() {
    const model::Step* const step = rank_.rows->step_at(event().start_ns);
    sheet_.details.place = finder_.place_of(found_);
    sheet_.details.title = name_of(event());
    // No row shows single allocations, so none is searched for.
    if (kind() != model::EventKind::kAllocation) sheet_.details.name = sheet_.details.title;
    sheet_.details.subtitle = sheet_.subtitle(step == nullptr ? -1 : step->index);
    sheet_.details.piece_class = piece_class();
    sheet_.add_times(event().start_ns, event().duration_ns);
    add_own_facts();
    add_relatives();
    if (step != nullptr) add_neighbour_steps(*step);
    if (const auto longest = finder_.longest_of_name(found_)) {
      if (longest->ref != sheet_.details.place.ref) sheet_.add_link("Longest", *longest);
    }
    return std::move(sheet_.details);
  }

 private:
  const model::Event& event() const { return found_.event; }
  model::EventKind kind() const { return found_.chunk.kind; }
  std::string name_of(const model::Event& event) const {
    return std::string(run_.store->names().text(rank_.rank, event.name));
  }

  base::TimeClass piece_class() const {
    if (kind() == model::EventKind::kCopy) return base::TimeClass::kCopy;
    if (kind() != model::EventKind::kKernel) return base::TimeClass::kHost;
    const base::Interval time = timeline::drawn_event_time(event().start_ns, event().duration_ns);
    if (model::activity_of(kind(), event(), name_of(event())) == model::Activity::kCommunication) {
      return timeline::communication_class(time, window_activity(*run_.store, rank_, time).compute);
    }
    const base::Interval moment{time.start_ns, time.start_ns + 1};
    return base::length_within(rank_.rows->optimizer, moment) > 0 ? base::TimeClass::kOptimizer
                                                                  : base::TimeClass::kCompute;
  }

  void add_own_facts() {
    if (kind() == model::EventKind::kKernel) {
      sheet_.add("Class",
                 std::string(timeline::to_string(timeline::kernel_class_of(name_of(event())))),
                 "by the kernel's name");
    }
    if (const model::Lane* const lane = rank_.rows->lane(found_.chunk.lane)) {
      const bool on_gpu = kind() == model::EventKind::kKernel || kind() == model::EventKind::kCopy;
      sheet_.add(on_gpu ? "Stream" : "Thread", std::string(rank_.rows->text(lane->name)));
    }
    add_phase();
    if (kind() == model::EventKind::kCopy || kind() == model::EventKind::kAllocation) add_bytes();
    if (kind() == model::EventKind::kOperator) {
      sheet_.add("Depth", std::to_string(event().depth()), "operators around it");
      if ((event().flags & model::kEventLeaf) != 0) sheet_.add("Calls others", "no");
      if ((event().flags & model::kEventCompute) != 0) sheet_.add("Counts as compute", "yes");
    }
    if (event().correlation != 0) {
      sheet_.add("Correlation", std::to_string(event().correlation),
                 "the number that joins operator, launch and kernel");
    }
  }

  void add_phase() {
    base::Interval moment{event().start_ns, event().start_ns};
    const model::Span* phase = nullptr;
    visit_rows(rank_.rows->spans, {moment.start_ns, moment.start_ns + 1},
               [&](std::uint32_t i, base::Interval) {
                 const model::Span& span = rank_.rows->spans.rows[i];
                 if (span.depth == 0 && phase == nullptr) phase = &span;
               });
    if (phase == nullptr) return;
    sheet_.add("Phase", std::string(base::to_string(phase->phase)), "of the host at that time");
  }

  void add_bytes() {
    const std::int64_t bytes = event().value;
    if (bytes < 0) return sheet_.add("Freed", base::bytes_text(-bytes));
    if (kind() == model::EventKind::kAllocation)
      return sheet_.add("Allocated", base::bytes_text(bytes));
    if (bytes == 0) return;
    sheet_.add("Size", base::bytes_text(bytes), base::format_integer(bytes) + " bytes");
    if (event().duration_ns <= 0) return;
    const double rate = static_cast<double>(bytes) / static_cast<double>(event().duration_ns) * 1e9;
    sheet_.add("Bandwidth", base::format_bandwidth(rate).text(), "size ÷ duration");
  }

  // Operator → launch → kernel or copy, from whichever of them was picked.
  void add_relatives() {
    std::uint64_t number = event().correlation;
    std::optional<FoundEvent> launch;
    if (number == 0 && kind() == model::EventKind::kOperator) {
      const auto launches =
          finder_.launches_in(rank_.rank, found_.chunk.lane,
                              timeline::drawn_event_time(event().start_ns, event().duration_ns));
      if (launches.size() > 1) return add_all_launched(launches);
      if (launches.size() == 1) launch = launches.front();
      if (launch) number = launch->event.correlation;
    }
    const auto correlated = [&](model::EventKind of) {
      return of == kind() ? std::optional(found_)
                          : finder_.correlated(rank_.rank, of, number, event().start_ns);
    };
    if (number == 0 && kind() != model::EventKind::kLaunch) return;
    if (!launch) launch = correlated(model::EventKind::kLaunch);
    auto work = correlated(model::EventKind::kKernel);
    if (!work) work = correlated(model::EventKind::kCopy);
    auto caller = correlated(model::EventKind::kOperator);
    if (!caller && launch) {
      caller = finder_.operator_at(rank_.rank, launch->chunk.lane, launch->event.start_ns);
    }
    add_relative("Launch", launch);
    add_relative(work && work->chunk.kind == model::EventKind::kCopy ? "Copy" : "Kernel", work);
    add_relative("Operator", caller);
    if (launch && work) {
      sheet_.add_duration("Launch to start", work->event.start_ns - launch->event.start_ns,
                          "from the host's call to the start on the GPU: queueing behind earlier "
                          "work is part of it");
    }
  }

  // For an operator that calls others: everything that was launched while it ran.
  void add_all_launched(const std::vector<FoundEvent>& launches) {
    sheet_.add("Launches", summary_of(launches), "on this thread while it ran");
    sheet_.add_link("Launch", finder_.place_of(launches.front()));
    for (const auto& [of, title, label] :
         {std::tuple(model::EventKind::kKernel, "Kernels", "Kernel"),
          std::tuple(model::EventKind::kCopy, "Copies", "Copy")}) {
      const auto started = finder_.started_by(launches, of);
      if (started.empty()) continue;
      sheet_.add(
          title, summary_of(started),
          "started by these launches, as their correlation says; the sum of their durations");
      for (std::size_t i = 0; i < std::min(started.size(), kMostStartedLinks); ++i) {
        const std::string number = i == 0 ? "" : " " + std::to_string(i + 1);
        sheet_.add_link(label + number, finder_.place_of(started[i]));
      }
    }
  }

  static std::string summary_of(const std::vector<FoundEvent>& events) {
    std::int64_t total_ns = 0;
    for (const FoundEvent& found : events) {
      const base::Interval time =
          timeline::drawn_event_time(found.event.start_ns, found.event.duration_ns);
      total_ns = base::saturated_add(total_ns, time.length());
    }
    return base::format_integer(static_cast<std::int64_t>(events.size())) + " · " +
           base::duration_text(total_ns);
  }

  void add_relative(const char* label, const std::optional<FoundEvent>& other) {
    if (!other || (other->chunk.kind == kind() && other->index == found_.index &&
                   other->chunk.row_id == found_.chunk.row_id)) {
      return;
    }
    sheet_.add(label, name_of(other->event), base::duration_text(other->event.duration_ns));
    sheet_.add_link(label, finder_.place_of(*other));
  }

  // If it is the n-th of its name in its step: the n-th of that name in the steps before and after.
  void add_neighbour_steps(const model::Step& step) {
    const auto& steps = rank_.rows->steps;
    const auto at = &step - steps.data();
    const auto own = finder_.same_name(found_, {step.start_ns, step.end_ns});
    const auto self = std::ranges::find(own, sheet_.details.place.ref, &timeline::EventPlace::ref);
    const auto ordinal = static_cast<std::size_t>(self - own.begin());
    sheet_.add("In this step",
               std::to_string(ordinal + 1) + " of " +
                   base::format_integer(static_cast<std::int64_t>(own.size())),
               "events of this name on this lane");
    const auto link = [&](const char* label, const model::Step& of) {
      const auto likes = finder_.same_name(found_, {of.start_ns, of.end_ns});
      if (likes.empty()) return;
      sheet_.add_link(label, likes[std::min(ordinal, likes.size() - 1)]);
    };
    if (at > 0) link("Previous step", steps[static_cast<std::size_t>(at - 1)]);
    if (static_cast<std::size_t>(at + 1) < steps.size()) {
      link("Next step", steps[static_cast<std::size_t>(at + 1)]);
    }
  }

  const RunSnapshot& run_;
  const RankSnapshot& rank_;
  EventFinder finder_;
  FoundEvent found_;
  FactSheet sheet_;
};

}  // namespace

base::Result<timeline::EventDetails> bulk_details(const RunSnapshot& run, const RankSnapshot& rank,
                                                  const timeline::EventRef& event) {
  TRY_ASSIGN(FoundEvent found, EventFinder(run).at(event));
  return BulkFacts(run, rank, std::move(found)).gather();
}

}  // namespace shardlens::trace::explore::detail
