// Values of the timeline's areas as text. Free of ImGui, any thread.
#pragma once

#include <string>

namespace shardlens::ui {

// "31.2 GiB", "1,755 MHz"
std::string area_value_text(double value, const std::string& unit);

}  // namespace shardlens::ui
