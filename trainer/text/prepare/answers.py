"""Which part of a conversation the assistant has said, where the template does not mark it."""

from .refusal import BadExample

# Stands for an answer: no text of a conversation, nothing that a template would change.
MARK = "QshardlensanswerQ"


class Answers:
    """Where the answers are in the text of a template that does not mark them.

    An answer is what TRL trains on of a prompt and its completion: from the end of the text of all messages before it
    with the generation prompt to the end of the text that includes it. Both must be prefixes of the whole. Templates
    that write earlier turns differently (Qwen3, Phi-3) break this; then the place of the content is found as axolotl
    does, with another content in its place, and the turn's end is what follows it where the conversation ends there.
    """

    def __init__(self, template, messages, given, whole):
        self.template, self.messages, self.given, self.whole = template, messages, given, whole
        self.mark = MARK
        while self.mark in whole:
            self.mark += "Q"

    def ranges(self):
        found = []
        for number, message in enumerate(self.messages):
            if message.get("role") != "assistant":
                continue
            answer = self.find(number)
            if answer is None or answer[0] < (found[-1][1] if found else 0) or answer[1] < answer[0]:
                raise BadExample(f"where the answer of message {number + 1} is in the text cannot be told, because the "
                                 "chat template writes it differently within the conversation: mark answers with "
                                 "{% generation %} in the template, or use data with 'prompt' and 'completion'")
            found.append(answer)
        return found

    def text_of(self, messages, prompt=False):
        """None where the template refuses: a part of a conversation may not be one."""
        try:
            return self.template.render(messages, self.given, prompt)[0] if messages else None
        except Exception:
            return None

    def find(self, number):
        prompt = self.text_of(self.messages[:number], True)
        answered = self.text_of(self.messages[: number + 1])
        begins = prompt is not None and self.whole.startswith(prompt)
        ends = answered is not None and self.whole.startswith(answered)
        if begins and ends:
            return len(prompt), len(answered)
        found = next((found for way in self.ways(self.messages[number]) if (found := self.place_of(number, way))), None)
        if found is None:
            return None
        begin, end, way = found
        if begins and len(prompt) <= begin:
            begin = len(prompt)
        elif "tool_calls" in way:  # the name is not where the answer begins
            return None
        if ends and len(answered) >= end:
            return begin, len(answered)
        end = self.end_of_turn(number, way, end)
        return None if end is None else (begin, end)

    def ways(self, message):
        """To mark a message: as its content, in the shape that this has; as the name of the first tool that it calls, for
        templates write around a content what they do not write around none."""
        content = message.get("content")
        if isinstance(content, (str, list)):
            yield {"content": self.mark if isinstance(content, str) else [{"type": "text", "text": self.mark}]}
        try:
            first, *others = message["tool_calls"]
            yield {"tool_calls": [{**first, "function": {**first["function"], "name": self.mark}}, *others]}
        except (TypeError, KeyError, ValueError):  # none, or of a shape of its own
            pass

    def marked(self, messages, number, way):
        return self.text_of([*messages[:number], {**messages[number], **way}, *messages[number + 1 :]])

    def place_of(self, number, way):
        """Of what is marked that way, and the way."""
        text = self.marked(self.messages, number, way)
        if text is None or text.count(self.mark) != 1:
            return None
        before, after = text.split(self.mark)
        fits = len(self.whole) >= len(before) + len(after)
        if not fits or not self.whole.startswith(before) or not self.whole.endswith(after):
            return None
        return len(before), len(self.whole) - len(after), way

    def end_of_turn(self, number, way, content_end):
        text = self.marked(self.messages[: number + 1], number, way)
        if text is None or self.mark not in text:
            return None
        ending = text[text.rfind(self.mark) + len(self.mark) :]
        if self.whole.startswith(ending, content_end):
            return content_end + len(ending)
        # What only ends a conversation: a special token after the one that ends the turn.
        token = next((t for t in self.template.tokens.values() if t and ending.endswith(t)), None)
        if token:
            ending = ending[: -len(token)]
            if ending and self.whole.startswith(ending, content_end):
                return content_end + len(ending)
        return None
