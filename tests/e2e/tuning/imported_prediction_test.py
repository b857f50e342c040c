"""Traces of PyTorch's own DDP: the buckets that an import finds, and those that it predicts, are PyTorch's."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness, torch_traces  # noqa: E402

SAMPLES = pathlib.Path(os.environ.get('SHARDLENS_SAMPLES', '/nonexistent'))

# Two ranks over Gloo; one job after the other, each profiled, with what PyTorch says of its buckets.
PROGRAM = '''
import torch, traced_job
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook
from torch.nn.parallel import DistributedDataParallel

WIDTHS = [300, 900, 60, 1100, 400, 700, 40, 1200, 250, 800, 500, 90, 300]

def build():
    torch.manual_seed(0)
    layers = [l for a, b in zip(WIDTHS, WIDTHS[1:]) for l in (torch.nn.Linear(a, b), torch.nn.GELU())]
    return torch.nn.Sequential(*layers)

def train(trace, hook=None, micro_batches=1, record_shapes=True, **options):
    model = DistributedDataParallel(build(), **options)
    if hook: model.register_comm_hook(None, hook)

    def backward(is_last):
        model.require_backward_grad_sync = is_last
        model(torch.randn(48, WIDTHS[0])).square().mean().backward()

    traced_job.train(model, trace, backward, 5, micro_batches, warmup=3, record_shapes=record_shapes)
    said = model._get_ddp_logging_data()
    sizes = said.get('rebuilt_bucket_sizes') or said['bucket_sizes']
    return [int(size) for size in sizes.split(',')]

def train_all(trace):
    jobs = {'default': {}, 'views': {'bucket_cap_mb': 4, 'gradient_as_bucket_view': True},
            'one': {'bucket_cap_mb': 1}, 'quarter': {'bucket_cap_mb': 0.25}, 'large': {'bucket_cap_mb': 25},
            'hook': {'hook': fp16_compress_hook}, 'accumulated': {'micro_batches': 2},
            'unused': {'find_unused_parameters': True}, 'shapeless': {'record_shapes': False}}
    return {name: train(trace(name), **options) for name, options in jobs.items()}

if __name__ == '__main__':
    traced_job.run(train_all)
'''
CAPS = {'default': (25, 1), 'views': (4, 4), 'one': (1, 1), 'quarter': (0.25, 0.25), 'large': (25, 25)}


class ImportedPrediction(torch_traces.TorchTracesTest):
    PROGRAM = PROGRAM

    def bucket_bytes(self, predicted):
        return [event['bytes'] for event in predicted['schedule'] if event['what'].startswith('bucket')]

    def test_buckets_found_and_predicted_are_those_of_pytorch(self):
        for name in CAPS:
            with self.subTest(name):
                self.assertEqual(self.imported[name]['warnings'], [])
                report = self.json('report', name)
                self.assertEqual([bucket['bytes'] for bucket in report['buckets']], self.said[name])
                self.assertEqual(sum(bucket['tensors'] for bucket in report['buckets']), 24)
                self.assertIsNone(report['run']['settings'])
                phases = report['summary']['phase_ms']
                self.assertGreater(min(phases['forward'], phases['backward'], phases['optimizer']), 0)
        self.assertEqual(sum(self.said['views']), sum(self.said['quarter']))
        predicted = 0
        for name in ('default', 'views', 'one', 'quarter'):
            for other, (cap, first) in CAPS.items():
                changes = [f'bucket_cap_mb={cap}', f'first_bucket_mb={first}']
                answer = self.shardlens_answer(name, changes)
                if answer is None: continue
                self.assertEqual(self.bucket_bytes(answer), self.said[other], f'{name} → {other}')
                predicted += 1
                if name == other: self.assertEqual(answer['changed'], {}, 'as recorded')
        self.assertGreaterEqual(predicted, 10)

    def shardlens_answer(self, run, changes):
        """None where the run moved no sizes that tell what those would take, which is the only reason."""
        done = subprocess.run([harness.SHARDLENS, 'predict', run, *harness.settings(changes), '--json', '--runs-dir',
                               str(self.runs)], capture_output=True, text=True, cwd=self.folder)
        answer = json.loads(done.stdout)
        if answer['refused'] is None: return answer
        self.assertIn('moved no sizes near', answer['refused'])
        self.assertIn('--costs FILE', answer['refused'])
        return None

    def test_what_a_trace_tells_can_be_changed_and_the_rest_is_refused_by_name(self):
        recorded = self.predicted('views')['recorded']['step_ms']
        self.assertGreater(self.predicted('views', 'simulate_link=latency_us=500,gbit_per_s=0.5')['step_ms']['mean'], recorded)
        self.assertEqual(self.predicted('views', 'overlap_comm=false')['changed'], {'overlap_comm': 'false'})
        self.assertEqual(self.predicted('views', 'learning_rate=0.5')['without_effect'], ['learning_rate'])
        halved = self.predicted('default', 'communication_hook=bf16_compress')
        self.assertEqual(self.bucket_bytes(halved), [size // 2 for size in self.said['default']])
        self.assertEqual(halved['in_program'],
                         {'communication_hook': 'model.register_comm_hook(None, default_hooks.bf16_compress_hook)'})
        # Recorded with a hook: without it, sums are of 32 bits again.
        self.assertEqual(self.bucket_bytes(self.predicted('hook')), [size // 2 for size in self.said['hook']])
        self.assertEqual(self.bucket_bytes(self.predicted('hook', 'communication_hook=none')), self.said['default'])
        accumulated = self.predicted('accumulated', 'gradient_accumulation_steps=4')
        self.assertEqual(accumulated['samples_ratio'], 2)
        for knob in ('batch_per_rank=4', 'sharding_strategy=full_shard', 'ranks=4', 'model=gpt2-small'):
            self.assertIn(f'What {knob.split("=")[0]} does', self.refused('views', 'bucket_cap_mb=1', knob))
        self.assertIn('does not tell all settings',
                      self.shardlens('run', *harness.QUICK, '--steps', '4', '--predict-from', 'views', code=2).stderr)

    def test_what_a_trace_lacks_is_said(self):
        self.assertIn('record_shapes=True', self.refused('shapeless'))
        self.assertEqual(self.imported['unused']['warnings'], [])
        self.assertEqual([bucket['bytes'] for bucket in self.json('report', 'unused')['buckets']], self.said['unused'])
        self.assertIn('find_unused_parameters', self.refused('unused'))
        used = self.json('query', 'unused', "select distinct bytes from collective where tag = 'used parameters'")
        self.assertEqual(used['rows'], [[24 * 4]], 'how often each of 24 parameters was used')
        self.json('import', str(self.traces / 'one.rank0.json'), '-o', 'alone')
        self.assertIn('Import the files of all ranks together', self.refused('alone'))

    @unittest.skipUnless(SAMPLES.is_dir(), 'no public traces here')
    def test_a_public_trace_has_the_buckets_that_were_found_in_it(self):
        file = SAMPLES / 'hta' / 'ddp_resnet50_a100_rank0of2.json.gz'
        self.assertEqual(self.json('import', str(file), '-o', 'resnet')['warnings'], [])
        buckets = self.json('report', 'resnet')['buckets']
        self.assertEqual([bucket['bytes'] // 4 for bucket in buckets], [2049000, 7875584, 6563840, 6637568, 2431040])
        self.assertEqual({bucket['tensors'] for bucket in buckets}, {None}, 'it has no shapes')
        self.assertIn('of all ranks', self.refused('resnet', 'bucket_cap_mb=5'))


if __name__ == '__main__':
    harness.main()
