// How colours look with each kind of colour blindness, and how far apart they are.
#pragma once

#include <cstdint>

#include "ui/state/palette.h"

namespace shardlens::ui {

enum class Vision : std::uint8_t { kNormal, kProtanopia, kDeuteranopia, kTritanopia };

// Machado, Oliveira, Fernandes: A Physiologically-based Model for Simulation of Color Vision
// Deficiency, 2009; matrices for severity 1, applied to linear RGB.
state::Rgb simulate(state::Rgb color, Vision vision);

// CIE 1976 distance in L*a*b* under D65; 2.3 is a just noticeable difference.
double color_distance(state::Rgb a, state::Rgb b);

}  // namespace shardlens::ui
