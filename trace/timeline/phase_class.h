// Which class the phases of a step are drawn as. Pure functions, any thread.
#pragma once

#include <string_view>

#include "trace/model/events.h"
#include "trace/timeline/picture.h"

namespace shardlens::trace {

PieceClass phase_class(Phase phase);
// Of a phase that is known by its name alone.
PieceClass phase_class_of_name(std::string_view name);

}  // namespace shardlens::trace
