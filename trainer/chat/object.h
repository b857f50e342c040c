// Values of a template that have a behaviour: functions, methods, macros, namespaces, iterators.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/chat/value.h"

namespace shardlens::trainer::chat {

class Interpreter;

// Of a call, evaluated.
struct Arguments {
  Items positional;
  std::vector<std::pair<std::string, Value>> named;
  // The name of the function, method, filter or test that is called, for its errors.
  std::string_view callee = {};
};

class Object {
 public:
  virtual ~Object() = default;

  // Python's name of its type.
  virtual std::string type_name() const = 0;
  // What repr() shows.
  virtual std::string representation() const { return "<" + type_name() + " object>"; }
  virtual int depth() const { return 1; }

  virtual bool callable() const { return false; }
  virtual Result<Value> call(Interpreter& interpreter, Arguments arguments);
  virtual std::optional<Value> attribute(std::string_view name) const;

  virtual bool iterable() const { return false; }
  // All that is left of it. Needs iterable().
  virtual Result<Items> iterate(Interpreter& interpreter);
  // The next one; nothing: at its end. Only iterators have it.
  virtual bool is_iterator() const { return false; }
  virtual Result<std::optional<Value>> next(Interpreter& interpreter);
  // Absent where Python's len() fails.
  virtual std::optional<std::int64_t> length() const { return std::nullopt; }
  // Whether obj[index] is more than an error.
  virtual bool subscriptable() const { return false; }
};

// A function of the language: a global, or a method bound to its receiver.
class Function final : public Object {
 public:
  using Body = std::function<Result<Value>(Interpreter&, Arguments)>;
  Function(std::string name, Body body, int depth = 1)
      : name_(std::move(name)), body_(std::move(body)), depth_(depth) {}

  std::string type_name() const override { return "function"; }
  std::string representation() const override { return "<function " + name_ + ">"; }
  int depth() const override { return depth_; }
  bool callable() const override { return true; }
  Result<Value> call(Interpreter& interpreter, Arguments arguments) override {
    arguments.callee = name_;
    return body_(interpreter, std::move(arguments));
  }

 private:
  std::string name_;
  Body body_;
  int depth_;
};

// Gives its values once, computing each when it is asked for, as a Python generator.
class Generator final : public Object {
 public:
  using Next = std::function<Result<std::optional<Value>>(Interpreter&)>;
  Generator(std::string type, Next next, int depth)
      : type_(std::move(type)), next_(std::move(next)), depth_(depth) {}

  std::string type_name() const override { return type_; }
  int depth() const override { return depth_; }
  bool iterable() const override { return true; }
  bool is_iterator() const override { return true; }
  Result<Items> iterate(Interpreter& interpreter) override;
  Result<std::optional<Value>> next(Interpreter& interpreter) override;

 private:
  std::string type_;
  Next next_;
  int depth_;
  bool ended_ = false;
};

// namespace(…): the one thing a template can change from within a loop.
class Namespace final : public Object {
 public:
  // `entries`: different texts as keys.
  explicit Namespace(Entries entries) : entries_(std::move(entries)) {}

  std::string type_name() const override { return "Namespace"; }
  std::optional<Value> attribute(std::string_view name) const override;
  void set(std::string_view name, Value value);
  void clear() { entries_.clear(); }
  const Entries& entries() const { return entries_; }

 private:
  Entries entries_;
};

// range(…)
class Range final : public Object {
 public:
  Range(std::int64_t start, std::int64_t stop, std::int64_t step)
      : start_(start), stop_(stop), step_(step) {}

  std::string type_name() const override { return "range"; }
  std::string representation() const override;
  bool iterable() const override { return true; }
  bool subscriptable() const override { return true; }
  std::optional<std::int64_t> length() const override;
  Result<Items> iterate(Interpreter& interpreter) override;
  std::optional<Value> attribute(std::string_view name) const override;
  // Without signs: one step beyond the end may be beyond 64 bits.
  std::int64_t at(std::int64_t index) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(start_) +
                                     static_cast<std::uint64_t>(index) *
                                         static_cast<std::uint64_t>(step_));
  }
  std::int64_t step() const { return step_; }

 private:
  std::int64_t start_, stop_, step_;
};

// dict.keys(), dict.values(), dict.items(): shown as what they are, else a list.
class DictView final : public Object {
 public:
  DictView(std::string type, Value items) : type_(std::move(type)), items_(std::move(items)) {}

  std::string type_name() const override { return type_; }
  int depth() const override { return items_.depth() + 1; }
  bool iterable() const override { return true; }
  std::optional<std::int64_t> length() const override {
    return static_cast<std::int64_t>(items_.items().size());
  }
  Result<Items> iterate(Interpreter& interpreter) override;
  const Value& items() const { return items_; }

 private:
  std::string type_;
  Value items_;
};

// Whether it gives its items once.
inline bool is_iterator(const Value& value) {
  return value.kind() == Kind::kObject && value.as_object().is_iterator();
}

// What `name` is bound to by each of `arguments`, in the order of `parameters`, absent where none
// was given. An empty name can only be given by position. Errors as Python's TypeError: too many,
// unknown or missing (the first `required` must be there).
Result<std::vector<std::optional<Value>>> bind_arguments(
    Arguments arguments, std::initializer_list<std::string_view> parameters, std::size_t required);

}  // namespace shardlens::trainer::chat
