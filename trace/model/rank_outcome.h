// What a rank tells its launcher of itself, whatever room there is on the disk: how far it trained
// and saved, who asked it to stop, what of it is not in its file. Plain values in a descriptor that
// both have; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "trace/model/run_info.h"

namespace shardlens::trace::model {

// The descriptor of a rank, in its environment.
inline constexpr const char* kOutcomeVariable = "SHARDLENS_OUTCOME_DESCRIPTOR";

// Records that could not be written.
struct UnwrittenRecords {
  std::int64_t steps = 0;
  std::int64_t spans = 0;   // phases, and what lies in them
  std::int64_t events = 0;  // operators, kernels, …, and collectives
  std::int64_t others = 0;

  std::int64_t total() const { return steps + spans + events + others; }
  UnwrittenRecords& operator+=(const UnwrittenRecords& more);
};
// What one of each is called.
inline constexpr std::pair<std::string_view, std::int64_t UnwrittenRecords::*> kRecordKinds[] = {
    {"step", &UnwrittenRecords::steps},
    {"phase", &UnwrittenRecords::spans},
    {"event", &UnwrittenRecords::events},
    {"other record", &UnwrittenRecords::others}};

// "12 steps, 72 phases and 1,012,345 events"; "" for none.
std::string to_text(const UnwrittenRecords& records);

struct RankOutcome {
  std::int64_t steps = 0;         // trained so far, those before a resumed checkpoint included
  std::int64_t steps_total = 0;   // that it was to train; 0: not known yet
  std::int64_t saved_pieces = 0;  // grows as long as what it saves, or others for it, gets on
  int stop_signal = 0;            // that reached this rank itself
  bool left_early = false;        // after one of the ranks was asked to
  bool finished = false;          // it came to its end in order, and said what it could not keep
  UnwrittenRecords unwritten;
  std::array<char, 512> recording_error{};  // why its recording ended early; "": it did not

  void set_recording_error(std::string_view text);  // cut where it is too long
  std::string recording_error_text() const;
};

// Replaces what was told before. A launcher that is gone is no error.
void tell_outcome(int descriptor, const RankOutcome& outcome);
// None: nothing was told, or by a program of another version.
std::optional<RankOutcome> read_outcome(int descriptor);

struct ToldByRank {
  int rank = 0;
  RankOutcome outcome;
};

// "12 of 100 steps": as far as the rank came that trained most; "" where none has told.
std::string steps_text(std::span<const ToldByRank> ranks);
// "58 steps and 1,012,345 events were not recorded: <why>"; "" if nothing is missing.
std::string unwritten_text(std::span<const ToldByRank> ranks);

// How a run ended whose ranks have left in order and were not told to by their launcher: done,
// stopped by who sent one of them a signal, or incomplete.
struct RunEnd {
  RunStatus status = RunStatus::kDone;
  std::string reason;
};
RunEnd end_of(std::span<const ToldByRank> ranks);

}  // namespace shardlens::trace::model
