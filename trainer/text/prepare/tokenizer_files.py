"""Where the files of a model's tokenizer are, and what they say of its tokens."""

import os

from .files import json_object
from .refusal import Refused, quoted


def token_text(value):
    """Of a token that is told as a string or as an object."""
    return value.get("content") if isinstance(value, dict) else value if isinstance(value, str) else None


def find_tokenizer(path):
    """The files of a folder's tokenizer, or of one of its files."""
    folder, name = (path, "") if os.path.isdir(path) else os.path.split(path)
    there = [file for file in ("tokenizer.json", "vocab.json", "merges.txt", "vocab.txt")
             if os.path.isfile(os.path.join(folder, file))]
    if not os.path.exists(path):
        raise Refused("missing", f"The tokenizer {quoted(path)} is not there. Name a model's folder or its "
                                 "tokenizer.json.")
    if name and not os.path.isfile(path):
        raise Refused("usage", f"The tokenizer {quoted(path)} is not a regular file. Name a model's folder or its "
                               "tokenizer.json.")
    if name in ("vocab.json", "merges.txt"):
        names = ["vocab.json", "merges.txt"]
    elif name == "vocab.txt" or name.endswith(".json"):
        names = [name]
    elif name:
        raise Refused("usage", f"The file {quoted(path)} is no tokenizer. Name a model's folder, a tokenizer.json, "
                               "vocab.json or vocab.txt.")
    elif "tokenizer.json" in there:
        names = ["tokenizer.json"]
    elif "vocab.json" in there and "merges.txt" in there:
        names = ["vocab.json", "merges.txt"]
    elif "vocab.txt" in there:
        names = ["vocab.txt"]
    elif os.path.isfile(os.path.join(folder, "tokenizer.model")):
        raise Refused("usage", f"The folder {quoted(path)} has its tokenizer as tokenizer.model only. Let transformers "
                               "write tokenizer.json into it: "
                               "AutoTokenizer.from_pretrained(folder).save_pretrained(folder).")
    else:
        held = sorted(os.listdir(path))
        listed = ", ".join(held[:12]) + (", …" if len(held) > 12 else "") if held else "nothing"
        raise Refused("missing", f"The folder {quoted(path)} has no tokenizer: neither tokenizer.json, nor vocab.json "
                                 f"with merges.txt, nor vocab.txt. It holds {listed}.")
    missing = next((each for each in names if each not in there and each != name), None)
    if missing:
        raise Refused("missing", f"The tokenizer {quoted(path)} needs {quoted(os.path.join(folder, missing))} beside it.")
    return folder, [os.path.join(folder, name) for name in names]


class TokenizerFiles:
    def __init__(self, path):
        folder, self.paths = find_tokenizer(path)
        self.config = json_object(os.path.join(folder, "tokenizer_config.json"))
        self.special = json_object(os.path.join(folder, "special_tokens_map.json"))
        self.model = json_object(os.path.join(folder, "config.json"))

    def role(self, name):
        """The text of a token like eos_token."""
        return token_text(self.config.get(name)) or token_text(self.special.get(name))

    def id_of(self, tokenizer, role, other_role, usual):
        """Of a token by what the files say, else by its usual names."""
        number = self.model.get(role + "_id")
        number = number[0] if isinstance(number, list) and number else number
        named = [self.role(name) for name in (role, other_role) if name]
        ids = [tokenizer.token_to_id(name) if name else None for name in (*named, *usual)]
        if isinstance(number, int) and 0 <= number < 1 + max(tokenizer.get_vocab().values(), default=-1):
            ids.insert(1, number)
        return next((token for token in ids if token is not None), None)
