// Which values of a knob a sweep is proposed to try. Free of ImGui; any thread.
#pragma once

#include <string>

#include "trace/job/settings/settings.h"

namespace shardlens::ui::present {

// "1.6, 6.3, 25, 100, 400": around the present value of a number, within its slider's range; all
// choices; "" for texts, of which nothing can be proposed. As a sweep's axis takes it.
std::string proposed_values(const trace::job::Knob& knob, const trace::job::Settings& settings);

}  // namespace shardlens::ui::present
