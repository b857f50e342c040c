#include "ui/inspect/timeline/item_facts.h"

#include <algorithm>
#include <cmath>

#include "trace/analysis/steps/host_clocks.h"
#include "trace/base/number_text.h"
#include "trace/timeline/words/kernel_title.h"
#include "ui/present/format.h"
#include "ui/present/timeline/timeline_time_text.h"
#include "ui/state/palette.h"

namespace shardlens::ui::inspect {

namespace {

using trace::base::TimeClass;
using trace::timeline::DrawnCollective;

std::string share_text(double share) { return present::format_percent(share).text(); }

// "wte.weight, wpe.weight, … 12 in all"
std::string parameters_text(const std::vector<std::string>& parameters) {
  constexpr std::size_t kShown = 2;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, parameters.size()); ++i) {
    text += (i > 0 ? ", " : "") + parameters[i];
  }
  if (parameters.size() <= kShown) return text;
  return text + ", … " + std::to_string(parameters.size()) + " in all";
}

class FactMaker {
 public:
  FactMaker(const trace::timeline::TimelineRows& rows, const StepIndex& steps, const RowItem& item)
      : rows_(rows), steps_(steps), item_(item), row_(rows.rows[std::size_t(item.row)]) {}

  ItemFacts make() {
    const std::string rank = row_.rank < 0 ? "" : "rank " + std::to_string(row_.rank);
    if (item_.piece) {
      const bool is_event = item_.piece->ref.exists() || is_ribbon();
      is_event ? add_event() : add_fold();
    } else if (item_.column) {
      add_column();
      return std::move(out_);
    } else if (item_.point) {
      add_point();
    } else if (item_.ready) {
      add_ready();
    }
    out_.notes.push_back(row_.label.empty() ? rank : rank + " · " + row_.label);
    return std::move(out_);
  }

 private:
  bool is_ribbon() const { return row_.kind == trace::timeline::RowKind::kRibbon; }
  void add(std::string name, std::string value, std::optional<TimeClass> swatch = {}) {
    out_.rows.push_back({swatch, std::move(name), std::move(value)});
  }

  void add_start(std::int64_t time_ns) {
    const trace::timeline::StepBorder* step =
        steps_.at(row_.rank < 0 ? steps_.reference_rank() : row_.rank, time_ns);
    if (step == nullptr) {
      return add("Since the start", present::exact_text(time_ns - rows_.start_ns, 1'000));
    }
    const std::int64_t since_ns = time_ns - step->start_ns;
    add("In step " + present::format_integer(step->step),
        present::exact_text(since_ns, since_ns < 1'000'000 ? 1 : 1'000));
  }

  void add_event() {
    const trace::timeline::Piece& piece = *item_.piece;
    const std::string title = trace::timeline::event_title(row_.kind, item_.name);
    const bool named = !title.empty() && !is_ribbon();
    out_.title = named ? title : std::string(state::class_name(piece.piece_class));
    const bool is_collective = item_.collective.has_value();
    if (is_collective) add_call(*item_.collective);
    // Of a collective that is drawn in parts the whole; without length it is drawn with some.
    const std::int64_t length_ns = is_ribbon() ? piece.duration_ns() : piece.longest_ns;
    const bool is_timed = !is_collective || item_.collective->is_timed;
    add("Duration", is_timed ? present::length_text(length_ns) : "not known", piece.piece_class);
    if (is_collective) {
      add_wait(*item_.collective);
      add_exposure(*item_.collective);
    }
    if (is_ribbon() && piece.longest_ns > 0 && piece.longest_ns < piece.duration_ns()) {
      add("of it " + std::string(state::class_name(piece.piece_class)),
          present::length_text(piece.longest_ns));
    }
    add_start(piece.start_ns);
    if (!is_ribbon() && !is_collective)
      add("Class", std::string(state::class_name(piece.piece_class)));
  }

  void add_call(const DrawnCollective& call) {
    out_.what = trace::model::to_string(call.function);
    if (call.executed != call.function) {
      out_.what += ", run as " + std::string(trace::model::to_string(call.executed));
    }
    if (call.sequence >= 0) out_.what += " · sequence " + std::to_string(call.sequence);
    if (call.bytes >= 0) add("Size", present::bytes_text(call.bytes));
    if (call.unit) add_unit(*call.unit);
    if (call.gather != DrawnCollective::Gather::kNone) {
      add("Prefetched", call.is_prefetched ? "yes" : "no");
    }
  }

  void add_unit(const trace::analysis::UnitFigures& unit) {
    add("Unit, gathered", present::bytes_text(unit.bytes));
    add("Shard of a rank", present::bytes_text(unit.shard_bytes));
    const std::string parameters = parameters_text(unit.parameters);
    if (!parameters.empty()) out_.notes.push_back("Parameters: " + parameters);
  }

  void add_wait(const DrawnCollective& call) {
    const trace::analysis::CallWait& wait = call.wait;
    if (!wait.wait_ns) {
      add("Waiting for the last rank", "not known");
      const auto why = trace::analysis::to_text(wait.doubt);
      if (!why.empty()) out_.notes.push_back("Waiting is not known: " + std::string(why));
      return;
    }
    add("Waiting for the last rank", present::length_text(*wait.wait_ns));
    if (wait.has_left) {
      add("Transferring", "none");
      out_.notes.emplace_back("It ended before the last rank began: it waited for nobody");
      return;
    }
    if (!wait.transfer_ns) {
      add("Transferring", "not known");
      out_.notes.emplace_back(
          "The transfer is not known: its ranks have several clocks, as calls show");
      return;
    }
    add("Transferring", present::length_text(*wait.transfer_ns));
    if (*wait.transfer_ns <= 0 || call.bytes <= 0) return;
    const double rate =
        static_cast<double>(call.bytes) / static_cast<double>(*wait.transfer_ns) * 1e9;
    add("Size ÷ transfer", present::format_bandwidth(rate).text());
  }

  void add_exposure(const DrawnCollective& call) {
    if (call.overlapped_ns < 0) return;
    add("Overlapped", present::length_text(call.overlapped_ns), TimeClass::kOverlapped);
    add("Exposed", present::length_text(call.exposed_ns), TimeClass::kExposed);
  }

  void add_fold() {
    const trace::timeline::Piece& piece = *item_.piece;
    out_.title = trace::base::counted(piece.count, "event");
    add("Busy", share_text(static_cast<double>(piece.busy)), piece.piece_class);
    add("Busiest part", share_text(static_cast<double>(piece.busiest)));
    add("In", present::length_text(piece.duration_ns()));
    if (piece.longest_ns > 0) add("Longest", present::length_text(piece.longest_ns));
    if (!item_.name.empty())
      out_.notes.push_back(trace::timeline::event_title(row_.kind, item_.name));
    add_start(piece.start_ns);
    out_.notes.emplace_back(rows_.is_one_step
                                ? "Too short to be told apart; Inspect shows each (Ctrl+2)"
                                : "Too short to be told apart: zoom in, or double-click");
  }

  void add_column() {
    const trace::timeline::RibbonColumn& column = *item_.column;
    out_.title = row_.rank < 0 ? "Mean over all ranks" : "Rank " + std::to_string(row_.rank);
    for (int i = 0; i < trace::base::kPartitionClasses; ++i) {
      const float share = column.share[static_cast<std::size_t>(i)];
      if (share < 0.0005f) continue;
      const auto piece_class = static_cast<TimeClass>(i);
      add(std::string(state::class_name(piece_class)), share_text(static_cast<double>(share)),
          piece_class);
    }
    add_start(column.start_ns);
    if (item_.smooth_ns > 0) return add_smoothing();
    out_.notes.push_back("of " + present::length_text(column.end_ns - column.start_ns));
  }

  void add_smoothing() {
    out_.notes.push_back("of the " + present::length_text(item_.smooth_ns) +
                         " around it, as long as a step: zoom in for less");
  }

  void add_point() {
    out_.title = row_.label;
    add("Value", area_value_text(item_.point->value, row_.unit));
    if (item_.point->highest > item_.point->value) {
      add(item_.smooth_ns > 0 ? "Highest" : "Highest here",
          area_value_text(item_.point->highest, row_.unit));
    }
    add_start(item_.point->time_ns);
    if (item_.smooth_ns > 0) add_smoothing();
  }

  void add_ready() {
    const trace::timeline::ReadyPoint& ready = *item_.ready;
    out_.title = "Gradients of " + item_.name + " are ready";
    out_.what = "Its last gradient has arrived; its reduction follows those before it";
    if (ready.bytes > 0) add("Size", present::bytes_text(ready.bytes));
    add_start(ready.time_ns);
    if (!item_.collective) return;
    if (item_.collective->unit) add_unit(*item_.collective->unit);
    const auto& bucket = item_.collective->bucket;
    if (bucket && !bucket->oversize_reason.empty()) out_.notes.push_back(bucket->oversize_reason);
  }

  const trace::timeline::TimelineRows& rows_;
  const StepIndex& steps_;
  const RowItem& item_;
  const trace::timeline::TimelineRow& row_;
  ItemFacts out_;
};

std::string if_one_host(const trace::timeline::TimelineRank& rank) {
  return rank.host.empty() ? " Its host was not recorded; if it is the same one, so is the clock."
                           : "";
}

}  // namespace

ItemFacts item_facts(const trace::timeline::TimelineRows& rows, const StepIndex& steps,
                     const RowItem& item) {
  return FactMaker(rows, steps, item).make();
}

CollectiveLabel collective_label(const DrawnCollective& collective, const std::string& name) {
  switch (collective.tag_kind) {
    case trace::model::TagKind::kBucket:
      return {collective.bytes < 0 ? name : name + " · " + present::bytes_text(collective.bytes),
              std::to_string(collective.tag_index)};
    case trace::model::TagKind::kUnit: {
      // "3" of "blocks.3" and "module 3"; the root has no number.
      const std::string unit =
          collective.unit ? collective.unit->name : name.substr(0, name.find(' '));
      const auto before = unit.find_first_of(". ");
      return {name, before == std::string::npos ? "" : unit.substr(before + 1)};
    }
    default:
      return {name, ""};
  }
}

std::string area_value_text(double value, const std::string& unit) {
  if (unit == "bytes") return present::format_bytes(value).text();
  if (unit == "bytes/s") return present::format_bandwidth(value).text();
  if (unit == "%") return present::format_percent(value / 100).text();
  // As the device tells them: whole, or nearly.
  if (unit == "W" || unit == "MHz" || unit == "°C") {
    return present::format_integer(std::llround(std::clamp(value, -1e15, 1e15))) + " " + unit;
  }
  if (unit == "share") return present::format_percent(value).text() + " of the time";
  return present::format_number(value) + (unit.empty() ? "" : " " + unit);
}

std::string clock_text(const trace::timeline::TimelineRank& rank,
                       const trace::timeline::TimelineRank& first) {
  const std::string against = "rank " + std::to_string(first.rank);
  if (rank.rank == first.rank || rank.clock_error_ns < 0) return "";
  if (rank.clock_error_ns == 0) return "The same clock as " + against + ".";
  if (rank.clock_error_ns == trace::analysis::kUnknownClockError) {
    return "Nothing tells how far its clock is from that of " + against +
           ": no collective connects them." + if_one_host(rank);
  }
  return "Its clock and that of " + against + " differ by " +
         present::length_text(rank.clock_error_ns) + " at most: the collectives of both say so." +
         if_one_host(rank);
}

std::string clocks_text(std::span<const trace::timeline::TimelineRank> ranks) {
  if (ranks.size() < 2) return "";
  const auto worst =
      std::ranges::max_element(ranks, {}, &trace::timeline::TimelineRank::clock_error_ns);
  if (std::ranges::min(ranks, {}, &trace::timeline::TimelineRank::clock_error_ns).clock_error_ns <
      0)
    return "";
  if (worst->clock_error_ns == 0) {
    return ranks.front().host.empty() ? "They have one clock."
                                      : "All on " + ranks.front().host + ": one clock.";
  }
  return "Rank " + std::to_string(worst->rank) + " is the least certain. " +
         clock_text(*worst, ranks.front());
}

}  // namespace shardlens::ui::inspect
