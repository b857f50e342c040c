"""What `shardlens calibrate` measures of a link that is simulated."""
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness  # noqa: E402

LATENCY_MS, GBIT_PER_S = 0.5, 0.5
PATIENCE = float(os.environ.get('SHARDLENS_TEST_PATIENCE', '1'))  # seconds; more where the machine is busy
# Bytes sent per byte, docs/NUMBERS.md: of two ranks.
FACTORS = {'all_reduce': 1, 'all_gather': 0.5, 'reduce_scatter': 0.5, 'broadcast': 1}


class SimulatedLink(harness.ShardlensTest):
    def test_transfers_on_a_simulated_link_take_its_formula(self):
        output, temporary = self.folder / 'costs.json', self.folder / 'tmp'
        temporary.mkdir()
        report = self.json('calibrate', '--device', 'cpu', '--ranks', '2', '--link',
                           f'latency_us={LATENCY_MS * 1000:g},gbit_per_s={GBIT_PER_S:g}', '--seconds', '3', '-o', str(output),
                           env=dict(os.environ, TMPDIR=str(temporary)))
        self.assertEqual((report['backend'], report['ranks'], report['device'], report['seconds']), ('gloo', 2, 'cpu', 3))
        self.assertEqual(report['simulated_link'], {'latency_us': LATENCY_MS * 1000, 'gbit_per_s': GBIT_PER_S})
        self.assertEqual({row['function'] for row in report['costs']}, set(FACTORS))
        for row in report['costs']:
            link_ms = LATENCY_MS + 8 * row['bytes'] * FACTORS[row['function']] / GBIT_PER_S / 1e6
            median_ms = row['transfer_ms']['median']
            # The last rank's start is recorded a moment before the one that the ranks agree on.
            self.assertGreaterEqual(median_ms, link_ms, row)
            # Of both ranks and the machine: waking up takes some, and of a busy machine most of them take longer.
            self.assertLess(row['transfer_ms']['lower_quartile'], 1.2 * link_ms + 2 * PATIENCE, row)
            self.assertGreaterEqual(row['count'], 3, row)
            if row['function'] == 'all_reduce':
                self.assertAlmostEqual(row['algbw_gb_per_s'], row['bytes'] / median_ms / 1e6, places=9)
                self.assertAlmostEqual(row['busbw_gb_per_s'], row['algbw_gb_per_s'], places=9)
        reductions = [row for row in report['costs'] if row['function'] == 'all_reduce']
        self.assertEqual(reductions[0]['bytes'], 1024)
        self.assertGreaterEqual(reductions[-1]['bytes'], 1 << 20)
        self.assertGreater(reductions[0]['count'], reductions[-1]['count'])

        [kept] = (self.runs / '.shardlens-costs').glob('*')
        self.assertEqual(str(kept), report['files'][0])
        self.assertEqual(json.loads(output.read_text()), json.loads(kept.read_text()))
        self.assertEqual(self.run_folders(), [], 'no run is left')
        self.assertEqual(list(temporary.iterdir()), [])
        self.assertEqual(self.json('runs'), [], 'the library passes over what is kept')


if __name__ == '__main__':
    harness.main()
