#include "trainer/chat/expression_parser.h"

#include <algorithm>

namespace shardlens::trainer::chat {

int height_of(const ExpressionPtr& expression) { return expression ? expression->height : 0; }

int highest(const CallArguments& arguments) {
  int height = std::max(height_of(arguments.unpacked_items), height_of(arguments.unpacked_dict));
  for (const auto& value : arguments.positional) height = std::max(height, value->height);
  for (const auto& [name, value] : arguments.named) height = std::max(height, value->height);
  return height;
}

Result<ExpressionPtr> ExpressionParser::expression(bool with_condition) {
  const DepthScope scope(cursor_.depth);
  if (cursor_.depth > kDeepestSyntax) return cursor_.wrong("brackets nested too deeply");
  const int line = cursor_.line();
  TRY_ASSIGN(ExpressionPtr value, disjunction());
  while (with_condition && cursor_.skip_name("if")) {
    TRY_ASSIGN(ExpressionPtr test, disjunction());
    ExpressionPtr otherwise;
    if (cursor_.skip_name("else")) {
      TRY_ASSIGN(otherwise, expression());
    }
    const int height = std::max({value->height, test->height, height_of(otherwise)});
    TRY_ASSIGN(value, make(Conditional{std::move(test), std::move(value), std::move(otherwise)},
                           line, height));
  }
  return value;
}

Result<ExpressionPtr> ExpressionParser::disjunction() {
  const int line = cursor_.line();
  TRY_ASSIGN(ExpressionPtr left, conjunction());
  while (cursor_.skip_name("or")) {
    TRY_ASSIGN(ExpressionPtr right, conjunction());
    const int height = std::max(left->height, right->height);
    TRY_ASSIGN(left,
               make(LogicalOperation{false, std::move(left), std::move(right)}, line, height));
  }
  return left;
}

Result<ExpressionPtr> ExpressionParser::conjunction() {
  const int line = cursor_.line();
  TRY_ASSIGN(ExpressionPtr left, negation());
  while (cursor_.skip_name("and")) {
    TRY_ASSIGN(ExpressionPtr right, negation());
    const int height = std::max(left->height, right->height);
    TRY_ASSIGN(left, make(LogicalOperation{true, std::move(left), std::move(right)}, line, height));
  }
  return left;
}

Result<ExpressionPtr> ExpressionParser::negation() {
  if (!cursor_.at_name("not")) return comparison();
  const DepthScope scope(cursor_.depth);
  if (cursor_.depth > kDeepestSyntax) return cursor_.wrong("too many 'not' in a row");
  const int line = cursor_.take().line;
  TRY_ASSIGN(ExpressionPtr operand, negation());
  const int height = operand->height;
  return make(UnaryOperation{"not", std::move(operand)}, line, height);
}

Result<ExpressionPtr> ExpressionParser::comparison() {
  const int line = cursor_.line();
  TRY_ASSIGN(ExpressionPtr first, sum());
  int height = first->height;
  std::vector<std::pair<std::string, ExpressionPtr>> rest;
  while (true) {
    std::string sign;
    for (const char* candidate : {"==", "!=", "<", "<=", ">", ">="}) {
      if (cursor_.at_operator(candidate)) sign = candidate;
    }
    if (cursor_.at_name("in")) sign = "in";
    if (cursor_.at_name("not") && TokenCursor::is(cursor_.ahead(), TokenKind::kName, "in")) {
      sign = "not in";
      cursor_.take();
    }
    if (sign.empty()) break;
    cursor_.take();
    TRY_ASSIGN(ExpressionPtr operand, sum());
    height = std::max(height, operand->height);
    rest.emplace_back(std::move(sign), std::move(operand));
  }
  if (rest.empty()) return first;
  return make(Comparison{std::move(first), std::move(rest)}, line, height);
}

Result<ExpressionPtr> ExpressionParser::binary(Rule next,
                                               std::initializer_list<std::string_view> signs) {
  const int line = cursor_.line();
  TRY_ASSIGN(ExpressionPtr left, (this->*next)());
  while (std::any_of(signs.begin(), signs.end(),
                     [&](std::string_view sign) { return cursor_.at_operator(sign); })) {
    const std::string sign = cursor_.take().text;
    TRY_ASSIGN(ExpressionPtr right, (this->*next)());
    const int height = std::max(left->height, right->height);
    TRY_ASSIGN(left, make(BinaryOperation{sign, std::move(left), std::move(right)}, line, height));
  }
  return left;
}

Result<ExpressionPtr> ExpressionParser::sum() {
  return binary(&ExpressionParser::concatenation, {"+", "-"});
}

Result<ExpressionPtr> ExpressionParser::concatenation() {
  const int line = cursor_.line();
  TRY_ASSIGN(ExpressionPtr first, product());
  if (!cursor_.at_operator("~")) return first;
  int height = first->height;
  std::vector<ExpressionPtr> parts;
  parts.push_back(std::move(first));
  while (cursor_.skip_operator("~")) {
    TRY_ASSIGN(ExpressionPtr part, product());
    height = std::max(height, part->height);
    parts.push_back(std::move(part));
  }
  return make(Concatenation{std::move(parts)}, line, height);
}

Result<ExpressionPtr> ExpressionParser::product() {
  return binary(&ExpressionParser::power, {"*", "/", "//", "%"});
}

Result<ExpressionPtr> ExpressionParser::power() {
  return binary(&ExpressionParser::filtered_unary, {"**"});
}

Result<ExpressionPtr> ExpressionParser::unary(bool with_filters) {
  const int line = cursor_.line();
  ExpressionPtr value;
  if (cursor_.at_operator("-") || cursor_.at_operator("+")) {
    const DepthScope scope(cursor_.depth);
    if (cursor_.depth > kDeepestSyntax) return cursor_.wrong("too many signs in a row");
    const std::string sign = cursor_.take().text;
    TRY_ASSIGN(ExpressionPtr operand, unary(false));
    const int height = operand->height;
    TRY_ASSIGN(value, make(UnaryOperation{sign, std::move(operand)}, line, height));
  } else {
    TRY_ASSIGN(value, primary());
  }
  TRY_ASSIGN(value, postfix(std::move(value)));
  if (!with_filters) return value;
  return filters_and_tests(std::move(value));
}

Result<ExpressionPtr> ExpressionParser::primary() {
  const int line = cursor_.line();
  switch (cursor_.now().kind) {
    case TokenKind::kName:
      return name();
    case TokenKind::kText:
      return text();
    case TokenKind::kInteger:
    case TokenKind::kReal:
      return make(Constant{cursor_.take().number}, line, 0);
    default:
      break;
  }
  if (cursor_.at_operator("[")) return list();
  if (cursor_.at_operator("{")) return dict();
  if (!cursor_.skip_operator("(")) {
    return cursor_.wrong("unexpected " + TokenCursor::describe(cursor_.now()));
  }
  if (cursor_.skip_operator(")")) return make(SequenceLiteral{{}, true}, line, 0);
  TRY_ASSIGN(ExpressionPtr value, tuple());
  TRY(cursor_.expect_operator(")"));
  return value;
}

Result<ExpressionPtr> ExpressionParser::name() {
  const Token token = cursor_.take();
  const std::string& text = token.text;
  if (text == "true" || text == "True") return make(Constant{Value::boolean(true)}, token.line, 0);
  if (text == "false" || text == "False") {
    return make(Constant{Value::boolean(false)}, token.line, 0);
  }
  if (text == "none" || text == "None") return make(Constant{Value()}, token.line, 0);
  cursor_.used_names().insert(text);
  return make(NameUse{text}, token.line, 0);
}

Result<ExpressionPtr> ExpressionParser::text() {
  const int line = cursor_.line();
  std::string text;
  while (cursor_.now().kind == TokenKind::kText) text += cursor_.take().text;
  return make(Constant{Value::text(std::move(text))}, line, 0);
}

Result<ExpressionPtr> ExpressionParser::list() {
  const int line = cursor_.take().line;
  std::vector<ExpressionPtr> items;
  int height = 0;
  while (!cursor_.at_operator("]")) {
    if (!items.empty()) {
      TRY(cursor_.expect_operator(","));
      if (cursor_.at_operator("]")) break;
    }
    TRY_ASSIGN(ExpressionPtr item, expression());
    height = std::max(height, item->height);
    items.push_back(std::move(item));
  }
  cursor_.take();
  return make(SequenceLiteral{std::move(items), false}, line, height);
}

Result<ExpressionPtr> ExpressionParser::dict() {
  const int line = cursor_.take().line;
  DictLiteral literal;
  int height = 0;
  while (!cursor_.at_operator("}")) {
    if (!literal.entries.empty()) {
      TRY(cursor_.expect_operator(","));
      if (cursor_.at_operator("}")) break;
    }
    TRY_ASSIGN(ExpressionPtr key, expression());
    TRY(cursor_.expect_operator(":"));
    TRY_ASSIGN(ExpressionPtr value, expression());
    height = std::max({height, key->height, value->height});
    literal.entries.emplace_back(std::move(key), std::move(value));
  }
  cursor_.take();
  return make(std::move(literal), line, height);
}

bool ExpressionParser::tuple_ends(std::string_view end) const {
  const TokenKind kind = cursor_.now().kind;
  return kind == TokenKind::kOutputEnd || kind == TokenKind::kBlockEnd ||
         cursor_.at_operator(")") || (!end.empty() && cursor_.at_name(end));
}

Result<ExpressionPtr> ExpressionParser::tuple(bool with_condition, std::string_view end) {
  const int line = cursor_.line();
  std::vector<ExpressionPtr> items;
  int height = 0;
  bool is_tuple = false;
  while (!tuple_ends(end)) {
    TRY_ASSIGN(ExpressionPtr item, expression(with_condition));
    height = std::max(height, item->height);
    items.push_back(std::move(item));
    if (!cursor_.skip_operator(",")) break;
    is_tuple = true;
  }
  if (items.empty()) {
    return cursor_.wrong("an expression was expected, not " + TokenCursor::describe(cursor_.now()));
  }
  if (!is_tuple) return std::move(items[0]);
  return make(SequenceLiteral{std::move(items), true}, line, height);
}

}  // namespace shardlens::trainer::chat
