"""Traces of PyTorch's own fully_shard: the units that an import finds, and the schedules that it predicts, are PyTorch's."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness, torch_traces  # noqa: E402

STEPS = 4


def program(ranks, jobs):
    """What PyTorch says of each of the jobs is how many elements its units hold."""
    return f'''
import torch, traced_job
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = torch.nn.Linear(width, 4 * width + 1), torch.nn.Linear(4 * width + 1, width)

    def forward(self, x): return x + self.down(torch.nn.functional.gelu(self.up(x)))

class Model(torch.nn.Module):
    def __init__(self, width=192, blocks=5):
        super().__init__()
        self.embedding = torch.nn.Embedding(1001, width)
        self.blocks = torch.nn.ModuleList(Block(width) for _ in range(blocks))
        self.head = torch.nn.Linear(width, 1001)

    def forward(self, x):
        x = self.embedding(x)
        for block in self.blocks: x = block(x)
        return self.head(x)

def padded(module, inner=()):
    """Elements of its parameters, each padded to be cut in two along its first dimension."""
    of_inner = {{id(p) for m in inner for p in m.parameters()}}
    return sum((p.shape[0] + p.shape[0] % 2) * p[0].numel() for p in module.parameters() if id(p) not in of_inner)

def train(trace, micro_batches=1, each=False, explicit=False, nested=False, **options):
    torch.manual_seed(0)
    model = Model()
    elements = {{'root': padded(model, model.blocks)}}
    elements |= {{f'blocks.{{i}}': padded(block) for i, block in enumerate(model.blocks)}}
    if nested: fully_shard(model.blocks[1].up, **options)
    for block in model.blocks: fully_shard(block, **options)
    fully_shard(model, mp_policy=options.get('mp_policy', MixedPrecisionPolicy()), mesh=options.get('mesh'))
    if explicit:
        for a, b in zip([model, *model.blocks], model.blocks): a.set_modules_to_forward_prefetch([b])

    def backward(is_last):
        model.set_requires_gradient_sync(each or is_last)
        x = torch.randint(0, 1001, (8, 48))
        torch.nn.functional.cross_entropy(model(x).float().flatten(0, 1), x.flatten()).backward()

    traced_job.train(model, trace, backward, {STEPS}, micro_batches)
    return elements

def train_all(trace):
    halved = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    if {ranks} > 2: torch.distributed.new_group([0, 2])  # so that ranks list the mesh's groups at different places
    mesh = init_device_mesh('cpu', ({ranks} // 2, 2), mesh_dim_names=('replicate', 'shard')) if {ranks} > 2 else None
    jobs = {jobs}
    return {{name: train(trace(name), **options) for name, options in jobs.items()}}

if __name__ == '__main__':
    traced_job.run(train_all, {ranks})
'''


BLOCKS = [f'blocks.{i}' for i in range(5)]


def calls(strategy, micro_batches=1, each=False, ahead=False):
    """The unit collectives of a step, in order, as torch/distributed/fsdp/_fully_shard makes them."""
    of_step = []
    for i in range(micro_batches):
        reduces = each or i + 1 == micro_batches
        of_step.append('root forward gather')
        of_step += [f'{unit} forward gather' + (', prefetched' if ahead else '') for unit in BLOCKS]
        for place, unit in reversed(list(enumerate(BLOCKS))):
            if strategy == 'full_shard':
                if unit == BLOCKS[-1]: of_step.append(f'{unit} backward gather, prefetched')
                if place > 0: of_step.append(f'{BLOCKS[place - 1]} backward gather, prefetched')
            if reduces: of_step.append(f'{unit} reduce')
        if reduces: of_step.append('root reduce')
    return of_step


CALLS = {'full': calls('full_shard'), 'kept': calls('shard_grad_op'), 'explicit': calls('full_shard', ahead=True),
         'accumulated': calls('full_shard', micro_batches=2), 'each': calls('full_shard', micro_batches=2, each=True)}
SETTINGS = {'full': [], 'kept': ['sharding_strategy=shard_grad_op'], 'explicit': ['forward_prefetch=true'],
            'accumulated': ['gradient_accumulation_steps=2'],
            'each': ['gradient_accumulation_steps=2', 'sync_each_batch=true']}
AS_RECORDED = ['sharding_strategy=full_shard', 'forward_prefetch=false', 'gradient_accumulation_steps=1', 'sync_each_batch=false']


class ImportedUnits(torch_traces.UnitTracesTest):
    PROGRAM = program(2, """{'full': {}, 'kept': {'reshard_after_forward': False}, 'explicit': {'explicit': True},
        'accumulated': {'micro_batches': 2}, 'each': {'micro_batches': 2, 'each': True},
        'halved': {'mp_policy': halved}, 'nested': {'nested': True}}""")

    def test_units_are_those_of_pytorch(self):
        for name, elements in self.said.items():
            if name == 'nested': continue
            with self.subTest(name):
                self.assertEqual(self.imported[name]['warnings'], [])
                report = self.json('report', name)
                self.assertEqual([unit['name'] for unit in report['units']], ['root', *BLOCKS])
                gathered = 2 if name == 'halved' else 4
                for unit in report['units']:
                    self.assertEqual(unit['bytes'], gathered * elements[unit['name']], unit)
                    self.assertEqual(unit['reduced_bytes'], 4 * elements[unit['name']], unit)
                    self.assertEqual(2 * unit['shard_bytes'], unit['bytes'])
                phases = report['summary']['phase_ms']
                self.assertGreater(min(phases['forward'], phases['backward'], phases['optimizer']), 0)
                self.assertIsNone(report['run']['settings'])
                self.assertNotIn('in theory', self.shardlens('report', name).stdout)

    def test_collectives_are_known_by_their_unit(self):
        for name, expected in CALLS.items():
            with self.subTest(name):
                self.assertEqual(self.calls_of_steps(name), STEPS * [expected])
                ready = self.rows(name, 'select count(*) from unit_ready where rank = 1')
                self.assertEqual(ready, [[STEPS * sum(tag.endswith(' reduce') for tag in expected)]])

    def test_a_predicted_schedule_is_that_which_pytorch_runs(self):
        for name in ('full', 'kept', 'accumulated'):
            for other, changes in SETTINGS.items():
                answer, scheduled = self.scheduled(name, *AS_RECORDED, *changes)
                self.assertEqual(scheduled, CALLS[other], f'{name} → {other}')
                if name == other: self.assertEqual(answer['changed'], {}, 'as recorded')

    def test_what_a_trace_does_not_tell_is_refused_by_name(self):
        for knob in ('batch_per_rank=4', 'ranks=4', 'bucket_cap_mb=4', 'wrap_policy=size', 'precision=bf16'):
            self.assertIn(f'What {knob.split("=")[0]} does', self.refused('full', knob))
        for strategy in ('ddp', 'no_shard', 'hybrid_shard'):
            self.assertIn(f'What {strategy} would do', self.refused('full', f'sharding_strategy={strategy}'))
        self.assertIn('Unit blocks.1.up lies within another one', self.refused('nested'))
        self.json('import', str(self.traces / 'full.rank0.json'), '-o', 'alone')
        self.assertIn('Import the files of all ranks together', self.refused('alone'))

    def test_advice_of_units(self):
        advice = self.json('report', 'full', '--advice')['advice']
        self.assertNotIn('static_graph', [each['rule'] for each in advice])


class ImportedGroups(torch_traces.UnitTracesTest):
    """Two groups of two ranks, each of which holds all shards: what a group scattered, both add up."""
    RANKS = 4
    PROGRAM = program(4, """{'full': {'mesh': mesh}, 'kept': {'mesh': mesh, 'reshard_after_forward': False},
        'each': {'mesh': mesh, 'micro_batches': 2, 'each': True}}""")
    STRATEGIES = {'full': 'hybrid_shard', 'kept': 'hybrid_shard_zero2', 'each': 'hybrid_shard'}

    def calls(self, name):
        return torch_traces.in_groups(CALLS[name])

    def test_groups_are_those_of_pytorch(self):
        for name, elements in self.said.items():
            self.check_groups(name, elements.values())
            self.assertEqual(self.calls_of_steps(name), STEPS * [self.calls(name)])

    def test_a_predicted_schedule_is_that_which_pytorch_runs(self):
        for name in self.said:
            for other, strategy in self.STRATEGIES.items():
                changes = [change for change in SETTINGS[other] if 'strategy' not in change]
                answer, scheduled = self.scheduled(name, *AS_RECORDED, f'sharding_strategy={strategy}', *changes)
                self.assertEqual(scheduled, self.calls(other), f'{name} → {other}')
                if name == other: self.assertEqual(answer['changed'], {}, 'as recorded')
        self.assertIn('hybrid_shard and hybrid_shard_zero2 alone', self.refused('full', 'sharding_strategy=full_shard'))


if __name__ == '__main__':
    harness.main()
