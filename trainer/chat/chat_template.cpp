#include "trainer/chat/chat_template.h"

#include "trainer/chat/template_parser.h"

namespace shardlens::trainer::chat {

Result<ChatTemplate> ChatTemplate::parse(std::string_view source, Entries special_tokens) {
  auto parsed = parse_template(source);
  if (!parsed) {
    return fail(ErrorKind::kDamaged, "the chat template cannot be read: " + parsed.error().message);
  }
  return ChatTemplate(std::make_shared<const ParsedTemplate>(std::move(*parsed)),
                      std::move(special_tokens));
}

namespace {

// What transformers does with messages before a template sees them: keys without a value are left
// out, and reasoning is given under the names of the standard and of older templates.
Result<Value> prepared(const Value& message) {
  if (!message.is_dict()) return fail(ErrorKind::kDamaged, "a message of the chat is no object");
  Entries entries;
  const Value* reasoning = nullptr;
  for (const Entry& entry : message.entries()) {
    if (!entry.value.is_none()) entries.push_back(entry);
  }
  for (const char* name : {"reasoning_content", "thinking", "reasoning"}) {
    const Value* value = message.find(name);
    if (reasoning == nullptr && value != nullptr && !value->is_none()) reasoning = value;
  }
  if (reasoning == nullptr) return Value::dict(std::move(entries));
  const Value kept = *reasoning;
  const Value* thinking = message.find("thinking");
  if (thinking == nullptr || thinking->is_none()) {
    entries.insert(entries.begin(), {Value::text("thinking"), kept});
  }
  set_text_entry(entries, "reasoning_content", kept);
  return Value::dict(std::move(entries));
}

}  // namespace

Result<Rendering> ChatTemplate::run(const Items& messages, const RenderOptions& options) const {
  if (messages.empty()) return fail(ErrorKind::kDamaged, "the conversation has no messages");
  Items shown;
  for (const Value& message : messages) {
    TRY_ASSIGN(Value value, prepared(message));
    shown.push_back(std::move(value));
  }
  Entries variables = special_tokens_;
  set_text_entry(variables, "tools", Value());
  set_text_entry(variables, "documents", Value());
  for (const Entry& entry : options.variables) {
    set_text_entry(variables, entry.key.as_text(), entry.value);
  }
  set_text_entry(variables, "messages", Value::list(std::move(shown)));
  set_text_entry(variables, "add_generation_prompt", Value::boolean(options.add_generation_prompt));
  Interpreter interpreter(options.now, options.units);
  auto rendering = interpreter.run(template_->body, variables);
  if (rendering) return rendering;
  return fail(rendering.error().kind, "the chat template, " + rendering.error().message);
}

Result<Items> ChatTemplate::messages_of(const Value& messages) {
  if (messages.is_sequence()) return messages.items();
  return fail(ErrorKind::kDamaged,
              "the messages of a chat are a list, not a value of type " + messages.type_name());
}

Result<std::string> ChatTemplate::render(const Value& messages,
                                         const RenderOptions& options) const {
  TRY_ASSIGN(const Items items, messages_of(messages));
  TRY_ASSIGN(Rendering rendering, run(items, options));
  return std::move(rendering.text);
}

}  // namespace shardlens::trainer::chat
