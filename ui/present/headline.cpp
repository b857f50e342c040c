#include "ui/present/headline.h"

#include <optional>

#include "trace/analysis/figures/run_summary.h"
#include "trace/analysis/noise/mean_estimate.h"
#include "trace/base/number_text.h"
#include "trace/base/text.h"
#include "trace/model/run_info.h"
#include "trace/timeline/words/interval_text.h"
#include "ui/present/format.h"

namespace shardlens::ui::present {

namespace {

Headline make(std::string label, const Quantity& quantity, std::string note, std::string definition,
              std::string source) {
  return {std::move(label), quantity.value,        quantity.unit,
          std::move(note),  std::move(definition), std::move(source)};
}

// How exactly the run's steps tell their mean, as ± means everywhere.
Headline step_headline(const trace::analysis::RunFigures& figures, const std::string& source) {
  const trace::analysis::RunSummary& s = figures.summary;
  const auto unit = duration_unit(s.step_ns.mean);
  std::string note, certainty =
                        "; how exactly they tell it is not known, because they are too few "
                        "or drift too much";
  const auto mean =
      trace::analysis::estimate_mean(trace::analysis::measured_step_times(figures.steps));
  if (mean && mean->has_error()) {
    note = trace::timeline::spread_text(s.step_ns.mean, mean->half_width(),
                                        trace::timeline::in_unit(unit));
    certainty = "; beside it the 95 % interval of that mean";
  }
  if (s.step_ns.count > 1) {
    certainty += ". Single steps scatter by " +
                 format_duration_in(s.step_ns.standard_deviation, unit).text() +
                 " (standard deviation)";
  }
  return make("Step", format_duration(s.step_ns.mean), note,
              "Time of one optimizer step: the mean over " + format_integer(s.steps_measured) +
                  " measured steps of the mean over ranks" + certainty,
              source);
}

Headline exposed_headline(const trace::analysis::RunSummary& s, const std::string& source) {
  std::string share, of_step, waits;
  // Of the steps that it is known of, which may be fewer.
  if (s.detailed_step_ns > 0) {
    share = format_percent(s.exposed_ns / s.detailed_step_ns).text();
    of_step = " of step";
  }
  std::string split;
  if (s.exposed_wait_ns.value_or(0) > 0 && s.exposed_ns > 0) {
    const std::string waiting = format_duration(*s.exposed_wait_ns).text();
    waits = (share.empty() ? "" : ", ") + waiting + " waiting";
    split = ". Of it " + waiting + " are waiting, before the last rank had come, and " +
            format_duration(s.exposed_ns - *s.exposed_wait_ns).text() + " transfer";
  } else if (s.exposed_ns > 0 && s.wait_doubt != trace::analysis::WaitDoubt::kNone) {
    split = ". How much of it is waiting for other ranks is not known: " +
            std::string(trace::analysis::to_text(s.wait_doubt));
  }
  Headline out =
      make("Exposed", format_duration(s.exposed_ns), share + of_step + waits,
           "Communication that no computation hides: all collectives minus their overlap with "
           "computation" +
               split +
               ". A better bucket size or strategy can win back the transfer at most; waiting "
               "goes with what makes a rank late",
           source);
  out.brief_note = share + waits;
  return out;
}

Headline overlap_headline(const trace::analysis::RunSummary& s, const std::string& source) {
  Headline out =
      make("Overlap", format_percent(*s.overlap_fraction), "",
           "Share of communication that runs while computation runs. More is not always better: "
           "compressed gradients lower it although the step gets faster",
           source);
  out.goes_first = true;
  return out;
}

std::vector<std::string_view> recorded_sources(const trace::analysis::RunFigures& figures) {
  if (figures.ranks.empty()) return {};
  return source_parts(figures.ranks.front().info.sources);
}

constexpr std::string_view kMemoryPart = "memory: ";
constexpr std::string_view kUnnamedSource = "The recording does not name its source";

std::optional<Headline> memory_headline(const trace::analysis::RunFigures& figures) {
  const trace::analysis::RankFigures* most = nullptr;
  for (const auto& rank : figures.ranks) {
    if (most == nullptr || rank.peak.total_bytes() > most->peak.total_bytes()) most = &rank;
  }
  if (most == nullptr || most->peak.total_bytes() <= 0) return std::nullopt;
  const bool has_outside = most->peak.knows(trace::model::MemoryCategory::kOutside);
  return make(
      "Peak memory", format_bytes(static_cast<double>(most->peak.total_bytes())),
      "rank " + std::to_string(most->info.rank),
      std::string("What the rank that then held most held when its tensors took most: what "
                  "PyTorch allocated, by category") +
          (has_outside ? ", plus what lies outside PyTorch. The ledger's peak of tensors is "
                         "without that"
                       : "; what lies outside PyTorch is not known here"),
      memory_source(figures));
}

}  // namespace

std::vector<std::string_view> source_parts(std::string_view sources) {
  std::vector<std::string_view> parts = trace::base::split(sources, ';');
  for (std::string_view& part : parts) part = trace::base::trimmed(part);
  std::erase(parts, std::string_view());
  return parts;
}

std::string time_source(const trace::analysis::RunFigures& figures) {
  std::string text;
  for (const std::string_view part : recorded_sources(figures)) {
    if (part.starts_with(kMemoryPart)) continue;
    text += (text.empty() ? "Sources: " : "; ") + std::string(part);
  }
  return text.empty() ? std::string(kUnnamedSource) : text;
}

std::string memory_source(const trace::analysis::RunFigures& figures) {
  for (const std::string_view part : recorded_sources(figures)) {
    if (part.starts_with(kMemoryPart))
      return "Source: " + std::string(part.substr(kMemoryPart.size()));
  }
  return std::string(kUnnamedSource);
}

std::string peak_flops_text(const trace::analysis::RunFigures& figures) {
  if (figures.ranks.empty() || figures.ranks.front().info.peak_flops <= 0) return "not known";
  const trace::model::RankInfo& info = figures.ranks.front().info;
  std::string text = format_plain(info.peak_flops / 1e12) + " TFLOP/s per GPU";
  if (!info.peak_flops_origin.empty()) text += " (" + info.peak_flops_origin + ")";
  return text;
}

std::vector<Headline> headlines(const trace::analysis::RunFigures& figures) {
  std::vector<Headline> out;
  const trace::analysis::RunSummary& s = figures.summary;
  const std::string source = time_source(figures);
  if (s.steps_measured > 0) {
    out.push_back(step_headline(figures, source));
    if (s.has_detail) out.push_back(exposed_headline(s, source));
    if (s.tokens_per_s > 0) {
      out.push_back(make("Tokens", format_rate(*s.tokens_per_s, "/s"), "",
                         "Tokens that all ranks together train on per second of measured steps",
                         "From the tokens of each batch, without padding, and step times"));
    }
    if (s.mfu) {
      out.push_back(make(
          "MFU", format_percent(*s.mfu), "",
          "Model FLOPs utilization: (6·N + 12·L·C·T) · tokens computed per second, with "
          "padding, ÷ the dense peak of all GPUs at the precision used; N leaves out embeddings "
          "that are only looked up, frozen weights count 4 (2 where no gradient passes through), "
          "recomputation nothing",
          "From the model's shape and step times; the peak is " + peak_flops_text(figures)));
    }
  }
  if (auto memory = memory_headline(figures)) out.push_back(std::move(*memory));
  if (s.steps_measured > 0 && s.overlap_fraction) out.push_back(overlap_headline(s, source));
  return out;
}

// Of when a run began: of another day that day alone.
constexpr std::size_t kDayOrTime = std::string_view("11-20").size();

std::string run_circumstances(const trace::model::RunInfo& info, bool brief) {
  std::string text;
  if (is_date(info.start_ns))
    text = brief ? format_when(info.start_ns).substr(0, kDayOrTime) : format_date(info.start_ns);
  const auto add = [&text](const std::string& part) {
    if (!text.empty()) text += " · ";
    text += part;
  };
  if (info.world_size > 0) {
    add(trace::base::counted(info.world_size, "rank") +
        (info.device == "cuda" ? " on GPU" : " on CPU"));
  }
  if (!info.imported_from.empty()) {
    add(trace::model::was_recorded_from_outside(info) ? "recorded from outside" : "imported");
  } else if (!brief) {
    add(trace::job::chosen<&trace::job::Settings::precision>(info.settings));
  }
  return text;
}

std::string run_title(const trace::model::RunInfo& info) {
  return trace::model::has_settings(info) ? info.settings.model + " · " + info.name : info.name;
}

}  // namespace shardlens::ui::present
