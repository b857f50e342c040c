// Round numbers for axes. Free of ImGui; any thread.
#pragma once

#include <vector>

namespace shardlens::ui::present {

// 1, 2 or 5 times a power of ten, so that at most `count` steps cover `span`.
double nice_step(double span, int count);
// Multiples of the nice step within [low, high].
std::vector<double> nice_ticks(double low, double high, int count);
// A power of two, so that at most `count` steps cover `span`: for sizes in binary units.
double nice_binary_step(double span, int count);

}  // namespace shardlens::ui::present
