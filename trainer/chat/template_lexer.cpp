#include "trainer/chat/template_lexer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "trainer/chat/literals.h"
#include "trainer/chat/python_text.h"
#include "trainer/chat/unicode_tables.h"

namespace shardlens::trainer::chat {

namespace {

// Line ends as \n, and without the last one.
std::string normalized(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      text += source[i];
    } else if (text += '\n'; i + 1 < source.size() && source[i + 1] == '\n') {
      ++i;
    }
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(normalized(source)) {}

  Result<std::vector<Token>> run() {
    while (at_ < source_.size()) TRY(read_data());
    add(TokenKind::kEnd, {});
    return std::move(tokens_);
  }

 private:
  std::string_view rest() const { return std::string_view(source_).substr(at_); }
  bool looking_at(std::string_view text) const { return rest().starts_with(text); }

  tl::unexpected<Error> wrong(const std::string& what) const {
    return fail(ErrorKind::kDamaged, "line " + std::to_string(line_) + ": " + what);
  }

  void advance(std::size_t bytes) {
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         source_.begin() + static_cast<std::ptrdiff_t>(at_ + bytes),
                                         '\n'));
    at_ += bytes;
    // As after any piece of a template: whether the next one begins a line.
    if (bytes > 0) line_starting_ = source_[at_ - 1] == '\n';
  }

  void advance_over_spaces() { advance(rest().size() - strip(rest(), Side::kLeft).size()); }

  void add(TokenKind kind, std::string text, Value number = {}) {
    tokens_.push_back({kind, std::move(text), std::move(number), line_});
  }

  // The bytes of `{% raw %}` with its whitespace control; 0: something else begins here.
  static std::size_t raw_begin(std::string_view text) {
    const std::string_view all = text;
    text.remove_prefix(2);
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    text = strip(text, Side::kLeft);
    if (!text.starts_with("raw")) return 0;
    text = strip(text.substr(3), Side::kLeft);
    if (text.starts_with("-%}")) return all.size() - strip(text.substr(3), Side::kLeft).size();
    return text.starts_with("%}") ? all.size() - text.size() + 2 : 0;
  }

  // Removes what whitespace control takes from the text before a tag.
  std::string_view before_tag(std::string_view text, char sign, bool is_output) const {
    if (sign == '-') return strip(text, Side::kRight);
    if (sign == '+' || is_output) return text;
    const std::size_t line_begin = text.rfind('\n') + 1;  // npos + 1 is 0
    if (line_begin == 0 && !line_starting_) return text;
    return all_spaces(text.substr(line_begin)) ? text.substr(0, line_begin) : text;
  }

  void add_data(std::string_view text) {
    if (!text.empty()) add(TokenKind::kData, std::string(text));
  }

  Result<void> read_data() {
    std::size_t tag = at_;
    for (;; ++tag) {
      tag = source_.find('{', tag);
      if (tag == std::string::npos || tag + 1 == source_.size()) {
        add_data(rest());
        advance(rest().size());
        return {};
      }
      const char next = source_[tag + 1];
      if (next == '{' || next == '%' || next == '#') break;
    }
    const char kind = source_[tag + 1];
    const char after = tag + 2 < source_.size() ? source_[tag + 2] : '\0';
    const bool has_sign = after == '-' || after == '+';
    const std::string_view text = rest().substr(0, tag - at_);
    add_data(before_tag(text, has_sign ? after : '\0', kind == '{'));
    advance(tag - at_);
    if (kind == '%') {
      if (const std::size_t raw = raw_begin(rest()); raw > 0) return read_raw(raw);
    }
    advance(has_sign ? 3 : 2);
    if (kind == '#') return read_comment();
    add(kind == '{' ? TokenKind::kOutputBegin : TokenKind::kBlockBegin, {});
    return read_tag(kind == '{');
  }

  // A comment or raw block that begins at the very end is none, as in Jinja.
  Result<void> read_comment() {
    if (rest().empty()) return {};
    const std::size_t end = rest().find("#}");
    if (end == std::string_view::npos) return wrong("a comment {# … #} that does not end");
    const char sign = end > 0 ? rest()[end - 1] : '\0';
    advance(end + 2);
    end_block(sign);
    return {};
  }

  // After the end of a block or a comment.
  void end_block(char sign) {
    if (sign == '-') {
      advance_over_spaces();
    } else if (sign != '+' && looking_at("\n")) {
      advance(1);
    }
  }

  Result<void> read_raw(std::size_t begin) {
    advance(begin);
    if (rest().empty()) return {};
    for (std::size_t tag = rest().find("{%"); tag != std::string_view::npos;
         tag = rest().find("{%", tag + 1)) {
      std::string_view inside = rest().substr(tag + 2);
      const char sign = inside.empty() ? '\0' : inside[0];
      if (sign == '-' || sign == '+') inside.remove_prefix(1);
      inside = strip(inside, Side::kLeft);
      if (!inside.starts_with("endraw")) continue;
      inside = strip(inside.substr(6), Side::kLeft);
      const char end_sign = inside.empty() ? '\0' : inside[0];
      if (end_sign == '-' || end_sign == '+') inside.remove_prefix(1);
      if (!inside.starts_with("%}")) continue;
      add_data(before_tag(rest().substr(0, tag), sign, false));
      advance(rest().size() - inside.size() + 2);
      end_block(end_sign);
      return {};
    }
    return wrong("{% raw %} without {% endraw %}");
  }

  // At the end of {{ … }} or {% … %}: moves behind it.
  bool read_end(bool is_output) {
    if (!open_.empty()) return false;
    const std::string_view mark = is_output ? "}}" : "%}";
    char sign = '\0';
    if (looking_at("-") || (looking_at("+") && !is_output)) sign = rest()[0];
    if (!rest().substr(sign == '\0' ? 0 : 1).starts_with(mark)) return false;
    add(is_output ? TokenKind::kOutputEnd : TokenKind::kBlockEnd, {});
    advance(sign == '\0' ? 2 : 3);
    if (!is_output) {
      end_block(sign);
    } else if (sign == '-') {
      advance_over_spaces();
    }
    return true;
  }

  Result<void> read_tag(bool is_output) {
    open_.clear();
    while (at_ < source_.size()) {
      if (read_end(is_output)) return {};
      if (const std::size_t left = rest().size(); true) {
        advance_over_spaces();
        if (rest().size() != left) continue;
      }
      TRY(read_token());
    }
    return {};  // the parser misses the end and says so
  }

  Result<void> read_token() {
    const auto c = static_cast<unsigned char>(rest()[0]);
    if (std::isdigit(c) != 0) return read_number();
    if (std::isalpha(c) != 0 || c == '_' || c >= 0x80) return read_name();
    if (c == '\'' || c == '"') return read_text();
    return read_operator();
  }

  Result<void> read_name() {
    std::size_t end = 0;
    while (end < rest().size()) {
      const Character character = character_at(rest(), end);
      const bool ascii = character.code < 0x80;
      if (ascii ? std::isalnum(static_cast<int>(character.code)) == 0 && character.code != '_'
                : (traits_of(character.code) & kAlphanumeric) == 0) {
        break;
      }
      end += character.bytes;
    }
    if (end == 0) return wrong("an unexpected character");
    add(TokenKind::kName, std::string(rest().substr(0, end)));
    advance(end);
    return {};
  }

  Result<void> read_number() {
    const bool after_dot = at_ > 0 && source_[at_ - 1] == '.';
    const NumberLiteral literal = number_literal(rest(), !after_dot);
    if (!literal.value) return wrong("the number '" + literal.text + "', which is too large");
    add(literal.value->is_whole() ? TokenKind::kInteger : TokenKind::kReal, literal.text,
        *literal.value);
    advance(literal.text.size());
    return {};
  }

  Result<void> read_text() {
    const char quote = rest()[0];
    std::size_t end = 1;
    while (end < rest().size() && rest()[end] != quote) end += rest()[end] == '\\' ? 2 : 1;
    if (end >= rest().size()) return wrong("a text that does not end");
    auto text = unescaped(rest().substr(1, end - 1));
    if (!text) return wrong(text.error().message);
    add(TokenKind::kText, std::move(*text));
    advance(end + 1);
    return {};
  }

  Result<void> read_operator() {
    constexpr std::array<std::string_view, 26> kOperators = {
        "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
        "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"};
    const auto* found = std::find_if(kOperators.begin(), kOperators.end(),
                                     [&](std::string_view text) { return looking_at(text); });
    if (found == kOperators.end()) {
      return wrong("an unexpected character '" +
                   std::string(rest().substr(0, character_at(rest(), 0).bytes)) + "'");
    }
    const char c = (*found)[0];
    if (c == '(' || c == '[' || c == '{') open_ += c == '(' ? ')' : c == '[' ? ']' : '}';
    if (c == ')' || c == ']' || c == '}') {
      if (!open_.ends_with(c)) return wrong(std::string("unexpected '") + c + "'");
      open_.pop_back();
    }
    add(TokenKind::kOperator, std::string(*found));
    advance(found->size());
    return {};
  }

  std::string source_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_starting_ = true;
  std::string open_;  // what closes the open brackets, innermost last
  std::vector<Token> tokens_;
};

}  // namespace

Result<std::vector<Token>> tokenize(std::string_view source) {
  if (source.size() > kLargestTemplate) {
    return fail(ErrorKind::kDamaged, "it has more than 4 MiB");
  }
  if (!valid_utf8(source)) return fail(ErrorKind::kDamaged, "it is not UTF-8");
  return Lexer(source).run();
}

}  // namespace shardlens::trainer::chat
