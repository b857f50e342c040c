// Links and faults on purpose.
#include "trace/model/knob_groups.h"

namespace shardlens::trace {

namespace {

constexpr std::string_view kOff[] = {"off"};

// clang-format off
constexpr Knob kSimulationKnobs[] = {
    {.name = "simulate_link", .label = "Simulated link", .member = &Settings::simulate_link,
     .choices = kOff, .choices_are_open = true,
     .accepted = "off, or latency_us=50,gbit_per_s=10",
     .explanation = "A collective of n ranks and S bytes ends no earlier than latency_us + 8 · S · f ÷ gbit_per_s "
                    "after its last rank started it (CPU only): f is 2(n−1)/n for all-reduce, (n−1)/n for "
                    "all-gather, reduce-scatter and all-to-all, else 1; 8 Gbit/s are 1 GB/s"},
    {.name = "inject", .label = "Injected fault", .member = &Settings::inject, .choices = kOff,
     .choices_are_open = true,
     .accepted = "off, or rank=1,step=5,phase=backward and one of delay_ms=100, nan, oom, hang, exit",
     .explanation = "A fault on purpose: rank=1,step=5,phase=backward and delay_ms=…, nan, oom, hang or exit"},
};
// clang-format on

}  // namespace

std::span<const Knob> simulation_knobs() { return kSimulationKnobs; }

}  // namespace shardlens::trace
