// What of a run is recorded, and what figures leave out.
#include "trace/model/knob_groups.h"

namespace shardlens::trace {

namespace {

constexpr std::string_view kRecord[] = {"every step", "none"};
constexpr std::string_view kRecordAllocations[] = {"off", "step 4", "every 10th"};

// clang-format off
constexpr Knob kRecordingKnobs[] = {
    {.name = "record", .label = "Record", .member = &Settings::record, .essential = true,
     .choices = kRecord, .choices_are_open = true,
     .accepted = "every step, steps A..B, every Nth, or none",
     .explanation = "Which steps get full detail: every step, steps 10..20, every 10th, or none; steps, "
                    "phases and memory are always recorded"},
    {.name = "record_allocations", .label = "Record allocations",
     .member = &Settings::record_allocations, .choices = kRecordAllocations,
     .choices_are_open = true,
     .accepted = "off, step N, steps A..B, or every Nth",
     .explanation = "Steps whose single allocations are kept, unless record is none: off, step 4, "
                    "steps 4..6, or every 10th"},
    {.name = "record_limit_mb", .label = "Size limit", .member = &Settings::record_limit_mb,
     .unit = "MiB", .minimum = 1, .maximum = 1e7, .logarithmic = true,
     .explanation = "Recording of detail stops when a rank's file reaches this size"},
    {.name = "skip_steps", .label = "Left out of the summary", .member = &Settings::skip_steps,
     .unit = "steps", .minimum = 0, .maximum = kLarge,
     .explanation = "First steps that the summary does not measure"},
    {.name = "peak_tflops", .label = "Peak of a GPU", .member = &Settings::peak_tflops,
     .unit = "TFLOP/s", .minimum = 0.001, .maximum = 1e6, .may_be_auto = true, .logarithmic = true,
     .explanation = "What MFU is measured against; auto is the data sheet's dense peak for the GPU "
                    "and the precision, if it is known"},
};
// clang-format on

}  // namespace

std::span<const Knob> recording_knobs() { return kRecordingKnobs; }

}  // namespace shardlens::trace
