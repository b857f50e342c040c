"""Knobs whose effect is seen in how long parts of a real run take."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness  # noqa: E402

LINK = ['--set', 'simulate_link=latency_us=50,gbit_per_s=2']


class Timing(harness.ShardlensTest):
    def run_two_ranks(self, name, *settings, steps='8'):
        return self.json('run', *harness.QUICK, '--ranks', '2', '--steps', steps, '--name', name,
                         '--set', 'bucket_cap_mb=1', *settings)

    def query(self, name, sql):
        return self.json('query', name, sql)['rows']

    def test_without_overlap_buckets_are_reduced_after_backward(self):
        with_overlap = self.run_two_ranks('on', *LINK)['summary']
        without = self.run_two_ranks('off', *LINK, '--set', 'overlap_comm=false')['summary']
        self.assertGreater(with_overlap['overlap_percent'], 2 * without['overlap_percent'])
        self.assertGreater(without['exposed_ms'], with_overlap['exposed_ms'])
        self.assertEqual(with_overlap['loss_last'], without['loss_last'])
        self.assertIn('imulated', self.shardlens('report', 'on').stdout)

    def test_an_injected_delay_lengthens_its_phase_and_makes_the_other_rank_wait(self):
        self.run_two_ranks('late', '--set', 'inject=rank=1,step=3,phase=forward,every=1,delay_ms=80')
        forward = {tuple(row[:2]): row[2] for row in self.query(
            'late', "select rank, step, sum(end_ns - start_ns) / 1e6 from span "
            "where phase = 'forward' and depth = 0 group by rank, step")}
        for step in range(3, 8):
            self.assertGreaterEqual(forward[(1, step)], 80)
        self.assertLess(sorted(forward[(0, step)] for step in range(8))[4], 80)
        waits = self.query('late', "select max(end_ns - start_ns) / 1e6 from collective "
                           "where tag_kind = 'bucket' and rank = 0 and step >= 3 group by step")
        self.assertTrue(all(row[0] > 40 for row in waits), waits)


if __name__ == '__main__':
    harness.main()
