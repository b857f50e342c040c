"""Sharding strategies through the real programs: what is recorded, what is refused, how ranks die."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness  # noqa: E402

# Where those who stay wait in other collectives than after another phase or with another strategy.
LEAVES_IN = {'ddp': ['backward', 'optimizer'], 'zero1': ['backward', 'optimizer'], 'no_shard': ['backward'],
             'shard_grad_op': ['forward', 'backward'], 'full_shard': ['forward', 'backward', 'optimizer'],
             'hybrid_shard': ['forward', 'backward']}
HYBRID = ['--set', 'sharding_strategy=hybrid_shard', '--set', 'shard_group_size=2']


def strategy(name):
    return ['--set', f'sharding_strategy={name}']


class Strategies(harness.ShardlensTest):
    def setUp(self):
        super().setUp()
        # The built-in text is the project's own, which may change between two runs.
        self.text = self.folder / 'squares.txt'
        self.text.write_text(''.join(f'{i * i} is the square of {i}\n' for i in range(2000)))

    def run_ranks(self, name, *settings, ranks='2', steps='6', code=0):
        return self.shardlens('run', *harness.QUICK, '--set', f'data={self.text}', '--ranks', ranks, '--steps', steps,
                              '--name', name, *settings, '--json', code=code)

    def train(self, name, *settings, **options):
        return json.loads(self.run_ranks(name, *settings, **options).stdout)

    def test_full_shard_halves_what_is_kept_tags_collectives_with_their_unit_and_prefetches(self):
        full = self.train('full', '--set', 'zero_stage=3')
        for category, numbers in (('parameters', 1), ('optimizer', 2)):
            ratio = full['ranks'][1]['memory_by_category'][category] / (4 * numbers * full['run']['parameters'])
            self.assertAlmostEqual(ratio, 0.5, delta=0.01, msg=category)
        # The root, this block and the next; no more, and in every step.
        units = {u['name']: u['bytes'] for u in full['units']}
        gathered = max(r['memory_peak_by_category']['gathered_parameters'] for r in full['ranks'])
        self.assertEqual(gathered, units['root'] + 2 * units['blocks.0'])
        tags = {(c['function'], c['tag']) for c in full['collectives']}
        for block in range(5):
            self.assertIn(('all_gather', f'blocks.{block} forward gather'), tags)
            self.assertIn(('all_gather', f'blocks.{block} backward gather, prefetched'), tags)
            self.assertIn(('reduce_scatter', f'blocks.{block} reduce'), tags)
        executed = {(c['function'], c['executed']) for c in full['collectives'] if 'reduce' in c['tag']}
        self.assertEqual(executed, {('reduce_scatter', 'all_reduce')}, 'Gloo has no reduce-scatter')
        self.assertEqual(full['buckets'], [])
        self.assertIn('blocks.4', self.shardlens('report', 'full').stdout)

    def test_hybrid_shards_in_groups_and_sums_over_replicas(self):
        report = self.train('hybrid', *HYBRID, ranks='4')
        self.assertEqual({u['shard_count'] for u in report['units']}, {2})
        groups = {tuple(row) for row in self.rows('hybrid', 'select rank, name, ranks from process_group')}
        for rank, shard, replicate in ((0, '0,1', '0,2'), (1, '0,1', '1,3'), (2, '2,3', '0,2'), (3, '2,3', '1,3')):
            self.assertIn((rank, 'shard', shard), {(r, n, m.replace(' ', '')) for r, n, m in groups})
            self.assertIn((rank, 'replicate', replicate), {(r, n, m.replace(' ', '')) for r, n, m in groups})
        functions = {(c['function'], c['bytes']) for c in report['collectives'] if c['tag'] == 'blocks.2 reduce'}
        whole = report['units'][1]['reduced_bytes']
        self.assertEqual(functions, {('reduce_scatter', whole), ('all_reduce', whole // 2)})

    def test_uneven_inputs_train_on_every_sequence_once(self):
        text = self.folder / 'text.txt'
        text.write_text('to be or not to be, that is the question\n' * 58)
        settings = ['--set', f'data={text}', '--set', 'epochs=1', '--set', 'drop_last=false']
        self.run_ranks('even', *settings, ranks='3')
        [[even]] = self.rows('even', 'select sum(samples) from step')
        self.assertEqual(even % 3, 0)
        for s in ('ddp', 'full_shard'):
            self.run_ranks(s, *strategy(s), *settings, '--set', 'uneven_inputs=join', ranks='3')
            [[joined]] = self.rows(s, 'select sum(samples) from step')
            self.assertLess(joined, even, 'padding repeats sequences')

    def test_contradictions_are_refused_before_ranks_start(self):
        for settings, words in ((['cpu_offload=true'], 'ddp has none'),
                                (['sharding_strategy=hybrid_shard', 'shard_group_size=2', 'ranks=3'], 'divide'),
                                (['precision=fp16'], 'bf16 on the CPU'),
                                (['sharding_strategy=full_shard', 'min_num_params=0'], 'min_num_params'),
                                (['sharding_strategy=full_shard', 'use_orig_params=false'], 'always true')):
            done = self.shardlens('run', '--device', 'auto', '--steps', '2', '--name', 'bad', *harness.settings(settings), code=2)
            self.assertIn(words, done.stderr)
        self.assertFalse(self.runs.exists() and any('bad' in p.name for p in self.runs.iterdir()))

    def test_a_rank_that_leaves_in_any_phase_ends_the_run(self):
        for name, phases in LEAVES_IN.items():
            for phase in phases:
                self.check_that_leaving_ends_the_run(name, phase)

    def check_that_leaving_ends_the_run(self, name, phase):
        ranks, settings = (4, HYBRID) if name == 'hybrid_shard' else (2, strategy(name))
        job = f'{name} {phase}'
        victim = ranks - 1 if phase == 'backward' else 0
        done = self.run_ranks(job, *settings, '--set', f'inject=rank={victim},step=3,phase={phase},exit', ranks=str(ranks),
                              steps='40', code=1)
        report = json.loads(done.stdout)
        self.assertEqual(report['run']['status'], 'failed', job)
        for said in (report['run']['reason'], done.stderr):
            self.assertIn(f'rank {victim}', said, job)
        self.assertGreaterEqual(len(report['steps']), 3, job)
        if ranks == 2:
            log = (self.folder / report['run']['folder'] / f'rank_{1 - victim}.log').read_text()
            self.assertIn('another rank closed its connection', log, job)


if __name__ == '__main__':
    harness.main()
