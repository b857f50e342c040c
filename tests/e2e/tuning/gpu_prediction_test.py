"""What is predicted of runs on GPUs that compute nothing (tests/fake_gpu), whose kernels and transfers take times that are
known: only the model can be wrong. Devices have so much to do that their hosts are far ahead of them."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness  # noqa: E402

DEVICE = {'FAKE_GPU_LINK_GB_PER_S': '2', 'FAKE_GPU_MEMORY_MB': '800000'}
JOB = {'device': 'cuda', 'model': 'gpt-162m', 'batch_per_rank': '256', 'sequence_length': '1024', 'precision': 'bf16',
       'loss_chunk_tokens': '131072', 'record': 'every step', 'ranks': '2', 'steps': '7'}
BUCKETS = {'bucket_cap_mb': '25', 'first_bucket_mb': '1'}
POINTS = {
    'cap 100': {'bucket_cap_mb': '100', 'first_bucket_mb': '100'},
    'late': {'overlap_comm': 'false'},
    'zero1': {'sharding_strategy': 'zero1'},
    'two': {'gradient_accumulation_steps': '2'},
}
# Steps of units, by what differs from full_shard.
UNITS = {'sharding_strategy': 'full_shard'}
UNIT_POINTS = {
    'no prefetch': {'backward_prefetch': 'none'},
    'post': {'backward_prefetch': 'post', 'separate_communicators': 'true'},
    'forward prefetch': {'forward_prefetch': 'true'},
    'kept': {'sharding_strategy': 'shard_grad_op'},
    'recomputed': {'activation_checkpointing': '1'},
    'accumulated': {'gradient_accumulation_steps': '2', 'sync_each_batch': 'true'},
    'hybrid': {'sharding_strategy': 'hybrid_shard', 'shard_group_size': '2', 'ranks': '4'},
}
ATTEMPTS, MOST_IDLE = 6, 0.03
STEP_ERROR, EXPOSED_ERROR = 0.02, 0.05
# Without units only operations tell how much of forward is a block's, which is then computed twice.
RECOMPUTED_ERROR = 0.05


class GpuPrediction(harness.ShardlensTest):
    def record(self, name, changes):
        report = self.json('run', '--name', name, '--overwrite', *harness.settings({**JOB, **changes}),
                           env=harness.fake_gpu(**DEVICE))
        return report['summary']

    def run_job(self, name, changes):
        """Once more where this machine was too busy for its hosts to be ahead of their devices, which then are idle."""
        for _ in range(ATTEMPTS):
            summary = self.record(name, changes)
            if summary['idle_ms'] < MOST_IDLE * summary['step_ms']['mean']:
                return summary
        self.fail(f'{name}: devices waited for their hosts in each of {ATTEMPTS} runs')

    def collectives(self, name):
        """Of a step that was measured: function and bytes of those of units and buckets, as rank 0 began them."""
        answer = self.json('query', name, "select function, bytes from collective where rank = 0 and step = 5 and "
                                          "tag_kind in ('unit', 'bucket') order by start_ns")
        return [tuple(row) for row in answer['rows']]

    def check(self, base, base_summary, name, measured, changes, step_error=STEP_ERROR):
        predicted = self.json('predict', base, *harness.settings(changes))
        # For how long a device waits for its host, which is not the model's to know, depends on what else this machine does.
        step_ms = predicted['step_ms']['mean'] - base_summary['idle_ms']
        busy_ms = measured['step_ms']['mean'] - measured['idle_ms']
        print(f"{base} -> {name}: step {step_ms:.1f} predicted, {busy_ms:.1f} measured; "
              f"exposed {predicted['exposed_ms']:.1f}, {measured['exposed_ms']:.1f}", flush=True)
        self.assertAlmostEqual(step_ms / busy_ms, 1, delta=step_error)
        self.assertAlmostEqual(predicted['exposed_ms'] / measured['exposed_ms'], 1, delta=EXPOSED_ERROR)
        calls = sorted(predicted['schedule'], key=lambda call: call['start_ms'])
        calls = [(call['function'], call['bytes']) for call in calls
                 if call['lane'] == 'communication' and call['what'] not in ('gradient norm', 'loss')]
        as_measured = self.collectives(name)
        if 'shard_group_size' in changes:
            # A sum over replicas and the next gather begin together, where a scatter ends: each function by itself.
            calls, as_measured = (sorted(each, key=lambda call: call[0]) for each in (calls, as_measured))
        if name == 'ddp':
            # Units do not tell which of the embeddings' gradients comes first: they end the last buckets.
            whole = len(calls) - 1
            self.assertEqual(sum(size for _, size in calls), sum(size for _, size in as_measured))
            calls, as_measured = calls[:whole], as_measured[:whole]
        self.assertEqual(calls, as_measured)

    def check_buckets(self):
        for name, changes in POINTS.items():
            with self.subTest(name):
                changes = {**BUCKETS, **changes}
                measured = self.run_job(name, changes)
                predicted = self.json('predict', 'ddp', *harness.settings(changes))
                print(f"{name}: step {predicted['step_ms']['mean']:.1f} predicted, {measured['step_ms']['mean']:.1f} measured; "
                      f"exposed {predicted['exposed_ms']:.1f}, {measured['exposed_ms']:.1f}", flush=True)
                self.assertAlmostEqual(predicted['step_ms']['mean'] / measured['step_ms']['mean'], 1, delta=0.05)
                self.assertAlmostEqual(predicted['exposed_ms'] / measured['exposed_ms'], 1, delta=0.1)

    def check_units(self, ddp):
        units = self.run_job('units', UNITS)
        for name, changes in UNIT_POINTS.items():
            changes = {**UNITS, **changes}
            measured = self.run_job(name, changes)
            with self.subTest(f'ddp -> {name}'):
                self.check('ddp', ddp, name, measured, changes, RECOMPUTED_ERROR if name == 'recomputed' else STEP_ERROR)
            with self.subTest(f'units -> {name}'):
                self.check('units', units, name, measured, changes)
        for base, summary, name, measured in (('ddp', ddp, 'units', units), ('units', units, 'ddp', ddp)):
            with self.subTest(f'{base} -> {name}'):
                self.check(base, summary, name, measured, UNITS if name == 'units' else {'sharding_strategy': 'ddp', **BUCKETS})

    def check_what_is_left_out(self):
        predicted = self.json('predict', 'ddp', '--set', 'sharding_strategy=full_shard', '--set', 'cpu_offload=true')
        self.assertEqual(predicted['left_out'], ['cpu_offload'])
        without = self.json('predict', 'ddp', '--set', 'sharding_strategy=full_shard')
        self.assertEqual(predicted['step_ms'], without['step_ms'])
        self.assertNotIn('cpu_offload', predicted['changed'])

    def test_what_is_predicted_is_what_other_settings_do(self):
        ddp = self.run_job('ddp', BUCKETS)
        self.check_what_is_left_out()
        self.check_buckets()
        self.check_units(ddp)


if __name__ == '__main__':
    harness.main()
