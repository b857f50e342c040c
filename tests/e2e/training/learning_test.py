"""What a run learns: evaluations, the best checkpoint, samples, classes."""
import json
import math
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness, model_folders  # noqa: E402

# The rate rises until nothing is left of the model.
RUINOUS = ['--set', 'optimizer=sgd', '--set', 'learning_rate=9', '--set', 'warmup_steps=12', '--set', 'max_grad_norm=0', '--set',
           'on_nonfinite=continue']


class Learning(harness.ShardlensTest):
    def setUp(self):
        super().setUp()
        self.text = self.folder / 'text.txt'
        self.text.write_text('the quick brown fox jumps over the lazy dog\n' * 800)

    def train(self, name, *settings, code=0):
        return self.json('run', '--device', 'cpu', '--ranks', '2', '--steps', '12', '--name', name, '--set', f'data={self.text}',
                         '--set', 'sequence_length=32', '--set', 'batch_per_rank=4', '--set', 'learning_rate=0.003',
                         '--set', 'evaluate_every=4', *settings, code=code)

    def test_evaluations_are_in_the_report_and_in_sql_and_the_model_writes_a_sample_at_each(self):
        report = self.train('evaluated', '--set', 'sharding_strategy=full_shard', '--set', 'sample_tokens=24', '--set',
                            'sample_prompt=the quick')
        rows = report['evaluations']
        self.assertEqual([row['step'] for row in rows], [3, 7, 11])
        for row in rows:
            self.assertAlmostEqual(row['perplexity'], math.exp(row['loss']), delta=1e-6 * row['perplexity'])
            self.assertGreater(row['targets'], 0)
            self.assertTrue(0 <= row['accuracy'] <= 1, row)
        # It repeats itself: the model learns it, and sees it in text that it was not trained on.
        self.assertLess(rows[-1]['loss'], rows[0]['loss'] - 0.5)
        stored = self.rows('evaluated', 'select step, loss from evaluation order by step')
        self.assertEqual([loss for _, loss in stored], [row['loss'] for row in rows])
        spans = self.rows('evaluated', "select rank, count(*) from span where phase = 'evaluation' group by rank order by rank")
        self.assertEqual(spans, [[0, 6], [1, 6]], 'of evaluations and samples')
        samples = re.findall(r'sample after step (\d+): the quick → .', self.log(report))
        self.assertEqual(samples, ['3', '7', '11'])
        # Nobody waits in the next step for the rank that puts it into words.
        waits = self.rows('evaluated', "select rank, count(*) from collective where tag = 'sample' and phase = 'evaluation' "
                                       'group by rank order by rank')
        self.assertEqual(waits, [[0, 3], [1, 3]])

    def test_the_best_is_kept_beside_the_last(self):
        # The first evaluation is the best.
        report = self.train('best', '--set', 'keep_best=true', '--set', 'save_every=6', *RUINOUS)
        losses = {row['step']: row['loss'] for row in report['evaluations']}
        self.assertEqual(list(losses), [3, 7, 11])
        self.assertTrue(losses[11] is None or losses[11] > losses[3], losses)
        best = min((step for step in losses if losses[step] is not None), key=losses.get)
        folder = self.folder / report['run']['folder']
        self.assertEqual([p.name for p in (folder / 'best_checkpoint').iterdir()], [f'step_{best + 1:06}'])
        self.assertEqual(sorted(p.name for p in (folder / 'checkpoints').iterdir()), ['step_000006', 'step_000012'])
        again = self.train('again', '--set', f'resume={folder / "best_checkpoint"}', '--set', 'optimizer=sgd')
        self.assertEqual(again['steps'][0]['step'], best + 1)
        # Where nothing is as good any more there is a model all the same, and it is not called the best.
        worse = self.train('worse', '--set', f'resume={folder / "best_checkpoint"}', '--set', 'save_model=best', *RUINOUS)
        self.assertTrue(pathlib.Path(worse['run']['saved_model']).is_dir())
        self.assertIn('the model is saved as it is at the end', self.log(worse))

    def test_a_classifier_for_other_classes_than_the_folders_gets_a_new_head(self):
        model_folders.write(self.folder / 'bert', 'bert', vocab_size=300, hidden_size=32, num_hidden_layers=2,
                            num_attention_heads=4, intermediate_size=64, max_position_embeddings=64, num_labels=2)
        films = [json.dumps({'text': f'{label} film {number}', 'label': label})
                 for number in range(100) for label in ('bad', 'good', 'neutral')]
        (self.folder / 'films.jsonl').write_text('\n'.join(films) + '\n')
        settings = ['--set', f'model={self.folder / "bert"}', '--set', f'data={self.folder / "films.jsonl"}', '--set',
                    'tokenizer=bytes', '--set', 'sharding_strategy=full_shard']
        refused = self.train('two', *settings, code=1)
        self.assertIn('set num_labels', refused['run']['reason'])
        report = self.train('three', *settings, '--set', 'num_labels=3')
        self.assertIn('no head for 3 classes', self.log(report))
        saved = json.loads((pathlib.Path(report['run']['saved_model']) / 'config.json').read_text())
        self.assertEqual(saved['id2label'], {'0': 'bad', '1': 'good', '2': 'neutral'})
        again = self.train('again', *settings, '--set', f'model={report["run"]["saved_model"]}')
        self.assertNotIn('no head', self.log(again))
        plan = self.json('plan', *settings, '--set', 'num_labels=3', '--set', 'sequence_length=32')
        self.assertEqual(plan['model']['parameters'], report['run']['parameters'])


harness.main()
