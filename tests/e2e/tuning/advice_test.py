"""What report --advice says of short runs that were made to need it, and of one that was not."""
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness  # noqa: E402

LINK = ['--link', 'latency_us=20000,gbit_per_s=1']
KEYS = {'rule', 'title', 'sentence', 'measured', 'evidence', 'gain_ms', 'gain_unknown', 'saved_bytes', 'costs', 'settings'}


class Advice(harness.ShardlensTest):
    def train(self, name, *settings, link=(), steps='16'):
        options = [option for setting in settings for option in ('--set', setting)]
        self.json('run', *harness.QUICK, *link, '--ranks', '2', '--steps', steps, *options, '--name', name)

    def advice(self, run):
        all_of_it = self.json('report', run, '--advice')['advice']
        for advice in all_of_it:
            self.assertEqual(set(advice), KEYS)
            self.assertTrue(advice['evidence'])
            self.assertNotEqual(advice['gain_ms'] is None, advice['gain_unknown'] is None)
        return {advice['rule']: advice for advice in all_of_it}

    def test_a_gain_is_what_predict_says(self):
        # Eight buckets or more, one behind the other, each with 20 ms of latency.
        self.train('small buckets', 'bucket_cap_mb=0.5', 'overlap_comm=false', link=LINK)
        cap = self.advice('small buckets')['bucket_cap']
        self.assertGreater(float(cap['settings']['bucket_cap_mb']), 0.5)
        settings = [option for knob, value in cap['settings'].items() for option in ('--set', f'{knob}={value}')]
        predicted = self.json('predict', 'small buckets', *settings)['difference_ms']
        self.assertAlmostEqual(cap['gain_ms']['mean'], -predicted['mean'], places=6)
        self.assertAlmostEqual(cap['gain_ms']['low'], -predicted['high'], places=6)
        self.assertGreater(cap['gain_ms']['low'], 0)
        shown = cap['evidence'][0]
        steps = {row['step']: row['ms'] for row in self.json('report', 'small buckets')['steps']}
        self.assertIn(shown['step'], steps)
        self.assertLess((shown['end_ns'] - shown['start_ns']) / 1e6, steps[shown['step']])
        text = self.shardlens('report', 'small buckets', '--advice').stdout
        self.assertIn(f'{cap["title"]}: saves ', text)
        self.assertIn(f'Try it: bucket_cap_mb={cap["settings"]["bucket_cap_mb"]}', text)

    def test_a_late_rank_is_named_with_its_phase(self):
        self.train('late', 'inject=rank=1,step=0,every=1,phase=forward,delay_ms=300', steps='36')
        straggler = self.advice('late')['straggler']
        self.assertEqual(straggler['title'], 'Find what makes rank 1 late in forward')
        self.assertEqual({evidence['rank'] for evidence in straggler['evidence']}, {1})
        self.assertEqual(straggler['settings'], {})
        # The delay lengthens its phase and makes the other rank wait.
        forward = {(rank, step): ms for rank, step, ms in self.rows(
            'late', "select rank, step, sum(end_ns - start_ns) / 1e6 from span "
            "where phase = 'forward' and depth = 0 group by rank, step")}
        steps = range(36)
        self.assertGreaterEqual(min(forward[1, step] for step in steps), 300)
        self.assertLess(statistics.median(forward[0, step] for step in steps), 300)
        waits = self.rows('late', "select max(end_ns - start_ns) / 1e6 from collective "
                          "where tag_kind = 'bucket' and rank = 0 group by step")
        self.assertGreater(statistics.median(ms for [ms] in waits), 150)

    def test_without_the_option_or_steps_nothing_is_said(self):
        self.train('short', steps='2')
        self.assertNotIn('advice', self.json('report', 'short'))
        self.assertEqual(self.advice('short'), {})
        self.assertIn('No step was measured', self.shardlens('report', 'short', '--advice').stdout)


if __name__ == '__main__':
    harness.main()
