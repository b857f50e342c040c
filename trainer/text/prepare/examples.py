"""Lines on their way into the image: the texts of many are encoded side by side."""

from .refusal import BadExample, NotEncoded, Refused, place

BATCH = 2_000_000  # characters that are encoded side by side
BATCH_EXAMPLES = 2000
SHOWN_BAD_LINES = 5
ALONE, WITH_SPECIAL, WITH_ENDS = range(3)  # how a text is encoded: see Tokenizer


class Examples:
    """`finish` of an example gets the tokens of its texts, in the order of examples."""

    def __init__(self, encoder, tell, leave_out):
        self.encoder, self.tell, self.leave_out = encoder, tell, leave_out
        self.batch, self.size = [], 0

    def add(self, path, number, texts, finish):
        self.batch.append((path, number, texts, finish))
        self.size += sum(len(text) for text, _ in texts)
        if self.size >= BATCH or len(self.batch) >= BATCH_EXAMPLES:
            self.flush()

    def flush(self):
        batch, self.batch, size, self.size = self.batch, [], self.size, 0
        if not batch:
            return
        self.tell(batch[0][1] if batch[0][0] == batch[-1][0] else 0, batch[-1][1], size)
        try:
            encoded = {how: iter(self.encode([text for _, _, texts, _ in batch for text, each in texts if each == how], how))
                       for how in (ALONE, WITH_SPECIAL, WITH_ENDS)}
        except NotEncoded as failed:
            raise Refused(failed.kind, f"{self.failing_place(batch)}: {failed.message}") from None
        for path, number, texts, finish in batch:
            try:
                finish(*[next(encoded[how]) for _, how in texts])
            except BadExample as wrong:
                self.leave_out(path, number, str(wrong))

    def encode(self, texts, how):
        if not texts:
            return []
        return self.encoder.encode_with_ends(texts) if how == WITH_ENDS else self.encoder.encode(texts, how == WITH_SPECIAL)

    def failing_place(self, batch):
        for path, number, texts, _ in batch:
            for text, how in texts:
                try:
                    self.encode([text], how)
                except NotEncoded:
                    return place(path, number)
        return place(*batch[0][:2])


class BadLines:
    """Lines that cannot be used: the first ends the request, unless they are to be left out."""

    def __init__(self, skips):
        self.skips, self.count, self.shown = skips, 0, []

    def leave_out(self, path, number, wrong, is_needed=False):
        """`is_needed`: without it there is nothing to leave a line out of."""
        message = f"{place(path, number)}: {wrong}"
        if not self.skips or is_needed:
            advice = "Mend the line." if self.skips else ("Mend the line, or set on_bad_lines to skip to leave out lines "
                                                          "that cannot be used.")
            raise Refused("usage", f"{message}. {advice}")
        self.count += 1
        if len(self.shown) < SHOWN_BAD_LINES:
            self.shown.append(message)
