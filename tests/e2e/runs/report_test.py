"""Every figure of a real run's report is computed again from the raw rows, with Python's sqlite3."""
import collections
import pathlib
import re
import sqlite3
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness  # noqa: E402

STEPS, SKIP = 12, 3


class Report(harness.ShardlensTest):
    def setUp(self):
        super().setUp()
        self.report = self.json('run', *harness.QUICK, '--ranks', '2', '--steps', str(STEPS),
                                '--set', 'bucket_cap_mb=1', '--name', 'a')
        folder = next(self.runs.iterdir())
        self.rows = {}
        for table in ('step', 'span', 'collective', 'bucket', 'memory'):
            self.rows[table] = []
            for rank in (0, 1):
                with sqlite3.connect(folder / f'rank_{rank}.sqlite') as connection:
                    connection.row_factory = sqlite3.Row
                    self.rows[table] += [dict(row) for row in
                                         connection.execute(f'select * from "{table}"')]

    def measured(self, rows):
        return [row for row in rows if row['step'] >= SKIP]

    def test_all(self):
        self.check_steps()
        self.check_phases()
        self.check_communication()
        self.check_collectives()
        self.check_bytes_sent()
        self.check_memory()

    def check_steps(self):
        steps = collections.defaultdict(dict)
        for row in self.rows['step']:
            steps[row['step']][row['rank']] = row['end_ns'] - row['start_ns']
        self.assertEqual(sorted(steps), list(range(STEPS)))
        for shown in self.report['steps']:
            self.assertAlmostEqual(shown['ms'], max(steps[shown['step']].values()) / 1e6, places=6)
            self.assertEqual(shown['warmup'], shown['step'] < SKIP)
        means = [statistics.mean(steps[i].values()) / 1e6 for i in range(SKIP, STEPS)]
        step_ms = self.report['summary']['step_ms']
        self.assertEqual(self.report['summary']['steps_measured'], len(means))
        self.assertAlmostEqual(step_ms['mean'], statistics.mean(means), places=6)
        self.assertAlmostEqual(step_ms['median'], statistics.median(means), places=6)
        self.assertAlmostEqual(step_ms['max'], max(means), places=6)
        tokens = sum(row['tokens'] for row in self.measured(self.rows['step'])) / len(means)
        self.assertAlmostEqual(self.report['summary']['tokens_per_s'],
                               tokens / (statistics.mean(means) / 1e3), delta=1e-3)
        losses = {row['step']: row['loss'] for row in self.rows['step'] if row['rank'] == 0}
        self.assertAlmostEqual(self.report['summary']['loss_first'], losses[0], places=9)
        self.assertAlmostEqual(self.report['summary']['loss_last'], losses[STEPS - 1], places=9)

    def check_phases(self):
        sums = collections.Counter()
        for row in self.measured(self.rows['span']):
            if row['depth'] == 0:
                sums[row['phase']] += row['end_ns'] - row['start_ns']
        shown = self.report['summary']['phase_ms']
        for phase in ('data', 'forward', 'backward', 'optimizer'):
            self.assertAlmostEqual(shown[phase], sums[phase] / (STEPS - SKIP) / 2 / 1e6, places=5)

    def check_communication(self):
        """comm is the union of collectives inside the step, here by sweeping sorted intervals."""
        per_step = []
        for step in self.measured(self.rows['step']):
            spans = sorted((max(c['start_ns'], step['start_ns']), min(c['end_ns'], step['end_ns']))
                           for c in self.rows['collective'] if c['rank'] == step['rank'])
            covered, reached = 0, 0
            for start, end in spans:
                if end > max(start, reached):
                    covered += end - max(start, reached)
                    reached = end
            per_step.append(covered / 1e6)
        self.assertAlmostEqual(self.report['summary']['comm_ms'], statistics.mean(per_step), places=5)

    def check_collectives(self):
        counts = collections.Counter()
        for row in self.rows['collective']:
            counts[(row['function'], row['bytes'])] += 1
        shown = collections.Counter()
        for row in self.report['collectives']:
            shown[(row['function'], row['bytes'])] += row['count']
        self.assertEqual(shown, counts)
        buckets = [c for c in self.rows['collective'] if c['tag_kind'] == 'bucket']
        self.assertTrue(all(c['start_ns'] <= c['end_ns'] for c in buckets))
        # Each collective stands once on each rank, with equal sequence and size.
        by_sequence = collections.defaultdict(list)
        for row in self.rows['collective']:
            by_sequence[(row['process_group'], row['sequence'])].append(row)
        for members in by_sequence.values():
            self.assertEqual(sorted(m['rank'] for m in members), [0, 1])
            self.assertEqual(len({(m['function'], m['bytes']) for m in members}), 1)
        self.check_transfer(by_sequence)

    def check_transfer(self, by_sequence):
        transfers = collections.defaultdict(list)
        for members in by_sequence.values():
            latest = max(m['start_ns'] for m in members)
            for m in members:
                key = (m['function'], m['tag_kind'], m['tag_index'], m['bytes'])
                transfers[key].append((m['end_ns'] - latest) / 1e3)
        for row in self.report['collectives']:
            if not re.fullmatch(r'bucket \d+', row['tag'] or ''):
                continue
            key = (row['function'], 'bucket', int(row['tag'].split()[1]), row['bytes'])
            self.assertAlmostEqual(row['transfer_us'], statistics.mean(transfers[key]), delta=0.01)

    def check_bytes_sent(self):
        """Ring all-reduce over 2 ranks: 2(n-1)/n = 1 times the bytes."""
        sent = sum(c['bytes'] for c in self.rows['collective']
                   if c['function'] == 'all_reduce' and c['step'] >= SKIP) / 2 / (STEPS - SKIP)
        self.assertAlmostEqual(self.report['summary']['bytes_sent_per_step'], sent, delta=1)
        gradients = sum(bucket['bytes'] for bucket in self.report['buckets'])
        self.assertGreaterEqual(sent, gradients)
        self.assertLess(sent, gradients + 4096)

    def check_memory(self):
        for rank in self.report['ranks']:
            every = [r for r in self.rows['memory'] if r['rank'] == rank['rank']]
            rows = [r for r in every if r['step'] >= 0]
            categories = list(rank['memory_by_category'])

            def allocated(row):
                return sum(row[f'{c}_bytes'] for c in categories if c != 'outside')

            # Of what was allocated, within steps; the earliest of equals.
            peak = min((r for r in rows if allocated(r) == max(map(allocated, rows))), key=lambda r: r['time_ns'])
            self.assertEqual(rank['memory_by_category'], {c: peak[f'{c}_bytes'] for c in categories})
            self.assertEqual(rank['peak_memory_bytes'], allocated(peak) + peak['outside_bytes'])
            parameters = max(r['parameters_bytes'] for r in rows)
            self.assertEqual(rank['memory_peak_by_category']['parameters'], parameters)
            # fp32 parameters are what DDP reduces: the buckets hold exactly one gradient each.
            gradients = sum(bucket['bytes'] for bucket in self.report['buckets'])
            self.assertEqual({r['parameters_bytes'] for r in every if r['is_peak']}, {gradients})


if __name__ == '__main__':
    harness.main()
