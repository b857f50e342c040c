"""Parts of trainer/text/prepare with tokenizers that are made for what is hard on them: preparation_test.py"""

import os
import pathlib
import resource
import signal
import sys
import tempfile
import unittest
from array import array
from unittest import mock

from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "trainer" / "text"))
from prepare import (answers, chat_template, documents, files, image, json_lines, limits, lines, packages, preparation,  # noqa: E402
                     refusal, tokenizer, tokenizer_files, words)


def folder_of_test(test):
    folder = tempfile.TemporaryDirectory()
    test.addCleanup(folder.cleanup)
    return pathlib.Path(folder.name)


def word_level(vocabulary, **more):
    made = Tokenizer(models.WordLevel({word: i for i, word in enumerate(vocabulary)}, **more))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return made


class WithTokenizers(unittest.TestCase):
    def setUp(self):
        self.folder = folder_of_test(self)

    def read(self, made):
        made.save(str(self.folder / "tokenizer.json"))
        return tokenizer.Tokenizer(str(self.folder))

    def prepare(self, made, path, **more):
        """The tokens of all examples, and the preparation."""
        descriptor = os.memfd_create("image")
        self.addCleanup(os.close, descriptor)
        request = {"image": descriptor, "data": str(path), "files": [os.fsencode(path).hex()], "json_lines": False,
                   "chat": "", "tokenizer": more.pop("tokenizer_path", ""), "completion_only_loss": True, "classes": 0,
                   "label_numbers": {}, "skip_bad_lines": False, "seconds": 60, **more}
        done = preparation.Preparation(request, made)
        done.run()
        tokens = array(done.image.type)
        tokens.frombytes(os.pread(descriptor, done.image.tokens * tokens.itemsize, image.TOKENS_BEGIN))
        return list(tokens), done

    def lines_of(self, *objects, **more):
        path = self.folder / "data.jsonl"
        path.write_text("".join(f"{each}\n" for each in objects))
        return self.prepare(more.pop("tokenizer", tokenizer.Bytes()), path, json_lines=True, **more)


class Packages(WithTokenizers):
    def lacking(self, work, versions):
        def version(name):
            if versions.get(name) is None:
                raise packages.metadata.PackageNotFoundError(name)
            return versions[name]

        with mock.patch.object(packages.metadata, "version", version), self.assertRaises(refusal.NoPackage) as raised:
            work()
        self.assertEqual(raised.exception.kind, "missing")
        self.assertIn(f"-m pip install {packages.PACKAGES}", raised.exception.message.replace("--break-system-packages ", ""))
        return raised.exception.message

    def test_other_versions_prepare_nothing(self):
        word_level(["a"]).save(str(self.folder / "tokenizer.json"))
        (self.folder / "chat_template.jinja").write_text("x")
        for package, work in (("tokenizers", tokenizer.Tokenizer), ("jinja2", chat_template.ChatTemplate)):
            message = self.lacking(lambda: work(str(self.folder)), {package: "0.1.2"})  # noqa: B023
            self.assertIn(f"Python has {package} 0.1.2", message)
            self.assertIn(f'has no package "{package}"', self.lacking(lambda: work(str(self.folder)), {}))  # noqa: B023

    def test_the_command_fits_the_python(self):
        (self.folder / "EXTERNALLY-MANAGED").touch()
        with mock.patch.object(packages.sysconfig, "get_path", lambda _: str(self.folder)):
            with mock.patch.object(packages.sys, "prefix", sys.base_prefix):
                self.assertIn("pip install --break-system-packages tok", packages.install_command())
            with mock.patch.object(packages.sys, "prefix", "/an/environment"):
                self.assertIn("pip install tok", packages.install_command())
        with mock.patch.object(packages.util, "find_spec", lambda _: None):
            self.assertTrue(packages.install_command().startswith("sudo apt-get install -y python3-pip && "))


class Files(WithTokenizers):
    def test_pipes_are_refused_and_not_waited_for(self):
        signal.alarm(20)  # it ends us if we wait
        self.addCleanup(signal.alarm, 0)
        pipe = self.folder / "tokenizer_config.json"
        word_level(["a"]).save(str(self.folder / "tokenizer.json"))
        os.mkfifo(pipe)
        with self.assertRaisesRegex(refusal.Refused, "not a regular file"):
            tokenizer.Tokenizer(str(self.folder))
        with self.assertRaisesRegex(refusal.Refused, "not a regular file"):
            tokenizer.Tokenizer(str(pipe))
        pipe.unlink()
        os.mkfifo(self.folder / "chat_template.jinja")
        self.assertIn("not a regular file", chat_template.ChatTemplate(str(self.folder)).wrong)
        with self.assertRaisesRegex(refusal.Refused, "not a regular file"):
            files.open_text(self.folder / "chat_template.jinja").__enter__()

    def test_a_tokenizer_is_found_by_its_folder_or_any_of_its_files(self):
        def found(name=""):
            path = str(self.folder / name) if name else str(self.folder)
            return [os.path.basename(each) for each in tokenizer_files.find_tokenizer(path)[1]]

        def refused(words, name=""):
            with self.assertRaisesRegex(refusal.Refused, words):
                found(name)

        refused("is not there", "none")
        refused("has no tokenizer: .* It holds nothing. .* set tokenizer to the folder")
        (self.folder / "tokenizer.model").touch()
        refused("as tokenizer.model only")
        refused("is no tokenizer", "tokenizer.model")
        (self.folder / "vocab.json").touch()
        refused('needs ".*merges.txt" beside it', "vocab.json")
        (self.folder / "vocab.txt").touch()
        self.assertEqual(found(), ["vocab.txt"])
        (self.folder / "merges.txt").touch()
        for name in ("", "vocab.json", "merges.txt"):
            self.assertEqual(found(name), ["vocab.json", "merges.txt"])
        self.assertEqual(found("vocab.txt"), ["vocab.txt"])
        (self.folder / "tokenizer.json").touch()
        self.assertEqual(found(), ["tokenizer.json"])
        (self.folder / "other.json").touch()
        self.assertEqual(found("other.json"), ["other.json"])


class FullDisk(unittest.TestCase):
    def test_it_is_told_as_one(self):
        with open("/dev/full", "wb") as disk:
            full = image.Image(disk.fileno(), 257)
            for write in (lambda: full.tell(0, 0, 0, 1.0), lambda: full.append(range(200) for _ in ()),
                          lambda: full.append([1] * (1 << 21))):
                with self.subTest(write=write):
                    try:
                        write()
                    except refusal.Refused as refused:
                        self.assertEqual(refused.kind, "disk")
                        self.assertIn("tokens cannot be written", refused.message)
            with self.assertRaises(refusal.Refused) as raised:
                full.append([1] * (1 << 21))
            self.assertEqual(raised.exception.kind, "disk")
            full.file.detach()


class Around(WithTokenizers):
    def test_tokens_around_texts_are_found_though_letters_are_unknown(self):
        ids = {"<s>": 0, "</s>": 1, "中": 2}
        for model in (models.BPE(ids, []), models.WordLevel(ids)):  # leaves them out, and fails
            made = Tokenizer(model)
            made.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=list(ids.items())[:2])
            self.assertEqual(self.read(made).around, ([0], [1]))

    def test_a_token_that_is_the_text_is_not_around_it(self):
        made = word_level(["<s>", "a"], unk_token="a")
        made.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
        self.assertEqual(self.read(made).around, ([0], []))


class Prompts(WithTokenizers):
    def test_go_on_without_what_the_tokenizer_puts_behind_texts(self):
        made = word_level(["<s>", "</s>", "a", "b"])
        made.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)])
        tokens, _ = self.prepare(self.read(made), self.folder, prompt="a b")
        self.assertEqual(tokens, [0, 2, 3])


class Labels(WithTokenizers):
    def test_a_line_that_is_left_out_does_not_say_what_labels_are(self):
        made = self.read(Tokenizer(models.BPE({"a": 0}, [])))  # "x" has no token
        tokens, done = self.lines_of('{"text": "x", "label": "name"}', '{"text": "a", "label": 1}', tokenizer=made,
                                     skip_bad_lines=True)
        self.assertEqual((tokens, list(done.image.labels), done.bad_lines.count), ([0], [1], 1))
        tokens, done = self.lines_of('{"text": "x", "label": "z"}', '{"text": "a", "label": "y"}', tokenizer=made,
                                     skip_bad_lines=True)
        self.assertEqual(list(done.image.labels), [0])

    def test_classes_without_a_name_have_the_usual_one(self):
        labels = json_lines.Labels({"a": 0, "c": 2}, 3)
        self.assertEqual(labels.number_of("c"), 2)
        self.assertEqual(labels.names([2]), ["a", "LABEL_1", "c"])


class LongTexts(WithTokenizers):
    def setUp(self):
        super().setUp()
        for name, value in (("READ_BYTES", 2000), ("PIECE", 1000), ("BATCH", 3000)):
            patch = mock.patch.object(documents, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def long(self, made, text):
        """Whether the tokens are those of the whole, and what was used."""
        path = self.folder / "long.txt"
        path.write_text(text)
        ours = self.read(made)
        tokens, done = self.prepare(ours, path)
        # Not compared by unittest, which takes for ever to show where long lists differ.
        return tokens == made.encode(text).ids + [ours.end] * (ours.end is not None), done.documents

    def test_tokens_of_several_words_are_not_split(self):
        # Late, so that what is tried at first does not show it.
        made = Tokenizer(models.BPE({"Ġ": 0, "a": 1, "b": 2, "Ġb": 3, "aĠb": 4, "c": 5, "Ċ": 6}, [("Ġ", "b"), ("a", "Ġb")]))
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        is_same, used = self.long(made, "c c\n" * 5000 + "ca b c\n" * 300)
        self.assertTrue(is_same)
        self.assertIsNone(used.words and used.words.split)
        self.assertTrue(self.read(made).joins_words())

    def test_tokens_of_blanks_alone_are_of_no_word(self):
        # As those have that have learnt from files with Windows' ends of lines.
        for token, is_blank in (("čĊčĊĠĠ", True), ("ĠĉĉĠĉ", True), ("čĊč", True), ("aĉĊb", False), ("aĠb", False)):
            made = Tokenizer(models.BPE({token: 0, "a": 1}, []))
            self.assertEqual(self.read(made).joins_words(), not is_blank, token)

    def test_a_tokenizer_that_counts_characters_gets_the_whole_text(self):
        made = Tokenizer(models.WordLevel({"<unk>": 0, "ab cd": 1, " ab c": 2, "d ab ": 3}, unk_token="<unk>"))
        for length in (5, 600):
            made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.FixedLength(length)])
            is_same, _ = self.long(made, "ab cd " * 2000)
            self.assertTrue(is_same)

    def test_of_many_added_tokens_each_that_takes_the_space_before_it_is_tried(self):
        made = word_level(["a"], unk_token="a")
        made.pre_tokenizer = pre_tokenizers.Split("\n", "isolated")
        made.add_tokens([AddedToken(f"<{i}>") for i in range(40)])
        made.add_tokens([AddedToken("<take>", lstrip=True)])
        made.add_tokens([AddedToken(f"<{i}>") for i in range(50, 80)])
        added = self.read(made).added_tokens()
        self.assertTrue(any("a\n<take>" in text for text in words.Words.texts_for(added)))

    def test_more_words_than_are_remembered(self):
        made = Tokenizer(models.BPE({"Ġ": 0, "a": 1, "b": 2, "c": 3, "Ċ": 4, "Ġa": 5, "Ġab": 6}, [("Ġ", "a"), ("Ġa", "b")]))
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        some = ["".join("abc"[int(digit)] for digit in f"{number % 3}{number // 3 % 3}{number % 2}") for number in range(18)]
        with mock.patch.object(words.Words, "MOST_BYTES", 2000):
            is_same, used = self.long(made, " ".join(some * 300))
        self.assertTrue(is_same)
        self.assertIsNotNone(used.words.split)


class Workers(WithTokenizers):
    def work(self, look_up):
        working = mock.Mock(patience=0.2, most=1, look_up=look_up)
        return list(words.WordProcesses(working).encode(["a"]))

    def test_they_share_the_memory_that_is_left(self):
        limits.limit_memory(8 << 30)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_DATA, (resource.RLIM_INFINITY,) * 2)
        (of_one,) = self.work(lambda _: resource.getrlimit(resource.RLIMIT_DATA)[0])
        count = min(len(os.sched_getaffinity(0)), 16)
        self.assertLess(of_one, (8 << 30) / count + (3 << 30))
        if count > 1:
            self.assertLess(of_one, 8 << 30)

    def test_what_has_no_limit_is_not_shared(self):
        (of_one,) = self.work(lambda _: resource.getrlimit(resource.RLIMIT_DATA)[0])
        self.assertEqual(of_one, resource.RLIM_INFINITY)

    def test_one_that_does_not_get_on_ends_the_request(self):
        def forever(_):
            while True:
                pass

        signal.alarm(60)
        self.addCleanup(signal.alarm, 0)
        made = tokenizer.Encoder(tokenizer.Bytes())
        with self.assertRaisesRegex(refusal.Refused, "a process that encodes the text has ended"):
            made.guarded(self.work, forever)


class Conversations(WithTokenizers):
    TURNS = "".join('{"role": "user", "content": "q"}, {"role": "assistant", "content": "yes"}, ' for _ in range(300))[:-2]

    def test_each_is_encoded_once_however_many_answers_it_has(self):
        with mock.patch.object(tokenizer.Bytes, "encode_with_ends", autospec=True,
                               side_effect=tokenizer.Bytes.encode_with_ends) as encode:
            tokens, done = self.lines_of(f'{{"messages": [{self.TURNS}]}}')
        self.assertEqual([len(texts) for (_, texts), _ in encode.call_args_list], [1])
        counted = "".join(f"{byte:08b}"[::-1] for byte in done.image.mask)[: len(tokens)]
        self.assertEqual(bytes(token for token, bit in zip(tokens, counted) if bit == "1"), b"yes<|im_end|>" * 300)

    def test_a_token_counts_if_it_ends_inside_an_answer(self):
        said = lines.Lines.__new__(lines.Lines)
        said.image = mock.Mock()
        said.finish_conversation([7, 8, 9, 10, 11], [2, 4, 6, 8, 9], [(2, 5), (5, 8)])
        found = [(list(call.args[0]), call.kwargs.get("counted", True)) for call in said.image.append.call_args_list]
        self.assertEqual([each for each in found if each[0]], [([8], True), ([9, 10], True), ([11], False), ([7], False)][-1:]
                         + [([8], True), ([9, 10], True), ([11], False)])

    def test_a_normalizer_does_not_move_answers(self):
        made = word_level(["yes", "q", "<unk>"], unk_token="<unk>")
        made.normalizer = normalizers.Lowercase()
        ids, ends = self.read(made).encode_with_ends(["Q YES q"])[0]
        self.assertEqual((ids, ends), ([1, 0, 1], [1, 5, 7]))

    def test_a_template_without_end_is_ended(self):
        loop = "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}"
        (self.folder / "chat_template.jinja").write_text(loop)
        made = chat_template.ChatTemplate(str(self.folder))
        with mock.patch.object(chat_template, "RENDER_SECONDS", 0.2):
            with self.assertRaisesRegex(refusal.BadExample, "chat_template.jinja took more than 0.2 s of the processor"):
                made.with_answers([{"role": "user", "content": "q"}], {})

    def test_templates_that_change_messages_change_no_others(self):
        (self.folder / "chat_template.jinja").write_text("{{ messages[0].content }}")
        made = chat_template.ChatTemplate(str(self.folder))
        messages = [{"role": "assistant", "content": "a", "tool": {"b": None}}]
        shown = chat_template.shown_to_templates(messages)
        shown[0]["tool"]["b"] = 1
        self.assertIsNone(messages[0]["tool"]["b"])
        self.assertEqual(made.render(shown, {}), ("a", []))
        self.assertNotIn(answers.MARK, made.render(shown, {})[0])

    QUESTION = '"messages": [{"role": "user", "content": "q"}]'
    SHOWS_GIVEN = "{{ bos_token }}{{ tools }}{{ documents }}{{ more }}{{ template }}{{ messages[0].content }}"

    def rendered(self, line, **more):
        tokens, _ = self.lines_of(line, chat=os.fsencode(self.folder).hex(), completion_only_loss=False, **more)
        return bytes(tokens).decode()

    def test_a_line_gives_its_template_tools_documents_and_more(self):
        (self.folder / "tokenizer_config.json").write_text('{"bos_token": "<s>"}')
        (self.folder / "chat_template.jinja").write_text(self.SHOWS_GIVEN)
        for given, shown in (
                ("", "<s>NoneNoneq"), (', "tools": null, "documents": null, "chat_template_kwargs": null', "<s>NoneNoneq"),
                (', "tools": [{"a": 1}], "documents": []', "<s>[{'a': 1}][]q"),
                (', "tools": "[{\\"a\\": 1}]"', "<s>[{'a': 1}]Noneq"), (', "tools": "null"', "<s>NoneNoneq"),
                (', "chat_template_kwargs": {"more": "!", "bos_token": "<b>"}', "<b>NoneNone!q"),
                (', "chat_template_kwargs": {"template": "!"}', "<s>NoneNone!q")):
            self.assertEqual(self.rendered("{" + self.QUESTION + given + "}"), shown)
        for given, wrong in (
                ('"tools": {"a": 1}', '"tools" is not a list of objects'), ('"tools": "["', '"tools" is a string, but not JSON'),
                ('"documents": ["a"]', '"documents" is not a list of objects'),
                ('"chat_template_kwargs": [1]', '"chat_template_kwargs" is not an object'),
                ('"chat_template_kwargs": {"tools": []}', '"chat_template_kwargs" has "tools"'),
                ('"chat_template_kwargs": {"self": 1}', '"chat_template_kwargs" has "self"')):
            with self.assertRaisesRegex(refusal.Refused, wrong):
                self.rendered("{" + self.QUESTION + ", " + given + "}")

    def test_chatml_has_no_place_for_tools(self):
        with self.assertRaisesRegex(refusal.Refused, '"tools" has no place in ChatML'):
            self.lines_of("{" + self.QUESTION + ', "tools": [{}]}')
        self.lines_of("{" + self.QUESTION + ', "tools": [], "chat_template_kwargs": {"enable_thinking": false}}')

    def test_the_tokens_of_a_template_are_those_of_the_tokenizer_where_it_says_some(self):
        (self.folder / "tokenizer_config.json").write_text('{"bos_token": "<model>"}')
        (self.folder / "chat_template.jinja").write_text("{{ bos_token }}")
        other = folder_of_test(self)
        tokenizer_json = os.fsencode(other / "tokenizer.json").hex()
        self.assertEqual(self.rendered("{" + self.QUESTION + "}", tokenizer_path=tokenizer_json), "<model>")
        (other / "tokenizer_config.json").write_text('{"bos_token": "<own>"}')
        for named in (tokenizer_json, os.fsencode(other).hex()):
            self.assertEqual(self.rendered("{" + self.QUESTION + "}", tokenizer_path=named), "<own>")


if __name__ == "__main__":
    unittest.main(verbosity=2)
