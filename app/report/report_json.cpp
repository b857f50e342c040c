#include "app/report/report_json.h"

#include <optional>
#include <type_traits>
#include <variant>

#include "app/session/runs/run_banners.h"
#include "trace/analysis/figures/run_summary.h"
#include "trace/job/library_environment.h"
#include "trace/model/gpu_counter_names.h"
#include "trace/model/run_info.h"
#include "trace/model/untold.h"

namespace shardlens::app::report {
namespace {

using trace::analysis::RunFigures;
using trace::base::Phase;

constexpr int kSchema = 1;
constexpr double kNsPerUs = 1e3;

Json us(double ns) { return number_or_null(ns / kNsPerUs); }

// Waiting for other ranks, and transfer: the two sum to exposed_ms. Or why they are not known.
void add_exposed_parts(Json& json, bool has_detail, double exposed_ns,
                       const std::optional<double>& wait_ns, trace::analysis::WaitDoubt doubt) {
  const auto known_ns = has_detail ? wait_ns : std::nullopt;
  json["exposed_wait_ms"] = optional_number(known_ns, 1e-6);
  json["exposed_transfer_ms"] = known_ns ? ms(exposed_ns - *known_ns) : Json(nullptr);
  json["exposed_wait_unknown"] =
      has_detail ? text_or_null(trace::analysis::to_text(doubt)) : Json(nullptr);
}

// What libraries were told by variables, as rank 0 saw them.
Json environment_json(const std::vector<trace::analysis::RankFigures>& ranks) {
  if (ranks.empty() || ranks.front().info.environment.empty()) return nullptr;
  Json json = Json::object();
  for (const auto& [name, value] : trace::job::parse_environment(ranks.front().info.environment)) {
    json[name] = value;
  }
  return json;
}

// Of the model; null where nobody told.
Json count_or_null(const std::vector<trace::analysis::RankFigures>& ranks,
                   std::int64_t trace::model::RankInfo::*count) {
  if (ranks.empty() || ranks.front().info.*count == 0) return nullptr;
  return ranks.front().info.*count;
}

Json bookmarks_json(const RunFigures& figures) {
  return array_of(figures.info.bookmarks, [&](const trace::model::Bookmark& bookmark) -> Json {
    return {{"time_ns", bookmark.time_ns},
            {"step", or_null(step_at(figures, bookmark.time_ns))},
            {"name", bookmark.name}};
  });
}

Json run_json(const RunReport& report) {
  const trace::model::RunInfo& info = report.figures.info;
  const std::vector<trace::analysis::RankFigures>& ranks = report.figures.ranks;
  return {{"name", info.name},
          {"folder", info.folder},
          {"saved_model", text_or_null(report.saved_model.string())},
          {"status", trace::model::to_string(info.status)},
          {"reason", text_or_null(info.reason)},
          {"device", info.device},
          {"world_size", known(info.world_size > 0, info.world_size)},
          {"parameters", count_or_null(ranks, &trace::model::RankInfo::parameters)},
          {"trained_parameters", count_or_null(ranks, &trace::model::RankInfo::trained_parameters)},
          {"environment", environment_json(ranks)},
          {"note", text_or_null(info.note)},
          {"tags", info.tags},
          {"bookmarks", bookmarks_json(report.figures)},
          {"settings", known(trace::model::has_settings(info), settings_json(info.settings))}};
}

Json phases_json(const trace::analysis::RunSummary& summary) {
  const auto phase = [&](Phase p) { return summary.phase_ns[static_cast<std::size_t>(p)]; };
  // Evaluation and checkpoints are part of the rest: the five sum to the step.
  std::optional<double> other = phase(Phase::kOther);
  if (other) {
    *other += phase(Phase::kEvaluation).value_or(0) + phase(Phase::kCheckpoint).value_or(0);
  }
  return {{"data", optional_ms(phase(Phase::kData))},
          {"forward", optional_ms(phase(Phase::kForward))},
          {"backward", optional_ms(phase(Phase::kBackward))},
          {"optimizer", optional_ms(phase(Phase::kOptimizer))},
          {"other", optional_ms(other)}};
}

// Null: all but the first skip_steps are measured.
Json range_json(const std::optional<StepRange>& range) {
  if (!range) return nullptr;
  return {{"first", range->first}, {"last", known(range->last != INT64_MAX, range->last)}};
}

Json summary_json(const RunReport& report) {
  const RunFigures& figures = report.figures;
  const trace::analysis::RunSummary& s = figures.summary;
  const bool measured = s.steps_measured > 0;
  const bool detail = measured && s.has_detail;
  const auto detail_ms = [&](double ns) { return detail ? ms(ns) : Json(nullptr); };
  Json json;
  json["steps_measured"] = s.steps_measured;
  json["measured_range"] = range_json(report.range);
  const auto step_ms = [&](double ns) { return measured ? ms(ns) : Json(nullptr); };
  json["step_ms"] = {{"mean", step_ms(s.step_ns.mean)},
                     {"median", step_ms(s.step_ns.median)},
                     {"p10", step_ms(s.step_ns.p10)},
                     {"p90", step_ms(s.step_ns.p90)},
                     {"max", step_ms(s.step_ns.max)}};
  json["tokens_per_s"] = optional_number(s.tokens_per_s);
  json["samples_per_s"] = optional_number(s.samples_per_s);
  json["mfu"] = optional_number(s.mfu);
  json["phase_ms"] = phases_json(s);
  // What the parts that follow sum to.
  json["steps_detailed"] = s.steps_detailed;
  json["detailed_step_ms"] = detail_ms(s.detailed_step_ns);
  json["compute_ms"] = detail_ms(s.compute_ns);
  json["comm_ms"] = detail_ms(s.comm_ns);
  json["overlap_ms"] = detail_ms(s.overlap_ns);
  json["exposed_ms"] = detail_ms(s.exposed_ns);
  add_exposed_parts(json, detail, s.exposed_ns, s.exposed_wait_ns, s.wait_doubt);
  json["copy_ms"] = detail_ms(s.copy_ns);
  json["exposed_copy_ms"] = detail_ms(s.exposed_copy_ns);
  json["idle_ms"] = detail_ms(s.idle_ns);
  json["overlap_percent"] = detail ? optional_number(s.overlap_fraction, 100) : Json(nullptr);
  json["effective_batch"] = or_null(s.effective_batch);
  json["bytes_sent_per_step"] = optional_number(s.bytes_sent_per_step);
  json["bytes_sent_unknown"] = text_or_null(why_bytes_sent_unknown(figures));
  json["bytes_sent_per_step_theory"] = optional_number(s.bytes_sent_per_step_theory);
  json["loss_first"] = optional_number(s.loss_first);
  json["loss_last"] = optional_number(s.loss_last);
  json["first_nonfinite_step"] = first_nonfinite_json(figures.steps);
  return json;
}

template <typename Bytes>
Json categories_json(const Bytes& bytes, auto is_known) {
  Json json;
  for (int i = 0; i < trace::model::kMemoryCategoryCount; ++i) {
    const auto category = static_cast<trace::model::MemoryCategory>(i);
    const auto held = bytes[static_cast<std::size_t>(i)];
    json[std::string(trace::model::to_string(category))] = known(is_known(category), held);
  }
  return json;
}

// All null where no event was recorded, as with `record: none`, and what depends on collectives
// where a trace lacks them.
Json totals_json(const trace::analysis::RankFigures& rank) {
  const trace::analysis::RankTotals& t = rank.totals;
  const bool holds_all = t.is_known() && trace::model::holds_collectives(rank.info.sources);
  const auto in_us = [&](std::int64_t ns, bool is_known) {
    return known(is_known, us(static_cast<double>(ns)));
  };
  return {{"comm_events", known(holds_all, t.comm_events)},
          {"compute_events", known(t.is_known(), t.compute_events)},
          {"memory_events", known(t.is_known(), t.memory_events)},
          {"span_us", in_us(t.span_ns, t.is_known())},
          {"busy_us", in_us(t.busy_ns, holds_all)},
          {"compute_us", in_us(t.compute_ns, t.is_known())},
          {"comm_us", in_us(t.comm_ns, holds_all)},
          {"overlap_us", in_us(t.overlap_ns, holds_all)},
          {"exposed_us", in_us(t.exposed_ns, holds_all)},
          {"idle_us", in_us(t.idle_ns, holds_all)}};
}

Json rank_json(const trace::analysis::RankFigures& rank,
               const trace::analysis::RunSummary& summary) {
  const bool measured = rank.step_ns > 0;
  const bool has_memory = rank.peak.time_ns != 0;
  Json json;
  json["rank"] = rank.info.rank;
  json["step_ms"] = known(measured, ms(rank.step_ns));
  json["exposed_ms"] = known(measured && summary.has_detail, ms(rank.exposed_ns));
  add_exposed_parts(json, measured && summary.has_detail, rank.exposed_ns, rank.exposed_wait_ns,
                    rank.wait_doubt);
  json["peak_memory_bytes"] = known(has_memory, rank.peak.total_bytes());
  const auto is_told = [&](trace::model::MemoryCategory category) {
    return rank.peak.knows(category);
  };
  json["memory_by_category"] = known(has_memory, categories_json(rank.peak.bytes, is_told));
  json["memory_peak_by_category"] =
      known(has_memory, categories_json(rank.category_peaks, is_told));
  json["totals"] = totals_json(rank);
  const bool has_estimate =
      std::ranges::any_of(rank.estimate_peaks, [](std::int64_t bytes) { return bytes > 0; });
  json["memory_estimate_by_category"] =
      known(has_estimate,
            categories_json(rank.estimate_peaks, [&](trace::model::MemoryCategory category) {
              return category != trace::model::MemoryCategory::kOutside || is_told(category);
            }));
  json["device"] = text_or_null(rank.info.device);
  json["device_name"] = text_or_null(rank.info.device_name);
  json["versions"] = text_or_null(rank.info.versions);
  json["link"] = text_or_null(rank.info.link);
  // Gigabytes per second, as all that is called gbps here; so that nobody takes them for bits.
  const Json link_gb_per_s = known(rank.info.link_bytes_per_second > 0,
                                   number_or_null(rank.info.link_bytes_per_second / 1e9));
  json["link_gbps"] = link_gb_per_s;
  json["link_gb_per_s"] = link_gb_per_s;
  json["peak_tflops"] = known(rank.info.peak_flops > 0, rank.info.peak_flops / 1e12);
  json["peak_tflops_origin"] = text_or_null(rank.info.peak_flops_origin);
  return json;
}

// Null where nothing held a GPU down, or nobody asked it.
Json throttling_json(const trace::analysis::StepFigures& step) {
  if (step.throttling.empty()) return nullptr;
  return array_of(step.throttling, [](const auto& on) -> Json {
    return {{"rank", on.rank},
            {"limits", trace::model::throttling_text(on.limits)},
            {"ms", ms(static_cast<double>(on.ns))}};
  });
}

Json step_json(const trace::analysis::StepFigures& step, const std::optional<StepRange>& range) {
  const auto& shown = step.shown();
  const auto detail_ms = [&](std::int64_t ns) {
    return step.shows_detail() ? ms(static_cast<double>(ns)) : Json(nullptr);
  };
  Json json = {{"step", step.index},
               {"warmup", step.warmup},
               {"measured", range ? step.complete && range->holds(step.index)
                                  : trace::analysis::is_measured(step)},
               {"ms", ms(static_cast<double>(shown.step_ns))},
               {"compute_ms", detail_ms(shown.compute_ns)},
               {"exposed_ms", detail_ms(shown.exposed_ns)},
               {"idle_ms", detail_ms(shown.idle_ns)},
               {"loss", number_or_null(step.loss)},
               {"nonfinite", step.nonfinite},
               {"nonfinite_rank", known(step.nonfinite, step.nonfinite_rank)},
               {"throttling", throttling_json(step)}};
  const auto slowest = static_cast<std::size_t>(step.slowest_rank);
  add_exposed_parts(json, step.shows_detail(), static_cast<double>(shown.exposed_ns),
                    step.exposed_wait_of(slowest), step.wait_doubt_of(slowest));
  return json;
}

Json collective_json(const trace::analysis::CollectiveGroupFigures& c, bool measured_detail) {
  const auto gb_per_s = [](double bytes_per_s) {
    return known(bytes_per_s > 0, number_or_null(bytes_per_s / 1e9));
  };
  return {{"function", trace::model::to_string(c.function)},
          {"executed", trace::model::to_string(c.executed)},
          {"tag", text_or_null(c.tag)},
          {"bytes", known(trace::model::has_bytes(c), c.bytes)},
          {"count", c.count},
          {"median_us", known(c.median_ns >= 0, us(c.median_ns))},
          {"wait_us", known(c.matched > 0, us(c.wait_ns))},
          {"transfer_us", known(c.matched > 0, us(c.transfer_ns))},
          {"algbw_gbps", gb_per_s(c.algbw_bytes_per_s)},
          {"busbw_gbps", gb_per_s(c.busbw_bytes_per_s)},
          {"algbw_gb_per_s", gb_per_s(c.algbw_bytes_per_s)},
          {"busbw_gb_per_s", gb_per_s(c.busbw_bytes_per_s)},
          {"exposed_ms", known(measured_detail, ms(c.exposed_ns))},
          {"algorithm", text_or_null(c.algorithm)},
          {"protocol", text_or_null(c.protocol)}};
}

Json unit_json(const trace::analysis::UnitFigures& unit) {
  // Of an import, what its trace tells.
  const bool is_gathered = unit.bytes > 0, is_reduced = unit.reduced_bytes > 0;
  const bool is_told = !unit.parameters.empty();
  return {{"index", unit.index},
          {"name", unit.name},
          {"bytes", known(is_gathered, unit.bytes)},
          {"shard_bytes", known(is_gathered, unit.shard_bytes)},
          {"reduced_bytes", known(is_reduced, unit.reduced_bytes)},
          {"shard_count", unit.shard_count},
          {"data_type", unit.data_type},
          {"tensors", known(is_told, unit.parameters.size())},
          {"parameters", unit.parameters}};
}

Json bucket_json(const trace::analysis::BucketFigures& bucket) {
  const bool is_known = !bucket.parameters.empty();
  return {{"index", bucket.index},
          {"bytes", bucket.bytes},
          {"tensors", known(is_known, bucket.parameters.size())},
          {"parameters", known(is_known, bucket.parameters)}};
}

Json evaluation_json(const trace::model::Evaluation& row) {
  return {{"step", row.step},
          {"loss", number_or_null(row.loss)},
          {"perplexity", number_or_null(row.perplexity)},
          {"accuracy", number_or_null(row.accuracy)},
          {"targets", row.targets},
          {"sequences", row.sequences}};
}

Json recorder_json(const trace::analysis::RecorderFigures& recorder) {
  return {
      {"overhead_percent", optional_number(recorder.overhead_fraction, 100)},
      {"overhead_source", !recorder.overhead_fraction     ? Json(nullptr)
                          : recorder.overhead_is_measured ? Json("measured")
                                                          : Json("estimated")},
      {"overhead_is_lower_bound",
       known(recorder.overhead_fraction.has_value(), recorder.overhead_is_least)},
      {"events", or_null(recorder.events)},
      {"lost", known((recorder.events && !recorder.lacks_end) || recorder.lost > 0, recorder.lost)},
      {"losses",
       array_of(recorder.losses,
                [](const auto& loss) -> Json {
                  return {{"rank", loss.rank}, {"reason", loss.reason}, {"count", loss.count}};
                })},
      {"bytes_on_disk", recorder.bytes_on_disk}};
}

Json call_json(const std::optional<trace::analysis::CollectiveCallFigures>& call) {
  if (!call) return nullptr;
  return {{"sequence", known(call->sequence >= 0, call->sequence)},
          {"function", trace::model::to_string(call->function)},
          {"bytes", known(trace::model::has_bytes(*call), call->bytes)},
          {"tag", text_or_null(call->tag)},
          {"phase", trace::base::to_string(call->phase)},
          {"step", known(call->step >= 0, call->step)}};
}

Json diagnosis_json(const trace::analysis::HangDiagnosis& diagnosis) {
  return {
      {"sentence", text_or_null(diagnosis.sentence)},
      {"rank", known(diagnosis.rank >= 0, diagnosis.rank)},
      {"ranks", array_of(diagnosis.states, [](const trace::analysis::RankInGroup& state) -> Json {
         return {{"rank", state.rank},
                 {"group", state.group_name},
                 {"last_entered", call_json(state.last_entered)},
                 {"last_completed", call_json(state.last_completed)}};
       })}};
}

}  // namespace

Json report_json(const RunReport& report) {
  const RunFigures& figures = report.figures;
  Json json;
  json["schema"] = kSchema;
  json["run"] = run_json(report);
  // Only of a run that failed: what each rank was waiting for.
  if (!report.diagnosis.states.empty()) json["diagnosis"] = diagnosis_json(report.diagnosis);
  json["summary"] = summary_json(report);
  json["ranks"] =
      array_of(figures.ranks, [&](const auto& rank) { return rank_json(rank, figures.summary); });
  json["steps"] =
      array_of(figures.steps, [&](const auto& step) { return step_json(step, report.range); });
  json["evaluations"] = array_of(figures.evaluations, evaluation_json);
  const bool measured_detail = trace::analysis::has_measured_detail(figures.steps);
  json["collectives"] = array_of(
      figures.collectives, [&](const auto& c) { return collective_json(c, measured_detail); });
  json["buckets"] = array_of(figures.buckets, bucket_json);
  json["units"] = array_of(figures.units, unit_json);
  json["recorder"] = recorder_json(figures.recorder);
  // What must be known to read the figures: "Shared GPU: timings not representative", …
  json["notes"] = session::banners_of(figures);
  return json;
}

Json knob_json(const trace::job::Settings& settings, const trace::job::Knob& knob) {
  const std::string text = trace::job::value_text(settings, knob);
  if (text == "auto") return text;
  return std::visit(
      [&](auto member) -> Json {
        if constexpr (std::is_same_v<decltype(member), trace::job::ChoiceMember>) {
          return text;
        } else {
          return settings.*member;
        }
      },
      knob.member);
}

Json knobs_json(const trace::job::Settings& settings,
                const std::vector<const trace::job::Knob*>& knobs) {
  Json json = Json::object();
  for (const auto* knob : knobs) json[std::string(knob->name)] = knob_json(settings, *knob);
  return json;
}

Json first_nonfinite_json(const std::vector<trace::analysis::StepFigures>& steps) {
  const auto* first = trace::analysis::first_nonfinite(steps);
  return first == nullptr ? Json(nullptr) : Json(first->index);
}

Json settings_json(const trace::job::Settings& settings) {
  Json json;
  for (const auto& knob : trace::job::knobs())
    json[std::string(knob.name)] = knob_json(settings, knob);
  return json;
}

}  // namespace shardlens::app::report
