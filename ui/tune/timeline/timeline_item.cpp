#include "ui/tune/timeline/timeline_item.h"

#include <algorithm>

#include "ui/present/format.h"

namespace shardlens::ui {

namespace {

using trace::TimeClass;
using Swatch = ItemDetails::Row::Swatch;

std::string class_name(TimeClass bar_class) {
  switch (bar_class) {
    case TimeClass::kData:
    case TimeClass::kForward:
    case TimeClass::kBackward:
    case TimeClass::kOptimizerPhase:
    case TimeClass::kEvaluation:
    case TimeClass::kOtherPhase:
      return "Phase of the training thread";
    case TimeClass::kCompute:
      return "Computation";
    case TimeClass::kOptimizer:
      return "Computation of the optimizer";
    case TimeClass::kOverlapped:
      return "Communication that computation hides";
    case TimeClass::kExposed:
      return "Communication with nothing to hide it";
    case TimeClass::kWaiting:
      return "Waiting for the last rank to arrive";
    case TimeClass::kCopy:
      return "Copies";
    case TimeClass::kHost:
      return "Work of the host";
    case TimeClass::kIdle:
      return "Neither computation nor communication";
  }
  return "";
}

std::string duration(double ns) { return format_duration(ns).text(); }
std::string size(std::int64_t bytes) { return format_bytes(static_cast<double>(bytes)).text(); }

void describe_bar(ItemDetails& out, const trace::Bar& bar) {
  out.title = bar.label.empty() ? class_name(bar.bar_class) : bar.label;
  if (!bar.label.empty()) out.what = class_name(bar.bar_class);
}

// "wte.weight, wpe.weight, … 12 in all"
std::string parameters_text(const trace::UnitFigures& unit) {
  constexpr std::size_t kShown = 2;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, unit.parameters.size()); ++i) {
    text += (i > 0 ? ", " : "") + unit.parameters[i];
  }
  if (unit.parameters.size() <= kShown) return text;
  return text + ", … " + std::to_string(unit.parameters.size()) + " in all";
}

void describe_unit(ItemDetails& out, const trace::UnitFigures& unit) {
  out.rows.push_back({Swatch::kNone, "Unit, gathered", size(unit.bytes)});
  out.rows.push_back({Swatch::kNone, "Shard of a rank", size(unit.shard_bytes)});
  const std::string parameters = parameters_text(unit);
  if (!parameters.empty()) out.note = "Parameters: " + parameters;
}

void describe_wait(ItemDetails& out, const trace::CollectiveBar& bar) {
  constexpr const char* kWaiting = "Waiting for the last rank";
  if (!bar.waits_until_ns) {
    out.rows.push_back({Swatch::kNone, kWaiting, "not known"});
    out.why_unknown = std::string(to_text(bar.wait_doubt));
    if (!out.why_unknown.empty()) out.why_unknown.insert(0, "Waiting is not known: ");
    return;
  }
  const auto start = static_cast<double>(bar.start_ns), end = static_cast<double>(bar.end_ns);
  const double latest = std::clamp(static_cast<double>(*bar.waits_until_ns), start, end);
  out.rows.push_back({Swatch::kNone, kWaiting, duration(latest - start)});
  out.rows.push_back({Swatch::kNone, "Transferring", duration(end - latest)});
  if (end > latest && bar.event.bytes > 0) {
    const double rate = static_cast<double>(bar.event.bytes) / (end - latest) * 1e9;
    out.rows.push_back({Swatch::kNone, "Size ÷ transfer", format_bandwidth(rate).text()});
  }
}

void describe_collective(ItemDetails& out, const trace::CollectiveBar& bar) {
  const trace::Collective& event = bar.event;
  out.title = bar.label.empty() ? std::string(trace::to_string(event.function)) : bar.label;
  out.what = trace::to_string(event.function);
  if (event.executed != event.function) {
    out.what += ", run as " + std::string(trace::to_string(event.executed));
  }
  if (event.sequence >= 0) out.what += " · sequence " + std::to_string(event.sequence);
  if (trace::has_bytes(event)) out.rows.push_back({Swatch::kNone, "Size", size(event.bytes)});
  if (bar.unit) describe_unit(out, *bar.unit);
  if (is_gather(bar)) {
    out.rows.push_back({Swatch::kNone, "Prefetched", is_prefetched(bar) ? "yes" : "no"});
  }
  describe_wait(out, bar);
  out.rows.push_back(
      {Swatch::kOverlapped, "Overlapped", duration(static_cast<double>(bar.overlapped_ns))});
  out.rows.push_back({Swatch::kExposed, "Exposed", duration(static_cast<double>(bar.exposed_ns))});
}

void describe_ready(ItemDetails& out, const trace::ReadyMark& mark) {
  out.title = mark.name + " is ready";
  out.title.front() =
      static_cast<char>(std::toupper(static_cast<unsigned char>(out.title.front())));
  out.what = "Its last gradient has arrived; its reduction follows those before it";
  if (!mark.note.empty()) out.what += ". " + mark.note;
  out.rows.push_back({Swatch::kNone, mark.unit ? "Gradients" : "Size", size(mark.bytes)});
  if (mark.unit) describe_unit(out, *mark.unit);
}

}  // namespace

bool is_gather(const trace::CollectiveBar& bar) {
  return bar.event.tag_kind == trace::TagKind::kUnit &&
         bar.event.function == trace::CollectiveFunction::kAllGather;
}

bool is_backward(const trace::CollectiveBar& bar) {
  return is_gather(bar) && bar.label.find(" backward gather") != std::string::npos;
}

bool is_prefetched(const trace::CollectiveBar& bar) {
  return is_gather(bar) && bar.label.ends_with(", prefetched");
}

BarLabel collective_label(const trace::CollectiveBar& bar) {
  const std::int64_t index = bar.event.tag_index;
  switch (bar.event.tag_kind) {
    case trace::TagKind::kBucket:
      return {trace::has_bytes(bar.event) ? bar.label + " · " + size(bar.event.bytes) : bar.label,
              std::to_string(index)};
    case trace::TagKind::kUnit: {
      // "3" of "blocks.3 forward gather"; the root has no number.
      const auto dot = bar.label.find('.');
      if (dot == std::string::npos) return {bar.label, ""};
      return {bar.label, bar.label.substr(dot + 1, bar.label.find(' ') - dot - 1)};
    }
    default:
      return {bar.label, ""};
  }
}

bool same_item(const TimelineItem& a, const TimelineItem& b) {
  return a.kind == b.kind && a.rank == b.rank && a.start_ns == b.start_ns && a.end_ns == b.end_ns;
}

ItemDetails item_details(const TimelineItem& item, std::int64_t step) {
  ItemDetails out;
  switch (item.kind) {
    case TimelineItem::Kind::kBar:
      describe_bar(out, item.bar);
      break;
    case TimelineItem::Kind::kCollective:
      describe_collective(out, item.collective);
      break;
    case TimelineItem::Kind::kReady:
      describe_ready(out, item.ready);
      break;
  }
  if (item.end_ns > item.start_ns) {
    out.rows.push_back({Swatch::kNone, "Duration", duration(item.end_ns - item.start_ns)});
  }
  out.rows.push_back({Swatch::kNone, "Start in the step", duration(item.start_ns)});
  out.where = "Rank " + std::to_string(item.rank) + ", step " + format_integer(step);
  return out;
}

}  // namespace shardlens::ui
