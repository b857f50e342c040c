"""Standard input is one line of JSON, the request, standard output one line, the reply: {"done": …} or
{"error": {"kind", "message"}}. "encode" writes the tokens into an open file, behind the page of its header
(trainer/text/image/token_layout.h); that page says meanwhile where in the text we are. "decode" goes on: each further
line is a list of tokens, answered with their text."""

import json
import os
import signal
import sys

from .limits import take_limits
from .packages import PACKAGES, lacking, need_all
from .preparation import Preparation
from .refusal import Refused
from .tokenizer import Bytes, Tokenizer


def main():
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # quietly
    request = json.loads(sys.stdin.buffer.readline())
    take_limits(request)
    try:
        if request["do"] == "check":
            need_all()
            reply(done={"python": sys.executable, "packages": PACKAGES})
        elif request["do"] == "decode":
            tokenizer = make_tokenizer(request)
            reply(done={})
            decode_forever(tokenizer)
        else:
            reply(done=encode(request))
    except Refused as refused:
        refuse(refused)
    except ImportError as error:
        refuse(lacking(f'cannot load "{error.name}"'))


def encode(request):
    return Preparation(request, make_tokenizer(request)).run()


def make_tokenizer(request):
    path = os.fsdecode(bytes.fromhex(request["tokenizer"]))
    return Tokenizer(path) if path else Bytes()


def decode_forever(tokenizer):
    for line in sys.stdin.buffer:
        reply(text=tokenizer.decode(json.loads(line)).encode("utf-8", "replace").decode())


def refuse(refused):
    reply(error={"kind": refused.kind, "message": refused.message.encode("utf-8", "replace").decode()})


def reply(**values):
    sys.stdout.buffer.write(json.dumps(values).encode() + b"\n")
    sys.stdout.buffer.flush()
