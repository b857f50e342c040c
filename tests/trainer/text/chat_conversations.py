"""Conversations that chat templates are compared over: usual ones, wrong ones, nasty texts."""


def user(content):
    return {"role": "user", "content": content}


def assistant(content, **more):
    return {"role": "assistant", "content": content, **more}


def system(content):
    return {"role": "system", "content": content}


NASTY = [
    "",
    " ",
    "\n",
    "  two spaces around  ",
    "\n\nnewlines around\n\n",
    "\ttabs\t\r\n",
    "naïve café, straße, Ǆ, İstanbul, ΟΔΟΣ",
    "日本語のテキスト、한국어, עברית, العربية, ไทย",
    "emoji 👩‍👩‍👧‍👦 🇩🇪 👍🏽 and combining e\u0301",
    "\u00a0\u2003\u3000 spaces of other scripts \u200b\ufeff",
    "{{ not.a.template }} {% if x %} {# no comment #}",
    "quotes ' \" and \\ backslashes \\n",
    "<|im_end|> </s> [INST] <think>no</think>",
    "nul \u0000 bell \u0007 escape \u001b delete \u007f",
    "a\u2028b\u2029c\u0085d\u000be\u000cf",
    "<b>&amp;</b>",
]

CONVERSATIONS = [
    ("one question", [user("Hi")]),
    ("question and answer", [user("Hi"), assistant("Hello.")]),
    ("system first", [system("Be kind."), user("Hi"), assistant("Hello.")]),
    ("system only", [system("Be kind.")]),
    ("two turns", [user("Hi"), assistant("Hello."), user("And?"), assistant("Bye.")]),
    (
        "three turns with a system",
        [system("S"), user("a"), assistant("b"), user("c"), assistant("d"), user("e"), assistant("f")],
    ),
    ("the last word is a question", [user("a"), assistant("b"), user("c")]),
    ("assistant first", [assistant("Hello."), user("Hi")]),
    ("two questions in a row", [user("a"), user("b"), assistant("c")]),
    ("two answers in a row", [user("a"), assistant("b"), assistant("c")]),
    ("system in the middle", [user("a"), system("S"), assistant("b")]),
    ("an unknown role", [user("a"), {"role": "referee", "content": "foul"}, assistant("b")]),
    ("a tool's answer", [user("a"), assistant("b"), {"role": "tool", "content": "42"}, assistant("c")]),
    ("no role", [{"content": "a"}]),
    ("no content", [user("a"), {"role": "assistant"}]),
    ("content of null", [user("a"), {"role": "assistant", "content": None}]),
    ("a number as content", [user(7), assistant("b")]),
    ("content in parts", [user([{"type": "text", "text": "Hi"}, {"type": "text", "text": " there"}]), assistant("b")]),
    (
        "everything in parts",
        [
            system([{"type": "text", "text": "S"}]),
            user([{"type": "text", "text": "a"}]),
            assistant([{"type": "text", "text": "b"}]),
        ],
    ),
    ("reasoning in the text", [user("a"), assistant("<think>\nbecause\n</think>\n\nb"), user("c"), assistant("<think>\nso\n</think>\n\nd")]),
    ("reasoning beside the text", [user("a"), assistant("b", reasoning_content="because"), user("c"), assistant("d", thinking="so")]),
    (
        "a call of a tool",
        [
            user("weather?"),
            assistant("", tool_calls=[{"type": "function", "id": "abcdefghi", "function": {"name": "weather", "arguments": {"city": "Köln", "days": 3, "exact": True, "unit": None}}}]),
            {"role": "tool", "name": "weather", "tool_call_id": "abcdefghi", "content": "rain"},
            assistant("It rains."),
        ],
    ),
    ("more keys", [user("a") | {"name": "Ada", "weight": 0.5}, assistant("b") | {"train": False}]),
    ("none", []),
]
for number, text in enumerate(NASTY):
    CONVERSATIONS.append((f"nasty question {number}", [user(text), assistant("b")]))
    CONVERSATIONS.append((f"nasty answer {number}", [user("a"), assistant(text), user("c"), assistant("d")]))
    CONVERSATIONS.append((f"nasty system {number}", [system(text), user("a"), assistant(text)]))

WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather of a city, <b>now</b>",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "description": "Köln, say"}, "unit": {"type": "string", "enum": ["C", None]}},
            "required": ["city"],
        },
        "return": None,
    },
}
CALL = next(messages for title, messages in CONVERSATIONS if title == "a call of a tool")
DOCUMENT = {"title": "Rain", "text": "It rains often."}
# What a line has beside its messages.
GIVEN_MORE = [
    ("a tool", [user("weather?"), assistant("Rain.")], {"tools": [WEATHER]}),
    ("a tool after a system", [system("S"), user("weather?"), assistant("Rain.")], {"tools": [WEATHER, WEATHER]}),
    ("a tool that is called", CALL, {"tools": [WEATHER]}),
    ("two turns with a tool", [user("a"), assistant("b"), user("c"), assistant("d")], {"tools": [WEATHER]}),
    ("no tools", [user("a"), assistant("b")], {"tools": []}),
    ("a document", [user("a"), assistant("b")], {"documents": [DOCUMENT]}),
    ("variables", [user("a"), assistant("b")], {"enable_thinking": False, "bos_token": "<b>", "day": "1 May 2025"}),
]
