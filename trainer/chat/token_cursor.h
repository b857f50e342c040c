// Where the parser of a template is, and what it has noticed on its way. One thread.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/chat/depth_scope.h"
#include "trainer/chat/template_lexer.h"

namespace shardlens::trainer::chat {

// Deeper templates are refused: parser and interpreter recurse.
inline constexpr int kDeepestSyntax = 200;
// Of a call or a macro; more are refused: each is compared with the others.
inline constexpr std::size_t kMostNames = 1000;

class TokenCursor {
 public:
  explicit TokenCursor(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& now() const { return tokens_[at_]; }
  const Token& ahead() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  int line() const { return now().line; }

  // The last one, kEnd, stays.
  Token take() { return at_ + 1 < tokens_.size() ? std::move(tokens_[at_++]) : tokens_[at_]; }

  static bool is(const Token& token, TokenKind kind, std::string_view text) {
    return token.kind == kind && token.text == text;
  }
  bool at_operator(std::string_view text) const { return is(now(), TokenKind::kOperator, text); }
  bool at_name(std::string_view text) const { return is(now(), TokenKind::kName, text); }

  bool skip_operator(std::string_view text) {
    if (!at_operator(text)) return false;
    take();
    return true;
  }
  bool skip_name(std::string_view text) {
    if (!at_name(text)) return false;
    take();
    return true;
  }

  Result<void> expect_operator(std::string_view text) {
    if (skip_operator(text)) return {};
    return wrong("'" + std::string(text) + "' was expected, not " + describe(now()));
  }
  Result<void> expect(TokenKind kind, const std::string& what) {
    if (now().kind != kind) return wrong(what + " was expected, not " + describe(now()));
    take();
    return {};
  }
  Result<std::string> expect_name() {
    if (now().kind != TokenKind::kName) {
      return wrong("a name was expected, not " + describe(now()));
    }
    return take().text;
  }

  tl::unexpected<Error> wrong(const std::string& what) const { return wrong_at(line(), what); }
  static tl::unexpected<Error> wrong_at(int line, const std::string& what) {
    return fail(ErrorKind::kDamaged, "line " + std::to_string(line) + ": " + what);
  }

  static std::string describe(const Token& token) {
    switch (token.kind) {
      case TokenKind::kData:
        return "text of the template";
      case TokenKind::kOutputBegin:
        return "'{{'";
      case TokenKind::kOutputEnd:
        return "'}}'";
      case TokenKind::kBlockBegin:
        return "'{%'";
      case TokenKind::kBlockEnd:
        return "'%}'";
      case TokenKind::kText:
        return "a text";
      case TokenKind::kEnd:
        return "the end of the template";
      default:
        return "'" + token.text + "'";
    }
  }

  // Names whose values the template asked for since this was last emptied.
  std::set<std::string, std::less<>>& used_names() { return used_names_; }

  // Of whatever recurses.
  int depth = 0;

 private:
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::set<std::string, std::less<>> used_names_;
};

}  // namespace shardlens::trainer::chat
