#include "ui/present/closing_text.h"

#include <cctype>

#include "ui/present/format.h"
#include "ui/present/job_text.h"

namespace shardlens::ui::present {

namespace {

using state::JobPhase;

std::string sentence(std::string words) {
  words.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(words.front())));
  return words + ".";
}

// "run 12 is at step 34 of 300"
std::string run_going_on(const state::Snapshot& snapshot) {
  const state::JobState& job = snapshot.job;
  const std::string ordinal = running_ordinal(snapshot);
  const std::string run = ordinal.empty() ? "the run “" + job.run_name + "”" : ordinal;
  if (job.phase == JobPhase::kStarting) return run + " is starting";
  if (job.phase == JobPhase::kStopping) return run + " is being stopped";
  std::string text = run + " is at step " + format_integer(job.step);
  if (job.steps > 0) text += " of " + format_integer(job.steps);
  return text;
}

std::string waiting(std::size_t runs, bool besides) {
  const std::string number = format_integer(static_cast<std::int64_t>(runs));
  if (besides) return number + (runs == 1 ? " more waits" : " more wait");
  return number + (runs == 1 ? " run waits" : " runs wait");
}

}  // namespace

ClosingText closing_text(const state::Snapshot& snapshot) {
  const bool runs = snapshot.job.phase != JobPhase::kNone;
  const std::size_t queued = snapshot.job.queued.size();
  const std::string sweep = snapshot.sweep ? snapshot.sweep->running : "";
  std::string now = runs ? run_going_on(snapshot) : "";
  if (queued > 0) now += (now.empty() ? "" : "; ") + waiting(queued, runs);
  ClosingText out;
  if (!sweep.empty()) {
    out.going_on = "The sweep “" + sweep + "” goes on" + (now.empty() ? "" : ": " + now) + ".";
  } else if (!now.empty()) {
    out.going_on = sentence(now);
  }
  for (const std::string& work : snapshot.file_work) {
    out.going_on += (out.going_on.empty() ? "" : " ") + sentence(work + " goes on");
  }
  if (runs) {
    out.effect =
        snapshot.job.saves_checkpoints
            ? "The run is stopped once what is due is evaluated and saved; what it has recorded is "
              "kept."
            : "The run is stopped; what it has recorded is kept.";
  }
  const auto add = [&](const std::string& text) {
    out.effect += (out.effect.empty() ? "" : " ") + text;
  };
  if (!sweep.empty()) add("The sweep can be resumed.");
  if (queued > 0) {
    add(queued == 1 ? "The one that waits does not start." : "Those that wait do not start.");
  }
  if (!snapshot.file_work.empty()) add("Of unfinished files nothing is kept.");
  return out;
}

}  // namespace shardlens::ui::present
