#include "app/report/report_text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "app/report/text_table.h"
#include "app/session/runs/run_banners.h"
#include "trace/analysis/figures/evaluation_table.h"
#include "trace/analysis/figures/run_summary.h"
#include "trace/analysis/figures/throttling.h"
#include "trace/base/printable.h"
#include "trace/base/text.h"
#include "trace/job/library_environment.h"
#include "ui/present/format.h"
#include "ui/present/headline.h"
#include "ui/present/job_text.h"

namespace shardlens::app::report {
namespace {

constexpr std::size_t kMostRanksNamed = 8;

using trace::analysis::RunSummary;
using trace::base::Phase;

std::string share(double part, double whole) {
  return or_unknown(whole > 0, ui::present::format_percent(part / whole).text());
}

// "the lowest, after step 39; perplexity 12.3; 45 % right; last 2.7012"
std::string evaluation_note(const trace::model::Evaluation& best,
                            const trace::analysis::RunFigures& figures) {
  const trace::model::Evaluation& last = figures.evaluations.back();
  std::string note = last.step == best.step ? "" : "the lowest, ";
  note += "after step " + ui::present::format_integer(best.step);
  if (std::isfinite(best.perplexity))
    note += "; perplexity " + ui::present::format_plain(best.perplexity);
  if (std::isfinite(best.accuracy)) {
    note += "; " + ui::present::format_percent(best.accuracy).text() + " right";
  }
  return last.step == best.step ? note : note + "; last " + loss_text(last.loss);
}

// A file of somebody else says what it wants; it must not look like lines of ours.
std::string line_of(const std::string& text) { return trace::base::printable_message(text) + "\n"; }

std::string ranks_text(const trace::model::RunInfo& info) {
  const std::string count = info.world_size > 0 ? std::to_string(info.world_size) : "?";
  return count + (info.world_size == 1 ? " rank on " : " ranks on ") +
         trace::base::printable_line(info.device);
}

// "steps 10 to 20", "step 7", "steps from 10"
std::string range_text(const StepRange& range) {
  if (range.first == range.last) return "step " + std::to_string(range.first);
  if (range.last == INT64_MAX) return "steps from " + std::to_string(range.first);
  return "steps " + std::to_string(range.first) + " to " + std::to_string(range.last);
}

// Each source once, with the kind of device that it belongs to.
std::string sources_text(const trace::analysis::RunFigures& figures) {
  std::vector<std::pair<std::string, std::string>> sources;
  for (const auto& rank : figures.ranks) {
    if (rank.info.sources.empty()) continue;
    const std::pair source(rank.info.device.substr(0, rank.info.device.find(':')),
                           rank.info.sources);
    if (std::ranges::find(sources, source) == sources.end()) sources.push_back(source);
  }
  std::string text;
  for (const auto& [device, source] : sources) {
    text += line_of("Sources" + (sources.size() > 1 ? " on " + device : "") + ": " + source);
  }
  return text;
}

// What libraries were told by variables; the ranks of a run are told the same.
std::string environment_text(const trace::analysis::RunFigures& figures) {
  if (figures.ranks.empty()) return "";
  std::string text;
  for (const auto& [name, value] :
       trace::job::parse_environment(figures.ranks.front().info.environment)) {
    text += (text.empty() ? "Environment: " : ", ") + name + "=" + value;
  }
  return text.empty() ? "" : line_of(text);
}

// What its user has said about it.
std::string words_text(const trace::analysis::RunFigures& figures) {
  const auto& info = figures.info;
  std::string text;
  if (!info.note.empty()) text += "Note: " + line_of(info.note);
  std::string tags;
  for (const auto& tag : info.tags) tags += " " + tag;
  if (!tags.empty()) text += "Tags:" + line_of(tags);
  for (const trace::model::Bookmark& bookmark : info.bookmarks) {
    const auto step = step_at(figures, bookmark.time_ns);
    text += "Bookmark: " + (step ? "step " + std::to_string(*step) : "outside of the steps") +
            (bookmark.name.empty() ? "" : ", " + bookmark.name) + "\n";
  }
  return text;
}

std::string heading(const RunReport& report) {
  const auto& info = report.figures.info;
  const auto& summary = report.figures.summary;
  std::string text = info.name + " · " + std::string(trace::model::to_string(info.status)) + " · " +
                     ranks_text(info) + " · " + ui::present::steps_text(summary.steps_executed) +
                     ", " + ui::present::format_integer(summary.steps_measured) + " measured\n" +
                     line_of(info.folder);
  if (info.status == trace::model::RunStatus::kIncomplete)
    text += "Incomplete: " + line_of(info.reason);
  if (info.status == trace::model::RunStatus::kStopped && !info.reason.empty()) {
    text += "Stopped: " + line_of(info.reason);
  }
  if (!report.saved_model.empty()) text += "Trained model: " + line_of(report.saved_model);
  for (const auto& banner : session::banners_of(report.figures)) text += "! " + line_of(banner);
  const auto changed = trace::job::differing_knobs(trace::job::Settings{}, info.settings);
  const auto knobs = trace::base::joined(changed, ", ", [&](const auto* knob) {
    return std::string(knob->name) + " " + trace::job::value_text(info.settings, *knob);
  });
  if (info.imported_from.empty()) {
    text += knobs.empty() ? "All settings at their defaults\n" : "Settings: " + line_of(knobs);
  }
  if (!info.command.empty()) text += "Command: " + line_of(info.command);
  text += words_text(report.figures);
  for (const auto& line : ui::present::device_lines(report.figures))
    text += "Device: " + line_of(line);
  text += environment_text(report.figures) + sources_text(report.figures);
  if (report.range) {
    text += "Measured: " + range_text(*report.range) +
            " alone; collectives, memory, losses, evaluations, throttling, advice, totals and the "
            "recording are those of the whole run\n";
  }
  return text + failure_text(report);
}

void add_part(TextTable& table, const std::string& name, double ns, double whole) {
  table.add_row({name, time_text(ns), share(ns, whole)});
}

TextTable parts_table() {
  return TextTable({{"", Align::kLeft}, {"", Align::kRight}, {"", Align::kRight}});
}

std::string phases_text(const RunSummary& s) {
  const auto phase = [&](Phase p) { return s.phase_ns[static_cast<std::size_t>(p)]; };
  TextTable table = parts_table();
  for (const Phase p : {Phase::kData, Phase::kForward, Phase::kBackward, Phase::kOptimizer,
                        Phase::kEvaluation, Phase::kCheckpoint, Phase::kOther}) {
    const bool rare = p == Phase::kEvaluation || p == Phase::kCheckpoint;
    if (!phase(p) || (rare && *phase(p) == 0)) continue;
    add_part(table, std::string(trace::base::to_string(p)), *phase(p), s.step_ns.mean);
  }
  if (table.empty()) return "";
  return "\nPhases of a step, on the host\n" + table.text("  ", false);
}

std::string breakdown_text(const trace::analysis::RunFigures& figures) {
  const RunSummary& s = figures.summary;
  if (!s.has_detail) {
    const bool has_any = std::ranges::any_of(figures.steps, trace::analysis::has_detail);
    return has_any ? "\nNo measured step was recorded in detail: only their times and phases are "
                     "known\n"
                   : "\nNo details were recorded: only steps and phases are known\n";
  }
  TextTable table = parts_table();
  const double step_ns = s.detailed_step_ns;
  add_part(table, "compute", s.compute_ns, step_ns);
  add_part(table, "exposed communication", s.exposed_ns, step_ns);
  if (s.exposed_wait_ns && s.exposed_ns > 0) {
    add_part(table, "  waiting for other ranks", *s.exposed_wait_ns, step_ns);
    add_part(table, "  transfer", s.exposed_ns - *s.exposed_wait_ns, step_ns);
  }
  if (s.copy_ns > 0) add_part(table, "exposed copies", s.exposed_copy_ns, step_ns);
  add_part(table, "idle", s.idle_ns, step_ns);
  std::string text = "\nWhere the time of a step went";
  if (s.steps_detailed != s.steps_measured) {
    text += ", over the " + ui::present::format_integer(s.steps_detailed) + " of " +
            ui::present::format_integer(s.steps_measured) +
            " measured steps recorded in full detail (" + time_text(step_ns) + " on average)";
  }
  text += "\n" + table.text("  ", false);
  if (s.exposed_ns > 0 && s.wait_doubt != trace::analysis::WaitDoubt::kNone) {
    text += "  How much of the exposed part waits for other ranks is not known: " +
            std::string(trace::analysis::to_text(s.wait_doubt)) + "\n";
  }
  text += "  Communication took " + time_text(s.comm_ns);
  if (s.overlap_fraction) {
    text += ", of which " + time_text(s.overlap_ns) + " (" +
            ui::present::format_percent(*s.overlap_fraction).text() + ") overlapped with compute";
  }
  text += "\n";
  if (const auto why = trace::analysis::why_bytes_sent_unknown(figures); !why.empty()) {
    text += "  How much a rank sends in a step is not known: " + why + "\n";
  }
  return text;
}

// Which ranks have reported which steps. Goes on a sentence; "": all of them the same.
std::string steps_by_rank_text(const trace::analysis::RunFigures& figures) {
  std::map<std::string, std::vector<std::string>> ranks_with;
  for (std::size_t rank = 0; rank < figures.ranks.size(); ++rank) {
    std::vector<std::int64_t> steps;
    for (const auto& step : figures.steps) {
      if (rank < step.ranks.size() && step.ranks[rank].step_ns > 0) steps.push_back(step.index);
    }
    const std::string text = steps.empty() ? "no step" : range_text({steps.front(), steps.back()});
    ranks_with[text].push_back(std::to_string(rank));
  }
  if (ranks_with.size() < 2) return "";
  std::string text;
  for (const auto& [steps, ranks] : ranks_with) {
    text += text.empty() ? ": " : ", ";
    text += (ranks.size() == 1 ? "rank " : "ranks ") + trace::base::some_of(ranks, kMostRanksNamed);
    text += (ranks.size() == 1 ? " has " : " have ") + steps;
  }
  const bool is_own = trace::model::has_settings(figures.info);
  return text + (is_own ? ""
                        : ". Give torch.profiler.profile a schedule, and call its "
                          "step() once per step on every rank");
}

std::string why_nothing_measured(const trace::analysis::RunFigures& figures) {
  const auto& steps = figures.steps;
  const bool goes_on = figures.info.status == trace::model::RunStatus::kRunning;
  if (steps.empty()) return goes_on ? "none has come yet" : "none was recorded";
  if (std::ranges::none_of(steps, &trace::analysis::StepFigures::complete)) {
    return goes_on ? "none was reported by all ranks yet"
                   : "none was reported by all ranks" + steps_by_rank_text(figures);
  }
  if (goes_on) return "none has come yet after the skipped ones (skip_steps)";
  if (std::ranges::all_of(steps, &trace::analysis::StepFigures::warmup)) {
    return "the run ended within its skipped steps (skip_steps)";
  }
  return "none after the skipped ones (skip_steps) was reported by all ranks" +
         steps_by_rank_text(figures);
}

std::string nothing_measured(const RunReport& report) {
  const auto& steps = report.figures.steps;
  if (!report.range) {
    return "\nNo step was measured: " + why_nothing_measured(report.figures) + "\n";
  }
  return "\nNo step was measured: the run has no complete step among " + range_text(*report.range) +
         (steps.empty() ? "" : "; its last is step " + std::to_string(steps.back().index)) + "\n";
}

void add_times(TextTable& table, const RunReport& report) {
  const RunSummary& s = report.figures.summary;
  table.add_row({"Step", time_text(s.step_ns.mean),
                 "median " + time_text(s.step_ns.median) + ", 10 to 90 % " +
                     time_text(s.step_ns.p10) + " to " + time_text(s.step_ns.p90) + ", longest " +
                     time_text(s.step_ns.max)});
  if (s.has_detail) {
    table.add_row({"Exposed", time_text(s.exposed_ns),
                   share(s.exposed_ns, s.detailed_step_ns) +
                       " of the step waits for communication" +
                       (s.exposed_wait_ns && s.exposed_ns > 0
                            ? ": " + time_text(*s.exposed_wait_ns) + " for other ranks to come, " +
                                  time_text(s.exposed_ns - *s.exposed_wait_ns) + " for data"
                            : "")});
  }
  if (s.tokens_per_s > 0) {
    table.add_row(
        {"Throughput", ui::present::format_rate(*s.tokens_per_s, "tokens/s").text(),
         (s.samples_per_s ? ui::present::format_rate(*s.samples_per_s, "samples/s").text() : "") +
             (s.effective_batch
                  ? ", effective batch " + ui::present::format_integer(*s.effective_batch)
                  : "")});
  }
  if (s.mfu) {
    table.add_row({"MFU", ui::present::format_percent(*s.mfu).text(),
                   "of " + ui::present::peak_flops_text(report.figures)});
  }
}

void add_learning(TextTable& table, const RunReport& report) {
  const RunSummary& s = report.figures.summary;
  const auto& steps = report.figures.steps;
  if (report.figures.info.communication_off) {
    table.add_row({"Loss", "invalid", "ranks do not exchange their gradients"});
  } else if (s.loss_last || std::ranges::any_of(steps, trace::analysis::has_nonfinite_loss)) {
    // Of a loss that nobody read nothing is told.
    std::string note = s.loss_first ? "from " + loss_text(*s.loss_first) : "";
    const std::string nonfinite = nonfinite_text(steps);
    note += (note.empty() || nonfinite.empty() ? "" : "; ") + nonfinite;
    table.add_row({"Loss", s.loss_last ? loss_text(*s.loss_last) : "not finite", std::move(note)});
  }
  if (const auto* best = trace::analysis::best_evaluation(report.figures.evaluations)) {
    table.add_row({"Evaluation", loss_text(best->loss), evaluation_note(*best, report.figures)});
  }
}

// Says which calls are left out of the bytes sent, since nothing tells how much they send: gathers,
// scatters and the like.
std::string uncounted_text(const trace::analysis::RunFigures& figures) {
  std::set<std::string> names;
  for (const auto& row : figures.collectives) {
    if (row.function != trace::model::CollectiveFunction::kOther) continue;
    names.insert(row.tag.empty() ? "other calls" : row.tag);
  }
  return names.empty() ? "" : ", without " + trace::base::joined(names);
}

std::string headline(const RunReport& report) {
  const RunSummary& s = report.figures.summary;
  if (s.steps_measured == 0) return nothing_measured(report);
  TextTable table({{"", Align::kLeft}, {"", Align::kRight}, {"", Align::kLeft, 200}});
  add_times(table, report);
  add_learning(table, report);
  if (s.bytes_sent_per_step) {
    table.add_row({"Sent", size_text(*s.bytes_sent_per_step),
                   "per rank and step" + uncounted_text(report.figures) +
                       (s.bytes_sent_per_step_theory
                            ? "; in theory " + size_text(*s.bytes_sent_per_step_theory) +
                                  other_functions_text(report.figures)
                            : "")});
  }
  if (const auto throttled = trace::analysis::throttling_sentence(report.figures.steps);
      !throttled.empty()) {
    return "\n" + table.text("", false) + throttled + "\n";
  }
  return "\n" + table.text("", false);
}

std::string ranks_text(const trace::analysis::RunFigures& figures) {
  std::vector<TextTable::Column> columns = {{"rank", Align::kRight},
                                            {"device", Align::kLeft},
                                            {"step", Align::kRight},
                                            {"exposed", Align::kRight},
                                            {"peak", Align::kRight}};
  std::vector<std::size_t> shown;  // categories that any rank has
  for (std::size_t i = 0; i < trace::model::kMemoryCategoryCount; ++i) {
    const auto category = static_cast<trace::model::MemoryCategory>(i);
    // Where others of them are known, an unknown one is named.
    const bool is_shown = std::ranges::any_of(figures.ranks, [&](const auto& rank) {
      return rank.peak.bytes[i] != 0 || (trace::model::is_purpose(category) &&
                                         !rank.peak.knows(category) && rank.peak.knows_a_purpose());
    });
    if (!is_shown) continue;
    shown.push_back(i);
    columns.push_back({std::string(trace::model::to_string(category)), Align::kRight});
  }
  TextTable table(std::move(columns));
  for (const auto& rank : figures.ranks) {
    const bool has_memory = rank.peak.time_ns != 0;
    const bool measured = rank.step_ns > 0;
    std::vector<std::string> row = {
        std::to_string(rank.info.rank), rank.info.device,
        or_unknown(measured, time_text(rank.step_ns)),
        or_unknown(figures.summary.has_detail && measured, time_text(rank.exposed_ns)),
        or_unknown(has_memory, size_text(static_cast<double>(rank.peak.total_bytes())))};
    for (const auto category : shown) {
      const bool is_known =
          has_memory && rank.peak.knows(static_cast<trace::model::MemoryCategory>(category));
      row.push_back(
          or_unknown(is_known, size_text(static_cast<double>(rank.peak.bytes[category]))));
    }
    table.add_row(std::move(row));
  }
  return table.empty() ? "" : "\nRanks, with their memory at its peak\n" + table.text();
}

std::string recorder_text(const trace::analysis::RecorderFigures& recorder) {
  std::string text = "\nRecording: ";
  if (recorder.events) text += ui::present::format_integer(*recorder.events) + " events, ";
  text += size_text(static_cast<double>(recorder.bytes_on_disk)) + " on disk";
  if (recorder.lost > 0 || (recorder.events && !recorder.lacks_end)) {
    text += ", " + ui::present::format_integer(recorder.lost) + " lost";
  }
  if (recorder.lacks_end) text += ", the last records of a rank are missing";
  if (recorder.overhead_fraction) {
    text += std::string(", made the job ") + ui::present::overhead_bound(recorder) +
            ui::present::format_percent(*recorder.overhead_fraction).text() + " longer (" +
            (recorder.overhead_is_measured ? "measured by its steps without detail" : "estimated") +
            (recorder.overhead_is_least ? ", without what CUPTI adds to each launch)" : ")");
  }
  text += "\n";
  for (const auto& loss : recorder.losses) {
    text += "  rank " + std::to_string(loss.rank) + " lost " +
            ui::present::format_integer(loss.count) + ": " + line_of(loss.reason);
  }
  return text;
}

std::string call_text(const std::optional<trace::analysis::CollectiveCallFigures>& call) {
  if (!call) return "none";
  std::string text =
      "#" + std::to_string(call->sequence) + " " +
      std::string(trace::model::to_string(call->function)) +
      (call->tag.empty() ? "" : " of " + call->tag) +
      (trace::model::has_bytes(*call) ? ", " + ui::present::format_integer(call->bytes) + " bytes"
                                      : "") +
      ", " + std::string(trace::base::to_string(call->phase));
  return call->step >= 0 ? text + " of step " + std::to_string(call->step) : text;
}

std::string diagnosis_text(const trace::analysis::HangDiagnosis& diagnosis) {
  if (diagnosis.states.empty()) return "";
  TextTable table({{"rank", Align::kRight},
                   {"group"},
                   {"last entered", Align::kLeft, 90},
                   {"last completed", Align::kLeft, 90}});
  for (const auto& state : diagnosis.states) {
    table.add_row({std::to_string(state.rank), state.group_name, call_text(state.last_entered),
                   call_text(state.last_completed)});
  }
  return (diagnosis.sentence.empty() ? "" : line_of(diagnosis.sentence)) + table.text();
}

}  // namespace

std::string failure_text(const RunReport& report) {
  const auto& info = report.figures.info;
  if (info.status != trace::model::RunStatus::kFailed) return "";
  std::string text =
      "\nFailed: " + line_of(info.reason.empty() ? "for a reason not recorded" : info.reason) +
      diagnosis_text(report.diagnosis);
  if (!report.log_tail.empty()) {
    text += "The end of rank " + std::to_string(report.failed_rank) + "'s log:\n";
    for (const auto& line : report.log_tail) text += "  " + line + "\n";
  }
  return text;
}

std::string report_text(const RunReport& report) {
  const auto& figures = report.figures;
  std::string text = heading(report) + headline(report);
  if (figures.summary.steps_measured > 0) {
    text += phases_text(figures.summary) + breakdown_text(figures);
  }
  return text + ranks_text(figures) + collectives_text(figures) + buckets_text(figures) +
         units_text(figures) + recorder_text(figures.recorder);
}

}  // namespace shardlens::app::report
