"""`shardlens calibrate`: what it keeps and what it takes from others. How long transfers take is in simulated_link_test.py."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness  # noqa: E402

LINK = ['--link', 'latency_us=500,gbit_per_s=0.5']
TWO_RANKS = ['--device', 'cpu', '--ranks', '2']
TABLE = '''size(B),count,type,time(ns),busbw(GB/s)
1048576,262144,float,44210,23.72
2097152,524288,float,53430,39.25
'''


class Calibrate(harness.ShardlensTest):
    def setUp(self):
        super().setUp()
        self.temporary = self.folder / 'tmp'
        self.temporary.mkdir()
        self.environment = dict(os.environ, TMPDIR=str(self.temporary))

    def kept(self):
        return sorted((self.runs / '.shardlens-costs').glob('*'))

    def test_a_second_one_replaces_the_first_and_another_link_does_not(self):
        for link in ([], [], LINK):
            done = self.shardlens('calibrate', *TWO_RANKS, *link, '--seconds', '0.3', env=self.environment)
        self.assertIn('all_reduce', done.stdout)
        self.assertIn('simulated link of 0.5 Gbit/s', done.stdout)
        self.assertIn('left out', done.stdout)
        self.assertEqual(len(self.kept()), 2)
        self.assertIn(done.stdout.splitlines()[-1], [str(file) for file in self.kept()])

    def test_on_gpus_it_is_nccl_that_is_measured(self):
        # GPUs that compute nothing; their collectives take a time that grows with the size.
        report = self.json('calibrate', '--device', 'cuda', '--ranks', '2', '--seconds', '3',
                           env=harness.fake_gpu(TMPDIR=str(self.temporary)))
        self.assertEqual((report['backend'], report['device'], report['simulated_link']), ('nccl', 'cuda', None))
        self.assertIn('Fake GPU', report['device_name'])
        self.assertIn('NCCL', report['versions'])
        for function in ('all_reduce', 'all_gather', 'reduce_scatter', 'broadcast'):
            times = {row['bytes']: row['transfer_ms']['median'] for row in report['costs'] if row['function'] == function}
            self.assertGreater(len(times), 4, function)
            self.assertGreater(times[max(times)], times[min(times)], function)
        self.assertEqual(list(self.temporary.iterdir()), [])

    def test_tables_of_nccl_tests_are_read_in(self):
        table = self.folder / 'table.csv'
        table.write_text(TABLE)
        known = ['calibrate', '--from', str(table), '--function', 'all_reduce', '--ranks', '2']
        self.assertIn('-o FILE', self.shardlens(*known, code=2).stderr, 'whose device it was is not known')
        report = self.json(*known, '-o', str(self.folder / 'a100.json'))
        self.assertEqual([(row['bytes'], row['transfer_ms']['median']) for row in report['costs']],
                         [(1048576, 0.04421), (2097152, 0.05343)])
        self.assertEqual([row['transfer_ms']['lower_quartile'] for row in report['costs']], [None, None])
        self.assertAlmostEqual(report['costs'][0]['busbw_gb_per_s'], 23.72, places=2)
        self.assertIsNone(report['device_name'])
        self.assertEqual(self.kept(), [])
        self.assertIn('exists already', self.shardlens(*known, '-o', str(self.folder / 'a100.json'), code=2).stderr)
        self.shardlens(*known, '-o', str(self.folder / 'a100.json'), '--overwrite')

        table.write_text('# Collective test starting: all_reduce_perf\n'
                         '#  Rank  0 Group  0 Pid  1 on   a device  0 [0x06] NVIDIA A100\n'
                         '#  Rank  1 Group  0 Pid  1 on   a device  1 [0x07] NVIDIA A100\n' + TABLE)
        self.assertEqual(self.json('calibrate', '--from', str(table))['device_name'], 'NVIDIA A100')
        self.assertEqual(len(self.kept()), 1)

    def test_wrong_use_starts_nothing(self):
        table = self.folder / 'none.txt'
        for arguments, word in ((['--ranks', '1'], '--ranks 2'), (['--seconds', '0'], '--seconds'), (['--steps', '3'], '--steps'),
                                (['--set', 'no_such=1'], 'no_such'), (['--function', 'all_reduce'], '--from'),
                                (['--from', str(table), '--device', 'cpu'], '--device'),
                                (['--from', str(table), '--function', 'all_around'], 'all_around'),
                                (['--link', 'fast'], 'latency_us'), ([str(table)], 'none.txt')):
            self.assertIn(word, self.shardlens('calibrate', *arguments, code=2).stderr)
        self.assertIn('none.txt', self.shardlens('calibrate', '--from', str(table), code=1).stderr)
        table.write_text('hello\n')
        self.assertIn('none.txt', self.shardlens('calibrate', '--from', str(table), code=1).stderr)
        self.assertFalse(self.runs.exists())


if __name__ == '__main__':
    harness.main()
