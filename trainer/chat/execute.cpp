// The part of the interpreter that carries statements out.
#include <utility>

#include "trainer/chat/depth_scope.h"
#include "trainer/chat/interpreter.h"
#include "trainer/chat/loop_state.h"
#include "trainer/chat/scope_guard.h"
#include "trainer/chat/value_order.h"

namespace shardlens::trainer::chat {

const Value* Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent.get()) {
    const auto found = scope->variables.find(name);
    if (found != scope->variables.end()) return &found->second;
  }
  return nullptr;
}

Interpreter::~Interpreter() {
  for (const auto& space : namespaces_) space->clear();
  for (const auto& scope : closures_) scope->variables.clear();
}

Result<Rendering> Interpreter::run(const Body& body, const Entries& variables) {
  for (const Entry& entry : variables) scope_->set(entry.key.as_text(), entry.value);
  Rendering rendering;
  top_ = &rendering.text;
  const auto flow = execute(body, rendering.text);
  top_ = nullptr;
  if (!flow) {
    return fail(flow.error().kind, "line " + std::to_string(line_) + ": " + flow.error().message);
  }
  rendering.generated = std::move(generated_);
  rendering.generated_elsewhere = generated_elsewhere_;
  return rendering;
}

Result<Interpreter::Flow> Interpreter::execute(const Body& body, std::string& out) {
  const DepthScope scope(depth_);
  if (depth_ > kDeepestEvaluation) {
    return fail(ErrorKind::kDamaged, "macros call each other too deeply");
  }
  for (const Statement& statement : body) {
    line_ = statement.line;
    TRY(budget_.spend(kUnitsPerNode));
    TRY_ASSIGN(const Flow flow,
               std::visit([&](const auto& node) { return visit(node, out); }, statement.node));
    if (flow != Flow::kOn) return flow;
  }
  return Flow::kOn;
}

Result<void> Interpreter::write(std::string& out, std::string_view text) {
  TRY(budget_.spend(text.size()));
  out += text;
  return {};
}

Result<Interpreter::Flow> Interpreter::visit(const DataOutput& node, std::string& out) {
  TRY(write(out, node.text));
  return Flow::kOn;
}

Result<Interpreter::Flow> Interpreter::visit(const ValueOutput& node, std::string& out) {
  TRY_ASSIGN(const Value value, evaluate(node.value));
  TRY_ASSIGN(const std::string text, shown(value));
  TRY(write(out, text));
  return Flow::kOn;
}

Result<Interpreter::Flow> Interpreter::visit(const IfStatement& node, std::string& out) {
  for (const auto& [test, then] : node.branches) {
    TRY_ASSIGN(const Value value, evaluate(test));
    if (truth(value)) return execute(then, out);
  }
  return execute(node.otherwise, out);
}

Result<Items> Interpreter::filtered(const ForStatement& node, Items items) {
  if (!node.test) return items;
  Items kept;
  for (Value& item : items) {
    const ScopeGuard guard(*this);
    TRY(budget_.spend(kUnitsPerNode));
    TRY(assign(node.target, std::move(item)));
    TRY_ASSIGN(const Value test, evaluate(node.test));
    if (!truth(test)) continue;
    // As Jinja compiles it: what passes is put together again from the names it was assigned to.
    TRY_ASSIGN(Value passed, assigned(node.target));
    kept.push_back(std::move(passed));
  }
  return kept;
}

Result<Value> Interpreter::assigned(const Target& target) {
  if (!target.is_tuple) return *scope_->find(target.name);
  Items parts;
  for (const Target& part : target.parts) {
    TRY_ASSIGN(Value value, assigned(part));
    parts.push_back(std::move(value));
  }
  return budget_.tuple(std::move(parts));
}

Result<Interpreter::Flow> Interpreter::visit(const ForStatement& node, std::string& out) {
  TRY_ASSIGN(const Value iterable, evaluate(node.iterable));
  TRY_ASSIGN(Items items, iterate(iterable));
  TRY_ASSIGN(items, filtered(node, std::move(items)));
  const auto count = static_cast<std::int64_t>(items.size());
  const auto loop = std::make_shared<LoopState>(std::move(items));
  // As Jinja compiles it: {% else %} is for loops of which no round came to its end, so that of a
  // round that {% continue %} or {% break %} leaves, too.
  bool completed = false;
  for (std::int64_t i = 0; i < count; ++i) {
    const ScopeGuard guard(*this);
    TRY(budget_.spend(kUnitsPerNode));
    loop->move_to(i);
    scope_->set("loop", Value::object(loop));
    TRY(assign(node.target, loop->item()));
    TRY_ASSIGN(const Flow flow, execute(node.body, out));
    if (flow == Flow::kBreak) break;
    completed = completed || flow == Flow::kOn;
  }
  if (completed) return Flow::kOn;
  const ScopeGuard guard(*this);
  return execute(node.otherwise, out);
}

Result<void> Interpreter::assign(const Target& target, Value value) {
  if (!target.is_tuple && target.attribute.empty()) {
    scope_->set(target.name, std::move(value));
    return {};
  }
  if (!target.is_tuple) {
    const Value* holder = scope_->find(target.name);
    auto* space = holder != nullptr && holder->kind() == Kind::kObject
                      ? dynamic_cast<Namespace*>(&holder->as_object())
                      : nullptr;
    if (space == nullptr) {
      return fail(ErrorKind::kDamaged, "'" + target.name + "' is no namespace: its attribute '" +
                                           target.attribute + "' cannot be set");
    }
    if (target.attribute.starts_with('_')) {
      return fail(ErrorKind::kDamaged, "a namespace holds no names that begin with '_'");
    }
    TRY(budget_.spend_items(space->entries().size()));
    space->set(target.attribute, std::move(value));
    return {};
  }
  TRY_ASSIGN(Items items, iterate(value));
  if (items.size() != target.parts.size()) {
    return fail(ErrorKind::kDamaged, std::to_string(target.parts.size()) +
                                         " names for a sequence of " +
                                         std::to_string(items.size()));
  }
  for (std::size_t i = 0; i < items.size(); ++i) TRY(assign(target.parts[i], std::move(items[i])));
  return {};
}

Result<Interpreter::Flow> Interpreter::visit(const SetStatement& node, std::string&) {
  TRY_ASSIGN(Value value, evaluate(node.value));
  TRY(assign(node.target, std::move(value)));
  return Flow::kOn;
}

Result<std::string> Interpreter::captured(const Body& body) {
  const ScopeGuard guard(*this);
  std::string text;
  TRY(execute(body, text));
  return text;
}

Result<Value> Interpreter::filtered_text(const ExpressionPtr& filter, std::string text) {
  if (!filter) return Value::text(std::move(text));
  const Value outer = std::exchange(block_text_, Value::text(std::move(text)));
  auto value = evaluate(filter);
  block_text_ = outer;
  return value;
}

Result<Interpreter::Flow> Interpreter::visit(const SetBlock& node, std::string&) {
  TRY_ASSIGN(std::string text, captured(node.body));
  TRY_ASSIGN(Value value, filtered_text(node.filter, std::move(text)));
  TRY(assign(node.target, std::move(value)));
  return Flow::kOn;
}

Result<Interpreter::Flow> Interpreter::visit(const FilterBlock& node, std::string& out) {
  TRY_ASSIGN(std::string text, captured(node.body));
  TRY_ASSIGN(const Value value, filtered_text(node.filter, std::move(text)));
  TRY_ASSIGN(const std::string written, shown(value));
  TRY(write(out, written));
  return Flow::kOn;
}

Result<Interpreter::Flow> Interpreter::visit(const WithStatement& node, std::string& out) {
  Items values;
  for (const auto& [target, expression] : node.values) {
    TRY_ASSIGN(Value value, evaluate(expression));
    values.push_back(std::move(value));
  }
  const ScopeGuard guard(*this);
  for (std::size_t i = 0; i < values.size(); ++i) {
    TRY(assign(node.values[i].first, std::move(values[i])));
  }
  return execute(node.body, out);
}

Result<Interpreter::Flow> Interpreter::visit(const GenerationBlock& node, std::string& out) {
  TRY_ASSIGN(const std::string text, captured(node.body));
  // Only what goes straight to the output has a place in it.
  if (&out == top_) {
    generated_.push_back({out.size(), out.size() + text.size()});
  } else {
    generated_elsewhere_ = true;
  }
  TRY(write(out, text));
  return Flow::kOn;
}

}  // namespace shardlens::trainer::chat
