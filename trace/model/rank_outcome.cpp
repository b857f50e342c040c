#include "trace/model/rank_outcome.h"

#include <string.h>  // sigabbrev_np
#include <unistd.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "trace/base/number_text.h"
#include "trace/base/text.h"

namespace shardlens::trace::model {

namespace {

struct ToldOutcome {
  // Another layout has another size or another number.
  static constexpr std::uint64_t kMark = 0x31'454d'4f43'5455'4fULL + sizeof(RankOutcome);
  std::uint64_t mark = kMark;
  RankOutcome outcome;
};
static_assert(std::is_trivially_copyable_v<ToldOutcome>);

}  // namespace

UnwrittenRecords& UnwrittenRecords::operator+=(const UnwrittenRecords& more) {
  for (const auto& [noun, count] : kRecordKinds) this->*count += more.*count;
  return *this;
}

std::string to_text(const UnwrittenRecords& records) {
  std::vector<std::string> parts;
  for (const auto& [noun, count] : kRecordKinds) {
    if (records.*count > 0) parts.push_back(base::counted(records.*count, noun));
  }
  return base::listed(parts);
}

void RankOutcome::set_recording_error(std::string_view text) {
  recording_error.fill('\0');
  const std::size_t length = std::min(text.size(), recording_error.size() - 1);
  std::copy_n(text.begin(), length, recording_error.begin());
}

std::string RankOutcome::recording_error_text() const {
  const auto end = std::find(recording_error.begin(), recording_error.end(), '\0');
  return {recording_error.begin(), end};
}

void tell_outcome(int descriptor, const RankOutcome& outcome) {
  if (descriptor < 0) return;
  const ToldOutcome told{.outcome = outcome};
  // Memory, not a disk: what fails here, nobody could be told.
  static_cast<void>(pwrite(descriptor, &told, sizeof told, 0) != 0);
}

std::optional<RankOutcome> read_outcome(int descriptor) {
  ToldOutcome told;
  if (descriptor < 0 || pread(descriptor, &told, sizeof told, 0) != sizeof told) {
    return std::nullopt;
  }
  if (told.mark != ToldOutcome::kMark) return std::nullopt;
  return told.outcome;
}

std::string steps_text(std::span<const ToldByRank> ranks) {
  std::int64_t steps = 0, total = 0;
  for (const ToldByRank& rank : ranks) {
    steps = std::max(steps, rank.outcome.steps);
    total = std::max(total, rank.outcome.steps_total);
  }
  return total == 0 ? "" : base::grouped(steps) + " of " + base::counted(total, "step");
}

std::string unwritten_text(std::span<const ToldByRank> ranks) {
  UnwrittenRecords all;
  std::string why;
  std::vector<int> concerned;
  for (const ToldByRank& rank : ranks) {
    if (rank.outcome.unwritten.total() == 0) continue;
    all += rank.outcome.unwritten;
    concerned.push_back(rank.rank);
    if (why.empty()) why = rank.outcome.recording_error_text();
  }
  if (concerned.empty()) return "";
  std::string text = to_text(all);
  if (ranks.size() > 1) {
    text += concerned.size() == 1 ? " of rank " + std::to_string(concerned.front())
                                  : " of " + std::to_string(concerned.size()) + " ranks";
  }
  text += all.total() == 1 ? " was not recorded" : " were not recorded";
  return why.empty() ? text : text + ": " + why;
}

RunEnd end_of(std::span<const ToldByRank> ranks) {
  RunEnd end;
  for (const ToldByRank& rank : ranks) {
    if (!rank.outcome.left_early) continue;
    end.status = RunStatus::kStopped;
    if (rank.outcome.stop_signal == 0) continue;
    const char* name = sigabbrev_np(rank.outcome.stop_signal);
    end.reason += (end.reason.empty() ? "rank " : ", rank ") + std::to_string(rank.rank) +
                  " was sent " + (name != nullptr ? "SIG" + std::string(name) : "a signal");
  }
  if (end.status == RunStatus::kStopped) {
    const std::string steps = steps_text(ranks);
    end.reason = "stopped" + (steps.empty() ? "" : " after " + steps) + ": " +
                 (end.reason.empty() ? "a rank was asked to" : end.reason);
  }
  if (const std::string missing = unwritten_text(ranks); !missing.empty()) {
    if (end.status == RunStatus::kDone) end.status = RunStatus::kIncomplete;
    end.reason += (end.reason.empty() ? "" : "; ") + missing;
  }
  return end;
}

}  // namespace shardlens::trace::model
