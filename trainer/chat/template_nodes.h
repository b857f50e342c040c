// The syntax tree of a template. Plain data, immutable once parsed; any thread.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "trainer/chat/value.h"

namespace shardlens::trainer::chat {

struct Expression;
struct Statement;
using ExpressionPtr = std::unique_ptr<Expression>;
using Body = std::vector<Statement>;

struct CallArguments {
  std::vector<ExpressionPtr> positional;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
  ExpressionPtr unpacked_items;  // *…
  ExpressionPtr unpacked_dict;   // **…
};

struct Constant {
  Value value;
};
struct NameUse {
  std::string name;
};
struct SequenceLiteral {
  std::vector<ExpressionPtr> items;
  bool is_tuple;
};
struct DictLiteral {
  std::vector<std::pair<ExpressionPtr, ExpressionPtr>> entries;
};
struct UnaryOperation {
  std::string sign;  // + - not
  ExpressionPtr operand;
};
struct BinaryOperation {
  std::string sign;  // + - * / // % **
  ExpressionPtr left, right;
};
struct Comparison {
  ExpressionPtr first;
  std::vector<std::pair<std::string, ExpressionPtr>> rest;  // == != < <= > >= in "not in"
};
struct LogicalOperation {
  bool is_and;
  ExpressionPtr left, right;
};
struct Concatenation {
  std::vector<ExpressionPtr> parts;
};
struct Conditional {
  ExpressionPtr test, then, otherwise;  // otherwise may be null
};
struct AttributeUse {
  ExpressionPtr object;
  std::string name;
};
struct Subscript {
  ExpressionPtr object, index;
};
struct SliceUse {
  ExpressionPtr object, start, stop, step;  // each bound may be null
};
struct Call {
  ExpressionPtr callee;
  CallArguments arguments;
};
struct FilterUse {
  ExpressionPtr input;  // null: the text of the block that is filtered
  std::string name;
  CallArguments arguments;
};
struct TestUse {
  ExpressionPtr input;
  std::string name;
  CallArguments arguments;
};

struct Expression {
  std::variant<Constant, NameUse, SequenceLiteral, DictLiteral, UnaryOperation, BinaryOperation,
               Comparison, LogicalOperation, Concatenation, Conditional, AttributeUse, Subscript,
               SliceUse, Call, FilterUse, TestUse>
      node;
  int line = 1;
  // Of the tree below it.
  int height = 1;
};

// What is assigned to: a name, an attribute of a namespace, or several of them.
struct Target {
  std::string name;
  std::string attribute;      // empty: the name itself
  std::vector<Target> parts;  // not empty: a tuple, name and attribute mean nothing
  bool is_tuple = false;
};

struct Parameter {
  std::string name;
  ExpressionPtr fallback;  // may be null
};
// Of a macro, and of what {% call %} and {% generation %} enclose.
struct MacroBody {
  std::string name;
  std::vector<Parameter> parameters;
  std::shared_ptr<const Body> body;
  bool uses_caller = false, uses_named = false, uses_positional = false;
};

struct DataOutput {
  std::string text;
};
struct ValueOutput {
  ExpressionPtr value;
};
struct IfStatement {
  std::vector<std::pair<ExpressionPtr, Body>> branches;
  Body otherwise;
};
struct ForStatement {
  Target target;
  ExpressionPtr iterable, test;  // test may be null
  Body body, otherwise;
};
struct SetStatement {
  Target target;
  ExpressionPtr value;
};
struct SetBlock {
  Target target;
  ExpressionPtr filter;  // may be null
  Body body;
};
struct FilterBlock {
  ExpressionPtr filter;
  Body body;
};
struct WithStatement {
  std::vector<std::pair<Target, ExpressionPtr>> values;
  Body body;
};
struct MacroStatement {
  std::shared_ptr<const MacroBody> macro;
};
struct CallBlock {
  ExpressionPtr call;  // a Call
  std::shared_ptr<const MacroBody> caller;
};
// {% generation %}: marks what the assistant says.
struct GenerationBlock {
  Body body;
};
struct BreakStatement {};
struct ContinueStatement {};

struct Statement {
  std::variant<DataOutput, ValueOutput, IfStatement, ForStatement, SetStatement, SetBlock,
               FilterBlock, WithStatement, MacroStatement, CallBlock, GenerationBlock,
               BreakStatement, ContinueStatement>
      node;
  int line = 1;
};

}  // namespace shardlens::trainer::chat
