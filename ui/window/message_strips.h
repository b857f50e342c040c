// What stands above every workspace: what came of a command, what is to be known of the run.
// Interface thread, inside a frame.
#pragma once

#include <vector>

#include "ui/kit/theme.h"
#include "ui/present/job_text.h"

namespace shardlens::ui::window {

// Of all of them, where they are `width` wide; 0: there is none.
float messages_height(const kit::Theme& theme, float width,
                      const std::vector<present::Message>& messages);
// Nothing is cut: notes that do not fit beside each other lie below each other.
void draw_messages(const kit::Theme& theme, const state::Rect& rect,
                   const std::vector<present::Message>& messages);

}  // namespace shardlens::ui::window
