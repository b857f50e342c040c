// Details of collectives: who waited for whom, how fast it was, what hid it.
#include <algorithm>
#include <span>

#include "trace/analysis/collectives/process_groups.h"
#include "trace/analysis/figures/labels.h"
#include "trace/base/number_text.h"
#include "trace/base/text.h"
#include "trace/base/words/quantity.h"
#include "trace/explore/find/event_facts.h"
#include "trace/explore/find/event_finder.h"
#include "trace/explore/find/row_finder.h"
#include "trace/explore/run/lane_events.h"
#include "trace/explore/run/window_activity.h"
#include "trace/model/traffic.h"
#include "trace/timeline/pieces/collective_parts.h"
#include "trace/timeline/words/row_catalogue.h"

namespace shardlens::trace::explore::detail {

namespace {

// The kernel of a collective begins with it, unless a tracer took its times from elsewhere.
constexpr std::int64_t kKernelTolerance = 100'000;

class CollectiveFacts {
 public:
  CollectiveFacts(const RunSnapshot& run, const RankSnapshot& rank, std::uint32_t index)
      : run_(run),
        rank_(rank),
        rows_(*rank.rows),
        index_(index),
        row_(rows_.collectives.rows[index]),
        sheet_(run, rank) {}

  timeline::EventDetails gather() {
    const std::string tag =
        analysis::tag_text(row_.tag_kind, row_.tag_index, rows_.text(row_.tag_name));
    sheet_.details.place = place_of(index_);
    sheet_.details.title =
        timeline::collective_title(row_.function) + (tag.empty() ? "" : " · " + tag);
    sheet_.details.name = rows_.labels[rows_.collectives.labels[index_]];
    sheet_.details.subtitle = sheet_.subtitle(row_.step);
    add_kernel();
    add_times();
    add_waits();
    add_size();
    add_choice();
    add_exposure();
    add_group();
    add_host();
    add_parameters();
    add_step_links(
        sheet_, rows_.collectives, index_, [&](std::uint32_t at) { return is_like(at); },
        [&](std::uint32_t at) { return place_of(at); });
    add_longest();
    return std::move(sheet_.details);
  }

 private:
  timeline::EventPlace place_of(std::uint32_t at) const {
    return place_of_row(run_, timeline::EventTableKind::kCollective, rank_.rank, rows_.collectives,
                        at);
  }
  bool is_like(std::uint32_t at) const {
    const model::Collective& other = rows_.collectives.rows[at];
    return other.lane == row_.lane && other.function == row_.function &&
           rows_.collectives.labels[at] == rows_.collectives.labels[index_];
  }

  void add_times() {
    if (!part_of(rows_, index_).is_timed()) {
      return sheet_.add("Duration", "not known",
                        "it lies where the host asked for it: what carried it was not found");
    }
    sheet_.add_times(row_.start_ns, row_.end_ns - row_.start_ns);
  }

  void add_kernel() {
    std::optional<timeline::EventPlace> kernel;
    std::string name;
    const EventFinder finder(run_);
    const base::Interval around{row_.start_ns - kKernelTolerance, row_.start_ns + kKernelTolerance};
    LaneEvents(*run_.store, rank_.rank, row_.lane, model::EventKind::kKernel, around)
        .visit([&](const store::ChunkEntry& chunk, const store::EventColumns& columns,
                   std::size_t i, base::Interval time) {
          if (time.start_ns < around.start_ns) return;
          const auto away = [&](std::int64_t start) { return std::abs(start - row_.start_ns); };
          if (kernel && away(kernel->start_ns) <= away(time.start_ns)) return;
          kernel = finder.place_of(chunk, static_cast<std::uint32_t>(i), time);
          name = run_.store->names().text(rank_.rank, columns.name(i));
        });
    if (!kernel) return;
    sheet_.add("Kernel", name);
    sheet_.add_link("Kernel", *kernel);
  }

  void add_waits() {
    if (run_.calls == nullptr) return;
    const analysis::CollectivePart self = part_of(rows_, index_);
    if (self.members == 1) {
      sheet_.add("Waiting for others", "none", "no other rank is in its group");
      return add_transfer(run_.calls->wait_of(self, 1), 1, "");
    }
    const auto parts = run_.calls->same_call(self);
    if (parts.empty()) return;
    std::vector<int> ranks;
    for (const analysis::CollectivePart& part : parts) {
      ranks.push_back(part.rank);
      add_call(part);
    }
    if (run_.clocks) sheet_.details.clock_error_ns = run_.clocks->error_between_hosts(ranks);
    const analysis::CallWait wait = run_.calls->wait_of(self, run_.rank_count());
    if (!wait.wait_ns)
      return sheet_.add("Waiting for others", "not known", why_unknown(wait.doubt));
    const auto latest = std::ranges::max_element(parts, {}, &analysis::CollectivePart::start_ns);
    const std::string but = sheet_.details.clock_error_ns > 0 ? "; " + clocks_text() : "";
    if (self.start_ns == latest->start_ns) {
      const bool is_last =
          std::ranges::count(parts, latest->start_ns, &analysis::CollectivePart::start_ns) == 1;
      is_last ? sheet_.add("Last to start", "this rank", "the others waited for it" + but)
              : sheet_.add("Waiting for others", "none", "none began later" + but);
    } else if (wait.has_left) {
      sheet_.add("Waiting for others", "none",
                 "it had left before rank " + std::to_string(latest->rank) + " began" + but);
    } else {
      const std::string what = self.end_ns <= latest->start_ns
                                   ? "all of it: by its clock it ended before that rank began"
                                   : "latest start over the ranks − own start";
      sheet_.add_duration("Waiting for rank " + std::to_string(latest->rank), *wait.wait_ns,
                          what + but);
    }
    add_transfer(wait, static_cast<int>(parts.size()), but);
  }

  void add_transfer(const analysis::CallWait& wait, int ranks, const std::string& but) {
    const std::int64_t transfer_ns = wait.transfer_ns.value_or(0);
    if (transfer_ns <= 0) return;
    sheet_.add_duration("Transfer", transfer_ns, "own end − latest start" + but);
    add_bandwidth(transfer_ns, ranks);
  }

  std::string clocks_text() const {
    return "the hosts' clocks may be " + base::duration_text(sheet_.details.clock_error_ns) +
           " apart";
  }

  std::string why_unknown(analysis::WaitDoubt doubt) const {
    switch (doubt) {
      case analysis::WaitDoubt::kRecordsMissing:
        return "not all ranks of the group have a record of this call";
      case analysis::WaitDoubt::kClocksUnknown:
        return "nothing tells how far the hosts' clocks are apart: no all-reduce or the like "
               "connects them";
      default:
        return clocks_text();
    }
  }

  void add_call(const analysis::CollectivePart& part) {
    const RankSnapshot* const other = run_.rank(part.rank);
    const auto index = other == nullptr ? std::nullopt : index_of(*other->rows, part);
    if (!index) return;
    const model::Collective& row = other->rows->collectives.rows[*index];
    sheet_.details.calls.push_back({part.rank, row.start_ns, row.end_ns,
                                    place_of_row(run_, timeline::EventTableKind::kCollective,
                                                 part.rank, other->rows->collectives, *index),
                                    run_.calls->wait_of(part, run_.rank_count())});
  }

  void add_bandwidth(std::int64_t transfer_ns, int ranks) {
    if (row_.bytes <= 0) return;
    const double rate = static_cast<double>(row_.bytes) / static_cast<double>(transfer_ns) * 1e9;
    const double factor = model::bus_factor(row_.function, ranks);
    sheet_.add("Algorithm bandwidth", base::format_bandwidth(rate).text(), "size ÷ transfer");
    if (factor <= 0) return;
    std::string text = base::format_bandwidth(rate * factor).text();
    if (const double best = best_rate(); best > 0) {
      text += " · " + base::format_percent(rate / best).text() + " of the best seen";
    }
    sheet_.add("Bus bandwidth", text,
               "algorithm bandwidth × " + base::format_plain(factor) +
                   " (nccl-tests); the best of " + "the same function and size on this rank");
    add_link(rate * factor);
  }

  // What the link gives at best, and how much of it the call used.
  void add_link(double bus_rate) {
    const model::RankInfo& info = rows_.info;
    if (info.link.empty()) return;
    const double peak = info.link_bytes_per_second;
    sheet_.add("Link",
               peak > 0 ? base::format_bandwidth(bus_rate).text() + " of " +
                              base::format_bandwidth(peak).text() + " " + info.link
                        : info.link,
               peak > 0 ? "bus bandwidth against the link's peak in one direction; the switch "
                          "adds up for NVLS, which may go beyond"
                        : "its peak is not known");
  }

  void add_choice() {
    const auto algorithm = rows_.text(row_.algorithm), protocol = rows_.text(row_.protocol);
    if (algorithm.empty() && protocol.empty()) return;
    std::string text(algorithm);
    if (!protocol.empty()) text += (text.empty() ? "" : " · ") + std::string(protocol);
    if (row_.channels > 0) text += " · " + base::counted(row_.channels, "channel");
    sheet_.add("Algorithm", text, "with protocol and channels, as NCCL chose them");
  }

  // Bytes per second of the fastest like it.
  double best_rate() const {
    double best = 0;
    for (std::uint32_t at = 0; at < rows_.collectives.size(); ++at) {
      const model::Collective& other = rows_.collectives.rows[at];
      if (other.function != row_.function || other.bytes != row_.bytes ||
          other.process_group != row_.process_group) {
        continue;
      }
      const auto wait = run_.calls->wait_of(part_of(rows_, at), run_.rank_count());
      const std::int64_t transfer_ns = wait.transfer_ns.value_or(0);
      if (transfer_ns <= 0) continue;
      best =
          std::max(best, static_cast<double>(other.bytes) / static_cast<double>(transfer_ns) * 1e9);
    }
    return best;
  }

  void add_size() {
    if (model::has_bytes(row_)) {
      std::string text = base::bytes_text(row_.bytes);
      const auto type = rows_.text(row_.data_type);
      if (!type.empty()) text += " " + std::string(type);
      sheet_.add("Size", text,
                 base::format_integer(row_.bytes) + " bytes; of a gather or scatter the " +
                     "total over all ranks");
    }
    if (row_.executed != row_.function) {
      sheet_.add("Executed as", timeline::collective_title(row_.executed), "what the backend ran");
    }
  }

  void add_exposure() {
    const base::Interval time = timeline::drawn_time(row_.start_ns, row_.end_ns);
    const WindowActivity activity = window_activity(*run_.store, rank_, time);
    sheet_.details.piece_class = timeline::communication_class(time, activity.compute);
    if (time.length() <= 0) return;
    const std::int64_t overlapped_ns = base::length_within(activity.compute, time);
    const auto figure = [&](std::int64_t ns) {
      return base::duration_text(ns) + " (" +
             base::format_percent(static_cast<double>(ns) / static_cast<double>(time.length()))
                 .text() +
             ")";
    };
    sheet_.add("Overlapped", figure(overlapped_ns), "compute of this rank ran at the same time");
    sheet_.add("Exposed", figure(time.length() - overlapped_ns), "nothing hid it");
  }

  void add_group() {
    const model::ProcessGroup* const group = rows_.group(row_.process_group);
    if (row_.process_group < 0) {
      return sheet_.add("Group", "not known", "the trace names none, and several fit");
    }
    std::string text = group == nullptr || rows_.text(group->name).empty()
                           ? "group " + std::to_string(row_.process_group)
                           : std::string(rows_.text(group->name));
    if (row_.sequence >= 0) text += " · " + base::format_integer(row_.sequence);
    sheet_.add("Group, sequence", text, "calls of one sequence number belong together");
    if (group == nullptr) return;
    sheet_.add("Ranks", members_text(*group));
    const auto backend = rows_.text(group->backend);
    if (!backend.empty()) sheet_.add("Backend", std::string(backend));
  }

  // Where each knows only itself, those that announced it.
  std::string members_text(const model::ProcessGroup& group) const {
    if (group.ranks.empty() || group.ranks.front() != model::kNotKnown)
      return base::joined(group.ranks);
    analysis::ProcessGroups groups;
    for (const RankSnapshot& rank : run_.ranks) {
      for (const model::ProcessGroup& each : rank.rows->groups) groups.add(each, {});
    }
    for (const analysis::ProcessGroupFigures& told : groups.figures()) {
      const bool is_it = told.id == group.id && told.ranks.size() == group.ranks.size() &&
                         std::ranges::binary_search(told.ranks, rank_.rank);
      if (!is_it) continue;
      const auto known = std::ranges::upper_bound(told.ranks, model::kNotKnown);
      const auto missing = known - told.ranks.begin();
      return base::joined(std::vector<int>(known, told.ranks.end())) +
             (missing > 0 ? " and " + std::to_string(missing) + " not recorded" : "");
    }
    return std::to_string(rank_.rank);
  }

  void add_host() {
    if (row_.phase != base::Phase::kOther) {
      sheet_.add("Phase", std::string(base::to_string(row_.phase)),
                 "in which the host asked for it");
    }
    if (row_.enqueued_ns > 0 && row_.enqueued_ns <= row_.start_ns) {
      sheet_.add_duration("Enqueued to start", row_.start_ns - row_.enqueued_ns,
                          "from the host's call until the backend began");
    }
  }

  void add_parameters() {
    auto& names = sheet_.details.parameters;
    std::int64_t bytes = 0;
    const auto add = [&](model::StringId name, std::int64_t size) {
      names.push_back(std::string(rows_.text(name)) + " · " + base::bytes_text(size));
      bytes += size;
    };
    if (row_.tag_kind == model::TagKind::kUnit) {
      for (const model::UnitParameter& each : rows_.unit_parameters) {
        if (each.unit == row_.tag_index) add(each.name, each.bytes);
      }
    } else if (row_.tag_kind == model::TagKind::kBucket) {
      const model::Bucket* const bucket = rows_.bucket(row_.tag_index, row_.start_ns);
      const int plan = bucket == nullptr ? -1 : bucket->plan;
      for (const store::BucketParameter& each : rows_.bucket_parameters) {
        if (each.plan == plan && each.bucket == row_.tag_index) add(each.name, each.bytes);
      }
    }
    if (names.empty()) return;
    sheet_.add(row_.tag_kind == model::TagKind::kUnit ? "Unit" : "Bucket",
               base::format_integer(static_cast<std::int64_t>(names.size())) +
                   (names.size() == 1 ? " tensor, " : " tensors, ") + base::bytes_text(bytes));
  }

  void add_longest() {
    std::uint32_t longest = index_;
    const auto length = [&](std::uint32_t at) {
      const model::Collective& row = rows_.collectives.rows[at];
      return row.end_ns - row.start_ns;
    };
    for (std::uint32_t at = 0; at < rows_.collectives.size(); ++at) {
      if (is_like(at) && length(at) > length(longest)) longest = at;
    }
    if (longest != index_) sheet_.add_link("Longest", place_of(longest));
  }

  const RunSnapshot& run_;
  const RankSnapshot& rank_;
  const RankRows& rows_;
  std::uint32_t index_;
  const model::Collective& row_;
  FactSheet sheet_;
};

}  // namespace

base::Result<timeline::EventDetails> collective_details(const RunSnapshot& run,
                                                        const RankSnapshot& rank,
                                                        const timeline::EventRef& event) {
  TRY_ASSIGN(const std::uint32_t index, row_index(rank.rows->collectives, event.row));
  return CollectiveFacts(run, rank, index).gather();
}

}  // namespace shardlens::trace::explore::detail
