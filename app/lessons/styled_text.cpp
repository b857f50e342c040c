#include "app/lessons/styled_text.h"

#include <memory>
#include <utility>

#include "trace/base/text.h"

namespace shardlens::app::lessons {

using trace::base::Result;
using ui::state::StyledText;
using ui::state::TextStyle;

namespace {

constexpr std::string_view kCommentBegin = "<!--", kCommentEnd = "-->";

struct FreeWalk {
  void operator()(cmark_iter* walk) const { cmark_iter_free(walk); }
};

void add(std::vector<StyledText>& runs, TextStyle style, std::string_view text) {
  if (text.empty()) return;
  if (runs.empty() || runs.back().style != style) runs.push_back({style, {}});
  runs.back().text += text;
}

class StyledTextReader {
 public:
  explicit StyledTextReader(cmark_node* block) : block_(block) {}

  Result<void> take(cmark_node* node, bool enters) {
    const int depth = enters ? 1 : -1;
    switch (cmark_node_get_type(node)) {
      case CMARK_NODE_STRONG:
        strong_ += depth;
        break;
      case CMARK_NODE_EMPH:
        emphasis_ += depth;
        break;
      case CMARK_NODE_TEXT:
        add(runs_, style(), cmark_node_get_literal(node));
        break;
      case CMARK_NODE_CODE:
        add(runs_, TextStyle::kCode, cmark_node_get_literal(node));
        break;
      case CMARK_NODE_SOFTBREAK:
      case CMARK_NODE_LINEBREAK:
        add(runs_, style(), " ");
        break;
      case CMARK_NODE_LINK:
        break;
      case CMARK_NODE_IMAGE:
        return wrong_at(line_of(node),
                        "pictures are not shown: the page's view is what stands beside the text");
      case CMARK_NODE_HTML_INLINE:
        if (is_comment(cmark_node_get_literal(node))) break;
        return wrong_at(line_of(node),
                        "HTML within a line is not shown: write **strong**, "
                        "*emphasis* or `code`, and < as \\<");
      default:
        return wrong_at(line_of(node), "this is no text of a line");
    }
    return {};
  }

  std::vector<StyledText> result() { return std::move(runs_); }

 private:
  TextStyle style() const {
    return strong_ > 0     ? TextStyle::kStrong
           : emphasis_ > 0 ? TextStyle::kEmphasis
                           : TextStyle::kPlain;
  }
  // Not every node within a line has one.
  int line_of(cmark_node* node) const {
    const int line = cmark_node_get_start_line(node);
    return line > 0 ? line : cmark_node_get_start_line(block_);
  }

  cmark_node* block_;
  int strong_ = 0, emphasis_ = 0;  // how deep
  std::vector<StyledText> runs_;
};

}  // namespace

tl::unexpected<trace::base::Error> wrong_at(int line, const std::string& what) {
  return trace::base::fail(trace::base::ErrorKind::kUsage, std::to_string(line) + ": " + what);
}

bool is_comment(std::string_view html) {
  html = trace::base::trimmed(html);
  return html.starts_with(kCommentBegin) &&
         html.find(kCommentEnd, kCommentBegin.size()) == html.size() - kCommentEnd.size();
}

Result<std::vector<StyledText>> styled_text(cmark_node* block) {
  StyledTextReader reader(block);
  // Not by calls of itself: emphasis may lie in emphasis as deep as a file is long.
  const std::unique_ptr<cmark_iter, FreeWalk> walk(cmark_iter_new(block));
  while (true) {
    const cmark_event_type event = cmark_iter_next(walk.get());
    if (event == CMARK_EVENT_DONE) return reader.result();
    cmark_node* const node = cmark_iter_get_node(walk.get());
    if (node != block) TRY(reader.take(node, event == CMARK_EVENT_ENTER));
  }
}

std::string plain_text(const std::vector<StyledText>& runs) {
  return trace::base::joined(runs, "", &StyledText::text);
}

}  // namespace shardlens::app::lessons
