// The part of the expression parser that reads what follows a value, and what is assigned to.
#include <algorithm>

#include "trainer/chat/expression_parser.h"

namespace shardlens::trainer::chat {

Result<ExpressionPtr> ExpressionParser::postfix(ExpressionPtr value) {
  while (true) {
    if (cursor_.at_operator(".")) {
      TRY_ASSIGN(value, attribute(std::move(value)));
    } else if (cursor_.at_operator("[")) {
      TRY_ASSIGN(value, subscript(std::move(value)));
    } else if (cursor_.at_operator("(")) {
      TRY_ASSIGN(value, call_of(std::move(value)));
    } else {
      return value;
    }
  }
}

Result<ExpressionPtr> ExpressionParser::attribute(ExpressionPtr value) {
  const int line = cursor_.take().line;
  const int height = value->height;
  if (cursor_.now().kind == TokenKind::kName) {
    return make(AttributeUse{std::move(value), cursor_.take().text}, line, height);
  }
  if (cursor_.now().kind != TokenKind::kInteger) {
    return cursor_.wrong("a name or a number was expected after '.'");
  }
  TRY_ASSIGN(ExpressionPtr index, make(Constant{cursor_.take().number}, line, 0));
  return make(Subscript{std::move(value), std::move(index)}, line, height);
}

Result<ExpressionPtr> ExpressionParser::subscript(ExpressionPtr value) {
  const int line = cursor_.take().line;
  if (cursor_.skip_operator("]")) {  // x[] is x[()]
    TRY_ASSIGN(ExpressionPtr nothing, make(SequenceLiteral{{}, true}, line, 0));
    const int height = value->height;
    return make(Subscript{std::move(value), std::move(nothing)}, line, height);
  }
  // start : stop : step, each of which may be missing
  ExpressionPtr bounds[3];
  int colons = 0;
  int height = value->height;
  while (!cursor_.at_operator("]")) {
    if (cursor_.skip_operator(":")) {
      if (++colons > 2) return cursor_.wrong("a slice with more than two ':'");
      continue;
    }
    if (bounds[colons]) return cursor_.wrong("']' or ':' was expected: indexes of one dimension");
    TRY_ASSIGN(bounds[colons], expression());
    height = std::max(height, bounds[colons]->height);
  }
  cursor_.take();
  if (colons == 0) return make(Subscript{std::move(value), std::move(bounds[0])}, line, height);
  return make(
      SliceUse{std::move(value), std::move(bounds[0]), std::move(bounds[1]), std::move(bounds[2])},
      line, height);
}

Result<void> ExpressionParser::argument(CallArguments& arguments) {
  const bool unpacked = arguments.unpacked_items != nullptr || arguments.unpacked_dict != nullptr;
  const int line = cursor_.line();
  const auto misplaced = [&] {
    return TokenCursor::wrong_at(line, "arguments of a call in an order that is not allowed");
  };
  if (cursor_.skip_operator("*")) {
    if (unpacked) return misplaced();
    TRY_ASSIGN(arguments.unpacked_items, expression());
  } else if (cursor_.skip_operator("**")) {
    if (arguments.unpacked_dict) return misplaced();
    TRY_ASSIGN(arguments.unpacked_dict, expression());
  } else if (cursor_.now().kind == TokenKind::kName &&
             TokenCursor::is(cursor_.ahead(), TokenKind::kOperator, "=")) {
    if (arguments.unpacked_dict) return misplaced();
    std::string name = cursor_.take().text;
    cursor_.take();
    if (arguments.named.size() == kMostNames) return cursor_.wrong("more than 1000 arguments");
    for (const auto& [other, value] : arguments.named) {
      if (other == name) return cursor_.wrong("the argument '" + name + "' twice");
    }
    TRY_ASSIGN(ExpressionPtr value, expression());
    arguments.named.emplace_back(std::move(name), std::move(value));
  } else {
    if (unpacked || !arguments.named.empty()) return misplaced();
    TRY_ASSIGN(ExpressionPtr value, expression());
    arguments.positional.push_back(std::move(value));
  }
  return {};
}

Result<CallArguments> ExpressionParser::arguments() {
  TRY(cursor_.expect_operator("("));
  CallArguments arguments;
  bool first = true;
  while (!cursor_.at_operator(")")) {
    if (!first) {
      TRY(cursor_.expect_operator(","));
      if (cursor_.at_operator(")")) break;
    }
    TRY(argument(arguments));
    first = false;
  }
  cursor_.take();
  return arguments;
}

Result<ExpressionPtr> ExpressionParser::call_of(ExpressionPtr callee) {
  const int line = cursor_.line();
  TRY_ASSIGN(CallArguments given, arguments());
  const int height = std::max(callee->height, highest(given));
  return make(Call{std::move(callee), std::move(given)}, line, height);
}

Result<ExpressionPtr> ExpressionParser::call() {
  const int line = cursor_.line();
  TRY_ASSIGN(ExpressionPtr value, expression());
  if (!std::holds_alternative<Call>(value->node)) {
    return TokenCursor::wrong_at(line, "{% call %} needs a call of a macro");
  }
  return value;
}

Result<ExpressionPtr> ExpressionParser::filters_and_tests(ExpressionPtr value) {
  while (true) {
    if (cursor_.skip_operator("|")) {
      TRY_ASSIGN(value, filter(std::move(value)));
    } else if (cursor_.skip_name("is")) {
      TRY_ASSIGN(value, test(std::move(value)));
    } else if (cursor_.at_operator("(")) {
      TRY_ASSIGN(value, call_of(std::move(value)));
    } else {
      return value;
    }
  }
}

Result<std::string> ExpressionParser::dotted_name() {
  TRY_ASSIGN(std::string name, cursor_.expect_name());
  while (cursor_.skip_operator(".")) {
    TRY_ASSIGN(const std::string part, cursor_.expect_name());
    name += "." + part;
  }
  return name;
}

Result<ExpressionPtr> ExpressionParser::filter(ExpressionPtr input) {
  const int line = cursor_.line();
  TRY_ASSIGN(std::string name, dotted_name());
  CallArguments given;
  if (cursor_.at_operator("(")) {
    TRY_ASSIGN(given, arguments());
  }
  const int height = std::max(height_of(input), highest(given));
  return make(FilterUse{std::move(input), std::move(name), std::move(given)}, line, height);
}

Result<ExpressionPtr> ExpressionParser::filters_of_block(bool first) {
  ExpressionPtr value;
  while (first || cursor_.skip_operator("|")) {
    TRY_ASSIGN(value, filter(std::move(value)));
    first = false;
  }
  return value;
}

Result<ExpressionPtr> ExpressionParser::test(ExpressionPtr input) {
  const int line = cursor_.line();
  const bool negated = cursor_.skip_name("not");
  TRY_ASSIGN(std::string name, dotted_name());
  CallArguments given;
  const TokenKind kind = cursor_.now().kind;
  const bool value_follows = kind == TokenKind::kName || kind == TokenKind::kText ||
                             kind == TokenKind::kInteger || kind == TokenKind::kReal ||
                             cursor_.at_operator("[") || cursor_.at_operator("{");
  if (cursor_.at_operator("(")) {
    TRY_ASSIGN(given, arguments());
  } else if (value_follows && !cursor_.at_name("else") && !cursor_.at_name("or") &&
             !cursor_.at_name("and")) {
    if (cursor_.at_name("is")) return cursor_.wrong("tests with 'is' cannot be chained");
    TRY_ASSIGN(ExpressionPtr value, primary());
    TRY_ASSIGN(value, postfix(std::move(value)));
    given.positional.push_back(std::move(value));
  }
  const int height = std::max(input->height, highest(given));
  TRY_ASSIGN(ExpressionPtr use,
             make(TestUse{std::move(input), std::move(name), std::move(given)}, line, height));
  if (!negated) return use;
  return make(UnaryOperation{"not", std::move(use)}, line, height + 1);
}

Result<Target> ExpressionParser::target(bool with_attributes, std::string_view end) {
  const DepthScope scope(cursor_.depth);
  if (cursor_.depth > kDeepestSyntax) return cursor_.wrong("brackets nested too deeply");
  Target whole;
  while (!tuple_ends(end) && !cursor_.at_operator("=")) {
    Target part;
    if (cursor_.skip_operator("(")) {
      TRY_ASSIGN(part, target(false));
      TRY(cursor_.expect_operator(")"));
    } else {
      TRY_ASSIGN(part.name, cursor_.expect_name());
      for (const char* constant : {"true", "false", "none", "True", "False", "None"}) {
        if (part.name == constant) return cursor_.wrong("cannot assign to '" + part.name + "'");
      }
      if (with_attributes && cursor_.skip_operator(".")) {
        TRY_ASSIGN(part.attribute, cursor_.expect_name());
      }
    }
    whole.parts.push_back(std::move(part));
    if (!cursor_.skip_operator(",")) break;
    whole.is_tuple = true;
  }
  if (whole.parts.empty()) return cursor_.wrong("a name to assign to was expected");
  if (whole.is_tuple) return whole;
  return std::move(whole.parts[0]);
}

}  // namespace shardlens::trainer::chat
