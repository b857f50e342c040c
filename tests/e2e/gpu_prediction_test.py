"""What is predicted of runs on GPUs that compute nothing (tests/fake_gpu), whose kernels and transfers take times that are
known: only the model can be wrong. Devices have so much to do that their hosts are far ahead of them."""
import harness

LINK_GB_PER_S = '4'
JOB = ['--set', 'device=cuda', '--set', 'model=gpt-162m', '--set', 'batch_per_rank=128', '--set', 'sequence_length=1024',
       '--set', 'precision=bf16', '--set', 'record=every step', '--ranks', '2', '--steps', '12']
POINTS = {
    'cap 100': {'bucket_cap_mb': '100', 'first_bucket_mb': '100'},
    'late': {'overlap_comm': 'false'},
    'zero1': {'sharding_strategy': 'zero1'},
    'two': {'gradient_accumulation_steps': '2'},
}


class GpuPrediction(harness.ShardlensTest):
    def run_job(self, name, changes):
        options = [part for key, value in changes.items() for part in ('--set', f'{key}={value}')]
        report = self.json('run', *JOB, '--name', name, *options,
                           env=harness.fake_gpu(FAKE_GPU_LINK_GB_PER_S=LINK_GB_PER_S))
        return report['summary']

    def test_steps_and_what_is_exposed_are_those_of_the_other_run(self):
        self.run_job('base', {'bucket_cap_mb': '25', 'first_bucket_mb': '1'})
        for name, changes in POINTS.items():
            with self.subTest(name):
                changes = {'bucket_cap_mb': '25', 'first_bucket_mb': '1', **changes}
                measured = self.run_job(name, changes)
                options = [part for key, value in changes.items() for part in ('--set', f'{key}={value}')]
                predicted = self.json('predict', 'base', *options)
                print(f"{name}: step {predicted['step_ms']['mean']:.1f} predicted, {measured['step_ms']['mean']:.1f} measured; "
                      f"exposed {predicted['exposed_ms']:.1f}, {measured['exposed_ms']:.1f}", flush=True)
                self.assertAlmostEqual(predicted['step_ms']['mean'] / measured['step_ms']['mean'], 1, delta=0.05)
                self.assertAlmostEqual(predicted['exposed_ms'] / measured['exposed_ms'], 1, delta=0.1)

    def test_units_of_a_gpu_are_refused_by_name(self):
        self.run_job('base', {'bucket_cap_mb': '25', 'first_bucket_mb': '1'})
        refused = self.shardlens('predict', 'base', '--set', 'sharding_strategy=full_shard', code=2)
        self.assertIn('streams', refused.stderr)


if __name__ == '__main__':
    harness.main()
