// Values of knobs where there is little room: names of runs, columns. Any thread.
#pragma once

#include <string>

#include "trace/job/settings/settings.h"

namespace shardlens::trace::job {

// Whether its values are files or folders, beside its choices.
bool names_a_path(const Knob&);
// value_text(), of a path its last part: "Llama-3.2-1B".
std::string short_value_text(const Settings&, const Knob&);

}  // namespace shardlens::trace::job
