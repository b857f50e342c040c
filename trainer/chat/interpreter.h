// Runs a parsed template: Jinja's semantics in the environment that transformers makes (sandboxed,
// values cannot be changed, trim_blocks, lstrip_blocks, loop controls). One thread for one
// rendering; the template itself may be shared.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/chat/object.h"
#include "trainer/chat/render_budget.h"
#include "trainer/chat/template_nodes.h"

namespace shardlens::trainer::chat {

// The variables of one level; those of the levels around it are seen through it.
struct Scope {
  std::shared_ptr<Scope> parent;
  std::map<std::string, Value, std::less<>> variables;

  const Value* find(std::string_view name) const;
  void set(const std::string& name, Value value) {
    variables.insert_or_assign(name, std::move(value));
  }
};

// Bytes of a text, [begin, end).
struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool operator==(const ByteRange&) const = default;
};

struct Rendering {
  std::string text;
  // What {% generation %} enclosed, in order.
  std::vector<ByteRange> generated;
  // One of them stood in a macro or block whose text was used later: its place is not known.
  bool generated_elsewhere = false;
};

class Interpreter {
 public:
  // `now`: what strftime_now() formats, seconds since 1970, UTC. `units`: of the RenderBudget.
  explicit Interpreter(std::int64_t now, std::size_t units = kRenderUnits)
      : budget_(units), now_(now) {}
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  // Once. An error says the line of the template.
  Result<Rendering> run(const Body& body, const Entries& variables);

  // ---- for functions, filters and methods
  RenderBudget& budget() { return budget_; }
  std::int64_t now() const { return now_; }
  Result<Value> call(const Value& callee, Arguments arguments);
  Result<Value> apply_filter(std::string_view name, Value input, Arguments arguments);
  Result<bool> apply_test(std::string_view name, const Value& input, Arguments arguments);
  Result<Items> iterate(const Value& value);
  Result<std::string> shown(const Value& value);
  // Must be told of every namespace: they may hold themselves.
  void keep(std::shared_ptr<Namespace> space) { namespaces_.push_back(std::move(space)); }
  Result<Value> run_macro(const MacroBody& macro, const std::shared_ptr<Scope>& scope,
                          Arguments arguments);

 private:
  enum class Flow { kOn, kBreak, kContinue };

  Result<Value> evaluate(const Expression& expression);
  Result<Value> evaluate(const ExpressionPtr& expression) { return evaluate(*expression); }
  Result<Value> visit(const Constant& node) { return node.value; }
  Result<Value> visit(const NameUse& node);
  Result<Value> visit(const SequenceLiteral& node);
  Result<Value> visit(const DictLiteral& node);
  Result<Value> visit(const UnaryOperation& node);
  Result<Value> visit(const BinaryOperation& node);
  Result<Value> visit(const Comparison& node);
  Result<Value> visit(const LogicalOperation& node);
  Result<Value> visit(const Concatenation& node);
  Result<Value> visit(const Conditional& node);
  Result<Value> visit(const AttributeUse& node);
  Result<Value> visit(const Subscript& node);
  Result<Value> visit(const SliceUse& node);
  Result<Value> visit(const Call& node);
  Result<Value> visit(const FilterUse& node);
  Result<Value> visit(const TestUse& node);
  Result<Arguments> evaluate(const CallArguments& arguments);

  Result<Flow> execute(const Body& body, std::string& out);
  Result<Flow> visit(const DataOutput& node, std::string& out);
  Result<Flow> visit(const ValueOutput& node, std::string& out);
  Result<Flow> visit(const IfStatement& node, std::string& out);
  Result<Flow> visit(const ForStatement& node, std::string& out);
  Result<Flow> visit(const SetStatement& node, std::string& out);
  Result<Flow> visit(const SetBlock& node, std::string& out);
  Result<Flow> visit(const FilterBlock& node, std::string& out);
  Result<Flow> visit(const WithStatement& node, std::string& out);
  Result<Flow> visit(const MacroStatement& node, std::string& out);
  Result<Flow> visit(const CallBlock& node, std::string& out);
  Result<Flow> visit(const GenerationBlock& node, std::string& out);
  Result<Flow> visit(const BreakStatement&, std::string&) { return Flow::kBreak; }
  Result<Flow> visit(const ContinueStatement&, std::string&) { return Flow::kContinue; }

  Result<Items> filtered(const ForStatement& node, Items items);
  Result<Value> filtered_text(const ExpressionPtr& filter, std::string text);
  Result<std::string> captured(const Body& body);
  Result<void> assign(const Target& target, Value value);
  // What was assigned to it, which may be a name or a tuple of them.
  Result<Value> assigned(const Target& target);
  Result<void> bind_parameters(const MacroBody& macro, Arguments& arguments);
  Value macro_value(const std::shared_ptr<const MacroBody>& macro);
  Result<void> write(std::string& out, std::string_view text);

  // A level of variables while it lives.
  class ScopeGuard;

  RenderBudget budget_;
  std::int64_t now_;
  std::shared_ptr<Scope> scope_ = std::make_shared<Scope>();
  Value block_text_;
  std::string* top_ = nullptr;  // the text of the whole rendering
  std::vector<ByteRange> generated_;
  bool generated_elsewhere_ = false;
  int line_ = 1;
  int depth_ = 0;
  // Emptied at the end, because what they hold may hold them.
  std::vector<std::shared_ptr<Namespace>> namespaces_;
  std::vector<std::shared_ptr<Scope>> closures_;
};

}  // namespace shardlens::trainer::chat
