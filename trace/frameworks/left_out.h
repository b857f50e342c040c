// Settings that another framework has no place for. Any thread.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/job/settings/settings.h"

namespace shardlens::trace::frameworks {

struct LeftOut {
  std::string_view knob;
  std::string value;   // as in YAML
  std::string reason;  // no full stop
};

// Why a knob has no place, in tables of each framework.
struct KnobReason {
  std::string_view knob, text;
};
std::string reason_of_knob(std::span<const KnobReason> reasons, std::string_view knob,
                           std::string_view otherwise);

// Of what parallelises, fits into memory and optimises: what is not at its default, is obeyed by
// the strategy and by the other settings, and is none of `written`. Data, checkpoints and recording
// belong to the program around it and are never among them; adapters and frozen blocks are, with
// what to do to the model.
std::vector<LeftOut> left_out(const job::Settings& settings,
                              const std::vector<std::string_view>& written,
                              const std::function<std::string(std::string_view)>& reason);

}  // namespace shardlens::trace::frameworks
