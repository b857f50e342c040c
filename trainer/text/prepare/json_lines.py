"""What a line of JSON Lines means, and what is wrong with it; the classes of labelled texts."""

import json

from .image import CHAT, COMPLETION, LABELED, PLAIN
from .refusal import BadExample, reason_of

MOST_CLASSES = 1 << 20
NO_VARIABLES = ("self", "messages", "tools", "documents", "chat_template", "add_generation_prompt", "continue_final_message")
KIND_NAMES = ("text", "prompt and completion", "messages", "text and label")


def no_constant(name):
    raise ValueError(f"{name} is no JSON")


def parse_line(line):
    """The object of a line of JSON Lines."""
    try:
        keys = json.loads(line.decode(), parse_constant=no_constant)
        if b"\\ud" in line.lower():
            json.dumps(keys, ensure_ascii=False).encode()
    except UnicodeDecodeError:
        raise BadExample("is not UTF-8") from None
    except UnicodeEncodeError:
        raise BadExample("is not one JSON object: it has half a surrogate pair") from None
    except RecursionError:
        raise BadExample("is not one JSON object: it is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise BadExample(f"is not one JSON object: {error.msg} (column {error.colno})") from None
    except ValueError as error:
        raise BadExample(f"is not one JSON object: {reason_of(error)}") from None
    if not isinstance(keys, dict):
        raise BadExample("is JSON, but not an object")
    return keys


def kind_of(keys, expected):
    kind = (CHAT if "messages" in keys else COMPLETION if "prompt" in keys or "completion" in keys else
            LABELED if "label" in keys else PLAIN if "text" in keys else None)
    if kind is None:
        raise BadExample('has none of the keys "text"; "prompt" and "completion"; "messages"; "text" and "label"')
    if expected == LABELED and kind == PLAIN:  # it has only lost its label
        raise BadExample('"label" is missing')
    if expected not in (None, kind):
        raise BadExample(f"has {KIND_NAMES[kind]}, but the lines before have {KIND_NAMES[expected]}; one data set has "
                         "one kind")
    return kind


def text_of(keys, key):
    if key not in keys:
        raise BadExample(f'"{key}" is missing')
    if not isinstance(keys[key], str):
        raise BadExample(f'"{key}" is not a string')
    return keys[key]


def messages_of(keys):
    messages = keys["messages"]
    if not isinstance(messages, list):
        raise BadExample('"messages" is not a list')
    if not messages:
        raise BadExample('"messages" is empty')
    for message in messages:
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise BadExample('a message is not an object with a string "role"')
    return messages


def given_of(keys):
    """What a conversation gives its template besides the messages, as apply_chat_template() of transformers takes it and
    TRL finds it in a line."""
    given = keys.get("chat_template_kwargs") or {}
    if not isinstance(given, dict):
        raise BadExample('"chat_template_kwargs" is not an object')
    taken = next((name for name in given if name in NO_VARIABLES), None)
    if taken:
        raise BadExample(f'"chat_template_kwargs" has "{taken}", which is no variable of a template')
    more = {"tools": tools_of(keys), "documents": keys.get("documents")}
    for name, value in more.items():
        if value is not None and not (isinstance(value, list) and all(isinstance(each, dict) for each in value)):
            raise BadExample(f'"{name}" is not a list of objects')
    return {**given, **{name: value for name, value in more.items() if value is not None}}


def tools_of(keys):
    """Tables whose columns have one type each hold them as text."""
    tools = keys.get("tools")
    if not isinstance(tools, str):
        return tools
    try:
        return json.loads(tools)
    except (ValueError, RecursionError):
        raise BadExample('"tools" is a string, but not JSON') from None


class Labels:
    """Numbers of classes; names are numbered as they come, and sorted at the end."""

    def __init__(self, numbers, classes):
        self.known, self.classes, self.seen, self.are_names = numbers, classes or MOST_CLASSES, {}, None

    def number_of(self, label):
        """Of an example that is used: the first says whether labels are names."""
        is_name = isinstance(label, str)
        if not is_name and (isinstance(label, bool) or not isinstance(label, int) or abs(label) >= 1 << 63):
            raise BadExample('"label" is neither an integer nor a string')
        if not is_name and label < 0:
            raise BadExample(f'"label" is {label}; classes begin at 0')
        if self.are_names not in (None, is_name):
            raise BadExample("its label is a name, those before are numbers" if is_name else
                             "its label is a number, those before are names")
        if is_name and self.known and label not in self.known:
            raise BadExample(f'the label "{label}" is none of {", ".join(sorted(self.known))}, which label2id in the model\'s '
                             "config.json or the training data names; for classes of other names correct label2id, or write "
                             "all labels as integers")
        number = label if not is_name else self.known[label] if self.known else self.seen.get(label, len(self.seen))
        if number >= self.classes:
            raise BadExample(f"the label {number} is beyond the model's {self.classes} classes; set num_labels")
        if is_name and not self.known:
            self.seen.setdefault(label, number)
        self.are_names = is_name
        return number

    def names(self, labels):
        """In order of their numbers, which `labels` get where they were numbered as they came."""
        if not self.are_names:
            return []
        if self.known:
            by_number = {number: name for name, number in self.known.items()}
            return [by_number.get(number, f"LABEL_{number}") for number in range(max(by_number) + 1)]  # as transformers
        names = sorted(self.seen, key=str.encode)
        new_numbers = {self.seen[name]: number for number, name in enumerate(names)}
        for at, label in enumerate(labels):
            labels[at] = new_numbers[label]
        return names
