"""Measured peaks of memory against the estimate, over settings drawn by a seed. In the environment: SHARDLENS_COMBINATIONS,
how many (13, which have every strategy; 1,000 take hours); SHARDLENS_COMBINATION_SEED, which (1); SHARDLENS_COMBINATION, one line alone."""
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness, model_folders  # noqa: E402

MIB = 1 << 20
BASE = 'model=tiny device=cpu batch_per_rank=1 sequence_length=64 record_allocations=off'
# Units of whole blocks, and of parts of them; of embeddings, heads and what holds both blocks and embeddings.
SMALLEST_UNITS = ['100000', '250000']
# Small blocks between large tables.
WIDE = dict(vocab_size=16384, hidden_size=64, num_hidden_layers=3, num_attention_heads=4, intermediate_size=192,
            max_position_embeddings=256)
GPT2 = dict(vocab_size=16384, n_embd=64, n_layer=3, n_head=4, n_inner=256)
FOLDERS = {'gpt2-untied': ('gpt2', dict(GPT2, n_positions=256, tie_word_embeddings=False)),
           'gpt2-tied': ('gpt2', dict(GPT2, n_positions=8192)),
           'llama-untied': ('llama', dict(WIDE, num_key_value_heads=2, tie_word_embeddings=False)),
           'bert': ('bert', dict(WIDE, num_labels=3))}
# `other` and `outside` no shape tells.
COMPARED = ['parameters', 'gathered_parameters', 'gradients', 'optimizer', 'activations', 'communication']


class Memory(harness.ShardlensTest):
    def write_folders(self):
        for name, (model_type, config) in FOLDERS.items():
            model_folders.write(self.folder / name, model_type, **config)
        # As long as the model sees: padding would make batches shorter than the estimate takes them for.
        lines = [json.dumps({'text': f'{number} ' * 64, 'label': number % 3}) for number in range(200)]
        (self.folder / 'classes.jsonl').write_text('\n'.join(lines) + '\n')

    def models(self):
        yield 'model=tiny'
        for name, (model_type, _) in FOLDERS.items():
            data = ' data=classes.jsonl' if model_type == 'bert' else ''
            yield f'model=./{name} tokenizer=bytes{data}'

    def drawn(self):
        alone = os.environ.get('SHARDLENS_COMBINATION')
        if alone:
            return [alone]
        smallest = [word for size in SMALLEST_UNITS for word in ('--smallest-unit', size)]
        drawn = subprocess.run([harness.BIN / 'setting_combinations', '--base', BASE, *smallest, '--factor', ';'.join(self.models()),
                                '--seed', os.environ.get('SHARDLENS_COMBINATION_SEED', '1'),
                                '--count', os.environ.get('SHARDLENS_COMBINATIONS', '13')],
                               capture_output=True, text=True, check=True)
        return drawn.stdout.splitlines()

    def report(self, number, line):
        words = [word for each in f'{BASE} {line}'.split() for word in ('--set', each)]
        report = self.json('run', *words, '--steps', '2', '--name', f'memory {number}', timeout=600)
        shutil.rmtree(report['run']['folder'])
        return report['ranks']

    def misses(self, ranks):
        """Of the rank that needs most of a category, what is off by more than 5 % and 1 MiB."""
        for category in COMPARED:
            measured = max(rank['memory_peak_by_category'][category] for rank in ranks)
            estimate = ranks[0]['memory_estimate_by_category'][category]
            if abs(estimate - measured) > max(MIB, measured / 20):
                yield f'{category}: measured {measured:,}, estimate {estimate:,}'

    def test_every_category_is_within_5_percent_or_1_mib_of_the_estimate(self):
        self.write_folders()
        lines = self.drawn()
        self.assertGreater(len(lines), 0)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            reports = list(pool.map(self.report, range(len(lines)), lines))
        for line, ranks in zip(lines, reports):
            with self.subTest(f'SHARDLENS_COMBINATION="{line}"'):
                self.assertEqual(list(self.misses(ranks)), [])

    def test_gradients_that_are_views_of_buckets_need_no_second_copy_in_accumulation(self):
        views = 'gradient_as_bucket_view=true gradient_accumulation_steps=3'
        for number, line in enumerate([views, f'{views} sharding_strategy=zero1']):
            ranks = self.report(number, line)
            self.assertEqual(list(self.misses(ranks)), [], line)
            for rank in ranks:
                kept = rank['memory_peak_by_category']
                self.assertLess(kept['gradients'], 1.1 * kept['parameters'], line)

    def test_buckets_that_are_rebuilt_under_gradients_need_room_for_both(self):
        views = 'gradient_as_bucket_view=true sync_each_batch=true'
        for static, micro_batches in [('false', 2), ('true', 2), ('true', 3)]:
            line = f'{views} static_graph={static} gradient_accumulation_steps={micro_batches}'
            self.assertEqual(list(self.misses(self.report(micro_batches, line))), [], line)

    def test_micro_batches_are_added_up_in_the_type_in_which_they_are_reduced(self):
        for number, line in enumerate(['sharding_strategy=full_shard param_dtype=bf16 reduce_dtype=fp32',
                                       'sharding_strategy=no_shard param_dtype=bf16 reduce_dtype=fp32',
                                       'sharding_strategy=shard_grad_op reduce_dtype=bf16 wrap_policy=whole_model']):
            ranks = self.report(number, f'{line} gradient_accumulation_steps=3')
            self.assertEqual(list(self.misses(ranks)), [], line)

    def test_what_is_sent_at_the_start_is_in_no_step(self):
        for rank in self.report(0, 'lora_rank=4'):
            self.assertLess(rank['memory_peak_by_category']['communication'], MIB)


if __name__ == '__main__':
    harness.main()
