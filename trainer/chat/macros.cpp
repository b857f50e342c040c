// The part of the interpreter that makes and runs functions of the template.
#include <algorithm>

#include "trainer/chat/interpreter.h"
#include "trainer/chat/scope_guard.h"

namespace shardlens::trainer::chat {

namespace {

class Macro final : public Object {
 public:
  Macro(std::shared_ptr<const MacroBody> body, std::shared_ptr<Scope> scope)
      : body_(std::move(body)), scope_(std::move(scope)) {}

  std::string type_name() const override { return "Macro"; }
  std::string representation() const override {
    return "<Macro " + (body_->name.empty() ? "anonymous" : "'" + body_->name + "'") + ">";
  }
  bool callable() const override { return true; }
  Result<Value> call(Interpreter& interpreter, Arguments arguments) override {
    const std::shared_ptr<const MacroBody> body = body_;
    return interpreter.run_macro(*body, scope_, std::move(arguments));
  }
  std::optional<Value> attribute(std::string_view name) const override {
    if (name == "name") return Value::text(body_->name);
    return std::nullopt;
  }

 private:
  std::shared_ptr<const MacroBody> body_;
  std::shared_ptr<Scope> scope_;
};

}  // namespace

Value Interpreter::macro_value(const std::shared_ptr<const MacroBody>& macro) {
  if (closures_.empty() || closures_.back() != scope_) closures_.push_back(scope_);
  return Value::object(std::make_shared<Macro>(macro, scope_));
}

Result<Interpreter::Flow> Interpreter::visit(const MacroStatement& node, std::string&) {
  scope_->set(node.macro->name, macro_value(node.macro));
  return Flow::kOn;
}

Result<Interpreter::Flow> Interpreter::visit(const CallBlock& node, std::string& out) {
  const auto& call_node = std::get<Call>(node.call->node);
  TRY_ASSIGN(const Value callee, evaluate(call_node.callee));
  TRY_ASSIGN(Arguments arguments, evaluate(call_node.arguments));
  arguments.named.emplace_back("caller", macro_value(node.caller));
  TRY_ASSIGN(const Value value, call(callee, std::move(arguments)));
  TRY_ASSIGN(const std::string text, shown(value));
  TRY(write(out, text));
  return Flow::kOn;
}

Result<void> Interpreter::bind_parameters(const MacroBody& macro, Arguments& arguments) {
  Items& positional = arguments.positional;
  for (std::size_t i = 0; i < macro.parameters.size(); ++i) {
    const Parameter& parameter = macro.parameters[i];
    const auto named =
        std::find_if(arguments.named.begin(), arguments.named.end(),
                     [&](const auto& given) { return given.first == parameter.name; });
    if (i < positional.size()) {
      scope_->set(parameter.name, positional[i]);
    } else if (named != arguments.named.end()) {
      scope_->set(parameter.name, std::move(named->second));
      arguments.named.erase(named);
    } else if (parameter.fallback) {
      TRY_ASSIGN(Value value, evaluate(parameter.fallback));
      scope_->set(parameter.name, std::move(value));
    } else {
      scope_->set(parameter.name,
                  Value::undefined("parameter '" + parameter.name + "' was not provided"));
    }
  }
  positional.erase(positional.begin(),
                   positional.begin() + static_cast<std::ptrdiff_t>(
                                            std::min(positional.size(), macro.parameters.size())));
  return {};
}

Result<Value> Interpreter::run_macro(const MacroBody& macro, const std::shared_ptr<Scope>& scope,
                                     Arguments arguments) {
  const ScopeGuard guard(*this, scope);
  TRY(bind_parameters(macro, arguments));
  if (macro.uses_caller) {
    const auto caller = std::find_if(arguments.named.begin(), arguments.named.end(),
                                     [](const auto& given) { return given.first == "caller"; });
    Value value = Value::undefined("no caller is defined");
    if (caller != arguments.named.end()) {
      value = std::move(caller->second);
      arguments.named.erase(caller);
    }
    scope_->set("caller", std::move(value));
  }
  if (macro.uses_named) {
    Entries entries;
    for (auto& [name, value] : arguments.named) entries.push_back({Value::text(name), value});
    TRY_ASSIGN(Value named, budget_.dict(std::move(entries)));
    scope_->set("kwargs", std::move(named));
  } else if (!arguments.named.empty()) {
    return fail(ErrorKind::kDamaged,
                "macro '" + macro.name + "' takes no argument '" + arguments.named[0].first + "'");
  }
  if (macro.uses_positional) {
    TRY_ASSIGN(Value rest, budget_.tuple(std::move(arguments.positional)));
    scope_->set("varargs", std::move(rest));
  } else if (!arguments.positional.empty()) {
    return fail(ErrorKind::kDamaged, "macro '" + macro.name + "' takes not more than " +
                                         std::to_string(macro.parameters.size()) + " arguments");
  }
  std::string text;
  TRY(execute(*macro.body, text));
  return Value::text(std::move(text));
}

}  // namespace shardlens::trainer::chat
