"""What chat templates may do: Jinja's sandbox as transformers sets it up, see its documentation of chat templates."""

import datetime
import json

import jinja2
import jinja2.ext
import jinja2.sandbox

# 26 July 2024, which Llama 3's templates write where they are told no date: today's would give other texts tomorrow.
DATE_OF_TEXTS = datetime.datetime(2024, 7, 26, 12)


class Names(jinja2.utils.Namespace):
    """What {% set names.x = … %} changes."""

    def __setitem__(self, name, value):
        if name.startswith("_"):
            raise jinja2.sandbox.SecurityError(f"no name of a namespace may begin with an underscore: {name}")
        super().__setitem__(name, value)


class Generation(jinja2.ext.Extension):
    """{% generation %} … {% endgeneration %} marks what the assistant says."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("mark"), [], [], body).set_lineno(line)

    def mark(self, caller):
        said = caller()
        written = self.environment.written
        self.environment.said.append((sum(map(len, written)), said))
        return said


class Environment(jinja2.sandbox.ImmutableSandboxedEnvironment):
    def __init__(self):
        super().__init__(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
        self.filters["tojson"] = to_json
        # Not the type itself, whose methods change what they are given.
        self.globals.update(raise_exception=raise_exception, strftime_now=DATE_OF_TEXTS.strftime, namespace=Names,
                            dict=lambda *values, **named: dict(*values, **named))
        self.written, self.said = [], []

    def render(self, template, /, **variables):
        """The text, and what {% generation %} marked: (begin, what was said)."""
        self.written, self.said = [], []
        for piece in template.generate(**variables):
            self.written.append(piece)
        return "".join(self.written), self.said


def raise_exception(message):
    raise jinja2.TemplateError(message)


def to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def line_of(error):
    """The template's line where an exception was raised."""
    line, step = getattr(error, "lineno", None), error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == "<template>":
            line = step.tb_lineno
        step = step.tb_next
    return f":{line}" if line else ""
