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

    def test_without_overlap_buckets_are_reduced_after_backward(self):
        with_overlap = self.run_two_ranks('on', *LINK)['summary']
        without = self.run_two_ranks('off', *LINK, '--set', 'overlap_comm=false')['summary']
        self.assertGreater(with_overlap['overlap_percent'], 2 * without['overlap_percent'])
        self.assertGreater(without['exposed_ms'], with_overlap['exposed_ms'])
        self.assertEqual(with_overlap['loss_last'], without['loss_last'])
        self.assertIn('imulated', self.shardlens('report', 'on').stdout)


if __name__ == '__main__':
    harness.main()
