"""Random programs in the language of chat templates, and some written by hand for its corners."""

import re

VARIABLES = {
    "n": 7,
    "zero": 0,
    "half": 0.5,
    "yes": True,
    "nothing": None,
    "text": "Hello, wörld! <b>",
    "empty": "",
    "lines": " one\ntwo  \n\n three ",
    "numbers": [3, 1, 2, 10, -4],
    "words": ["b", "A", "c", "B", "a"],
    "mixed": [1, "a", None, 2.5, True, [1, 2]],
    "pairs": [["x", 1], ["y", 2]],
    "map": {"role": "user", "content": "hi", "n": 3, "items": "shadow"},
    "people": [
        {"name": "Ada", "age": 36, "home": {"city": "London"}},
        {"name": "bob", "age": 20, "home": {"city": "Köln"}},
        {"name": "Cid", "age": 36},
    ],
}

# What may stand for a name in angle brackets, one as likely as the other.
PIECES = {
    "binary": ["+", "-", "*", "/", "//", "%", "**", "~"],
    "compare": ["==", "!=", "<", "<=", ">", ">=", "in", "not in"],
    "filter": [
        "trim", "upper", "lower", "title", "capitalize", "length", "count", "string", "list", "first", "last",
        "reverse", "sort", "sort(reverse=true)", "unique", "unique|list", "join", "join(', ')", "default('d')",
        "d('e', true)", "int", "float", "abs", "round", "round(1)", "round(2, 'floor')", "tojson", "tojson(indent=2)",
        "tojson(sort_keys=true)", "tojson(separators=(',', ':'))", "replace('l', 'L')", "replace('l', 'LL', 1)", "indent",
        "indent(2, true)", "indent(width='> ', blank=true)", "e", "safe", "escape", "items|list", "dictsort",
        "dictsort(by='value')", "min", "max", "sum", "wordcount", "map('upper')|list", "map('int')|list",
        "map(attribute='name')|list", "map(attribute='home.city', default='?')|join(',')", "select|list", "reject|list",
        "select('string')|list", "reject('none')|list", "select('>', 1)|list", "selectattr('age')|list",
        "selectattr('age', 'equalto', 36)|map(attribute='name')|list", "rejectattr('home')|list", "batch(2)|list",
        "batch(3, 0)|list", "slice(2)|list", "center(20)", "truncate(8)", "truncate(8, true, '!')", "attr('upper')",
        "format(1)", "sort(attribute='age')|map(attribute='name')|join(' ')", "sort(attribute='age,name')", "sort(case_sensitive=true)",
        "unknown_filter", "list|length", "tojson|e", "string|length",
    ],
    "test": [
        "defined", "undefined", "none", "string", "number", "integer", "float", "boolean", "mapping", "sequence", "iterable",
        "callable", "true", "false", "odd", "even", "lower", "upper", "divisibleby(3)", "divisibleby 2", "eq 7", "ne(7)", "gt 3", "lt 3", "ge 7", "le 7",
        "sameas none", "in numbers", "in 'Hello'", "equalto 'b'", "escaped", "filter", "test", "greaterthan 2", "unknown_test", "==7",
    ],
    "method": [
        ".upper()", ".lower()", ".title()", ".capitalize()", ".swapcase()", ".strip()", ".lstrip()", ".rstrip('\\n ')", ".strip('Hd> ')", ".split()", ".split(',')",
        ".split('l', 1)", ".rsplit('l', 1)", ".split(none, 1)", ".rsplit(maxsplit=1)", ".split(sep=' ')", ".splitlines()", ".splitlines(true)", ".startswith('H')",
        ".startswith(('x', 'H'))", ".endswith('>')", ".find('l')", ".rfind('l')", ".find('l', 4)", ".find('l', -9, -1)", ".index('l')", ".count('l')", ".count('')", ".replace('l', '')", ".replace('', '-')",
        ".replace('l', 'r', 1)", ".join(words)", ".join(numbers)", ".format(1, 2)", ".isdigit()", ".isalpha()", ".isupper()", ".islower()", ".isspace()", ".istitle()", ".isalnum()",
        ".partition(',')", ".rpartition('l')", ".removeprefix('He')", ".removesuffix('>')", ".zfill(20)", ".ljust(20)", ".rjust(20, '.')", ".center(21, '*')", ".center(20)", ".keys()", ".keys()|list", ".values()|list",
        ".items()", ".items()|list", ".get('role')", ".get('none', 5)", ".get('none')", ".copy()", ".index(2)", ".count(2)", ".append(1)", ".pop()", ".update({})", ".role", ".items", ".name", ".missing",
        ".missing.more", "['role']", "['items']", "['missing']", "[0]", "[-1]", "[99]", "[1:3]", "[::-1]", "[:-1]", "[-3:]", "[::2]", "[5:1:-2]", "['upper']()", ".0", "[none]", "[true]", "[:n]", "[half]", "[1:2:0]", ".__class__", "(1)",
    ],
    "text method": [
        ".upper()", ".lower()", ".title()", ".capitalize()", ".swapcase()", ".strip()", ".lstrip('H ')", ".rstrip('\\n >')", ".replace('l', 'LL')", ".replace('o', '', 1)", ".zfill(9)", ".ljust(9, '.')", ".center(15)",
        "[1:]", "[:-1]", "[::-1]", "[0:3]", "[-2:]", "[::2]", "[0]", ".split('l')[0]", ".split('o')[-1]", ".partition('l')[2]", ".removeprefix('He')", ".format(1, 2)", ".split()|join('+')", "|trim", "|upper", "|lower", "|title", "|capitalize",
        "|replace('l', 'r')", "|indent(2)", "|indent(3, true, true)", "|reverse", "|string", "|default('d', true)", "|first", "|last", "|e|string", "|tojson", "|truncate(6)", "|truncate(6, true, '')", "|center(12)", "|trim('H ')", "|list|join('-')",
    ],
    "number of text": ["|length", "|count", ".find('l')", ".rfind('l')", ".count('l')", "|wordcount", "|int", "|int(3)", ".find('o', 2)", "|float|int"],
    "number filter": ["|abs", "|int", "|round", "|round(1)|int", "|float", "|round(1, 'ceil')", "|round(0, 'floor')", "|default(5)"],
    "list filter": [
        "|list", "|reverse|list", "|unique|list", "[1:]", "[::-1]", "[:2]", "[-2:]", "|batch(2)|list", "|slice(2)|list", "|map('string')|list", "|select('defined')|list", "|reject('none')|list", "|select|list", "|batch(3, 'f')|list", "|map('default', 1)|list", "*2",
    ],
    "text of any": ["|string", "|tojson", "|tojson(indent=1)", "|tojson(sort_keys=true)", "|default('x')|string"],
    "any of list": ["|first", "|last", "[0]", "[-1]", "[1]", "[7]"],
    "arithmetic": ["+", "-", "*", "+", "-", "//", "%", "/"],
    "order": ["<", "<=", ">", ">=", "==", "!="],
    "and or": ["and", "or"],
    "maybe not": ["", "not "],
    "sign": ["-", "+", "not ", "- -"],
    "digit": [str(digit) for digit in range(9)],
    "kind": [
        "defined", "none", "string", "number", "mapping", "iterable", "sequence", "true", "false", "boolean", "integer", "float", "callable", "lower", "upper", "eq 7", "sameas none",
    ],
    "global": ["range", "dict", "namespace", "joiner", "cycler", "raise_exception", "missing"],
    "literal": [
        "0", "1", "2", "-3", "10", "7", "0x1f", "1_000", "1.5", "0.1", "1e3", "2.5e-7", "1e16", "123456789.125", "'a'", "'Hello'", '"it\'s"', "'\\n'", "'\\u00e9\\x41'", "''", "' two  words '", "'%s and %d'", "'%05.1f|%-6s|%x'", "'{} {0}'",
        "'{:>8}|{!r}'", "'äöü'", "'3'", "' 42 '", "'1.5'", "true", "false", "none", "True", "None", "[]", "()", "{}", "(1,)", "'a' 'b'",
    ],
    "name": [*VARIABLES, "missing", "x", "y", "loop", "n", "text", "numbers", "words", "map", "people"],
}  # fmt: skip

TEXTS = ["text", "lines", "empty", "map.role", "words[0]", "'Hello'", "'a b  c'", "'\\u00e9x\\n'", "'äÖü ß'", '"it\'s"', "people[1].name", "'x=%s'", "' 42 '"]
NUMBERS = ["n", "zero", "half", "1", "2", "10", "-3", "1.5", "0x1f", "numbers[0]", "people[0].age", "1e3", "0.1"]
TRUTHS = ["yes", "true", "false", "nothing", "missing", "empty", "text", "numbers"]
ITEMS = ["numbers", "words", "mixed", "pairs", "people", "[]", "[1, 'a']", "(2, none)"]
OTHERS = ["map", "{'a': 1}", "map.content", "map['n']", "missing", "x", "nothing", "{'é': [1], 2: none}"]

# Expressions: what ends a branch, and the rules that go on, each with how likely it is among them.
# Those of text, number, truth, items and any have a value as a rule, since their operands are of the
# right type; the wild ones seldom do.
GRAMMAR = {
    "text": (TEXTS, {
        "(<text>)<text method>": 9, "(<any> ~ <any>)": 3, "(<text> + <text>)": 3, "(<any>)<text of any>": 3, "(<items>|map('string')|join(<text>))": 3,
        "('%s|%s' % (<any>, <number>))": 1, "('%5.2f|%-4d' % (<number>, <number>|int))": 1, "'{:>9}|{!r}'.format(<text>, <any>)": 1,
    }),
    "number": (NUMBERS, {
        "(<number> <arithmetic> <number>)": 10, "(<text>)<number of text>": 5, "(<number>)<number filter>": 5, "(<items>|length)": 5,
        "(numbers|sum)": 1, "(numbers|min)": 1, "(numbers|max)": 1, "(numbers|first)": 1, "(numbers|last)": 1,
    }),
    "truth": (TRUTHS, {
        "(<number> <order> <number>)": 2, "(<text> in <text>)": 1, "(<text> not in <text>)": 1, "(<text> == <text>)": 1, "(<text> < <text>)": 1, "(<any> in <items>)": 1, "(<any> not in <items>)": 1,
        "(<any> is <maybe not><kind>)": 2, "(<truth> <and or> <truth>)": 2, "(not <truth>)": 2, "(<text>).startswith(<text>)": 1, "(<text>).endswith(<text>)": 1,
    }),
    "items": (ITEMS, {
        "[]": 10, "[<any>]": 10, "[<any>, <any>]": 10, "[<any>, <any>, <any>]": 10, "(<items>|list)<list filter>": 80, "((<items>)|list + (<items>)|list)": 40,
        "(<text>).split()": 4, "(<text>).splitlines()": 4, "range(<digit>)|list": 4, "words|sort": 4, "numbers|sort(reverse=true)": 4, "map.items()|list": 4, "map|list": 4,
        "people|map(attribute='name')|list": 4, "people|selectattr('home')|list": 4, "map|dictsort": 4, "<text>|list": 4,
    }),
    "any": ([*TEXTS, *NUMBERS, *TRUTHS, *ITEMS, *OTHERS], {
        "<text>": 18, "<number>": 9, "<truth>": 9, "<items>": 9, "(<any> if <truth> else <any>)": 5, "(<items>)<any of list>": 5, **{other: 1 for other in OTHERS},
    }),
    "atom": ([], {
        "<literal>": 10, "<name>": 20, "(<wild>)": 40, "<call>": 5, "<global>(<wild>)": 2, "<global>(<wild>, <wild>)": 2, "<global>(<wild>, <wild>, <wild>)": 2,
        "[]": 2, "[<wild>]": 2, "[<wild>, <wild>]": 2, "[<wild>, <wild>, <wild>]": 2, "(<wild>, <wild>)": 2, "(<wild>, <wild>, <wild>)": 2,
        "{}": 2, "{<literal>: <wild>}": 1, "{<name>: <wild>}": 1, "{<literal>: <wild>, <name>: <wild>}": 2,
    }),
    "wild": ([], {
        "<wild> <binary> <wild>": 20, "<wild> <compare> <wild>": 7, "<wild> <compare> <wild> <compare> <wild>": 3, "<wild> <and or> <maybe not><wild>": 10, "<wild> if <wild>": 1, "<wild> if <wild> else <wild>": 4,
        "<sign><atom>": 5, "<atom>|<filter>": 15, "<atom> is <maybe not><test>": 7, "<atom><method>": 18, "<atom>": 10,
    }),
}  # fmt: skip


class Generator:
    def __init__(self, random):
        self.random = random
        self.macros = []

    def value(self, kind, depth):
        """An expression of a kind of the grammar."""
        if kind == "call" and self.macros:
            return self.call(depth)
        if kind == "call" or (kind in ("atom", "wild") and depth <= 0):
            kind = self.pick("literal", "name", "name")
        if kind in PIECES:
            return self.pick(*PIECES[kind])
        leaves, rules = GRAMMAR[kind]
        if depth <= 0:
            return self.pick(*leaves)
        rule = self.random.choices(list(rules), rules.values())[0]
        return re.sub("<([a-z]+( [a-z]+)*)>", lambda found: self.value(found[1], depth - 1), rule)

    def pick(self, *choices):
        return self.random.choice(choices)

    def call(self, depth):
        name = self.pick(*self.macros)
        if self.random.random() < 0.7:
            return name + "()"
        arguments = [self.pick("", "", "", "b=") + self.expression(depth) for _ in range(self.random.randrange(3))]
        return name + "(" + ", ".join(arguments) + ")"

    def expression(self, depth=4):
        return self.value("wild" if self.random.random() < 0.06 else "any", depth)

    def space(self):
        return self.pick("", "", "", " ", "\n", "  \n  ", "\n\n", "\t", "text", "\n  text\n")

    def tag(self, inside):
        return "{%" + self.pick("", "", "-", "+") + " " + inside + " " + self.pick("", "", "-", "+") + "%}"

    def target(self):
        return self.pick("x", "y", "z", "x", "y", "ns.a") if self.random.random() < 0.95 else self.pick("x, y", "(x, y)", "loop")

    def block(self, depth):
        return self.space() + "".join(self.statement(depth) + self.space() for _ in range(self.random.randrange(1, 4)))

    def statement(self, depth):
        kind = self.random.random()
        if depth <= 0 or kind < 0.35:
            return "{{" + self.pick("", "-", " ", "- ") + self.expression() + self.pick("", " ", " -") + "}}"
        if kind < 0.5:
            return self.tag(f"set {self.target()} = {self.pick(self.expression(3), self.expression(3), self.expression(2) + ', ' + self.expression(2))}")
        if kind < 0.65:
            parts = self.tag(f"if {self.value('truth', 2)}") + self.block(depth - 1)
            if self.random.random() < 0.4:
                parts += self.tag(f"elif {self.value('truth', 2)}") + self.block(depth - 1)
            if self.random.random() < 0.5:
                parts += self.tag("else") + self.block(depth - 1)
            return parts + self.tag("endif")
        if kind < 0.85:
            return self.loop(depth)
        if kind < 0.9:
            flt = self.pick("", "|upper", "|trim|title", "|length")
            return self.tag(f"set {self.pick('x', 'y', 'ns.a')}{flt}") + self.block(depth - 1) + self.tag("endset")
        if kind < 0.93:
            name = self.pick("upper", "trim", "replace('e', '3')|title", "indent(2)")
            return self.tag(f"filter {name}") + self.block(depth - 1) + self.tag("endfilter")
        if kind < 0.95:
            return self.tag(f"with x = {self.expression(2)}, y = {self.expression(2)}") + self.block(depth - 1) + self.tag("endwith")
        if kind < 0.97 and self.macros:
            return self.tag(f"call{self.pick('', '(u)')} {self.call(1)}") + self.block(depth - 1) + self.tag("endcall")
        return self.pick("{# a {{ comment }} #}", "{#- c -#}", "{% raw %} {{ x }} {% endraw %}", "{%- raw -%} {% if %}\n{%- endraw -%}")

    def loop(self, depth):
        target, source = self.pick(
            ("x", self.value("items", 2)), ("x", self.value("items", 1)), ("x", "numbers"), ("x", "people"), ("x, y", "map.items()"), ("x, y", "pairs"),
            ("x", "range(4)"), ("x", "words|reverse"), ("i", "numbers[1:]"), ("k", "map"),
        )  # fmt: skip
        head = f"for {target} in {source}"
        if self.random.random() < 0.25:
            head += f" if {self.value('truth', 1)}"
        body = self.block(depth - 1)
        if self.random.random() < 0.6:
            body += "{{ loop." + self.pick("index", "index0", "first", "last", "length", "revindex", "previtem", "nextitem", "cycle('a', 'b')", "changed(x)", "depth", "missing") + " }}"
        if self.random.random() < 0.2:
            body += self.tag(f"if {self.value('truth', 1)}") + self.tag(self.pick("break", "continue")) + self.tag("endif") + self.block(0)
        if self.random.random() < 0.2:
            body += self.tag("else") + self.block(depth - 1)
        return self.tag(head) + body + self.tag("endfor")

    def macro(self):
        name = f"m{len(self.macros)}"
        parameters = self.pick("", "a", "a, b", "a, b=1", "a='x', b=a")
        extra = self.pick("", "", "{{ caller() if caller }}", "{{ varargs }}")
        text = self.tag(f"macro {name}({parameters})") + "{{ a }}{{ b }}" + self.block(1) + extra + self.tag("endmacro")
        self.macros.append(name)
        return text

    def program(self):
        text = "{% set ns = namespace(a=1, b='two') %}" if self.random.random() < 0.9 else ""
        for _ in range(self.random.randrange(2)):
            text += self.macro()
        return text + self.block(2) + self.pick("", "\n", "\n\n", " \n ")


WRITTEN = [
    "",
    "\n",
    "a\r\nb\rc\n",
    "{{ 'a\r\nb' }}",
    "  {% if true %}  \n  a\n  {% endif %}\n  b",
    "a {%- if true -%} b {%- endif -%} c",
    "  {%+ if true +%}\n  a\n  {%+ endif +%}\n",
    "x  {# c #}\ny\n  {# d #}\nz {#- e -#} w",
    "{{ 1 }}\n{{ 2 -}}\n\n{{ 3 }}",
    "{{ {'a': {'b': 1}}['a']['b'] }}{{ {'a': 1}}}",
    "{% raw %}{{ x }}{% endraw %}\n{%- raw -%} a {%- endraw -%} b",
    "{{ 1 < 2 < 3 }}{{ 1 < 3 < 2 }}{{ 1 == 1.0 == true }}",
    "{{ -2 ** 2 }}{{ 2 ** -1 }}{{ 2 ** 3 ** 2 }}{{ -7 // 2 }}{{ -7 % 3 }}{{ 7 % -3 }}{{ -7.5 // 2 }}{{ 7.5 % -2 }}",
    "{{ 1 ~ 2 + 3 ~ 4 }}",
    "{{ 'a' + 'b' * 3 }}{{ [1] * 3 + [2] }}{{ 'a' * -1 }}",
    "{{ not 1 == 2 }}{{ not true and false or true }}",
    "{{ 1 if false }}|{{ (1 if false) is defined }}|{{ 1 if true else 2 if true else 3 }}",
    "{{ missing }}|{{ missing.a is defined }}",
    "{{ map.items() | list }}|{{ map['items'] }}",
    "{{ missing | length }}{{ missing == other }}{{ missing in [1] }}{{ 1 in missing }}",
    "{{ missing + 1 }}", "{{ 1 + missing }}", "{{ missing() }}", "{{ missing[0] }}", "{{ -missing }}", "{{ missing < 1 }}",
    "{{ [1.0, 1e16, 1e-5, 123456.789, 1e22, 0.1, -0.0, 100000.0] }}",
    "{{ ['a\"b', \"it's\", 'b\\'\"', '\\n\\t\\\\', '\u200b', 'é', '\\x00\\x7f', '👍'] }}",
    "{{ (1,) }}{{ () }}{{ (1, 'a') }}{{ {1: 'a', 'b': none, 2.5: [true]} }}",
    "{{ true }}{{ none }}{{ [true, none] | tojson }}{{ {'a': 1.0, 2: 'é\\n\"', none: true} | tojson }}",
    "{{ 'ü👍\\x7f\\x1f' | tojson(ensure_ascii=true) }}{{ [] | tojson(indent=2) }}{{ {} | tojson(indent=2) }}{{ {'a': [1, {'b': 2}], 'c': []} | tojson(indent=2) }}",
    "{{ {'b': 1, 'a': 2} | tojson(sort_keys=true) }}{{ [1, 2] | tojson(indent=0) }}{{ [1] | tojson(indent='\\t') }}",
    "{% set x = 1 %}{% for i in [1, 2] %}{% set x = x + i %}{{ x }}{% endfor %}{{ x }}",
    "{% for i in [1, 2] %}{% if i == 2 %}{{ x }}{% endif %}{% set x = i %}{% endfor %}",
    "{% if true %}{% set x = 5 %}{% endif %}{{ x }}",
    "{% set ns = namespace(a=1) %}{% for i in range(3) %}{% set ns.a = ns.a + i %}{% endfor %}{{ ns.a }}{{ ns['a'] }}{{ ns.b is defined }}",
    "{% set ns = namespace({'a': 1}, b=2) %}{{ ns.a }}{{ ns.b }}{% set ns._c = 1 %}",
    "{% set x.y = 1 %}", "{% set map.y = 1 %}",
    "{% macro m(a, b=2, c=b) %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ m(1) }}|{{ m(1, c=5) }}|{{ m() }}|{{ m(b=1, a=2) }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(b=2) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, a=2) }}",
    "{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, x=3) }}",
    "{% macro m() %}[{{ caller('a', 'b') }}]{% endmacro %}{% call(x, y='d') m() %}{{ x }}{{ y }}{% endcall %}",
    "{% macro m() %}{{ x }}{% endmacro %}{% set x = 3 %}{{ m() }}",
    "{% for x in [1, 2, 3] %}{% macro m() %}{{ x }}{% endmacro %}{{ m() }}{% endfor %}",
    "{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(5) }}",
    "{% for i in [1, 2, 3] %}{{ loop.index }}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.revindex0 }};{% endfor %}",
    "{% for i in numbers if i > 1 %}{{ loop.index }}/{{ loop.length }}:{{ i }} {% else %}none{% endfor %}",
    "{% for i in [] %}{{ i }}{% else %}none{% endfor %}{% for i in missing %}{{ i }}{% else %}none{% endfor %}",
    "{% for a, b in {'x': 1}.items() %}{{ a }}{{ b }}{% endfor %}{% for a, (b, c) in [[1, [2, 3]]] %}{{ a }}{{ b }}{{ c }}{% endfor %}",
    "{% for a, (b, c) in [[1, [2, 3]], [4, [5, 6]]] if b %}{{ loop.nextitem }}{{ loop.previtem }}{% endfor %}{% for a in [[1], [2]] if a %}{{ loop.nextitem }}{% endfor %}",
    "{% for a, b in [[1, 2, 3]] %}{{ a }}{% endfor %}", "{% for i in 5 %}{% endfor %}", "{% for i in none %}{% endfor %}",
    "{% for i in range(10) %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 5 %}{% break %}{% endif %}{{ i }}{% endfor %}",
    "{% break %}", "{% for i in [1] %}{% macro m() %}{% break %}{% endmacro %}{% endfor %}",
    "{% set g = numbers | select('odd') %}{{ g | list }}{{ g | list }}", "{{ (numbers | map('string')) | length }}", "{{ 'yes' if numbers | select('>', 100) }}",
    "{{ numbers | map('abs') | first }}{{ numbers | map('abs') | last }}", "{{ (numbers | reverse)[0] is defined }}{{ numbers | reverse | first }}",
    "{{ 'a,b' .split(',') | join('-') }}{{ words | sort | join }}{{ words | unique | join }}",
    "{{ '%s|%5d|%-5s|%05.2f|%x|%%' % ('a', 3, 'b', 1.5, 255) }}{{ '%s' % 'x' }}{{ '%(a)s' % {'a': 1} }}", "{{ '%d' % 'x' }}", "{{ '%s' % (1, 2) }}", "{{ '%s %s' % 1 }}",
    "{{ '{} {}'.format(1, 'a') }}{{ '{0}{1}{0}'.format(1, 2) }}{{ '{a.role}{a[content]}'.format(a=map) }}{{ '{:>5}|{:<5}|{:^5}|{:05d}|{:.2f}|{:,}|{:x}|{:%}'.format(1, 2, 3, 4, 5.0, 6000000, 255, 0.5) }}{{ '{{}}'.format() }}{{ '{:{}}'.format(1, 4) }}",
    "{{ '{}'.format() }}", "{{ '{0} {}'.format(1, 2) }}", "{{ '{' .format() }}", "{{ '{!r:>6}'.format('a') }}",
    "{{ '<' | e }}{{ '<' | e | e }}{{ '<' | safe + '<' }}{{ '<' + ('<' | safe) }}{{ ('<' | safe) ~ '<' }}{{ '<' | e | upper }}{{ ['<' | safe] }}",
    "{{ text | title }}{{ 'a-b (c) [d] <e> it\\'s' | title }}{{ 'it\\'s a-b'.title() }}{{ 'ǆ ß ﬁ İ Σ ΑΣ' | upper }}{{ 'ǆ ß ﬁ İ Σ ΑΣ ΑΣ.' | lower }}{{ 'ǆa' | capitalize }}",
    "{{ 2.5 | round }}{{ 3.5 | round }}{{ 2.675 | round(2) }}{{ 42 | round }}{{ 1234.5 | round(-2) }}{{ 1250 | round(-2) }}{{ 2.1 | round(0, 'ceil') }}{{ -2.1 | round(0, 'floor') }}",
    "{{ '42.9' | int }}{{ ' 7 ' | int }}{{ 'x' | int(5) }}{{ '0x1f' | int(0, 16) }}{{ '1_0' | int }}{{ '٣' | int }}{{ none | int }}{{ 3.9 | int }}{{ '1e3' | float }}{{ 'nan' | float }}{{ '1e999' | int }}",
    "{% filter upper | trim %} abc {% endfilter %}{% set x | upper %}abc{{ n }}{% endset %}{{ x }}",
    "{% with a = 1, b = 2 %}{{ a }}{{ b }}{% endwith %}{{ a }}",
    "{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.current }}{{ c.next() }}{% set j = joiner('|') %}{{ j() }}x{{ j() }}y",
    "{{ range(5)[1:3] | list }}{{ range(10)[-1] }}{{ range(0, 10, 3) }}{{ range(3) | length }}{{ 2 in range(3) }}{{ range(100001) }}", "{{ range(5, 0, -2) | list }}{{ range(3)[::-1] }}",
    "{{ dict(a=1, b=2) }}{{ dict([['x', 1]]) }}{{ dict({'a': 1}, b=2) }}",
    "{{ numbers.append(1) }}", "{{ map.update({}) }}", "{{ map.pop('role') }}", "{{ numbers.append is defined }}{{ ''.__class__ }}",
    "{{ people | map(attribute='home.city') | list | length }}{{ people | sum(attribute='age') }}{{ people | map(attribute='age') | max }}",
    "{{ people | selectattr('home', 'defined') | map(attribute='name') | join(',') }}{{ people | sort(attribute='name') | map(attribute='name') | join(',') }}",
    "{{ people | max(attribute='age') }}",
    "{{ 'abc'[1] }}{{ 'äöü'[::-1] }}{{ 'abc'[10] }}{{ 'abc'[1:] }}{{ 'abc'.1 }}{{ 'ab' in 'abc' }}{{ 1 in 'abc' }}",
    "{{ none[1:] }}", "{{ 5[0] }}|", "{{ map[[1]] }}|", "{{ {[1]: 2} }}", "{{ map[1:2] }}",
    "{% include 'x' %}", "{% extends 'x' %}", "{% import 'x' as y %}", "{% unknown %}", "{% if %}{% endif %}", "{% if true %}", "{% endif %}", "{{ }}", "{{ 1 +}}", "{{ (1 }}", "{{ 1) }}",
    "{{ 'a }}", "{# x", "{% raw %}", "{{ x | }}", "{{ x is }}", "{{ a.b. }}", "{{ f(a=1, 2) }}", "{{ f(a=1, a=2) }}", "{{ [1, 2 }}", "{{ {1} }}", "{{ a b }}", "{% set 1 = 2 %}", "{% for in x %}{% endfor %}", "{% set x %}", "{{ 1 is defined is defined }}", "{% for loop in [1] %}{{ loop }}{% endfor %}",
    "{{ lines | indent }}|{{ lines | indent(2, first=true, blank=true) }}|{{ 'a' | indent }}|{{ '' | indent }}|{{ 'a\\n' | indent }}",
    "{{ lines.splitlines() }}{{ 'a\\x0bb\\x1cc\\u2028d\\r\\ne'.splitlines() }}{{ 'a\\n\\nb'.splitlines(true) }}",
    "{{ ' a  b '.split() }}{{ ' a  b '.split(' ') }}{{ 'a b c'.split(none, 1) }}{{ 'a b c'.rsplit(none, 1) }}{{ 'a,b,c'.rsplit(',', 1) }}{{ 'aXbXc'.split('X', 0) }}{{ ''.split() }}{{ ''.split(',') }}",
    "{{ 'a'.join(['x', 1]) }}", "{{ ''.split('') }}", "{{ 'abc'.find('', 5) }}{{ 'abc'.find('', 3) }}{{ 'abc'.count('', 1) }}{{ 'aaa'.count('aa') }}{{ 'abc'.startswith('', 4) }}",
    "{{ raise_exception('refused: ' ~ n) }}", "{{ strftime_now('%Y-%m-%d %H:%M') }}{{ strftime_now('') }}",
    "{{ 'x' is upper }}{{ 'X1' is upper }}{{ 1 is odd }}{{ 2.0 is even }}{{ 'a' is odd }}", "{{ numbers is sequence }}{{ map is sequence }}{{ missing is sequence }}{{ missing is iterable }}{{ missing is callable }}{{ 'a' is iterable }}{{ 1 is iterable }}{{ map.items() is sequence }}",
    "{{ [1, [2]] == [1, [2]] }}{{ (1, 2) == [1, 2] }}{{ {'a': 1, 'b': 2} == {'b': 2, 'a': 1} }}{{ [1, 2] < [1, 3] }}{{ 'a' < 'B' }}{{ 'a' < 1 }}",
    "{{ 1 == true }}{{ 'a' == 1 }}{{ none == false }}{{ [1, 2] in [[1, 2]] }}{{ true in [1] }}",
    "{% generation %}a{% endgeneration %}{% for i in [1] %}{% generation %}{{ i }}{% endgeneration %}{% endfor %}",
    "{{ f(*[1, 2]) }}", "{{ range(*[1, 4]) | list }}{{ dict(**{'a': 1}) }}{{ '{} {a}'.format(*[1], **{'a': 2}) }}",
    "{{ 0.1 + 0.2 }}{{ 1 / 3 }}{{ 10 / 2 }}{{ 7 // 2.0 }}{{ 1e300 * 10 }}{{ 5 % 0.3 }}", "{{ 1 / 0 }}", "{{ 1 // 0 }}", "{{ 1.0 % 0 }}",
    "{{ '\\x41\\u00e9\\U0001F44D\\101\\q\\\nz' }}{{ '\\u12' }}",
    "{{- '  a  ' -}}  b  {{- 'c' }}", "{{ foo.bar.baz }}", "{{ 'a' if n > 5 and text or empty else 'b' }}",
    "{{ numbers | batch(2) | map('join', '-') | join('|') }}{{ numbers | slice(3) | list }}{{ numbers | batch(4, 'x') | list }}{{ numbers | select | slice(3) | list }}",
    "{{ map | dictsort }}{{ {'b': 1, 'A': 2} | dictsort }}{{ {'b': 1, 'A': 2} | dictsort(true) }}{{ {'b': 2, 'A': 1} | dictsort(false, 'value') }}{{ {'b': 1, 'A': 2} | dictsort(reverse=true) }}",
    "{{ [[1, 'b'], [1, 'a']] | sort }}{{ ['b', 1] | sort }}", "{{ {'a': missing} | tojson }}", "{{ map.items() | tojson }}", "{{ range(2) | tojson }}",
]  # fmt: skip
