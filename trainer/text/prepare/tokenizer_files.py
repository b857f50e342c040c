"""Where the files of a model's tokenizer are, and what they say of its tokens."""

import os

from .files import json_object
from .refusal import Refused, quoted


TOKENIZERS = ["tokenizer.json"], ["vocab.json", "merges.txt"], ["vocab.txt"]  # the first that is there


def token_text(value):
    """Of a token that is told as a string or as an object."""
    return value.get("content") if isinstance(value, dict) else value if isinstance(value, str) else None


def find_tokenizer(path):
    """The files of a folder's tokenizer, or of one of its files."""
    if not os.path.exists(path):
        raise Refused("missing", f"The tokenizer {quoted(path)} is not there. Name a model's folder or its "
                                 "tokenizer.json.")
    if os.path.isdir(path):
        return path, files_of_folder(path)
    if not os.path.isfile(path):
        raise Refused("usage", f"The tokenizer {quoted(path)} is not a regular file. Name a model's folder or its "
                               "tokenizer.json.")
    folder, name = os.path.split(path)
    names = next((names for names in TOKENIZERS if name in names), [name])
    if names == [name] and name != "vocab.txt" and not name.endswith(".json"):
        raise Refused("usage", f"The file {quoted(path)} is no tokenizer. Name a model's folder, a tokenizer.json, "
                               "vocab.json or vocab.txt.")
    paths = [os.path.join(folder, each) for each in names]
    for each in paths:
        if not os.path.isfile(each):
            raise Refused("missing", f"The tokenizer {quoted(path)} needs {quoted(each)} beside it.")
    return folder, paths


def files_of_folder(folder):
    for names in TOKENIZERS:
        paths = [os.path.join(folder, name) for name in names]
        if all(map(os.path.isfile, paths)):
            return paths
    if os.path.isfile(os.path.join(folder, "tokenizer.model")):
        raise Refused("usage", f"The folder {quoted(folder)} has its tokenizer as tokenizer.model only. Let transformers "
                               "write tokenizer.json into it: "
                               "AutoTokenizer.from_pretrained(folder).save_pretrained(folder).")
    held = sorted(os.listdir(folder))
    listed = ", ".join(held[:12]) + (", …" if len(held) > 12 else "") if held else "nothing"
    raise Refused("missing", f"The folder {quoted(folder)} has no tokenizer: neither tokenizer.json, nor vocab.json "
                             f"with merges.txt, nor vocab.txt. It holds {listed}. Put the files there that the model was "
                             "trained with, or set tokenizer to the folder that has them.")


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
