"""Every sharding strategy through the real programs: same losses, what is recorded, what is refused, how ranks die."""
import json
import os
import pathlib
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness  # noqa: E402

STRATEGIES = ['ddp', 'zero1', 'no_shard', 'shard_grad_op', 'full_shard']
# Where those who stay wait in other collectives than after another phase or with another strategy.
LEAVES_IN = {'ddp': ['data', 'forward', 'backward', 'optimizer'], 'zero1': ['backward', 'optimizer'], 'no_shard': ['backward'],
             'shard_grad_op': ['forward', 'backward'], 'full_shard': ['data', 'forward', 'backward', 'optimizer'],
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
        return self.json('run', *harness.QUICK, '--set', f'data={self.text}', '--ranks', ranks, '--steps', steps,
                         '--name', name, *settings, code=code)

    def query(self, name, sql):
        return self.json('query', name, sql)['rows']

    def test_full_shard_halves_what_is_kept_tags_collectives_with_their_unit_and_prefetches(self):
        ddp, full = self.run_ranks('ddp'), self.run_ranks('full', '--set', 'zero_stage=3')
        for category in ('parameters', 'optimizer'):
            ratio = (full['ranks'][1]['memory_by_category'][category] / ddp['ranks'][1]['memory_by_category'][category])
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

        prefetched = "select count(*) from collective where rank = 0 and step = 4 and tag like '%backward gather, prefetched'"
        self.assertEqual(self.query('full', prefetched), [[5]])
        for mode, expected in (('post', 4), ('none', 0)):
            self.run_ranks(mode, *strategy('full_shard'), '--set', f'backward_prefetch={mode}')
            self.assertEqual(self.query(mode, prefetched), [[expected]], mode)

    def test_measured_peaks_are_those_of_the_estimate_and_losses_the_same(self):
        mib, losses = 1 << 20, {}
        cases = {s: strategy(s) for s in STRATEGIES + ['hybrid_shard_zero2']}
        cases['16 bits'] = [*strategy('full_shard'), '--set', 'param_dtype=bf16']
        cases['16 bits, sums in 32'] = [*cases['16 bits'], '--set', 'reduce_dtype=fp32']
        cases['autocast'] = [*strategy('shard_grad_op'), '--set', 'precision=bf16']
        cases['recompute'] = [*strategy('full_shard'), '--set', 'activation_checkpointing=1']
        cases['accumulation'] = [*strategy('zero1'), '--set', 'gradient_accumulation_steps=2']
        cases['one unit'] = [*strategy('full_shard'), '--set', 'wrap_policy=whole_model']
        cases['small'] = [*strategy('shard_grad_op'), '--set', 'model=small']
        dear = ('16 bits', '16 bits, sums in 32', 'autocast', 'small')  # the second step has all that later ones have
        for name, settings in cases.items():
            # The estimate has every collective under way until somebody waits for it, as on a slow link.
            report = self.run_ranks(f'memory {name}', *settings, '--set', 'shard_group_size=2', '--set',
                                    'batch_per_rank=8', '--set', 'simulate_link=latency_us=100,gbit_per_s=1',
                                    steps='2' if name in dear else '4')
            losses[name] = report['summary']['loss_last']
            # Of the rank that needs most: whole parameters cannot be divided evenly by ZeRO-1.
            for category, estimate in report['ranks'][0]['memory_estimate_by_category'].items():
                if category in ('other', 'outside'):
                    continue
                measured = max(r['memory_peak_by_category'][category] for r in report['ranks'])
                self.assertAlmostEqual(measured / mib, estimate / mib, delta=max(0.05 * estimate / mib, 1),
                                       msg=f'{name}, {category}: MiB measured, estimated')
        for name in (*STRATEGIES, 'hybrid_shard_zero2', 'recompute', 'one unit'):
            self.assertAlmostEqual(losses[name] / losses['ddp'], 1, delta=1e-5, msg=name)

    def test_hybrid_shards_in_groups_and_sums_over_replicas(self):
        report = self.run_ranks('hybrid', *HYBRID, ranks='4')
        self.assertEqual({u['shard_count'] for u in report['units']}, {2})
        groups = {tuple(row) for row in self.query('hybrid', 'select rank, name, ranks from process_group')}
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
        [[even]] = self.query('even', 'select sum(samples) from step')
        self.assertEqual(even % 3, 0)
        for s in ('ddp', 'full_shard'):
            self.run_ranks(s, *strategy(s), *settings, '--set', 'uneven_inputs=join', ranks='3')
            [[joined]] = self.query(s, 'select sum(samples) from step')
            self.assertLess(joined, even, 'padding repeats sequences')

    def test_contradictions_are_refused_before_ranks_start(self):
        for settings, words in ((['cpu_offload=true'], 'ddp has none'),
                                (['sharding_strategy=hybrid_shard', 'shard_group_size=2', 'ranks=3'], 'divide'),
                                (['precision=fp16'], 'bf16 on the CPU'),
                                (['sharding_strategy=full_shard', 'min_num_params=0'], 'min_num_params'),
                                (['sharding_strategy=full_shard', 'use_orig_params=false'], 'always true')):
            arguments = [part for each in settings for part in ('--set', each)]
            done = self.shardlens('run', '--device', 'auto', '--steps', '2', '--name', 'bad', *arguments, code=2)
            self.assertIn(words, done.stderr)
        self.assertFalse(self.runs.exists() and any('bad' in p.name for p in self.runs.iterdir()))

    def test_a_rank_that_leaves_in_any_phase_ends_the_run(self):
        for name, phases in LEAVES_IN.items():
            for phase in phases:
                self.check_that_leaving_ends_the_run(name, phase)

    def check_that_leaving_ends_the_run(self, name, phase):
        ranks, settings = (4, HYBRID) if name == 'hybrid_shard' else (2, strategy(name))
        job = f'{name} {phase}'
        victim = ranks - 1 if phase in ('data', 'backward') else 0
        report = self.run_ranks(job, *settings, '--set', f'inject=rank={victim},step=3,phase={phase},exit', ranks=str(ranks),
                                steps='40', code=1)
        self.assertEqual(report['run']['status'], 'failed', job)
        self.assertIn(f'rank {victim}', report['run']['reason'], job)
        self.assertGreaterEqual(len(report['steps']), 3, job)

    def test_a_killed_rank_of_a_hybrid_job_ends_all(self):
        job = self.start('run', *harness.QUICK, '--ranks', '4', '--steps', '100000', '--name', 'killed', *HYBRID)
        harness.wait_until(lambda: self.steps_of('killed') >= 2, 60, 'two steps')
        [victim] = [int(line.split()[0]) for line in self.rank_processes() if self.rank_of(line) == 3]
        os.kill(victim, signal.SIGKILL)
        _, errors = job.communicate(timeout=60)
        self.assertEqual(job.returncode, 1, errors)
        self.assertIn('rank 3', self.json('report', 'killed')['run']['reason'])

    def steps_of(self, name):
        done = subprocess.run([harness.SHARDLENS, 'query', name, 'select count(*) from step', '--json',
                                       '--runs-dir', str(self.runs)], capture_output=True, text=True)
        return json.loads(done.stdout)['rows'][0][0] if done.returncode == 0 else 0

    @staticmethod
    def rank_of(line):
        environment = pathlib.Path(f'/proc/{line.split()[0]}/environ').read_bytes().split(b'\0')
        return next(int(e[5:]) for e in environment if e.startswith(b'RANK='))


if __name__ == '__main__':
    harness.main()
