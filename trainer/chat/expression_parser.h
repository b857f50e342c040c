// Reads the expressions of a template, with Jinja's precedence. One thread.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "trainer/chat/template_nodes.h"
#include "trainer/chat/token_cursor.h"

namespace shardlens::trainer::chat {

class ExpressionParser {
 public:
  explicit ExpressionParser(TokenCursor& cursor) : cursor_(cursor) {}

  // With an inline if where `with_condition`.
  Result<ExpressionPtr> expression(bool with_condition = true);
  // One expression, or several with commas between them: a tuple. Where it stands without brackets,
  // it ends at the end of the tag or at the name `end`.
  Result<ExpressionPtr> tuple(bool with_condition = true, std::string_view end = {});
  // What follows a value: | filter …, for a value that is not written. `first`: without its |.
  Result<ExpressionPtr> filters_of_block(bool first);
  Result<Target> target(bool with_attributes, std::string_view end = {});
  Result<ExpressionPtr> call();

 private:
  using Rule = Result<ExpressionPtr> (ExpressionParser::*)();

  template <typename Node>
  Result<ExpressionPtr> make(Node node, int line, int height_below);
  Result<ExpressionPtr> disjunction();
  Result<ExpressionPtr> conjunction();
  Result<ExpressionPtr> negation();
  Result<ExpressionPtr> comparison();
  Result<ExpressionPtr> sum();
  Result<ExpressionPtr> concatenation();
  Result<ExpressionPtr> product();
  Result<ExpressionPtr> power();
  Result<ExpressionPtr> filtered_unary() { return unary(true); }
  Result<ExpressionPtr> unary(bool with_filters);
  Result<ExpressionPtr> primary();
  Result<ExpressionPtr> name();
  Result<ExpressionPtr> text();
  Result<ExpressionPtr> list();
  Result<ExpressionPtr> dict();
  Result<ExpressionPtr> postfix(ExpressionPtr value);
  Result<ExpressionPtr> attribute(ExpressionPtr value);
  Result<ExpressionPtr> subscript(ExpressionPtr value);
  Result<ExpressionPtr> call_of(ExpressionPtr callee);
  Result<ExpressionPtr> filters_and_tests(ExpressionPtr value);
  Result<ExpressionPtr> filter(ExpressionPtr input);
  Result<ExpressionPtr> test(ExpressionPtr input);
  Result<CallArguments> arguments();
  Result<void> argument(CallArguments& arguments);
  Result<ExpressionPtr> binary(Rule next, std::initializer_list<std::string_view> signs);
  Result<std::string> dotted_name();
  bool tuple_ends(std::string_view end) const;

  TokenCursor& cursor_;
};

// Of the tree below it; 0 for none.
int height_of(const ExpressionPtr& expression);
// Of the highest of them.
int highest(const CallArguments& arguments);

template <typename Node>
Result<ExpressionPtr> ExpressionParser::make(Node node, int line, int height_below) {
  if (height_below >= kDeepestSyntax) {
    return TokenCursor::wrong_at(line, "an expression nested or chained more than 200 times");
  }
  auto expression = std::make_unique<Expression>();
  expression->node = std::move(node);
  expression->line = line;
  expression->height = height_below + 1;
  return expression;
}

}  // namespace shardlens::trainer::chat
