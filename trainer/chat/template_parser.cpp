#include "trainer/chat/template_parser.h"

#include <algorithm>
#include <utility>

#include "trainer/chat/expression_parser.h"

namespace shardlens::trainer::chat {

namespace {

using Names = std::initializer_list<std::string_view>;

class TemplateParser {
 public:
  explicit TemplateParser(std::vector<Token> tokens)
      : cursor_(std::move(tokens)), expressions_(cursor_) {}

  Result<ParsedTemplate> run() {
    TRY_ASSIGN(Body statements, body({}));
    return ParsedTemplate{std::move(statements), marks_answers_};
  }

 private:
  // Up to one of the tags of `ends`, which is left as the current token. Without any: all.
  Result<Body> body(Names ends) {
    const DepthScope scope(cursor_.depth);
    if (cursor_.depth > kDeepestSyntax) return cursor_.wrong("blocks nested too deeply");
    Body statements;
    while (cursor_.now().kind != TokenKind::kEnd) {
      Token token = cursor_.take();
      if (token.kind == TokenKind::kData) {
        statements.push_back({DataOutput{std::move(token.text)}, token.line});
      } else if (token.kind == TokenKind::kOutputBegin) {
        TRY_ASSIGN(ExpressionPtr value, expressions_.tuple());
        statements.push_back({ValueOutput{std::move(value)}, token.line});
        TRY(cursor_.expect(TokenKind::kOutputEnd, "'}}'"));
      } else {
        const bool ends_here = std::any_of(
            ends.begin(), ends.end(), [&](std::string_view end) { return cursor_.at_name(end); });
        if (ends_here) return statements;
        TRY_ASSIGN(Statement statement, this->statement(token.line));
        statements.push_back(std::move(statement));
        TRY(cursor_.expect(TokenKind::kBlockEnd, "'%}'"));
      }
    }
    if (ends.size() == 0) return statements;
    return cursor_.wrong("the template ends where {% " + std::string(*std::prev(ends.end())) +
                         " %} is missing");
  }

  // The end of the tag that opens a block, then what it encloses.
  Result<Body> enclosed(Names ends) {
    cursor_.skip_operator(":");
    TRY(cursor_.expect(TokenKind::kBlockEnd, "'%}'"));
    return body(ends);
  }

  Result<Body> closed(std::string_view end) {
    TRY_ASSIGN(Body statements, enclosed({end}));
    cursor_.take();
    return statements;
  }

  // What is evaluated on its own, so that a loop around it cannot be left from inside.
  Result<Body> closed_apart(std::string_view end) {
    const int outer_loops = std::exchange(loops_, 0);
    TRY_ASSIGN(Body statements, closed(end));
    loops_ = outer_loops;
    return statements;
  }

  Result<Statement> statement(int line) {
    TRY_ASSIGN(const std::string tag, cursor_.expect_name());
    if (tag == "if") return if_statement(line);
    if (tag == "for") return for_statement(line);
    if (tag == "set") return set_statement(line);
    if (tag == "macro") return macro_statement(line);
    if (tag == "call") return call_block(line);
    if (tag == "filter") return filter_block(line);
    if (tag == "with") return with_statement(line);
    if (tag == "generation") return generation_block(line);
    if (tag == "break" || tag == "continue") return leave_loop(line, tag);
    for (const char* refused : {"include", "import", "from", "extends", "block"}) {
      if (tag == refused) {
        return TokenCursor::wrong_at(line, "{% " + tag + " %}: a template of its own is needed, " +
                                               "others cannot be used from it");
      }
    }
    return TokenCursor::wrong_at(
        line, "the tag '" + tag + "', which is not known here (known are if, for, set, macro, " +
                  "call, filter, with, generation, break, continue and raw)");
  }

  Result<Statement> leave_loop(int line, const std::string& tag) {
    if (loops_ == 0) return TokenCursor::wrong_at(line, "{% " + tag + " %} outside of a loop");
    if (tag == "break") return Statement{BreakStatement{}, line};
    return Statement{ContinueStatement{}, line};
  }

  Result<Statement> if_statement(int line) {
    IfStatement node;
    while (true) {
      TRY_ASSIGN(ExpressionPtr test, expressions_.tuple(false));
      TRY_ASSIGN(Body then, enclosed({"elif", "else", "endif"}));
      node.branches.emplace_back(std::move(test), std::move(then));
      const std::string tag = cursor_.take().text;
      if (tag == "elif") continue;
      if (tag == "else") {
        TRY_ASSIGN(node.otherwise, closed("endif"));
      }
      return Statement{std::move(node), line};
    }
  }

  Result<Statement> for_statement(int line) {
    ForStatement node;
    TRY_ASSIGN(node.target, expressions_.target(false, "in"));
    TRY(check_not_loop(node.target, line));
    if (!cursor_.skip_name("in")) return cursor_.wrong("'in' was expected after {% for …");
    TRY_ASSIGN(node.iterable, expressions_.tuple(false, "recursive"));
    if (cursor_.skip_name("if")) {
      TRY_ASSIGN(node.test, expressions_.expression());
    }
    if (cursor_.at_name("recursive")) {
      return cursor_.wrong("'recursive' loops, which are not supported");
    }
    ++loops_;
    TRY_ASSIGN(node.body, enclosed({"else", "endfor"}));
    --loops_;
    if (cursor_.take().text == "else") {
      TRY_ASSIGN(node.otherwise, closed("endfor"));
    }
    return Statement{std::move(node), line};
  }

  Result<void> check_not_loop(const Target& target, int line) const {
    for (const Target& part : target.parts) TRY(check_not_loop(part, line));
    if (target.name != "loop" || !target.attribute.empty()) return {};
    return TokenCursor::wrong_at(line, "'loop' is the loop itself and cannot be assigned to");
  }

  Result<Statement> set_statement(int line) {
    TRY_ASSIGN(Target target, expressions_.target(true));
    if (loops_ > 0) TRY(check_not_loop(target, line));
    if (cursor_.skip_operator("=")) {
      TRY_ASSIGN(ExpressionPtr value, expressions_.tuple());
      return Statement{SetStatement{std::move(target), std::move(value)}, line};
    }
    TRY_ASSIGN(ExpressionPtr filter, expressions_.filters_of_block(false));
    TRY_ASSIGN(Body inside, closed_apart("endset"));
    return Statement{SetBlock{std::move(target), std::move(filter), std::move(inside)}, line};
  }

  Result<Statement> filter_block(int line) {
    TRY_ASSIGN(ExpressionPtr filter, expressions_.filters_of_block(true));
    TRY_ASSIGN(Body inside, closed_apart("endfilter"));
    return Statement{FilterBlock{std::move(filter), std::move(inside)}, line};
  }

  Result<Statement> with_statement(int line) {
    WithStatement node;
    while (cursor_.now().kind != TokenKind::kBlockEnd && !cursor_.at_operator(":")) {
      if (!node.values.empty()) TRY(cursor_.expect_operator(","));
      TRY_ASSIGN(Target target, expressions_.target(false));
      if (target.is_tuple) return cursor_.wrong("{% with %} takes one name at a time");
      TRY(cursor_.expect_operator("="));
      TRY_ASSIGN(ExpressionPtr value, expressions_.expression());
      node.values.emplace_back(std::move(target), std::move(value));
    }
    TRY_ASSIGN(node.body, closed("endwith"));
    return Statement{std::move(node), line};
  }

  Result<void> read_parameters(MacroBody& macro) {
    TRY(cursor_.expect_operator("("));
    while (!cursor_.at_operator(")")) {
      if (!macro.parameters.empty()) TRY(cursor_.expect_operator(","));
      if (macro.parameters.size() == kMostNames) return cursor_.wrong("more than 1000 parameters");
      Parameter parameter;
      TRY_ASSIGN(parameter.name, cursor_.expect_name());
      if (cursor_.skip_operator("=")) {
        TRY_ASSIGN(parameter.fallback, expressions_.expression());
      } else if (!macro.parameters.empty() && macro.parameters.back().fallback) {
        return cursor_.wrong("a parameter without a default after one that has it");
      }
      macro.parameters.push_back(std::move(parameter));
    }
    cursor_.take();
    return {};
  }

  // The body of a function of the template, and which of Jinja's special names it asks for.
  Result<void> read_function(MacroBody& macro, std::string_view end) {
    auto outer_names = std::move(cursor_.used_names());
    cursor_.used_names().clear();
    TRY_ASSIGN(Body inside, closed_apart(end));
    const auto& names = cursor_.used_names();
    const auto takes = [&](const char* name) {
      return names.contains(name) &&
             std::none_of(macro.parameters.begin(), macro.parameters.end(),
                          [&](const Parameter& p) { return p.name == name; });
    };
    macro.uses_caller = takes("caller");
    macro.uses_named = takes("kwargs");
    macro.uses_positional = takes("varargs");
    macro.body = std::make_shared<const Body>(std::move(inside));
    cursor_.used_names().merge(outer_names);
    return {};
  }

  Result<Statement> macro_statement(int line) {
    MacroBody macro;
    TRY_ASSIGN(macro.name, cursor_.expect_name());
    TRY(read_parameters(macro));
    TRY(read_function(macro, "endmacro"));
    return Statement{MacroStatement{std::make_shared<const MacroBody>(std::move(macro))}, line};
  }

  Result<Statement> call_block(int line) {
    MacroBody caller;
    if (cursor_.at_operator("(")) TRY(read_parameters(caller));
    TRY_ASSIGN(ExpressionPtr call, expressions_.call());
    TRY(read_function(caller, "endcall"));
    return Statement{
        CallBlock{std::move(call), std::make_shared<const MacroBody>(std::move(caller))}, line};
  }

  Result<Statement> generation_block(int line) {
    marks_answers_ = true;
    TRY_ASSIGN(Body inside, closed_apart("endgeneration"));
    return Statement{GenerationBlock{std::move(inside)}, line};
  }

  TokenCursor cursor_;
  ExpressionParser expressions_;
  bool marks_answers_ = false;
  int loops_ = 0;  // that enclose the current place within the same function
};

}  // namespace

Result<ParsedTemplate> parse_template(std::string_view source) {
  TRY_ASSIGN(std::vector<Token> tokens, tokenize(source));
  return TemplateParser(std::move(tokens)).run();
}

}  // namespace shardlens::trainer::chat
