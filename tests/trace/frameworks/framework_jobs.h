// Jobs for tests of exports, and what holds for each of them.
#pragma once

#include <functional>
#include <random>
#include <string>
#include <string_view>

#include "trace/frameworks/framework_file.h"
#include "trace/frameworks/read/foreign_settings.h"

namespace shardlens::trace::frameworks {

// Of "key=value key=value", in a run called "base".
TunedJob job_with(std::string_view settings);
// Valid settings of all that parallelises, fits into memory and optimises, drawn at random.
TunedJob drawn_job(std::mt19937& random);
bool has(const std::string& text, std::string_view part);

// For every strategy: each knob that parallelises changes what is said once it has another value.
void expect_every_setting_is_said(const std::function<std::string(const TunedJob&)>& said);
// Every setting that is not at its default and means something is in the file, in the line that
// starts it, or listed with a reason; none is listed that is in the file.
void expect_none_is_forgotten(const TunedJob& job, const FrameworkFile& file);
// Read in again, the file sets all it wrote as it was.
void expect_round_trip(const TunedJob& job, const FrameworkFile& file, Framework framework);

}  // namespace shardlens::trace::frameworks
