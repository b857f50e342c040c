// Links and faults on purpose.
#include "trace/model/knob_groups.h"

namespace shardlens::trace {

namespace {

constexpr std::string_view kOff[] = {"off"};

// clang-format off
constexpr Knob kSimulationKnobs[] = {
    {.name = "simulate_link", .label = "Simulated link", .member = &Settings::simulate_link,
     .choices = kOff, .choices_are_open = true,
     .accepted = "off, or latency_us=50,gbps=10",
     .explanation = "Collectives finish no earlier than on a link of latency_us=…,gbps=… (CPU only)"},
    {.name = "inject", .label = "Injected fault", .member = &Settings::inject, .choices = kOff,
     .choices_are_open = true,
     .accepted = "off, or rank=1,step=5,phase=backward and one of delay_ms=100, nan, oom, hang, exit",
     .explanation = "A fault on purpose: rank=1,step=5,phase=backward and delay_ms=…, nan, oom, hang or exit"},
};
// clang-format on

}  // namespace

std::span<const Knob> simulation_knobs() { return kSimulationKnobs; }

}  // namespace shardlens::trace
