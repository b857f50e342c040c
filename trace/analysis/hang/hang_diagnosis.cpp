#include "trace/analysis/hang/hang_diagnosis.h"

#include <algorithm>
#include <set>

#include "trace/analysis/figures/labels.h"
#include "trace/analysis/hang/group_calls.h"
#include "trace/base/number_text.h"
#include "trace/base/words/quantity.h"

namespace shardlens::trace::analysis {

namespace {

// The recorder's thread beats with every commit, several times a second.
constexpr std::int64_t kStoppedAfter = 5'000'000'000;
constexpr std::int64_t kWorthMentioning = 1'000'000'000;
// How many calls must fit, as far as they are known, before a rank is said to have left one out.
constexpr std::int64_t kShiftEvidence = 3;

std::string what_text(const CollectiveCallFigures& call) {
  const auto tag = call.tag.empty() ? "" : " " + call.tag;
  return std::string(model::to_string(call.function)) + tag;
}

// "4.00 MiB, "; "": its size is not known.
std::string size_and(const CollectiveCallFigures& call) {
  return model::has_bytes(call) ? base::bytes_text(call.bytes) + ", " : "";
}

// "backward of step 5", "step 5": which phase is not known.
std::string step_text(base::Phase phase, std::int64_t step) {
  const std::string of_step = "step " + std::to_string(step);
  if (phase == base::Phase::kOther) return of_step;
  return std::string(base::to_string(phase)) + " of " + of_step;
}

std::string where_text(const CollectiveCallFigures& call) {
  return call.step < 0 ? "in no step that was told" : step_text(call.phase, call.step);
}

// "all_reduce bucket 3 (4.00 MiB, collective 17 of world, backward of step 5)"
std::string full_text(const CollectiveCallFigures& call, const std::string& group) {
  return what_text(call) + " (" + size_and(call) + "collective " + std::to_string(call.sequence) +
         " of " + group + ", " + where_text(call) + ")";
}

class Diagnoser {
 public:
  Diagnoser(const RunFigures& figures, const model::StringTable& strings, std::int64_t now_ns)
      : figures_(figures),
        groups_(calls_by_group(figures, strings)),
        now_ns_(now_ns),
        is_live_(now_ns != 0) {
    for (const auto& rank : figures.ranks) {
      if (now_ns == 0) now_ns_ = std::max(now_ns_, rank.heartbeat.alive_ns);
    }
  }

  HangDiagnosis diagnose() {
    collect_states();
    for (const auto& group : groups_) {
      if (find_mismatch(group)) return std::move(result_);
    }
    if (find_absence()) return std::move(result_);
    for (const auto& group : groups_) {
      if (find_slow(group)) return std::move(result_);
    }
    return std::move(result_);
  }

 private:
  void collect_states() {
    for (const auto& group : groups_) {
      // Where nothing records collectives it is not known whether there were any.
      const auto has_calls = [](const auto& of_rank) { return !of_rank.second.empty(); };
      if (std::ranges::none_of(group.by_rank, has_calls)) continue;
      for (const auto& [rank, calls] : group.by_rank) {
        auto& state = result_.states.emplace_back();
        state.rank = rank;
        state.group = group.group;
        state.group_name = group.name;
        for (const auto& [sequence, call] : calls) {
          state.last_entered = call;
          if (!call.pending) state.last_completed = call;
        }
      }
    }
  }

  bool conclude(HangCause cause, int rank, std::string sentence) {
    result_.cause = cause;
    result_.rank = rank;
    result_.sentence = std::move(sentence);
    return true;
  }

  // ---- ranks that do different things under the same number -----------------------------------

  bool find_mismatch(const GroupCalls& group) {
    std::set<std::int64_t> sequences;
    for (const auto& [rank, calls] : group.by_rank) {
      for (const auto& [sequence, call] : calls) sequences.insert(sequence);
    }
    for (auto sequence : sequences) {
      const int usual = rank_of_majority(group, sequence);
      const auto* expected = group.find(usual, sequence);
      for (const auto& [rank, calls] : group.by_rank) {
        const auto* found = group.find(rank, sequence);
        if (found == nullptr || found->matches(*expected)) continue;
        return report_mismatch(group, *expected, usual, *found, rank);
      }
    }
    return false;
  }

  // A rank whose call most others share; the lowest one when none is in the majority.
  static int rank_of_majority(const GroupCalls& group, std::int64_t sequence) {
    int best = -1;
    std::ptrdiff_t most = 0;
    for (const auto& [rank, calls] : group.by_rank) {
      const auto* call = group.find(rank, sequence);
      if (call == nullptr) continue;
      const auto same =
          std::count_if(group.by_rank.begin(), group.by_rank.end(), [&](const auto& other) {
            const auto* theirs = group.find(other.first, sequence);
            return theirs != nullptr && theirs->matches(*call);
          });
      if (same > most) {
        most = same;
        best = rank;
      }
    }
    return best;
  }

  // Whether `behind` does now what `ahead` does one number later, as far as both are known.
  static bool is_shifted(const GroupCalls& group, int behind, int ahead, std::int64_t sequence) {
    std::int64_t fits = 0;
    for (std::int64_t i = 0; i < kShiftEvidence; ++i) {
      const auto* early = group.find(behind, sequence + i);
      const auto* late = group.find(ahead, sequence + 1 + i);
      if (early == nullptr || late == nullptr) break;
      if (!early->matches(*late)) return false;
      ++fits;
    }
    return fits > 0;
  }

  bool report_mismatch(const GroupCalls& group, const GroupCall& expected, int usual,
                       const GroupCall& found, int rank) {
    if (is_shifted(group, rank, usual, expected.sequence)) {
      return report_skip(group, expected, rank);
    }
    if (is_shifted(group, usual, rank, expected.sequence)) return report_skip(group, found, usual);
    if (found.function == expected.function && found.tag == expected.tag) {
      return conclude(HangCause::kMismatch, rank,
                      ranks_text({usual, rank}) + " entered " + full_text(expected, group.name) +
                          " with different sizes: " + base::bytes_text(expected.bytes) + " (" +
                          std::to_string(expected.bytes) + " B) and " +
                          base::bytes_text(found.bytes) + " (" + std::to_string(found.bytes) +
                          " B)");
    }
    return conclude(HangCause::kMismatch, rank,
                    "the first mismatch is collective " + std::to_string(expected.sequence) +
                        " of " + group.name + ": rank " + std::to_string(usual) + " entered " +
                        what_text(expected) + " (" + size_and(expected) + where_text(expected) +
                        "), rank " + std::to_string(rank) + " " + what_text(found) + " (" +
                        size_and(found) + where_text(found) + ")");
  }

  bool report_skip(const GroupCalls& group, const GroupCall& call, int rank) {
    return conclude(HangCause::kSkipped, rank,
                    "rank " + std::to_string(rank) + " left out " + full_text(call, group.name) +
                        ": since then its collectives do not match the others'");
  }

  // ---- ranks that are not there ----------------------------------------------------------------

  bool is_stopped(int rank) const {
    const auto alive_ns = heartbeat(rank).alive_ns;
    return alive_ns > 0 && now_ns_ - alive_ns > kStoppedAfter;
  }

  const model::Heartbeat& heartbeat(int rank) const {
    static constexpr model::Heartbeat kNone;
    const auto index = static_cast<std::size_t>(rank);
    return index < figures_.ranks.size() ? figures_.ranks[index].heartbeat : kNone;
  }

  // Ranks that have stopped come first, then those at the end of a chain of waits: with several
  // groups whoever is missing may itself wait for another. Last, ranks that wait in a ring.
  bool find_absence() {
    const auto waits = group_waits(groups_, figures_.info.status == model::RunStatus::kFailed);
    for (const auto& wait : waits) {
      std::vector<int> stopped;
      for (const auto& [rank, calls] : wait.group->by_rank) {
        if (is_stopped(rank)) stopped.push_back(rank);
      }
      if (!stopped.empty() && stopped.size() < wait.group->by_rank.size()) {
        return report_stopped(*wait.group, *wait.call, stopped, wait.waiting);
      }
    }
    for (const auto& wait : waits) {
      const auto free = absent_without_wait(wait, waits);
      if (!free.empty()) return report_absent(*wait.group, *wait.call, free, wait.waiting);
    }
    for (const auto& wait : waits) {
      if (wait.absent.empty()) continue;
      return report_absent(*wait.group, *wait.call, wait.absent, wait.waiting);
    }
    return false;
  }

  bool report_stopped(const GroupCalls& group, const GroupCall& call,
                      const std::vector<int>& stopped, std::vector<int> waiting) {
    std::erase_if(waiting, [&](int rank) { return is_stopped(rank); });
    const auto& beat = heartbeat(stopped.front());
    std::string text = ranks_text(stopped) + (stopped.size() == 1 ? " has" : " have") +
                       " stopped or ended: no sign of life for " +
                       base::duration_text(now_ns_ - beat.alive_ns) + ", last seen " +
                       seen_text(beat);
    if (!waiting.empty()) {
      text += "; " + ranks_text(waiting) + (waiting.size() == 1 ? " waits in " : " wait in ") +
              full_text(call, group.name);
    }
    return conclude(HangCause::kStopped, stopped.front(), std::move(text));
  }

  bool report_absent(const GroupCalls& group, const GroupCall& call, const std::vector<int>& absent,
                     const std::vector<int>& waiting) {
    const auto& beat = heartbeat(absent.front());
    std::string text = ranks_text(absent) + " did not arrive in " + full_text(call, group.name) +
                       ", where " + ranks_text(waiting) +
                       (waiting.size() == 1 ? " waits" : " wait");
    if (beat.alive_ns > 0) {
      text += "; rank " + std::to_string(absent.front()) + (is_live_ ? " is " : " was last seen ") +
              seen_text(beat);
      const auto still_ns = now_ns_ - beat.progress_ns;
      if (beat.progress_ns > 0 && still_ns > kWorthMentioning) {
        text += std::string(is_live_ ? " and has" : " and had") + " not moved on for " +
                base::duration_text(still_ns);
      }
    }
    return conclude(HangCause::kNotArrived, absent.front(), std::move(text));
  }

  static std::string seen_text(const model::Heartbeat& beat) {
    if (beat.step < 0) return "before its first step";
    return "in " + step_text(beat.phase, beat.step);
  }

  bool find_slow(const GroupCalls& group) {
    for (const auto& [rank, calls] : group.by_rank) {
      for (const auto& [sequence, call] : calls) {
        if (!call.pending || was_completed(group, sequence)) continue;
        if (group.untold > 0) return report_untold(group, call);
        return conclude(HangCause::kSlow, -1,
                        "all ranks have entered " + full_text(call, group.name) +
                            ", and it does not end: look at the link between them");
      }
    }
    return false;
  }

  bool report_untold(const GroupCalls& group, const GroupCall& call) {
    std::vector<int> told;
    for (const auto& [rank, calls] : group.by_rank) told.push_back(rank);
    return conclude(HangCause::kSlow, -1,
                    ranks_text(told) + (told.size() == 1 ? " has" : " have") + " entered " +
                        full_text(call, group.name) + ", and it does not end: look at the other " +
                        base::counted(group.untold, "rank") +
                        " of that group, of which nothing is recorded, and at the link between "
                        "them");
  }

  const RunFigures& figures_;
  std::vector<GroupCalls> groups_;
  std::int64_t now_ns_;
  bool is_live_;
  HangDiagnosis result_;
};

}  // namespace

HangDiagnosis diagnose_hang(const RunFigures& figures, const model::StringTable& strings,
                            std::int64_t now_ns) {
  return Diagnoser(figures, strings, now_ns).diagnose();
}

std::string state_text(const RankInGroup& state) {
  const auto call_text = [](const std::optional<CollectiveCallFigures>& call) -> std::string {
    if (!call) return "none";
    return "#" + std::to_string(call->sequence) + " " + what_text(*call) + ", " + size_and(*call) +
           where_text(*call);
  };
  return "rank " + std::to_string(state.rank) + ", " + state.group_name + ": last entered " +
         call_text(state.last_entered) + "; last completed " + call_text(state.last_completed);
}

}  // namespace shardlens::trace::analysis
