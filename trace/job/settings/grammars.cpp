#include "trace/job/settings/grammars.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "trace/base/number_text.h"
#include "trace/base/text.h"
#include "trace/job/settings/settings.h"

namespace shardlens::trace::job {

namespace {

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text = base::trimmed(text.substr(prefix.size()));
  return true;
}

template <typename Number>
bool parse_whole(std::string_view text, Number& number) {
  const auto read = base::number_from<Number>(text);
  if (read) number = *read;
  return read.has_value();
}

struct Pair {
  std::string_view key, value;
};

// "a=1, b" → {a, 1}, {b, ""}
std::vector<Pair> split_pairs(std::string_view text) {
  if (text.ends_with(',')) text.remove_suffix(1);  // says nothing
  std::vector<Pair> pairs;
  for (const std::string_view part : base::split(text, ',')) {
    const auto equals = std::min(part.find('='), part.size());
    const std::string_view value = part.substr(std::min(equals + 1, part.size()));
    pairs.push_back({base::trimmed(part.substr(0, equals)), base::trimmed(value)});
  }
  return pairs;
}

tl::unexpected<base::Error> bad(std::string_view what, std::string_view text,
                                std::string_view use) {
  return base::fail(base::ErrorKind::kUsage, std::string(what) + ": '" + base::shortened(text) +
                                                 "' is not valid; use " + std::string(use) + ".");
}

// Of a simulated link: beyond them a step's nanoseconds may have no room in 64 bits.
constexpr double kLongestLatencyUs = 6e7, kSlowestGbitPerS = 0.001;

bool parse_nonnegative(std::string_view text, double& number) {
  return parse_whole(text, number) && std::isfinite(number) && number >= 0;
}

struct FaultName {
  std::string_view name;
  InjectedFault fault;
};
constexpr std::array<FaultName, 7> kFaults{{
    {"delay_ms", InjectedFault::kDelay},
    {"nan", InjectedFault::kNan},
    {"oom", InjectedFault::kOutOfMemory},
    {"hang", InjectedFault::kHang},
    {"exit", InjectedFault::kExit},
    {"skip_collective", InjectedFault::kSkipCollective},
    {"unequal_size", InjectedFault::kUnequalSize},
}};

bool parse_phase(std::string_view text, base::Phase& phase) {
  for (base::Phase candidate : {base::Phase::kData, base::Phase::kForward, base::Phase::kBackward,
                                base::Phase::kOptimizer}) {
    if (text == base::to_string(candidate)) {
      phase = candidate;
      return true;
    }
  }
  return false;
}

// True if `pair` is a well-formed part of an injection; sets `has_fault` when it names the fault.
bool apply_pair(const Pair& pair, Injection& injection, bool& has_fault) {
  if (pair.key == "rank") return parse_whole(pair.value, injection.rank) && injection.rank >= 0;
  if (pair.key == "step") return parse_whole(pair.value, injection.step) && injection.step >= 0;
  if (pair.key == "phase") return parse_phase(pair.value, injection.phase);
  if (pair.key == "every") {
    injection.repeats = pair.value == "1";
    return injection.repeats;
  }
  for (const FaultName& name : kFaults) {
    if (pair.key != name.name) continue;
    if (has_fault) return false;
    has_fault = true;
    injection.fault = name.fault;
    return name.fault != InjectedFault::kDelay || parse_nonnegative(pair.value, injection.delay_ms);
  }
  return false;
}

tl::unexpected<base::Error> bad_injection(std::string_view text) {
  return bad("inject", text, range_text(*find_knob("inject")));
}

base::Result<Injection> parse_injection(std::string_view text) {
  Injection injection;
  bool has_fault = false;
  for (const Pair& pair : split_pairs(text)) {
    if (!apply_pair(pair, injection, has_fault)) return bad_injection(text);
  }
  if (!has_fault) return bad_injection(text);
  return injection;
}

base::Result<RecordSchedule> parse_schedule(std::string_view knob, std::string_view text,
                                            std::string_view use) {
  std::string_view rest = base::trimmed(text);
  RecordSchedule schedule;
  if (take_prefix(rest, "every")) {
    if (rest == "step") return schedule;
    for (std::string_view suffix : {"th", "st", "nd", "rd", " steps"}) {
      if (rest.ends_with(suffix)) rest = rest.substr(0, rest.size() - suffix.size());
    }
    if (!parse_whole(rest, schedule.every) || schedule.every < 1) return bad(knob, text, use);
    return schedule;
  }
  take_prefix(rest, "steps");
  const auto dots = rest.find("..");
  if (dots == std::string_view::npos || !parse_whole(rest.substr(0, dots), schedule.first) ||
      !parse_whole(rest.substr(dots + 2), schedule.last) || schedule.first < 0 ||
      schedule.last < schedule.first) {
    return bad(knob, text, use);
  }
  return schedule;
}

}  // namespace

base::Result<RecordSchedule> parse_record_schedule(std::string_view text) {
  if (base::trimmed(text) == "none") return RecordSchedule{.last = -1};
  return parse_schedule("record", text, "every step, steps 10..20, every 10th, or none");
}

base::Result<std::optional<RecordSchedule>> parse_allocation_schedule(std::string_view text) {
  constexpr std::string_view kKnob = "record_allocations";
  constexpr std::string_view kUse = "off, step 4, steps 4..6, every 10th, or every step";
  const std::string_view all = base::trimmed(text);
  if (all == "off") return std::optional<RecordSchedule>();
  std::string_view rest = all;
  if (take_prefix(rest, "step") && !rest.starts_with("s")) {
    RecordSchedule one;
    if (!parse_whole(rest, one.first) || one.first < 0) return bad(kKnob, text, kUse);
    one.last = one.first;
    return std::optional(one);
  }
  TRY_ASSIGN(const RecordSchedule schedule, parse_schedule(kKnob, text, kUse));
  return std::optional(schedule);
}

base::Result<std::optional<SimulatedLink>> parse_simulated_link(std::string_view text) {
  constexpr std::string_view kUse =
      "off, or latency_us=50,gbit_per_s=10 (at most 6e7, at least 0.001; 8 Gbit/s = 1 GB/s), and "
      "where it lies between machines nodes=2";
  text = base::trimmed(text);
  if (text == "off") return std::optional<SimulatedLink>();
  SimulatedLink link;
  for (const Pair& pair : split_pairs(text)) {
    const bool is_speed = pair.key == "gbit_per_s" || pair.key == "gbps";
    const bool valid = pair.key == "latency_us" ? parse_nonnegative(pair.value, link.latency_us)
                       : is_speed               ? parse_nonnegative(pair.value, link.gbit_per_s)
                       : pair.key == "nodes"
                           ? parse_whole(pair.value, link.nodes) && link.nodes >= 1
                           : false;
    if (!valid) return bad("simulate_link", text, kUse);
  }
  if (link.latency_us > kLongestLatencyUs || link.gbit_per_s < kSlowestGbitPerS) {
    return bad("simulate_link", text, kUse);
  }
  return std::optional<SimulatedLink>(link);
}

std::int64_t link_share(const SimulatedLink& link, const RankGroup& group, std::int64_t world) {
  if (group.ranks < 2) return 0;
  if (link.nodes == 0) return 1;
  const std::int64_t ranks_per_node = std::max<std::int64_t>(1, world / link.nodes);
  if (!group.spans_nodes(ranks_per_node)) return 0;
  return ranks_per_node / group.on_node(ranks_per_node);
}

std::string link_text(std::string_view setting) {
  const auto link = parse_simulated_link(setting);
  if (!link || !*link) return std::string(setting);
  const auto [latency_us, gbit_per_s, nodes] = **link;
  const std::string speed = gbit_per_s < 1 ? base::shortest_text(gbit_per_s * 1000) + " Mbit/s"
                                           : base::shortest_text(gbit_per_s) + " Gbit/s";
  const std::string latency = latency_us < 1000 ? base::shortest_text(latency_us) + " µs"
                                                : base::shortest_text(latency_us / 1000) + " ms";
  return speed + ", " + latency + (nodes > 0 ? ", " + base::counted(nodes, "node") : "");
}

base::Result<std::vector<Injection>> parse_injections(std::string_view text) {
  std::vector<Injection> injections;
  text = base::trimmed(text);
  if (text == "off") return injections;
  for (const std::string_view part : base::split(text, ';')) {
    TRY_ASSIGN(injections.emplace_back(), parse_injection(base::trimmed(part)));
  }
  return injections;
}

}  // namespace shardlens::trace::job
