#include "ui/present/tune/prediction_history.h"

#include <algorithm>
#include <cmath>

#include "trace/base/median.h"
#include "trace/base/number_text.h"
#include "ui/present/format.h"
#include "ui/present/tables/ledger_cells.h"

namespace shardlens::ui::present {

namespace {

constexpr double kHeldShare = 0.95;   // of intervals that hold what is measured
constexpr double kUnlikely = 0.05;    // below it chance does not explain so few
constexpr double kVastRange = 5;      // between the shortest and the longest step: logarithmic
constexpr double kTimeMargin = 0.08;  // of the scale, at either end
constexpr double kLeastError = 0.02;  // shown at least
constexpr double kErrorMargin = 1.25, kMostInterval = 3;  // times the largest error
constexpr int kHistoryTicks = 5;

// Of at most `count` of `of` intervals that hold, each with a chance of kHeldShare.
double chance_of_so_few(std::size_t count, std::size_t of) {
  double sum = 0;
  const auto n = static_cast<double>(of);
  for (std::size_t i = 0; i <= count; ++i) {
    const auto k = static_cast<double>(i);
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                    k * std::log(kHeldShare) + (n - k) * std::log(1 - kHeldShare));
  }
  return sum;
}

TestedPrediction tested_row(const state::LedgerRow& row) {
  TestedPrediction tested{.folder = row.folder,
                          .run = row.ordinal.empty() ? row.name : row.ordinal,
                          .name = row.name,
                          .from = row.predicted->from,
                          .predicted_ns = row.predicted->step_ns,
                          .measured_ns = row.summary.step_ns.mean};
  if (row.predicted->low_ns && row.predicted->high_ns) {
    tested.interval = {*row.predicted->low_ns, *row.predicted->high_ns};
  }
  return tested;
}

double miss(const TestedPrediction& tested) { return std::abs(tested.error()); }

double median_miss(const std::vector<TestedPrediction>& tested) {
  std::vector<double> misses;
  for (const auto& each : tested) misses.push_back(miss(each));
  std::ranges::sort(misses);
  return trace::base::quantile(misses, 0.5);
}

std::string percent_text(double part) { return format_number(100 * part) + " %"; }

std::string predictions_text(std::size_t count) {
  return trace::base::counted(count, "prediction");
}

std::string within_words(const PredictionHistory& history) {
  if (history.with_interval == 0) {
    return "None of them had an interval: the runs they were made from had too few steps, or steps "
           "that drift.";
  }
  const auto part =
      static_cast<double>(history.within) / static_cast<double>(history.with_interval);
  std::string words = std::to_string(history.within) + " of " +
                      std::to_string(history.with_interval) +
                      " measured step times lie within the predicted interval (" +
                      std::to_string(std::lround(100 * part)) + " %), 95 % should";
  const bool too_few = chance_of_so_few(history.within, history.with_interval) < kUnlikely;
  words += too_few ? ": too few for chance, so intervals of such runs promise too much." : ".";
  if (const auto without = history.tested.size() - history.with_interval; without > 0) {
    words += " " + predictions_text(without) + " had no interval.";
  }
  return words;
}

std::string error_words(const PredictionHistory& history) {
  const TestedPrediction& worst = history.tested[*history.worst];
  const std::string missed = format_signed_percent(worst.error()) + " (" + worst.run + ")";
  if (history.tested.size() == 1) return "It was off by " + missed + ".";
  return "Half of them were off by at most " + percent_text(*history.median_error) +
         ", the furthest by " + missed + ". " + trace::base::counted(history.took_longer, "run") +
         " took longer than predicted, " +
         std::to_string(history.tested.size() - history.took_longer) + " less or as long.";
}

struct PlaceScale {
  double low = 0, high = 1;
  float of(double value) const { return static_cast<float>((value - low) / (high - low)); }
};

class HistoryScale {
 public:
  explicit HistoryScale(const std::vector<TestedPrediction>& tested) {
    double low = INFINITY, high = 0;
    for (const auto& each : tested) {
      low = std::min({low, each.predicted_ns, each.measured_ns});
      high = std::max({high, each.predicted_ns, each.measured_ns});
    }
    is_logarithmic_ = high / low > kVastRange;
    low_ns_ = low;
    high_ns_ = high;
    const double begin = position(low), end = position(high);
    // One run alone has no range: its own length is one.
    const double margin = std::max(kTimeMargin * (end - begin), is_logarithmic_ ? 0 : 0.02 * high);
    scale_ = {begin - margin, end + margin};
  }
  bool is_logarithmic() const { return is_logarithmic_; }
  float of(double ns) const { return is_logarithmic_ && ns <= 0 ? -1 : scale_.of(position(ns)); }
  std::vector<Tick> ticks() const {
    std::vector<double> values =
        is_logarithmic_ ? log_ticks() : nice_ticks(scale_.low, scale_.high, kHistoryTicks);
    std::vector<Tick> ticks;
    for (const double ns : values) ticks.push_back({of(ns), round_time_text(ns)});
    return ticks;
  }

 private:
  double position(double ns) const { return is_logarithmic_ ? std::log(ns) : ns; }
  std::vector<double> log_ticks() const {
    std::vector<double> values;
    const bool is_vast = high_ns_ / low_ns_ > 1000;
    for (double power = std::pow(10, std::floor(std::log10(low_ns_)) - 1); power <= 10 * high_ns_;
         power *= 10) {
      for (const double digit : {1.0, 2.0, 5.0}) {
        const float at = of(digit * power);
        if (at < 0 || at > 1 || (is_vast && digit != 1)) continue;
        values.push_back(digit * power);
      }
    }
    return values;
  }

  bool is_logarithmic_ = false;
  double low_ns_ = 0, high_ns_ = 0;
  PlaceScale scale_;
};

// As far as errors reach, and intervals as long as that leaves errors to be seen.
PlaceScale error_scale(const std::vector<TestedPrediction>& tested) {
  double largest = 0, reach = 0;
  for (const auto& each : tested) {
    largest = std::max(largest, miss(each));
    if (!each.interval) continue;
    reach = std::max({reach, each.interval->high_ns / each.predicted_ns - 1,
                      1 - std::max(each.interval->low_ns, 0.0) / each.predicted_ns});
  }
  const double shown = std::max(kLeastError, largest);
  const double half = kErrorMargin * std::max(shown, std::min(reach, kMostInterval * shown));
  return {-half, half};
}

HistoryChart::Point history_point(const TestedPrediction& of, const HistoryScale& times,
                                  const PlaceScale& errors) {
  HistoryChart::Point point;
  point.measured = times.of(of.measured_ns);
  point.predicted = point.low = point.high = times.of(of.predicted_ns);
  point.error = errors.of(of.error());
  point.error_low = point.error_high = errors.of(0);
  point.has_interval = of.interval.has_value();
  point.is_within = of.is_within();
  if (!of.interval) return point;
  const double low_ns = std::max(of.interval->low_ns, 0.0);
  point.low = times.of(low_ns);
  point.high = times.of(of.interval->high_ns);
  point.error_low = errors.of(low_ns / of.predicted_ns - 1);
  point.error_high = errors.of(of.interval->high_ns / of.predicted_ns - 1);
  return point;
}

}  // namespace

PredictionHistory prediction_history(const state::Ledger& ledger) {
  PredictionHistory history;
  for (const state::LedgerRow& row : ledger.rows) {
    if (!row.predicted) continue;
    if (!prediction_error(row)) {
      ++history.untested;
      continue;
    }
    history.tested.push_back(tested_row(row));
  }
  std::ranges::reverse(history.tested);  // rows are newest first
  for (const TestedPrediction& tested : history.tested) {
    history.with_interval += tested.interval ? 1 : 0;
    history.within += tested.is_within() ? 1 : 0;
    history.took_longer += tested.error() > 0 ? 1 : 0;
  }
  if (history.tested.empty()) return history;
  history.median_error = median_miss(history.tested);
  const auto worst = std::ranges::max_element(history.tested, {}, miss);
  history.worst = static_cast<std::size_t>(worst - history.tested.begin());
  return history;
}

std::vector<std::string> history_words(const PredictionHistory& history) {
  std::vector<std::string> words;
  if (history.tested.empty()) {
    words.emplace_back("No prediction has met its run yet.");
  } else {
    words.push_back(predictions_text(history.tested.size()) +
                    " made before the run, and measured.");
    words.push_back(within_words(history));
    words.push_back(error_words(history));
  }
  if (history.untested > 0) {
    words.push_back(predictions_text(history.untested) + (history.untested == 1 ? " is" : " are") +
                    " of runs that go on or did not end well.");
  }
  return words;
}

std::optional<HistoryChart> history_chart(const PredictionHistory& history) {
  if (history.tested.empty()) return std::nullopt;
  const HistoryScale times(history.tested);
  const PlaceScale errors = error_scale(history.tested);
  HistoryChart chart;
  chart.is_logarithmic = times.is_logarithmic();
  chart.times = times.ticks();
  for (const double error : nice_ticks(errors.low, errors.high, kHistoryTicks)) {
    chart.errors.push_back({errors.of(error), format_signed_percent(error)});
  }
  chart.no_error = errors.of(0);
  const auto count = static_cast<float>(history.tested.size());
  for (const TestedPrediction& tested : history.tested) {
    chart.points.push_back(history_point(tested, times, errors));
    chart.points.back().run = (static_cast<float>(chart.points.size()) - 0.5f) / count;
  }
  return chart;
}

}  // namespace shardlens::ui::present
