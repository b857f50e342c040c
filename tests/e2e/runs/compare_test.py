"""Three real runs beside each other: every figure of `compare` is derived another way, from SQL and from `report`."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness  # noqa: E402

STEPS, SKIPPED = 16, 3


class Compare(harness.ShardlensTest):

    def train(self, name, *more):
        self.json('run', *harness.QUICK, '--ranks', '2', '--steps', str(STEPS), '--set', 'model=tiny', '--name', name, *more)

    def mean_ms(self, name, what, table='step', where='1'):
        """The mean over measured steps of the mean over ranks, by SQL."""
        rows = self.json('query', name, f'select sum({what}) * 1.0 / count(*) from {table} '
                                        f'where step >= {SKIPPED} and {where}')['rows']
        return rows[0][0] / 1e6

    def test_three_runs(self):
        link = ('--link', 'latency_us=100,gbit_per_s=1')
        self.train('many', '--set', 'bucket_cap_mb=1', *link)
        self.train('one', '--set', 'bucket_cap_mb=25', '--set', 'first_bucket_mb=25', *link)
        self.train('no link', '--set', 'bucket_cap_mb=1')
        both = self.json('compare', 'many', 'one', 'no link')
        self.assertEqual([run['name'] for run in both['runs']], ['many', 'one', 'no link'])
        self.assertEqual(len(both['comparisons']), 2)
        for pair in both['comparisons']:
            self.check_pair(pair)
        self.assertEqual({key: both[key] for key in both['comparisons'][0]}, both['comparisons'][0])
        alone = self.json('compare', 'many', 'no link')
        for key in ('figures', 'explained_by', 'phases', 'details'):
            self.assertEqual(alone[key], both['comparisons'][1][key], key)
        # No settings ran twice: that is said, and nothing is claimed to be known between starts.
        self.assertIsNone(both['noise']['between_runs'])
        self.assertTrue(both['spread_within_run_only'])
        self.assertTrue(both['caveat'])
        self.assertIn('not known', both['caveat'])
        text = self.shardlens('compare', 'many', 'one', 'no link').stdout
        for pair in both['comparisons']:
            self.assertIn(f"{pair['second']['name']}: {pair['sentence']}", text)

    def check_pair(self, pair):
        first, second = pair['first']['name'], pair['second']['name']
        difference = self.mean_ms(second, 'end_ns - start_ns') - self.mean_ms(first, 'end_ns - start_ns')
        for shares in ('explained_by', 'phases'):
            self.assertAlmostEqual(sum(share['difference'] for share in pair[shares]), difference, delta=1e-5)
            sizes = [abs(share['difference']) for share in pair[shares]]
            self.assertEqual(sizes, sorted(sizes, reverse=True))
        reports = {name: self.json('report', name)['summary'] for name in (first, second)}
        parts = {share['name']: share for share in pair['explained_by']}
        for name, keys in {'compute': ['compute_ms'], 'idle': ['idle_ms'], 'exposed, waiting': ['exposed_wait_ms']}.items():
            for side, run in (('first', first), ('second', second)):
                self.assertAlmostEqual(parts[name][side], sum(reports[run][key] for key in keys), delta=1e-6)
        direction = 'faster' if difference < 0 else 'slower'
        self.assertTrue(direction in pair['sentence'] or 'beyond noise' in pair['sentence'], pair['sentence'])
        self.check_collectives(pair)
        memory = [detail for detail in pair['details'] if detail['kind'] == 'memory']
        peak = {figure['name']: figure for figure in pair['figures']}['peak of tensors']
        self.assertEqual(sum(detail['difference'] for detail in memory), peak['difference'])

    def check_collectives(self, pair):
        details = {detail['name']: detail for detail in pair['details'] if detail['kind'] == 'bucket'}
        plans = [{bucket['index']: bucket for bucket in self.json('report', pair[side]['name'])['buckets']}
                 for side in ('first', 'second')]
        numbers = set(plans[0]) | set(plans[1])
        same = {number for number in numbers if plans[0].get(number) == plans[1].get(number)}
        self.assertEqual(set(details), {f'bucket {number}' for number in same})
        self.assertEqual(pair['buckets_not_compared'], len(numbers - same))
        self.assertEqual(bool(same), 'one' not in (pair['first']['name'], pair['second']['name']))
        for side in ('first', 'second') if same else ():
            rows = self.json('query', pair[side]['name'],
                             'select sum(end_ns - start_ns) from collective '
                             f"where tag_kind = 'bucket' and tag_index = 0 and step >= {SKIPPED}")['rows']
            per_step = rows[0][0] / 1e6 / 2 / (STEPS - SKIPPED)
            self.assertAlmostEqual(details['bucket 0'][side], per_step, delta=1e-6)

    def test_what_cannot_be_compared(self):
        self.train('a')
        self.train('small', '--set', 'sequence_length=64')
        for names in (['a'], ['a', 'a'], ['a'] * 7):
            outcome = self.shardlens('compare', *names, code=2)
            self.assertIn('compare takes 2 to 6 runs' if len(names) != 2 else 'named twice', outcome.stderr)
        other_work = self.json('compare', 'a', 'small')
        self.assertFalse(other_work['same_work'])
        self.assertIn('tokens per second', other_work['sentence'])


if __name__ == '__main__':
    harness.main()
