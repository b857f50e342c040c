"""What is predicted from a run of one bucket cap, held against a run of another."""
import json

import harness

LINK = ['--link', 'latency_us=200,gbit_per_s=1']


class Prediction(harness.ShardlensTest):
    def run_cap(self, cap, steps='16'):
        name = f'cap {cap}'
        self.json('run', *harness.QUICK, *LINK, '--ranks', '2', '--steps', steps, '--set', f'bucket_cap_mb={cap}', '--name', name)
        return name

    def buckets(self, run):
        return [row[0] for row in self.json('query', run, 'select bytes from bucket where rank = 0 and plan = 1 order by bucket')['rows']]

    def test_buckets_and_transfers_are_those_of_a_run_with_the_other_cap(self):
        small, large = self.run_cap('0.5'), self.run_cap('4')
        for run, other, cap in ((small, large, 4), (large, small, 0.5)):
            predicted = self.json('predict', run, '--set', f'bucket_cap_mb={cap}')
            self.assertEqual(predicted['changed'], {'bucket_cap_mb': f'{cap}', 'first_bucket_mb': f'{cap}'})
            self.assertIsNone(predicted['refused'])
            buckets = predicted['schedule']
            self.assertEqual([bucket['bytes'] for bucket in buckets], self.buckets(other))
            self.assertTrue(all(a['end_ms'] <= b['start_ms'] + 1e-6 for a, b in zip(buckets, buckets[1:])))
            self.assertTrue(all(b['ready_ms'] <= b['start_ms'] for b in buckets))
            # Between measured sizes, of which none moves faster than the link: 8 S 2 (n - 1) / n / 1 Gbit/s + 200 us.
            for bucket in buckets:
                if bucket['bytes'] > 600_000:
                    self.assertGreater(bucket['end_ms'] - bucket['start_ms'], 0.2 + 8 * bucket['bytes'] / 1e6 - 1e-3)

    def test_without_a_change_nothing_is_predicted_to_change(self):
        run = self.run_cap('1')
        predicted = self.json('predict', run)
        self.assertEqual(predicted['changed'], {})
        self.assertAlmostEqual(predicted['step_ms']['mean'], predicted['recorded']['step_ms'], places=6)
        self.assertEqual(predicted['difference_ms'], {'mean': 0, 'low': None, 'high': None})
        self.assertEqual(predicted['peak_memory_bytes'], predicted['recorded']['peak_memory_bytes'])
        slower = self.json('predict', run, '--set', 'simulate_link=latency_us=200,gbit_per_s=0.25')
        self.assertGreater(slower['step_ms']['mean'], predicted['recorded']['step_ms'])
        refused = self.shardlens('predict', run, '--set', 'sharding_strategy=full_shard', '--json', code=2)
        self.assertIn('sharding_strategy', refused.stderr)
        self.assertIn('sharding_strategy', json.loads(refused.stdout)['refused'])

    def test_what_tells_nothing_is_refused_by_name(self):
        self.shardlens('generate', 'made', '--ranks', '2', '--events', '2000')
        self.assertIn('settings are not known', self.shardlens('predict', 'made', code=2).stderr)
        self.json('run', *harness.QUICK, '--ranks', '2', '--steps', '8', '--set', 'record=none', '--name', 'bare')
        self.assertIn('full detail', self.shardlens('predict', 'bare', '--set', 'bucket_cap_mb=1', code=2).stderr)


if __name__ == '__main__':
    harness.main()
