"""Fine-tuning as a user does it: a folder made by transformers, one's own text, the program alone.

finetune_job.py BIN: the folders that come out are loaded by transformers and peft.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import torch
from peft import PeftModel
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer, BertConfig,
                          BertForSequenceClassification, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast)

SHARDLENS = pathlib.Path(sys.argv[1]).resolve() / 'shardlens'
WORDS = 'red green blue small large round square warm cold'.split()
TEMPLATE = """{{ bos_token }}{% for message in messages %}<|{{ message['role'] }}|>
{{ message['content'] }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>
{% endif %}"""


def lines():
    """Questions whose answers follow from them, so that a small model can learn them."""
    for i in range(400):
        first, second = WORDS[i % 9], WORDS[(i * 5 + i // 9) % 9]
        yield first, second, {'messages': [{'role': 'user', 'content': f'Turn round: {first} {second}'},
                                           {'role': 'assistant', 'content': f'{second} {first}'}]}


def make_folder(folder):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ['<s>', '<|end|>', '<|user|>', '<|assistant|>']
    texts = [message['content'] for *_, line in lines() for message in line['messages']]
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=400, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token='<s>', eos_token='<|end|>')
    fast.chat_template = TEMPLATE
    fast.save_pretrained(folder)
    torch.manual_seed(1)
    LlamaForCausalLM(LlamaConfig(
        vocab_size=len(fast), hidden_size=64, intermediate_size=128, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=128, bos_token_id=0, eos_token_id=1)).save_pretrained(folder)


def run(work, name, *settings, steps=20):
    done = subprocess.run(
        [SHARDLENS, 'run', '--set', f'model={work / "base"}', '--set', f'data={work / "turns.jsonl"}', '--ranks', '2', '--steps',
         str(steps), '--device', 'cpu', '--name', name, '--overwrite', '--json', '--runs-dir', work / 'runs', '--set',
         'sequence_length=64', '--set', 'batch_per_rank=16', '--set', 'learning_rate=0.01', '--set', 'token_cache=off',
         *[word for setting in settings for word in ('--set', setting)]],
        capture_output=True, text=True, cwd=work)
    assert done.returncode == 0, done.stderr[-4000:]
    report = json.loads(done.stdout)
    folder = work / report['run']['folder']
    saved = pathlib.Path(report['run']['saved_model'])
    assert saved.parent == folder and saved.is_dir(), report['run']
    return report, folder


def check_learning(report):
    losses = [step['loss'] for step in report['steps']]
    print(f"{report['run']['name']}: loss {losses[0]:.3f} to {losses[-1]:.3f}")
    assert losses[-1] < 0.9 * losses[0], losses
    return losses


def log_of(folder):
    return (folder / 'rank_0.log').read_text()


def whole_model(work):
    report, folder = run(work, 'ft', 'sharding_strategy=full_shard', 'evaluate_every=10', 'sample_tokens=8', 'keep_best=true')
    losses = check_learning(report)
    assert [row['step'] for row in report['evaluations']] == [9, 19], report['evaluations']
    assert len([line for line in log_of(folder).splitlines() if 'sample after step' in line]) == 2, log_of(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder / 'model')
    model = AutoModelForCausalLM.from_pretrained(folder / 'model', dtype=torch.float32)
    base = AutoModelForCausalLM.from_pretrained(work / 'base', dtype=torch.float32)
    # As held out there: the end of the data, answers alone.
    held_out = [line for *_, line in lines()][-40:]

    def answer_loss(of):
        total, count = 0.0, 0
        for line in held_out:
            whole = tokenizer.apply_chat_template(line['messages'], return_tensors='pt', return_dict=False)
            asked = tokenizer.apply_chat_template(line['messages'][:1], add_generation_prompt=True, return_dict=False)
            with torch.no_grad():
                logits = of(whole).logits[0, len(asked) - 1:-1]
            # As TRL: all that the template adds to the prompt.
            targets = whole[0, len(asked):]
            total += torch.nn.functional.cross_entropy(logits, targets, reduction='sum').item()
            count += len(targets)
        return total / count, count

    expected, count = answer_loss(model)
    last = report['evaluations'][-1]
    print(f"evaluation {last['loss']:.5f} over {last['targets']} tokens, transformers says {expected:.5f} over {count}")
    assert last['targets'] == count, (last, count)
    assert abs(last['loss'] - expected) < 1e-4, (last, expected)
    untrained, _ = answer_loss(base)
    assert abs(losses[0] - untrained) < 0.3, (losses[0], untrained)


def adapters(work):
    report, folder = run(work, 'lora', 'sharding_strategy=full_shard', 'lora_rank=8', 'lora_target_modules=all-linear',
                         'evaluate_every=20', steps=40)
    check_learning(report)
    share = report['run']['trained_parameters'] / report['run']['parameters']
    print(f'trained share {share:.3f}')
    assert 0 < share < 0.3, share
    base = AutoModelForCausalLM.from_pretrained(work / 'base', dtype=torch.float32)
    tokens = torch.arange(4, 24).unsqueeze(0)
    with torch.no_grad():
        before = base(tokens).logits.clone()
        adapted = PeftModel.from_pretrained(base, folder / 'adapter')
        after = adapted(tokens).logits
    assert (before - after).abs().max() > 0.1


def labelled():
    films = (('the film was great and warm', 'good'), ('a dull cold film', 'bad'), ('it was a film', 'neutral'))
    for i in range(300):
        text, label = films[i % 3]
        yield f'{text} number {i % 17}', label


def make_classifier(folder):
    tokenizer = Tokenizer(models.WordPiece(unk_token='[UNK]'))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator([text for text, _ in labelled()], trainers.WordPieceTrainer(
        vocab_size=300, special_tokens=['[PAD]', '[UNK]', '[CLS]', '[SEP]']))
    tokenizer.post_processor = processors.TemplateProcessing(
        single='[CLS] $A [SEP]', special_tokens=[('[CLS]', 2), ('[SEP]', 3)])
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token='[PAD]', cls_token='[CLS]', sep_token='[SEP]',
                                   unk_token='[UNK]')
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    names = ['bad', 'neutral', 'good']
    BertForSequenceClassification(BertConfig(
        vocab_size=len(fast), hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
        max_position_embeddings=64, id2label=dict(enumerate(names)),
        label2id={name: i for i, name in enumerate(names)})).save_pretrained(folder)


def class_loss(model, folder):
    """Mean loss and accuracy on what was held out there, the end of the data."""
    tokenizer, numbers = AutoTokenizer.from_pretrained(folder), {'bad': 0, 'neutral': 1, 'good': 2}
    total, right, held_out = 0.0, 0, list(labelled())[-30:]
    for text, label in held_out:
        with torch.no_grad():
            logits = model(**tokenizer(text, return_tensors='pt')).logits
        total += torch.nn.functional.cross_entropy(logits, torch.tensor([numbers[label]])).item()
        right += int(logits.argmax()) == numbers[label]
    return total / len(held_out), right / len(held_out)


def classifier(work):
    (work / 'films.jsonl').write_text(''.join(json.dumps({'text': t, 'label': n}) + '\n' for t, n in labelled()))
    make_classifier(work / 'bert')
    common = [f'model={work / "bert"}', f'data={work / "films.jsonl"}', 'learning_rate=0.003', 'batch_per_rank=8',
              'evaluate_every=30', 'sharding_strategy=full_shard']
    for name, more in (('films', []), ('films, adapters', ['lora_rank=8'])):
        report, folder = run(work, name, *common, *more, steps=30)
        if more:
            base = AutoModelForSequenceClassification.from_pretrained(work / 'bert', dtype=torch.float32)
            model = PeftModel.from_pretrained(base, folder / 'adapter').eval()
        else:
            model = AutoModelForSequenceClassification.from_pretrained(folder / 'model', dtype=torch.float32).eval()
            check_learning(report)
        loss, accuracy = class_loss(model, work / 'bert')
        row = report['evaluations'][-1]
        print(f"{name}: {row['loss']:.6f}, {row['accuracy']:.3f} right; from outside {loss:.6f}, {accuracy:.3f}")
        assert row['targets'] == 30 and row['perplexity'] is None, row
        assert abs(row['loss'] - loss) < 1e-5 and abs(row['accuracy'] - accuracy) < 1e-9, (row, loss, accuracy)


def main():
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        make_folder(work / 'base')
        (work / 'turns.jsonl').write_text(''.join(json.dumps(line) + '\n' for *_, line in lines()))
        whole_model(work)
        adapters(work)
        classifier(work)


main()
