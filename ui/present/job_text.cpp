#include "ui/present/job_text.h"

#include <algorithm>
#include <cctype>

#include "trace/base/number_text.h"
#include "trace/base/text.h"
#include "trace/model/run_info.h"
#include "ui/present/format.h"

namespace shardlens::ui::present {

std::string running_ordinal(const state::Snapshot& snapshot) {
  if (!snapshot.ledger || snapshot.job.folder.empty()) return "";
  for (const state::LedgerRow& row : snapshot.ledger->rows) {
    if (row.folder == snapshot.job.folder) return row.ordinal;
  }
  return "";
}

bool awaits_first_step(const state::Snapshot& snapshot) {
  if (!snapshot.run) return snapshot.job.phase != state::JobPhase::kNone;
  return snapshot.run->is_live && snapshot.run->figures.steps.empty();
}

std::int64_t steps_reached(const trace::analysis::RunFigures& figures) {
  return figures.steps.empty() ? 0 : figures.steps.back().index + 1;
}

namespace {

StartControls while_running(const state::Snapshot& snapshot) {
  StartControls out;
  out.kind = StartControls::Kind::kQueue;
  out.label = "Queue " + next_ordinal(snapshot.ledger.get(), snapshot.job.queued.size());
  out.detail = snapshot.knobs.next_name;
  const std::string ordinal = running_ordinal(snapshot);
  out.stop_and_start = "Stop " + (ordinal.empty() ? snapshot.job.run_name : ordinal) + " and start";
  out.enabled = snapshot.knobs.problems.empty();
  return out;
}

std::string lost_text(const trace::analysis::RecorderFigures& recorder) {
  if (recorder.lost <= 0) return "";
  std::string text = format_integer(recorder.lost) +
                     (recorder.lost == 1 ? " record was lost" : " records were lost");
  for (const trace::model::Lost& loss : recorder.losses) {
    if (loss.reason.empty() || text.find(loss.reason) != std::string::npos) continue;
    text += (text.find(':') == std::string::npos ? ": " : ", ") + loss.reason;
  }
  return text;
}

// Beside the name of another run it says whose it is.
ProgressText live_progress(const state::Snapshot& snapshot) {
  const state::JobState& job = snapshot.job;
  ProgressText out;
  out.fraction =
      job.steps > 0
          ? std::clamp(static_cast<float>(job.step) / static_cast<float>(job.steps), 0.0f, 1.0f)
          : 0;
  if (job.phase == state::JobPhase::kStarting) {
    out.left = "starting ranks…";
  } else {
    if (snapshot.run && snapshot.run->figures.info.folder != job.folder) {
      const std::string ordinal = running_ordinal(snapshot);
      out.left = (ordinal.empty() ? job.run_name : ordinal) + ": ";
    }
    out.left += "step " + format_integer(job.step);
    if (job.steps > 0) out.left += " of " + format_integer(job.steps);
    out.right = job.phase == state::JobPhase::kStopping ? "stopping…"
                                                        : format_seconds_left(job.seconds_left);
  }
  return out;
}

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

std::string_view repeated_name(std::string_view name) {
  constexpr std::string_view kAgain = " again";
  const std::size_t at = name.rfind(kAgain);
  if (at == std::string_view::npos) return name;
  std::string_view count = name.substr(at + kAgain.size());
  const bool is_count =
      count.empty() || (count.front() == ' ' && trace::base::number_from<int>(count.substr(1)));
  return is_count ? name.substr(0, at) : name;
}

std::vector<std::string> queued_names(const state::JobState& job) {
  using Parts = std::vector<std::string>;
  // "cap 4, steps 300 again 2": also what number of a repetition it is.
  const auto parts_of = [](std::string_view name) {
    Parts parts;
    const std::string_view repeated = repeated_name(name);
    for (const std::string_view part : trace::base::split(repeated, ',')) {
      parts.emplace_back(trace::base::trimmed(part));
    }
    name.remove_prefix(repeated.size());
    if (!name.empty()) parts.emplace_back(trace::base::trimmed(name));
    return parts;
  };
  std::vector<Parts> all{parts_of(job.run_name)};
  for (const auto& waiting : job.queued) all.push_back(parts_of(waiting.name));
  const auto is_shared = [&](const std::string& part) {
    return std::ranges::all_of(
        all, [&](const Parts& parts) { return std::ranges::find(parts, part) != parts.end(); });
  };
  std::vector<std::string> names;
  for (std::size_t i = 0; i < job.queued.size(); ++i) {
    std::string name;
    for (const std::string& part : all[i + 1]) {
      if (is_shared(part)) continue;
      if (repeated_name(" " + part).empty()) {
        name += (name.empty() ? "the same " : " ") + part;
      } else {
        name += (name.empty() ? "" : ", ") + part;
      }
    }
    names.push_back(name.empty() ? job.queued[i].name : name);
  }
  return names;
}

std::string steps_text(std::int64_t steps) { return trace::base::counted(steps, "step"); }

const char* overhead_bound(const trace::analysis::RecorderFigures& recorder) {
  if (recorder.overhead_is_least) return "at least ";
  return recorder.overhead_is_measured ? "" : "about ";
}

std::string recorder_text(const trace::analysis::RecorderFigures& recorder) {
  std::string text = recorder.events ? format_integer(*recorder.events) + " events" : "";
  if (recorder.bytes_on_disk > 0) {
    text += (text.empty() ? "" : " in ") + bytes_text(recorder.bytes_on_disk);
    if (!recorder.events) text += " on disk";
  }
  if (recorder.overhead_fraction) {
    text += std::string("; recording makes steps ") + overhead_bound(recorder) +
            format_percent(*recorder.overhead_fraction).text() + " longer, " +
            (recorder.overhead_is_measured ? "measured" : "estimated") +
            (recorder.overhead_is_least ? " without what CUPTI adds to each launch" : "");
  }
  if (recorder.lost == 0 && (!recorder.events || recorder.lacks_end)) return text;
  if (!text.empty()) text += "; ";
  return text + (recorder.lost == 0 ? "none" : format_integer(recorder.lost)) + " lost";
}

std::string recorder_definition(const trace::analysis::RecorderFigures& recorder) {
  std::string text = "Events are kernels, copies, launches, operators, allocations and collectives";
  if (!recorder.overhead_fraction) return text;
  text +=
      recorder.overhead_is_measured
          ? ". The cost is how much longer the median step with detail takes than the median "
            "step without, times the steps with detail ÷ what all measured steps take without it"
          : ". The cost is the time of callbacks on the job's own threads ÷ what its steps "
            "take without them, the mean over ranks";
  if (recorder.overhead_is_least) text += ". What CUPTI does in each launch comes on top";
  return text;
}

std::vector<std::string> device_lines(const trace::analysis::RunFigures& figures) {
  std::vector<std::string> lines;
  for (const auto& rank : figures.ranks) {
    const trace::model::RankInfo& info = rank.info;
    if (!info.device.starts_with("cuda")) continue;
    std::string line = info.device_name.empty() ? info.device : info.device_name;
    if (!info.versions.empty()) line += "; " + info.versions;
    if (!info.link.empty()) line += "; linked by " + info.link;
    if (info.link_bytes_per_second > 0) {
      line += ", " + format_bandwidth(info.link_bytes_per_second).text() + " at most";
    }
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  }
  return lines;
}

std::string next_ordinal(const state::Ledger* ledger, std::size_t queued) {
  const std::int64_t next = ledger == nullptr ? 1 : ledger->next_number;
  return "run " + std::to_string(next + static_cast<std::int64_t>(queued));
}

StartControls start_controls(const state::Snapshot& snapshot) {
  StartControls out;
  using Kind = StartControls::Kind;
  switch (snapshot.trainer.state) {
    case state::TrainerSetup::State::kInstalling:
      return {Kind::kInstalling, "Setting up the trainer", snapshot.trainer.message, "", false};
    case state::TrainerSetup::State::kFailed:
      return {Kind::kInstallFailed, "Try the set-up again", snapshot.trainer.message, "", true};
    case state::TrainerSetup::State::kNotWanted:
      return {Kind::kViewerOnly, "Viewer only",
              "This build has no trainer; recorded runs can be replayed", "", false};
    case state::TrainerSetup::State::kReady:
      break;
  }
  if (snapshot.job.phase != state::JobPhase::kNone) return while_running(snapshot);
  out.label = "Start " + next_ordinal(snapshot.ledger.get());
  out.detail = snapshot.knobs.next_name;
  out.enabled = snapshot.knobs.problems.empty();
  return out;
}

std::string why_no_start(const state::Snapshot& snapshot) {
  const StartControls controls = start_controls(snapshot);
  using Kind = StartControls::Kind;
  if (controls.kind == Kind::kInstalling) return "The trainer is still being set up";
  if (!controls.starts_a_run()) return controls.detail;
  return controls.enabled ? "" : snapshot.knobs.problems.front().message;
}

bool only_views(const state::Snapshot& snapshot) {
  return snapshot.trainer.state == state::TrainerSetup::State::kNotWanted;
}

namespace {

ProgressText recorded_progress(const trace::analysis::RunFigures& figures) {
  ProgressText out;
  const std::int64_t done = steps_reached(figures);
  const trace::job::Settings& settings = figures.info.settings;
  out.left = "step " + format_integer(done);
  if (!trace::model::has_settings(figures.info) || settings.epochs > 0 || settings.steps <= 0)
    return out;
  out.left += " of " + format_integer(settings.steps);
  out.fraction = static_cast<float>(done) / static_cast<float>(settings.steps);
  return out;
}

}  // namespace

ProgressText progress_text(const state::Snapshot& snapshot) {
  if (snapshot.job.phase != state::JobPhase::kNone) return live_progress(snapshot);
  ProgressText out;
  if (!snapshot.run) return out;
  const trace::analysis::RunFigures& figures = snapshot.run->figures;
  switch (figures.info.status) {
    case trace::model::RunStatus::kDone:
      out.left = "done";
      break;
    case trace::model::RunStatus::kStopped:
      out.left = "stopped";
      break;
    case trace::model::RunStatus::kIncomplete:
      out.left = "incomplete";
      out.failed = true;
      break;
    case trace::model::RunStatus::kFailed:
      out.left = "failed";
      out.failed = true;
      break;
    case trace::model::RunStatus::kRunning:
      // Replayed, or started by another program.
      if (snapshot.run->is_live) return recorded_progress(figures);
      out.left = "unfinished";
      break;
  }
  out.details = out.left + " after " + steps_text(figures.summary.steps_executed);
  if (figures.info.end_ns > figures.info.start_ns) {
    const double ns = static_cast<double>(figures.info.end_ns - figures.info.start_ns);
    // A clock only where there are minutes.
    out.right = ns < 60e9 ? format_duration(ns).text() : format_elapsed(ns / 1e9);
    out.details += ", " + out.right;
  }
  return out;
}

std::vector<Message> messages(const state::Snapshot& snapshot, bool inspects) {
  std::vector<Message> out;
  if (!snapshot.notice.empty()) {
    out.push_back({{snapshot.notice}, snapshot.notice_is_error, !snapshot.notice_is_error});
  }
  // Where nothing can be shown the workspace says why.
  const state::InspectView* inspect = inspects ? snapshot.inspect.get() : nullptr;
  if (inspect != nullptr && inspect->rows && !inspect->problem.empty()) {
    out.push_back({{inspect->problem}, true});
  }
  if (snapshot.run) {
    const state::RunView& run = *snapshot.run;
    if (!run.diagnosis.empty() && run.figures.info.status != trace::model::RunStatus::kFailed) {
      out.push_back({{run.diagnosis}, true});
    }
    if (run.figures.info.status == trace::model::RunStatus::kIncomplete) {
      out.push_back({{"Incomplete: " + run.figures.info.reason}, true});
    }
    const std::string lost = lost_text(run.figures.recorder);
    if (!lost.empty()) out.push_back({{lost}, false});
    if (!run.banners.empty()) out.push_back({run.banners, false});
  }
  return out;
}

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
