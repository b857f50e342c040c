#include "ui/present/tune/prediction_text.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "trace/base/number_text.h"
#include "trace/base/text.h"
#include "trace/predict/schedule/step_program.h"
#include "trace/timeline/words/interval_text.h"
#include "ui/present/format.h"

namespace shardlens::ui::present {

namespace {

using trace::tuning::PredictedStep;
using trace::tuning::Prediction;

constexpr double kUnsaid = 0.02;  // of a wait: what has less of it is not named
constexpr double kVague = 0.5;    // width of a 95 % interval of what can be anything from 0 to 1

std::string span_text(double ns) { return format_duration(ns).text(); }

// "bucket 3 (2.1 MiB)"
std::string call_text(const PredictedStep& step, std::size_t call) {
  const auto& planned = step.program.calls[step.schedule.calls[call].call];
  return planned.what + " (" + bytes_text(planned.bytes) + ")";
}

// "forward gathers" for "blocks.3 forward gather, prefetched".
std::string kind_of(const std::string& what) {
  for (const std::string kind : {"forward gather", "backward gather", "reduce"}) {
    if (what.find(kind) != what.npos) return kind == "reduce" ? "reductions" : kind + "s";
  }
  if (what.starts_with("bucket")) return "buckets";
  return what.starts_with("updated parameters") ? "updated parameters" : what;
}

bool is_agreement(const PredictedStep& step, std::size_t call) {
  const std::string& what = step.program.calls[step.schedule.calls[call].call].what;
  return what == "loss" || what == "fp16 overflow";
}

// Whether ranks come to it at the end of backward, and not at a gradient (`overlap_comm: false`).
bool is_asked_for_at_end(const trace::predict::StepProgram& program, std::size_t call) {
  using trace::predict::Action;
  for (const auto& micro_batch : program.micro_batches) {
    auto until = trace::predict::Until::kForward;
    for (const Action& action : micro_batch.actions) {
      const bool is_own = action.until == trace::predict::Until::kOwnWork;
      if (action.what == Action::What::kCompute && !is_own) until = action.until;
      const bool is_launched = action.what == Action::What::kLaunch && action.place == call;
      if (is_launched) return until == trace::predict::Until::kEnd;
    }
  }
  return false;
}

// "bucket 3"
const std::string& call_name(const PredictedStep& step, std::size_t call) {
  return step.program.calls[step.schedule.calls[call].call].what;
}

// Wordings for a step that is bound by reductions which follow one another up to the last.
std::vector<std::string> train_wordings(const PredictedStep& step, std::size_t first,
                                        std::size_t last) {
  const auto& calls = step.schedule.calls;
  const std::string ready = duration_text(calls[first].ready_ns - step.start_ns);
  const std::string behind = duration_text(calls[last].end_ns - calls[last].ready_ns);
  const bool at_end = is_asked_for_at_end(step.program, calls[last].call);
  const std::string at = (at_end ? "asked for at " : "ready at ") + ready;
  if (first == last) {
    return {"Backward ends with " + call_text(step, last) +
                (at_end ? ": it is asked for " : ": its last gradient is ready ") + ready +
                " after the step's begin, and its reduction takes " + behind + ".",
            "Backward ends with " + call_name(step, last) + ", " + at + " and reduced in " +
                behind + ".",
            "Backward ends with " + call_name(step, last) + ", " + at + "."};
  }
  const auto train = [&](const std::string& begin, const std::string& end) {
    return "Reductions follow without a gap from " + begin + ", " + at + ", to " + end +
           ", which ends " + behind + (at_end ? " after that." : " after its last gradient.");
  };
  return {train(call_text(step, first), call_text(step, last)),
          train(call_name(step, first), call_name(step, last)),
          "Reductions without a gap from " + call_name(step, first) + " to " +
              call_name(step, last) + "."};
}

// Wordings for a step that is bound by waiting: for what, and for which call longest.
std::vector<std::string> wait_wordings(const PredictedStep& step) {
  std::map<std::string, std::int64_t> by_kind;
  const auto& waits = step.schedule.waits;
  const auto length = [](const auto& wait) { return wait.end_ns - wait.start_ns; };
  for (const auto& wait : waits) {
    const auto& call = step.program.calls[step.schedule.calls[wait.call].call];
    by_kind[kind_of(call.what)] += length(wait);
  }
  std::vector<std::pair<std::int64_t, std::string>> sorted;
  for (const auto& [kind, ns] : by_kind) sorted.emplace_back(ns, kind);
  std::ranges::sort(sorted, std::greater{});
  const std::int64_t waited_ns = step.schedule.waited_ns();
  std::string parts;
  for (const auto& [ns, kind] : sorted) {
    if (static_cast<double>(ns) < kUnsaid * static_cast<double>(waited_ns)) break;
    parts += (parts.empty() ? "" : ", ") + duration_text(ns) + " for " + kind;
  }
  const auto longest = std::ranges::max_element(waits, {}, length);
  const std::string longest_text = "longest for " + call_text(step, longest->call) + ", " +
                                   duration_text(length(*longest)) + ".";
  const std::string rank = "Rank " + std::to_string(step.schedule.rank);
  const std::string waited = duration_text(waited_ns);
  const auto& [most_ns, most] = sorted.front();
  const std::string share = sorted.size() == 1 ? "" : ", " + duration_text(most_ns) + " of it";
  return {rank + " ends last and waits " + waited + ": " + parts + "; " + longest_text,
          rank + " ends last and waits " + waited + ", " + longest_text,
          rank + " waits " + waited + share + " for " + most + "."};
}

std::string names_of(const std::vector<const trace::job::Knob*>& knobs) {
  return trace::base::joined(knobs, ", ", &trace::job::Knob::name);
}

}  // namespace

std::string left_out_text(const Prediction& prediction) {
  if (prediction.left_out.empty()) return "";
  const bool is_one = prediction.left_out.size() == 1;
  return "Without " + names_of(prediction.left_out) + ", whose effect" +
         (is_one ? " is" : "s are") + " not known.";
}

std::string without_effect_text(const Prediction& prediction) {
  if (prediction.without_effect.empty()) return "";
  return "No effect on the step: " + names_of(prediction.without_effect) + ".";
}

std::string no_interval_text(const Prediction& prediction) {
  return trace::tuning::why_unsure(prediction);
}

std::string chance_text(const Prediction& prediction, const std::optional<double>& apart) {
  const double change = std::abs(prediction.change_per_token());
  if (!apart || change == 0 || change > *apart) return "";
  return "Two runs of the same settings differ by more than that by chance, up to " +
         span_text(*apart * prediction.recorded_step_ns) + ".";
}

std::string change_text(const trace::tuning::Change& change) {
  return std::string(change.knob->name) + "=" + change.after;
}

std::string difference_text(double ns, const std::optional<trace::tuning::Interval>& interval) {
  if (!interval) return trace::base::format_signed_duration(ns);
  return trace::base::format_signed_duration(ns, (interval->high_ns - interval->low_ns) / 2);
}

std::string difference_text(const trace::tuning::Prediction& prediction) {
  if (prediction.is_as_recorded()) return "no change";
  if (prediction.difference_ns() == 0) return "unchanged";
  return difference_text(prediction.difference_ns(), prediction.difference);
}

std::string per_token_text(const trace::tuning::Prediction& prediction) {
  return trace::base::format_signed_percent(prediction.change_per_token());
}

std::string bound_text(const PredictedStep& step) { return bound_wordings(step).front(); }

std::vector<std::string> bound_wordings(const PredictedStep& step) {
  if (step.schedule.waits.empty()) {
    const double exposed_ns = step.schedule.exposed_ns;  // of all ranks
    if (exposed_ns <= 0) {
      return {"No rank waits for a collective: computation bounds the step.",
              "Computation bounds the step."};
    }
    const std::string last = "Rank " + std::to_string(step.schedule.rank) + " ends last";
    return {last +
                " and waits for no collective: what it computes bounds the step. The ranks wait " +
                span_text(exposed_ns) + " on average, for it.",
            last + ": what it computes bounds the step."};
  }
  auto critical = trace::predict::critical_calls(step.program, step.schedule);
  // All steps end with the loss, which hardly takes any time.
  while (critical.size() > 1 && is_agreement(step, critical.back())) critical.pop_back();
  const auto& last = step.program.calls[step.schedule.calls[critical.back()].call];
  if (!last.what.starts_with("bucket")) return wait_wordings(step);
  return train_wordings(step, trace::predict::last_train_begin(step.schedule, critical),
                        critical.back());
}

double waited_ns(const PredictedStep& step, std::size_t call) {
  std::int64_t sum = 0;
  for (const auto& wait : step.schedule.waits) {
    if (wait.call == call) sum += wait.end_ns - wait.start_ns;
  }
  return static_cast<double>(sum);
}

std::string parts_text(const Prediction& prediction) {
  const std::string parts =
      trace::base::counted(prediction.parts, prediction.has_units ? "unit" : "bucket");
  const bool is_same = !prediction.is_as_recorded() && prediction.moves_the_same;
  return is_same ? "the same " + parts : parts;
}

namespace {

// "bucket_cap_mb of 2.73 KiB to 1.87 MiB"
std::string cap_text(const std::string& knob, const trace::predict::CapRange& caps) {
  if (caps.has_end()) {
    return "a " + knob + " of " + bytes_text(caps.above_bytes + 1) + " to " +
           bytes_text(caps.up_to_bytes);
  }
  if (caps.above_bytes == 0) return "any " + knob;
  return "a " + knob + " above " + bytes_text(caps.above_bytes);
}

// What becomes of single units that fully_shard keeps for backward; "": there are none.
std::string kept_units_text(const trace::tuning::KeptUnits& kept) {
  if (kept.are_untold) {
    return "Every unit but the root is taken to be gathered again in backward: whether the program "
           "would keep some all the same, as torchtitan and Accelerate keep the last, this run "
           "does not tell.";
  }
  if (kept.recorded.empty()) return "";
  const std::string names = trace::base::joined(kept.recorded, ", ");
  const bool is_one = kept.recorded.size() == 1;
  if (kept.are_all) {
    return "All units stay gathered for backward, as " + names + (is_one ? " does" : " do") +
           " in the recorded run.";
  }
  return names + (is_one ? " stays" : " stay") +
         " gathered for backward, as in the recorded run, while other units are gathered again.";
}

// What holds of a prediction where that member is set, and what its interval holds for that.
struct Assumption {
  bool Prediction::*is_made;
  std::string_view words, in_interval = "";
};
constexpr Assumption kAssumptions[]{
    {&Prediction::is_extrapolated,
     "Some collectives are of kinds, sizes or types that the run did not have: what they take "
     "is extrapolated",
     ", and the interval holds a tenth of the change for that"},
    {&Prediction::keeps_link_of_other_ranks,
     "So many ranks are taken to be all on one machine, over the link that was recorded: of N "
     "machines simulate_link=latency_us=…,gbit_per_s=…,nodes=N tells, or `shardlens predict "
     "--costs FILE`, measured between them"},
    {&Prediction::is_link_untold,
     "The run does not tell its link: what it did not move costs what is kept of its device "
     "(`shardlens calibrate`), whatever the link there"},
    {&Prediction::is_link_faster,
     "The link that is asked for would take less than what the run measured without one: that "
     "stays, as nothing tells how much less a faster link takes. `shardlens predict "
     "--costs-instead FILE` takes what was measured on one"},
    {&Prediction::has_other_costs,
     "Collectives cost what the given file says, as if nothing was computed beside them; what "
     "it has not within a factor of two costs what the run measured"},
    {&Prediction::is_another_strategy,
     "What the other strategy copies and administers itself is not known",
     "; the interval holds 3 % of the step for that"},
    {&Prediction::scales_computation,
     "A micro-batch is taken to compute in proportion to its tokens, but for what is known not to "
     "grow with them, and to what it computes again",
     "; the interval holds a tenth of the change for that"},
    {&Prediction::recomputes_on_cpu,
     "On a CPU a second forward is taken to add three quarters of the first, since both are faster "
     "where less is kept: by how much no run tells",
     "; the interval holds three tenths of the change for that"},
    {&Prediction::scales_sequences,
     "With the length of sequences attention is taken to grow between in proportion and with "
     "its square",
     "; the interval holds both"},
    {&Prediction::scales_padding,
     "Texts are padded to the longest of their batch, and how long that is in another batch is "
     "not known",
     ": the interval spans what is possible"},
};

}  // namespace

std::vector<std::string> assumptions(const trace::tuning::Prediction& prediction) {
  std::vector<std::string> all;
  if (prediction.told_caps) {
    all.push_back("Recorded from another program, whose buckets are as with " +
                  cap_text("first_bucket_mb", prediction.told_caps->first) + " and " +
                  cap_text("bucket_cap_mb", prediction.told_caps->others) +
                  "; what it does not tell of its settings stays as recorded.");
  } else if (prediction.is_of_another_program) {
    all.push_back(
        "Recorded from another program, whose units are gathered as its trace tells; what it does "
        "not tell of its settings stays as recorded.");
  }
  if (const auto words = kept_units_text(prediction.kept_units); !words.empty()) {
    all.push_back(words);
  }
  if (prediction.is_of_failed_run) {
    all.push_back("The recorded run failed: only the steps before that count.");
  }
  if (prediction.is_on_gpus && prediction.is_of_another_program && prediction.has_units) {
    all.push_back(
        "Predictions from traces of sharded programs were held against runs on a CPU, not yet "
        "against any on GPUs.");
  } else if (prediction.is_on_gpus && !prediction.shares_gpu) {
    all.push_back(
        "Predictions on GPUs were held against runs of two ranks that share one H200, not yet "
        "against any with a GPU for each rank.");
  }
  const auto add = [&](std::string_view words, std::string_view in_interval) {
    all.push_back(std::string(words) + std::string(prediction.difference ? in_interval : "") + ".");
  };
  if (prediction.depends_on_contention && prediction.contention_range > kVague) {
    add("How much communication's work slows computation beside it is hardly told by this run",
        ": the interval spans what is possible");
  }
  for (const auto& [is_made, words, in_interval] : kAssumptions) {
    if (prediction.*is_made) add(words, in_interval);
  }
  return all;
}

namespace {

std::string before_and_after(const std::string& before, const std::string& after) {
  return before == after ? after : before + " → " + after;
}

std::string from_to(const trace::tuning::Interval& interval) {
  return trace::timeline::duration_range_text(interval.low_ns, interval.high_ns);
}

// No step gets shorter by more than it takes.
std::string from_to_signed(const trace::tuning::Interval& difference, double recorded_ns) {
  using trace::base::format_signed_duration;
  return format_signed_duration(std::max(difference.low_ns, -recorded_ns)) + " to " +
         format_signed_duration(difference.high_ns);
}

std::vector<PredictionNote::Row> note_rows(const Prediction& prediction,
                                           const std::optional<double>& apart) {
  std::vector<PredictionNote::Row> rows;
  for (const auto& change : prediction.changes) {
    rows.push_back({std::string(change.knob->name), change.before + " → " + change.after});
  }
  rows.push_back({"Step", before_and_after(span_text(prediction.recorded_step_ns),
                                           span_text(prediction.step_ns))});
  if (prediction.difference) {
    rows.push_back(
        {"Difference, 95 %", from_to_signed(*prediction.difference, prediction.recorded_step_ns)});
  }
  if (prediction.interval) rows.push_back({"Next mean, 95 %", from_to(*prediction.interval)});
  if (apart) {
    rows.push_back({"Two runs by chance", "± " + span_text(*apart * prediction.recorded_step_ns)});
  }
  if (prediction.tokens != 1) {
    const bool are_alike = prediction.tokens == prediction.samples;
    rows.push_back({are_alike ? "Samples of a step" : "Tokens of a step",
                    "× " + format_number(prediction.tokens)});
    rows.push_back({are_alike ? "Time per sample" : "Time per token", per_token_text(prediction)});
  }
  if (prediction.recorded_exposed_ns && prediction.exposed_ns) {
    rows.push_back({"Exposed", before_and_after(span_text(*prediction.recorded_exposed_ns),
                                                span_text(*prediction.exposed_ns))});
  }
  if (prediction.recorded_peak_bytes() && prediction.peak_bytes()) {
    rows.push_back(
        {"Peak of tensors", before_and_after(bytes_text(*prediction.recorded_peak_bytes()),
                                             bytes_text(*prediction.peak_bytes()))});
  }
  return rows;
}

// Where nothing is changed whose effect is known.
std::optional<PredictionNote> note_without_change(const state::PredictionView& view) {
  const Prediction& prediction = *view.prediction;
  if (prediction.left_out.empty() && prediction.without_effect.empty()) return std::nullopt;
  PredictionNote note;
  note.is_refused = true;
  note.title = prediction.left_out.empty() ? "No effect on the step" : "No prediction";
  note.detail = prediction.left_out.empty() ? without_effect_text(prediction) : view.refused;
  return note;
}

}  // namespace

std::optional<PredictionNote> prediction_note(const state::PredictionView* view,
                                              const std::optional<double>& apart) {
  if (view == nullptr) return std::nullopt;
  PredictionNote note;
  if (!view->prediction) {
    note.is_refused = true;
    note.title = view->may_come ? "No prediction yet" : "No prediction";
    note.detail = view->refused;
    return note;
  }
  const Prediction& prediction = *view->prediction;
  if (prediction.changes.empty()) return note_without_change(*view);
  note.title = span_text(prediction.step_ns) + " predicted, " + difference_text(prediction);
  note.detail = parts_text(prediction);
  if (prediction.tokens != 1) {
    note.detail += " · " + per_token_text(prediction) +
                   (prediction.tokens == prediction.samples ? " per sample" : " per token");
  }
  note.detail +=
      " · against " + (view->ordinal.empty() ? "the run on screen" : view->ordinal + " on screen");
  if (prediction.interval) {
    note.detail +=
        " · ± is of the difference; the run's own mean: " + from_to(*prediction.interval) +
        " (95 %)";
  }
  for (const std::string& words :
       {left_out_text(prediction), no_interval_text(prediction), chance_text(prediction, apart)}) {
    if (!words.empty()) note.detail += ". " + words.substr(0, words.size() - 1);
  }
  note.rows = note_rows(prediction, apart);
  if (view->step) {
    note.notes.push_back(bound_text(*view->step));
  }
  for (std::string& assumption : assumptions(prediction)) {
    note.notes.push_back(std::move(assumption));
  }
  if (const auto words = without_effect_text(prediction); !words.empty()) {
    note.notes.push_back(words);
  }
  return note;
}

std::vector<trace::analysis::ClassPiece> predicted_ribbon(const PredictedStep& step) {
  using trace::base::Interval;
  const auto& schedule = step.schedule;
  std::vector<Interval> waits, calls;
  for (const auto& wait : schedule.waits) waits.push_back({wait.start_ns, wait.end_ns});
  for (const auto& call : schedule.calls) calls.push_back({call.start_ns, call.end_ns});
  const Interval whole{schedule.start_ns, schedule.end_ns};
  const auto waiting = trace::base::normalize(std::move(waits));
  const auto communication = trace::base::unite(waiting, trace::base::normalize(std::move(calls)));
  const auto compute = trace::base::subtract({whole}, waiting);
  const trace::base::Intervals update{{schedule.backward_end_ns, schedule.end_ns}};
  return trace::analysis::exact_partition({compute, communication, {}, update}, whole);
}

}  // namespace shardlens::ui::present
