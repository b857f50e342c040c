// The functions that every template may call by name.
#include <algorithm>
#include <array>
#include <ctime>

#include "trainer/chat/builtins.h"
#include "trainer/chat/interpreter.h"
#include "trainer/chat/value_order.h"

namespace shardlens::trainer::chat {

namespace {

// As the sandbox of Jinja.
constexpr std::int64_t kLongestRange = 100'000;

Result<Value> range(Interpreter&, Arguments arguments) {
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {"", "", ""}, 1));
  std::array<std::int64_t, 3> numbers = {0, 0, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    if (!bound[i]) continue;
    if (bound[i]->is_undefined()) return fail(ErrorKind::kDamaged, bound[i]->why());
    if (!bound[i]->is_whole()) return fail(ErrorKind::kDamaged, "range() needs integers");
    numbers[i] = bound[i]->as_integer();
  }
  if (!bound[1]) {
    numbers[1] = numbers[0];
    numbers[0] = 0;
  }
  if (numbers[2] == 0) return fail(ErrorKind::kDamaged, "the step of a range() is 0");
  const auto made = std::make_shared<Range>(numbers[0], numbers[1], numbers[2]);
  if (made->length().value_or(0) > kLongestRange) {
    return fail(ErrorKind::kDamaged, "a range() of more than 100000 numbers");
  }
  return Value::object(made);
}

// What dict(…) and namespace(…) hold: a dict or pairs, then arguments with names.
Result<Entries> entries_from(Interpreter& interpreter, Arguments arguments) {
  Entries entries;
  if (arguments.positional.size() > 1) {
    return fail(ErrorKind::kDamaged, std::string(arguments.callee) + "() takes one dict");
  }
  for (const Value& source : arguments.positional) {
    if (source.is_dict()) {
      entries = source.entries();
      continue;
    }
    if (source.is_undefined()) return fail(ErrorKind::kDamaged, source.why());
    TRY_ASSIGN(const Items pairs, interpreter.iterate(source));
    for (const Value& pair : pairs) {
      TRY_ASSIGN(const Items both, interpreter.iterate(pair));
      if (both.size() != 2) return fail(ErrorKind::kDamaged, "a dict is made of pairs");
      TRY(set_entry(interpreter.budget(), entries, both[0], both[1]));
    }
  }
  for (auto& [name, value] : arguments.named) {
    TRY(set_entry(interpreter.budget(), entries, Value::text(name), std::move(value)));
  }
  return entries;
}

Result<Value> dict(Interpreter& interpreter, Arguments arguments) {
  TRY_ASSIGN(Entries entries, entries_from(interpreter, std::move(arguments)));
  return interpreter.budget().dict(std::move(entries));
}

Result<Value> make_namespace(Interpreter& interpreter, Arguments arguments) {
  TRY_ASSIGN(const Entries entries, entries_from(interpreter, std::move(arguments)));
  TRY(interpreter.budget().spend_items(entries.size() + 4));
  Entries attributes;
  for (const Entry& entry : entries) {
    if (!entry.key.is_text()) continue;  // cannot be asked for
    if (entry.key.as_text().starts_with('_')) {
      return fail(ErrorKind::kDamaged, "a namespace holds no names that begin with '_'");
    }
    attributes.push_back(entry);
  }
  const auto space = std::make_shared<Namespace>(std::move(attributes));
  interpreter.keep(space);
  return Value::object(space);
}

class Cycler final : public Object {
 public:
  explicit Cycler(Value items) : items_(std::move(items)), at_(std::make_shared<std::size_t>(0)) {}

  std::string type_name() const override { return "Cycler"; }
  int depth() const override { return items_.depth() + 1; }
  std::optional<Value> attribute(std::string_view name) const override {
    if (name == "current") return items_.items()[*at_];
    if (name == "items") return items_;
    if (name == "pos") return Value::integer(static_cast<std::int64_t>(*at_));
    if (name != "next" && name != "reset") return std::nullopt;
    const bool resets = name == "reset";
    const auto body = [items = items_, at = at_, resets](Interpreter&, Arguments) -> Result<Value> {
      const std::size_t now = *at;
      *at = resets ? 0 : (now + 1) % items.items().size();
      return resets ? Value() : items.items()[now];
    };
    return Value::object(std::make_shared<Function>(std::string(name), body, depth() + 1));
  }

 private:
  Value items_;
  std::shared_ptr<std::size_t> at_;
};

Result<Value> cycler(Interpreter& interpreter, Arguments arguments) {
  if (arguments.positional.empty() || !arguments.named.empty()) {
    return fail(ErrorKind::kDamaged, "cycler() needs values to choose from");
  }
  TRY_ASSIGN(Value items, interpreter.budget().tuple(std::move(arguments.positional)));
  return interpreter.budget().object(std::make_shared<Cycler>(std::move(items)));
}

Result<Value> joiner(Interpreter& interpreter, Arguments arguments) {
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {"sep"}, 0));
  const Value separator = bound[0].value_or(Value::text(", "));
  const auto body = [separator, used = std::make_shared<bool>(false)](Interpreter&,
                                                                      Arguments) -> Result<Value> {
    return std::exchange(*used, true) ? separator : Value::text("");
  };
  return interpreter.budget().object(
      std::make_shared<Function>("joiner", body, separator.depth() + 1));
}

Result<Value> raise_exception(Interpreter& interpreter, Arguments arguments) {
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {"message"}, 1));
  TRY_ASSIGN(const std::string message, interpreter.shown(*bound[0]));
  return fail(ErrorKind::kDamaged, message);
}

Result<Value> strftime_now(Interpreter& interpreter, Arguments arguments) {
  TRY_ASSIGN(const auto bound, bind_arguments(std::move(arguments), {"format"}, 1));
  if (!bound[0]->is_text()) return fail(ErrorKind::kDamaged, "strftime_now() needs a text");
  const std::string& format = bound[0]->as_text();
  if (format.size() > 1000) return fail(ErrorKind::kDamaged, "a format of more than 1000 bytes");
  const auto seconds = static_cast<std::time_t>(interpreter.now());
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  // One more character tells an empty text from one that did not fit.
  std::string text(format.size() * 64 + 64, '\0');
  const std::size_t size = std::strftime(text.data(), text.size(), (format + " ").c_str(), &parts);
  if (size == 0) return fail(ErrorKind::kDamaged, "strftime_now(): an unknown format");
  text.resize(size - 1);
  return Value::text(std::move(text));
}

}  // namespace

std::optional<Value> global_named(std::string_view name) {
  struct Global {
    std::string_view name;
    Result<Value> (*body)(Interpreter&, Arguments);
  };
  constexpr Global kGlobals[] = {
      {"range", range},
      {"dict", dict},
      {"namespace", make_namespace},
      {"cycler", cycler},
      {"joiner", joiner},
      {"raise_exception", raise_exception},
      {"strftime_now", strftime_now},
  };
  const auto* found = std::find_if(std::begin(kGlobals), std::end(kGlobals),
                                   [&](const Global& global) { return global.name == name; });
  if (found == std::end(kGlobals)) return std::nullopt;
  return Value::object(std::make_shared<Function>(std::string(name), found->body));
}

}  // namespace shardlens::trainer::chat
