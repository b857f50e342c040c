"""Knobs whose effect must be seen in the recording of a real run."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness  # noqa: E402


class Knobs(harness.ShardlensTest):
    def run_two_ranks(self, name, *settings, steps='8'):
        return self.json('run', *harness.QUICK, '--ranks', '2', '--steps', steps, '--name', name,
                         '--set', 'bucket_cap_mb=1', *settings)

    def test_without_communication_nothing_is_reduced_and_the_loss_is_called_invalid(self):
        report = self.run_two_ranks('none', '--set', 'communication=none')
        self.assertIsNone(report['summary']['loss_last'])
        self.assertEqual(
            self.rows('none', "select count(*) from collective where tag_kind = 'bucket'"), [[0]])
        self.assertIn('invalid', self.shardlens('report', 'none').stdout)

    def early_reductions(self, name):
        """Of each step and rank: its buckets, and how many are handed over before its last gradient is ready."""
        return self.rows(name, """
            select count(*), sum(enqueued_ns < last_ready_ns) from collective join
            (select rank, step, max(time_ns) last_ready_ns from bucket_ready group by rank, step) using (rank, step)
            where tag_kind = 'bucket' and step > 0 group by rank, step""")

    def test_without_overlap_buckets_are_reduced_after_backward(self):
        link = ['--set', 'simulate_link=latency_us=50,gbit_per_s=2']
        reports = [self.run_two_ranks('on', *link), self.run_two_ranks('off', *link, '--set', 'overlap_comm=false')]
        buckets = len(reports[0]['buckets'])
        self.assertGreater(buckets, 2)
        self.assertEqual(self.early_reductions('on'), 14 * [[buckets, buckets - 1]])
        self.assertEqual(self.early_reductions('off'), 14 * [[buckets, 0]])
        self.assertEqual(*(report['summary']['loss_last'] for report in reports))
        self.assertIn('imulated', self.shardlens('report', 'on').stdout)

    def test_epochs_decide_the_number_of_steps(self):
        text = self.folder / 'text.txt'
        text.write_text('to be or not to be, that is the question\n' * 60)
        steps = [len(self.json('run', *harness.QUICK, '--ranks', '2', '--name', f'epochs {n}', '--set',
                               f'epochs={n}', '--set', f'data={text}')['steps']) for n in (1, 3)]
        self.assertGreater(steps[0], 1)
        self.assertEqual(steps[1], 3 * steps[0])

    def test_the_schedule_decides_which_steps_have_detail(self):
        self.run_two_ranks('some', '--set', 'record=steps 2..3')
        detail = self.rows('some', 'select step, full_detail from step where rank = 0')
        self.assertEqual([row[0] for row in detail if row[1]], [2, 3])
        steps = {row[0] for row in self.rows(
            'some', "select distinct step from collective where tag_kind = 'bucket'")}
        self.assertEqual(steps, {2, 3})

    def check_allocations(self, name, steps):
        """The lives of allocations add up to the peaks that were counted while the steps ran."""
        events = self.rows(name, 'select rank, step, start_ns, end_ns, bytes from allocation')
        self.assertEqual({(row[0], row[1]) for row in events}, {(r, s) for r in (0, 1) for s in steps})
        changes = {}
        for rank, step, start, end, size in events:
            self.assertGreater(end, start)
            of_step = changes.setdefault((rank, step), [])
            of_step += [(start, 1, size), (end, 0, -size)]
        parts = [f'{part}_bytes' for part in ('parameters', 'gathered_parameters', 'gradients', 'optimizer',
                                              'activations', 'communication', 'other')]
        for (rank, step), of_step in changes.items():
            live = highest = 0
            for _, _, size in sorted(of_step):
                live += size
                highest = max(highest, live)
            counted = self.rows(name, f"select {' + '.join(parts)} from memory where is_peak "
                                f'and rank = {rank} and step = {step}')
            self.assertEqual(counted, [[highest]], (rank, step))

    def test_allocations_of_the_named_steps_add_up_to_their_peaks(self):
        for strategy in ('ddp', 'full_shard'):
            self.run_two_ranks(strategy, '--set', 'record_allocations=steps 2..3', '--set',
                               f'sharding_strategy={strategy}', steps='6')
            self.check_allocations(strategy, (2, 3))
            categories = {row[0] for row in self.rows(
                strategy, 'select distinct category from allocation')}
            self.assertLessEqual({'parameters', 'optimizer', 'activations'}, categories)
            self.assertEqual(self.rows(strategy, 'select * from lost'), [])

    def test_the_loss_is_read_as_often_as_asked_and_is_the_same(self):
        def by_step(report):
            return {step['step']: step['loss'] for step in report['steps']}
        every = self.run_two_ranks('every', '--set', 'record_allocations=off')
        self.assertEqual(self.rows('every', 'select count(*) from allocation'), [[0]])
        seldom = self.run_two_ranks('seldom', '--set', 'loss_every=3')
        losses = by_step(every)
        self.assertEqual(by_step(seldom), {step: losses[step] if step in (0, 3, 6, 7) else None for step in range(8)})
        self.assertEqual(seldom['summary']['loss_last'], losses[7])
        agreements = "select count(distinct step) from collective where tag = 'loss' and step >= 0"
        self.assertEqual(self.rows('every', agreements), [[8]])
        self.assertEqual(self.rows('seldom', agreements), [[4]])
        report = self.shardlens('report', 'seldom').stdout
        self.assertNotIn('nan', report)
        self.assertNotIn('NaN', report)

    def test_the_environment_of_libraries_is_noted_and_nothing_else(self):
        environment = dict(os.environ, NCCL_PROTO='LL', SOME_SECRET='x')
        report = self.json('run', *harness.QUICK, '--ranks', '1', '--steps', '2', '--name', 'noted', '--set',
                           'nccl_algo=Ring', '--set', 'threads_per_rank=1', env=environment)
        noted = report['run']['environment']
        self.assertEqual(noted['NCCL_PROTO'], 'LL')
        self.assertEqual(noted['OMP_NUM_THREADS'], '1')
        self.assertNotIn('SOME_SECRET', noted)
        self.assertNotIn('NCCL_ALGO', noted, 'a CPU has no use for it')
        self.assertIn('NCCL_PROTO=LL', self.shardlens('report', 'noted').stdout)
        refused = self.shardlens('run', '--set', 'nccl_algo=Rnig', code=2)
        self.assertIn('Ring, Tree', refused.stderr)

    def test_without_detail_steps_phases_and_losses_stay(self):
        report = self.run_two_ranks('bare', '--set', 'record=none')
        self.assertEqual(len(report['steps']), 8)
        self.assertIsNotNone(report['summary']['loss_last'])
        self.assertIsNone(report['summary']['compute_ms'])
        self.assertGreater(report['summary']['phase_ms']['backward'], 0)
        self.assertEqual(self.rows('bare', 'select count(*) from chunk'), [[0]])
        # What ends while the recorder waits is evidence of how far the rank came, and no recorded collective.
        self.assertEqual(self.rows('bare', 'select count(*) from collective'), [[0]])
        self.assertEqual(report['collectives'], [])
        for rank in report['ranks']:
            self.assertEqual(set(rank['totals'].values()), {None})


if __name__ == '__main__':
    harness.main()
