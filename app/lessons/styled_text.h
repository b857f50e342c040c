// Words with their styles, out of cmark's tree. Any thread.
#pragma once

#include <cmark.h>

#include <string>
#include <string_view>
#include <vector>

#include "trace/base/result.h"
#include "ui/state/lesson.h"

namespace shardlens::app::lessons {

// "12: what": the reader of a file puts its name in front. Kind kUsage.
tl::unexpected<trace::base::Error> wrong_at(int line, const std::string& what);

// Whether an HTML block or a piece of it within a line is one comment and nothing else.
bool is_comment(std::string_view html);

// Of a paragraph or a heading. Line breaks are spaces; of a link its text stays, of emphasis around
// strong words that they are strong. Refused are pictures and HTML but comments.
trace::base::Result<std::vector<ui::state::StyledText>> styled_text(cmark_node* block);

// Without styles.
std::string plain_text(const std::vector<ui::state::StyledText>& runs);

}  // namespace shardlens::app::lessons
