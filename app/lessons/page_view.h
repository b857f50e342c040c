// The commands of a lesson's block of code that name what stands beside its page. Pure; any thread.
#pragma once

#include <optional>
#include <string_view>

#include "trace/base/result.h"
#include "ui/state/view_address.h"

namespace shardlens::app::lessons {

struct PageView {
  ui::state::ViewAddress address;
  double replay_speed = 0;  // 0: it is not played

  bool operator==(const PageView&) const = default;
};

// None: no line of it is `./run --view '…'`, so the block is for readers. `first_line`: where it
// begins in its file. Errors, with their line: more than one view, an address that is none, a
// replay of another run or at a speed that replays do not have, any other line beside them.
trace::base::Result<std::optional<PageView>> view_in(std::string_view code, int first_line);

}  // namespace shardlens::app::lessons
