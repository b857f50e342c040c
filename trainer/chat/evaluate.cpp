// The part of the interpreter that evaluates expressions.
#include "trainer/chat/builtins.h"
#include "trainer/chat/depth_scope.h"
#include "trainer/chat/interpreter.h"
#include "trainer/chat/operators.h"
#include "trainer/chat/value_order.h"
#include "trainer/chat/value_text.h"

namespace shardlens::trainer::chat {

Result<Value> Interpreter::evaluate(const Expression& expression) {
  const DepthScope scope(depth_);
  if (depth_ > kDeepestEvaluation) {
    return fail(ErrorKind::kDamaged, "macros call each other too deeply");
  }
  line_ = expression.line;
  TRY(budget_.spend(kUnitsPerNode));
  return std::visit([this](const auto& node) { return visit(node); }, expression.node);
}

Result<Value> Interpreter::visit(const NameUse& node) {
  if (const Value* value = scope_->find(node.name)) return *value;
  if (const auto global = global_named(node.name)) return *global;
  return Value::undefined("'" + node.name + "' is undefined");
}

Result<Value> Interpreter::visit(const SequenceLiteral& node) {
  Items items;
  items.reserve(node.items.size());
  for (const ExpressionPtr& item : node.items) {
    TRY_ASSIGN(Value value, evaluate(item));
    items.push_back(std::move(value));
  }
  return node.is_tuple ? budget_.tuple(std::move(items)) : budget_.list(std::move(items));
}

Result<Value> Interpreter::visit(const DictLiteral& node) {
  Entries entries;
  for (const auto& [key, value] : node.entries) {
    TRY_ASSIGN(Value key_value, evaluate(key));
    TRY_ASSIGN(Value entry_value, evaluate(value));
    TRY(set_entry(budget_, entries, std::move(key_value), std::move(entry_value)));
  }
  return budget_.dict(std::move(entries));
}

Result<Value> Interpreter::visit(const UnaryOperation& node) {
  TRY_ASSIGN(const Value operand, evaluate(node.operand));
  if (node.sign == "not") return Value::boolean(!truth(operand));
  return node.sign == "-" ? negated(operand) : affirmed(operand);
}

Result<Value> Interpreter::visit(const BinaryOperation& node) {
  TRY_ASSIGN(const Value left, evaluate(node.left));
  TRY_ASSIGN(const Value right, evaluate(node.right));
  return calculate(budget_, node.sign, left, right);
}

Result<Value> Interpreter::visit(const Comparison& node) {
  TRY_ASSIGN(Value left, evaluate(node.first));
  for (const auto& [sign, operand] : node.rest) {
    TRY_ASSIGN(Value right, evaluate(operand));
    TRY_ASSIGN(const bool held, holds(*this, sign, left, right));
    if (!held) return Value::boolean(false);
    left = std::move(right);
  }
  return Value::boolean(true);
}

Result<Value> Interpreter::visit(const LogicalOperation& node) {
  TRY_ASSIGN(Value left, evaluate(node.left));
  if (truth(left) != node.is_and) return left;
  return evaluate(node.right);
}

Result<Value> Interpreter::visit(const Concatenation& node) {
  std::string text;
  for (const ExpressionPtr& part : node.parts) {
    TRY_ASSIGN(const Value value, evaluate(part));
    TRY_ASSIGN(const std::string piece, shown(value));
    text += piece;
  }
  return budget_.text(std::move(text));
}

Result<Value> Interpreter::visit(const Conditional& node) {
  TRY_ASSIGN(const Value test, evaluate(node.test));
  if (truth(test)) return evaluate(node.then);
  if (node.otherwise) return evaluate(node.otherwise);
  return Value::undefined("an inline if was false and has no else");
}

Result<Value> Interpreter::visit(const AttributeUse& node) {
  TRY_ASSIGN(const Value object, evaluate(node.object));
  return attribute_of(*this, object, node.name);
}

Result<Value> Interpreter::visit(const Subscript& node) {
  TRY_ASSIGN(const Value object, evaluate(node.object));
  TRY_ASSIGN(const Value index, evaluate(node.index));
  return item_of(*this, object, index);
}

Result<Value> Interpreter::visit(const SliceUse& node) {
  TRY_ASSIGN(const Value object, evaluate(node.object));
  Value bounds[3];
  const ExpressionPtr* expressions[] = {&node.start, &node.stop, &node.step};
  for (int i = 0; i < 3; ++i) {
    if (!*expressions[i]) continue;
    TRY_ASSIGN(bounds[i], evaluate(*expressions[i]));
  }
  return slice_of(*this, object, bounds[0], bounds[1], bounds[2]);
}

Result<Arguments> Interpreter::evaluate(const CallArguments& arguments) {
  Arguments result;
  // Whoever is called looks at texts without asking what that costs.
  const auto paid = [this](const ExpressionPtr& argument) -> Result<Value> {
    TRY_ASSIGN(Value value, evaluate(argument));
    if (value.is_text()) TRY(budget_.spend(value.as_text().size()));
    return value;
  };
  for (const ExpressionPtr& argument : arguments.positional) {
    TRY_ASSIGN(Value value, paid(argument));
    result.positional.push_back(std::move(value));
  }
  for (const auto& [name, argument] : arguments.named) {
    TRY_ASSIGN(Value value, paid(argument));
    result.named.emplace_back(name, std::move(value));
  }
  if (arguments.unpacked_items) {
    TRY_ASSIGN(const Value unpacked, evaluate(arguments.unpacked_items));
    TRY_ASSIGN(Items items, iterate(unpacked));
    for (Value& item : items) result.positional.push_back(std::move(item));
  }
  if (!arguments.unpacked_dict) return result;
  TRY_ASSIGN(const Value unpacked, evaluate(arguments.unpacked_dict));
  if (!unpacked.is_dict()) return fail(ErrorKind::kDamaged, "what follows ** is no dict");
  for (const Entry& entry : unpacked.entries()) {
    if (!entry.key.is_text()) return fail(ErrorKind::kDamaged, "an argument's name is no text");
    TRY(budget_.spend_items(result.named.size()));
    for (const auto& [name, value] : result.named) {
      if (name == entry.key.as_text()) {
        return fail(ErrorKind::kDamaged, "the argument '" + name + "' is given twice");
      }
    }
    result.named.emplace_back(entry.key.as_text(), entry.value);
  }
  return result;
}

Result<Value> Interpreter::visit(const Call& node) {
  TRY_ASSIGN(const Value callee, evaluate(node.callee));
  TRY_ASSIGN(Arguments arguments, evaluate(node.arguments));
  return call(callee, std::move(arguments));
}

Result<Value> Interpreter::call(const Value& callee, Arguments arguments) {
  if (callee.is_undefined()) return fail(ErrorKind::kDamaged, callee.why());
  if (callee.kind() != Kind::kObject || !callee.as_object().callable()) {
    return fail(ErrorKind::kDamaged, "a value of type " + callee.type_name() + " is not callable");
  }
  // The object must outlive its call, whatever the call assigns.
  const std::shared_ptr<Object> object = callee.shared_object();
  const int line = line_;
  auto result = object->call(*this, std::move(arguments));
  if (result) line_ = line;
  return result;
}

Result<Value> Interpreter::visit(const FilterUse& node) {
  Value input = block_text_;
  if (node.input) {
    TRY_ASSIGN(input, evaluate(node.input));
  }
  TRY_ASSIGN(Arguments arguments, evaluate(node.arguments));
  return apply_filter(node.name, std::move(input), std::move(arguments));
}

Result<Value> Interpreter::visit(const TestUse& node) {
  TRY_ASSIGN(const Value input, evaluate(node.input));
  TRY_ASSIGN(Arguments arguments, evaluate(node.arguments));
  TRY_ASSIGN(const bool passed, apply_test(node.name, input, std::move(arguments)));
  return Value::boolean(passed);
}

Result<std::string> Interpreter::shown(const Value& value) { return chat::shown(budget_, value); }

Result<Items> Interpreter::iterate(const Value& value) {
  Items items;
  if (value.is_sequence()) {
    items = value.items();
  } else if (value.is_dict()) {
    for (const Entry& entry : value.entries()) items.push_back(entry.key);
  } else if (value.is_text()) {
    return characters_of(budget_, value);
  } else if (value.kind() == Kind::kObject && value.as_object().iterable()) {
    return value.as_object().iterate(*this);
  } else if (!value.is_undefined()) {
    return fail(ErrorKind::kDamaged,
                "a value of type " + value.type_name() + " cannot be iterated over");
  }
  TRY(budget_.spend_items(items.size()));
  return items;
}

}  // namespace shardlens::trainer::chat
