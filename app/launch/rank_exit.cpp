#include "app/launch/rank_exit.h"

#include <string.h>  // sigabbrev_np

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "trace/analysis/run/run_analysis.h"
#include "trace/store/read/run_reader.h"

namespace shardlens::app::launch {
namespace {

// How Gloo, NCCL and c10d's stores, and ranks that connect, speak of a peer that is gone.
bool blames_a_peer(std::string_view message) {
  constexpr std::array<std::string_view, 12> kWords = {
      "closed by peer", "reset by peer", "Connection refused", "connection closed",
      "Broken pipe",    "pair.cc",       "remote process",     "ncclRemoteError",
      "Connection was", "NCCL error",    " s for rank ",       "whether it could connect"};
  return std::ranges::any_of(
      kWords, [&](auto words) { return message.find(words) != std::string_view::npos; });
}

// Smaller is more likely the cause.
int suspicion(const RankExit& exit) {
  if (exit.signal != 0) return 0;
  return blames_a_peer(exit.message) ? 2 : 1;
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(signal);
}

// The end of a job is not held up for longer; reports name the culprit anyway.
constexpr std::chrono::seconds kPatience{5};

std::string_view deed(trace::analysis::HangCause cause) {
  switch (cause) {
    case trace::analysis::HangCause::kMismatch:
      return "entered a different one";
    case trace::analysis::HangCause::kSkipped:
      return "left out a collective";
    case trace::analysis::HangCause::kStopped:
      return "showed no sign of life";
    case trace::analysis::HangCause::kNotArrived:
      return "never arrived";
    case trace::analysis::HangCause::kNone:
    case trace::analysis::HangCause::kSlow:
      break;
  }
  return "";
}

}  // namespace

const RankExit* first_failure(std::span<const RankExit> exits) {
  const RankExit* first = nullptr;
  for (const auto& exit : exits) {
    if (exit.failed() && !exit.asked && (!first || exit.time < first->time)) first = &exit;
  }
  if (first == nullptr) return nullptr;
  const RankExit* cause = first;
  for (const auto& exit : exits) {
    if (!exit.failed() || exit.asked || exit.time > first->time + kNearTie) continue;
    if (std::tuple(suspicion(exit), exit.time) < std::tuple(suspicion(*cause), cause->time)) {
      cause = &exit;
    }
  }
  if (cause->signal != 0 || !blames_a_peer(cause->message)) return cause;
  // All of them miss a peer: then it is one that left without an error.
  for (const auto& exit : exits) {
    if (!exit.failed() && !exit.asked && exit.time <= first->time) return &exit;
  }
  return cause;
}

bool any_ran_out_of_patience(std::span<const RankExit> exits) {
  const auto says = [](const RankExit& exit, std::string_view words) {
    return exit.message.find(words) != std::string::npos;
  };
  return std::ranges::any_of(exits, [&](const RankExit& exit) {
    return exit.failed() && (says(exit, "collective_timeout_s") ||
                             says(exit, "Watchdog caught collective operation timeout"));
  });
}

std::string describe(const RankExit& exit) {
  const std::string rank = "rank " + std::to_string(exit.rank);
  const std::string last = exit.message.empty() ? "" : "; its last line was: " + exit.message;
  const std::string said = exit.says_why ? ": " + exit.message : last;
  if (exit.signal == SIGKILL && exit.asked) return rank + " did not leave in time and was killed";
  if (exit.signal == SIGKILL) {
    return rank + " was killed (SIGKILL): by somebody, or by the system because memory ran out" +
           last;
  }
  if (exit.signal != 0) return rank + " was killed by " + signal_name(exit.signal) + said;
  if (exit.left_unfinished()) {
    const trace::model::ToldByRank told[] = {{exit.rank, *exit.outcome}};
    const std::string steps = trace::model::steps_text(told);
    return rank + " left without an error before it had finished" +
           (steps.empty() ? "" : ", after " + steps) + said;
  }
  if (!exit.failed()) return rank + " left before the others, without an error" + said;
  if (exit.code == 1 && exit.says_why) return rank + " failed" + said;
  return rank + " left with exit code " + std::to_string(exit.code) + said;
}

trace::analysis::HangDiagnosis diagnose_files(const std::filesystem::path& folder,
                                              const trace::model::RunInfo& ended) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  auto reader = trace::store::RunReader::open(folder);
  if (!reader) return {};
  trace::analysis::RunAnalysis analysis(ended);
  for (;;) {
    const auto batches = (*reader)->poll();
    if (!batches || std::chrono::steady_clock::now() > deadline) return {};
    if (batches->empty()) break;
    for (const auto& batch : *batches) analysis.add(batch);
  }
  return trace::analysis::diagnose_hang(analysis.figures(), analysis.strings());
}

std::string with_culprit(std::string reason, const trace::analysis::HangDiagnosis& diagnosis) {
  const auto what = deed(diagnosis.cause);
  const std::string rank = "rank " + std::to_string(diagnosis.rank) + " ";
  if (diagnosis.rank < 0 || what.empty()) return reason;
  const bool is_absent = diagnosis.cause == trace::analysis::HangCause::kStopped ||
                         diagnosis.cause == trace::analysis::HangCause::kNotArrived;
  if (is_absent && reason.starts_with(rank)) return reason;
  if (reason.ends_with('.')) reason.pop_back();
  return reason + "; " + rank + std::string(what);
}

namespace {

// Enough for any stack trace; a log may be far longer.
constexpr std::streamoff kTailBytes = 64 * 1024;
constexpr std::string_view kErrorPrefix = "error: ";
// What LibTorch's watchdog says of a collective before it ends the process.
constexpr std::string_view kWatchdog = "Watchdog caught collective operation timeout";

// Whether a line is part of the stack trace that LibTorch and the C++ runtime print when they abort
// a process.
bool is_trace(std::string_view line) {
  constexpr std::array<std::string_view, 3> kStarts = {"frame #", "Exception raised from",
                                                       "terminate called"};
  const auto first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) return true;
  line.remove_prefix(first);
  return std::ranges::any_of(kStarts, [&](auto start) { return line.starts_with(start); });
}

}  // namespace

std::vector<std::string> log_tail(const std::filesystem::path& log, std::size_t count) {
  // Opening a pipe would wait for its writer.
  std::error_code error;
  if (!std::filesystem::is_regular_file(log, error)) return {};
  std::ifstream file(log, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const std::streamoff size = file.tellg();
  const std::streamoff start = std::max<std::streamoff>(0, size - kTailBytes);
  file.seekg(start);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(std::move(line));
  }
  if (start > 0 && !lines.empty()) lines.erase(lines.begin());  // cut in its middle
  if (lines.size() > count) {
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(count));
  }
  return lines;
}

LastWords last_message(const std::filesystem::path& log) {
  const auto lines = log_tail(log, 400);
  std::string last, watchdog;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (line->starts_with(kErrorPrefix)) return {line->substr(kErrorPrefix.size()), true};
    if (last.empty() && !is_trace(*line)) last = *line;
    const auto told = line->find(kWatchdog);
    if (told != std::string::npos) watchdog = line->substr(told);
  }
  if (!watchdog.empty()) return {std::move(watchdog), true};
  return {std::move(last), false};
}

}  // namespace shardlens::app::launch
