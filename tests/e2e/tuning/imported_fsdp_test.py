"""Traces of PyTorch's FullyShardedDataParallel: the units that an import infers, and the schedules that it predicts, are
PyTorch's."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness, torch_traces  # noqa: E402

STEPS = 4


def program(ranks, jobs):
    """Ranks over Gloo; one job after the other, each profiled, with what PyTorch says of its units."""
    return f'''
import contextlib, torch, traced_job
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import BackwardPrefetch, FullyShardedDataParallel, MixedPrecision, ShardingStrategy
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
from torch.utils.checkpoint import checkpoint

class Up(torch.nn.Linear): pass
class Head(torch.nn.Linear): pass

class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = Up(width, 4 * width + 1), torch.nn.Linear(4 * width + 1, width)

    def forward(self, x): return x + self.down(torch.nn.functional.gelu(self.up(x)))

class Model(torch.nn.Module):
    def __init__(self, recomputes, width=64, blocks=4):
        super().__init__()
        self.recomputes = recomputes
        self.embedding = torch.nn.Embedding(1001, width)
        self.blocks = torch.nn.ModuleList(Block(width) for _ in range(blocks))
        self.head = Head(width, 1001)

    def forward(self, x):
        x = self.embedding(x)
        for block in self.blocks: x = checkpoint(block, x, use_reentrant=False) if self.recomputes else block(x)
        return self.head(x)

def train(trace, micro_batches=1, each=False, wrapped=(), frozen=False, recomputes=False, stacked=False, **options):
    torch.manual_seed(0)
    model = Model(recomputes)
    if frozen: model.blocks[1].requires_grad_(False)
    model = FullyShardedDataParallel(model, auto_wrap_policy=ModuleWrapPolicy({{Block, *wrapped}}),
                                     device_id=torch.device('cpu'), **options)
    handles = [m._handle for m in model.modules() if isinstance(m, FullyShardedDataParallel)]
    elements = [h.flat_param.numel() * (2 if h.uses_sharded_strategy else 1) if h else 0 for h in handles]  # two ranks share it

    def backward(is_last):
        with contextlib.nullcontext() if each or is_last else model.no_sync():
            x = torch.randint(0, 1001, (2, 32))
            torch.nn.functional.cross_entropy(model(x).float().flatten(0, 1), x.flatten()).backward()

    traced_job.train(model, trace, backward, {STEPS}, micro_batches, with_stack=stacked)
    return elements

def train_all(trace):
    kept = {{'sharding_strategy': ShardingStrategy.SHARD_GRAD_OP}}
    post = {{'backward_prefetch': BackwardPrefetch.BACKWARD_POST}}
    halved = MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    hybrid = {{'sharding_strategy': ShardingStrategy.HYBRID_SHARD}}
    if {ranks} > 2: hybrid['device_mesh'] = init_device_mesh('cpu', ({ranks} // 2, 2), mesh_dim_names=('replicate', 'shard'))
    jobs = {jobs}
    return {{name: train(trace(name), **options) for name, options in jobs.items()}}

if __name__ == '__main__':
    traced_job.run(train_all, {ranks})
'''


MODULES = [f'module {i + 1}' for i in range(4)]
ALL = [*MODULES, 'module 5', 'module 6']  # where the root holds nothing of its own
NAMES = {'nested': ['root', *(name for module in MODULES for name in (module, f'{module}.1'))],
         'stacked': ['root', *(f'Block_{i}' for i in range(4))], 'returned': ['root', *ALL[:5]],
         'bare': ['root', *ALL], 'bare_ahead': ['root', *ALL]}


def calls(strategy='full_shard', backward='pre', ahead=False, micro_batches=1, each=False, bare=False):
    """The unit collectives of a step, in order, as torch/distributed/fsdp/_runtime_utils.py makes them."""
    of_step = []
    frees, modules, root = strategy == 'full_shard', ALL if bare else MODULES, [] if bare else ['root']
    last = len(modules) - 1
    for i in range(micro_batches):
        reduces = each or i + 1 == micro_batches
        if frees or i == 0 or each:
            order = [*root, *modules]
            of_step += [f'{unit} forward gather' + (', prefetched' if ahead and unit != order[0] else '') for unit in order]
        waiting = list(modules)  # for the reduction of their gradients, the last first

        def gather(place, prefetched):
            what = 'backward gather, prefetched' if prefetched else 'backward gather'
            if frees and place >= 0: of_step.append(f'{modules[place]} {what}')

        if backward == 'pre': gather(last, not bare)
        for place in reversed(range(len(modules))):
            is_first = place == last
            if backward == 'none' or (backward == 'post' and (ahead or is_first)): gather(place, False)
            if backward == 'pre': gather(place - 1, True)
            if ahead and is_first: continue  # its gradients come with those of the next one
            if backward == 'post' and not ahead: gather(place - 1, True)
            if reduces: of_step.append(f'{waiting.pop()} reduce')
        if reduces: of_step += [f'{unit} reduce' for unit in (*reversed(waiting), *root)]
    return of_step


# What PyTorch was asked for, as settings of ours; what is not among them is as in AS_RECORDED.
ASKED = {'full': {}, 'original': {}, 'halved': {}, 'recomputed': {}, 'kept': {'strategy': 'shard_grad_op'},
         'post': {'backward': 'post'}, 'none': {'backward': 'none'}, 'ahead': {'ahead': True},
         'post_ahead': {'backward': 'post', 'ahead': True}, 'kept_ahead': {'strategy': 'shard_grad_op', 'ahead': True},
         'accumulated': {'micro_batches': 2}, 'each': {'micro_batches': 2, 'each': True},
         'kept_accumulated': {'strategy': 'shard_grad_op', 'micro_batches': 2}}
KNOBS = {'strategy': 'sharding_strategy', 'backward': 'backward_prefetch', 'ahead': 'forward_prefetch',
         'micro_batches': 'gradient_accumulation_steps', 'each': 'sync_each_batch'}
AS_RECORDED = {'strategy': 'full_shard', 'backward': 'pre', 'ahead': False, 'micro_batches': 1, 'each': False}


def settings(asked):
    return [f'{KNOBS[name]}={str(value).lower()}' for name, value in (AS_RECORDED | asked).items()]


class ImportedFsdp(torch_traces.UnitTracesTest):
    PROGRAM = program(2, """{
        'full': {}, 'stacked': {'stacked': True}, 'original': {'use_orig_params': True}, 'kept': kept, 'post': post,
        'none': {'backward_prefetch': None}, 'ahead': {'forward_prefetch': True},
        'post_ahead': post | {'forward_prefetch': True}, 'kept_ahead': kept | {'forward_prefetch': True},
        'accumulated': {'micro_batches': 2}, 'each': {'micro_batches': 2, 'each': True},
        'kept_accumulated': kept | {'micro_batches': 2}, 'halved': {'mixed_precision': halved},
        'recomputed': {'recomputes': True}, 'whole': {'sharding_strategy': ShardingStrategy.NO_SHARD},
        'bare': {'wrapped': [torch.nn.Embedding, Head]},
        'bare_ahead': {'wrapped': [torch.nn.Embedding, Head], 'forward_prefetch': True},
        'returned': {'wrapped': [Head]}, 'nested': {'wrapped': [Up]}, 'frozen': {'frozen': True}}""")

    def test_units_are_those_of_pytorch(self):
        for name, elements in self.said.items():
            if name == 'frozen': continue
            with self.subTest(name):
                self.assertEqual(self.imported[name]['warnings'], [])
                report = self.json('report', name)
                self.assertEqual([unit['name'] for unit in report['units']], NAMES.get(name, ['root', *MODULES]))
                for unit, held in zip(report['units'], elements, strict=True):
                    gathered = None if name == 'whole' or held == 0 else (2 if name == 'halved' else 4) * held
                    self.assertEqual(unit['bytes'], gathered, unit)
                    self.assertEqual(unit['reduced_bytes'], 4 * held or None, unit)
                phases = report['summary']['phase_ms']
                self.assertGreater(min(phases['forward'], phases['backward'], phases['optimizer']), 0)

    def test_collectives_are_known_by_their_unit(self):
        for name, asked in ASKED.items():
            with self.subTest(name): self.assertEqual(self.calls_of_steps(name), STEPS * [calls(**asked)])
        reduced = [f'{unit} reduce' for unit in (*reversed(MODULES), 'root')]
        self.assertEqual(self.calls_of_steps('whole'), STEPS * [reduced])
        self.assertEqual(len(self.calls_of_steps('nested')[0]), 9 + 8 + 9)

    def test_a_predicted_schedule_is_that_which_pytorch_runs(self):
        others = {name: asked for name, asked in ASKED.items() if name not in ('original', 'halved', 'recomputed')}
        for name in ('full', 'post', 'ahead', 'kept_accumulated'):
            for other, asked in others.items():
                answer, scheduled = self.scheduled(name, *settings(asked))
                self.assertEqual(scheduled, calls(**asked), f'{name} → {other}')
                if name == other: self.assertEqual(answer['changed'], {}, 'as recorded')

    def test_a_root_without_parameters_prefetches_nothing(self):
        for name in ('bare', 'bare_ahead'):
            for other, asked in {'bare': {}, 'bare_ahead': {'ahead': True}}.items():
                _, scheduled = self.scheduled(name, *settings(asked))
                self.assertEqual(scheduled, calls(**asked, bare=True), f'{name} → {other}')
                self.assertEqual(self.calls_of_steps(other), STEPS * [scheduled])

    def test_backward_comes_to_a_root_behind_the_module_whose_output_it_returns(self):
        _, scheduled = self.scheduled('returned')
        self.assertEqual(self.calls_of_steps('returned'), STEPS * [scheduled])
        self.assertEqual(scheduled[6:8], ['module 5 backward gather', 'module 4 backward gather, prefetched'])

    def test_what_a_trace_does_not_tell_is_refused_by_name(self):
        for knob in ('batch_per_rank=4', 'limit_all_gathers=false', 'wrap_policy=size', 'precision=bf16'):
            self.assertIn(f'What {knob.split("=")[0]} does', self.refused('full', knob))
        for strategy in ('ddp', 'no_shard', 'hybrid_shard'):
            self.assertIn(f'What {strategy} would do', self.refused('full', f'sharding_strategy={strategy}'))
        self.assertIn('not sharded (NO_SHARD)', self.refused('whole'))
        self.assertIn('Unit module 1.1 lies within another one', self.refused('nested'))

    def test_what_is_not_sure_is_not_claimed(self):
        why = 'Units of FullyShardedDataParallel are not known: some of its modules have no gradients'
        self.assertEqual(self.imported['frozen']['warnings'], [why])
        self.assertEqual(self.json('report', 'frozen')['units'], [])
        self.assertIn(why, self.refused('frozen'))


class ImportedFsdpGroups(torch_traces.UnitTracesTest):
    """Two groups of two ranks, each of which holds all shards: what a group scattered, both add up."""
    RANKS = 4
    PROGRAM = program(4, """{
        'full': hybrid, 'post': hybrid | post, 'ahead': hybrid | {'forward_prefetch': True},
        'kept': hybrid | {'sharding_strategy': ShardingStrategy._HYBRID_SHARD_ZERO2},
        'accumulated': hybrid | {'micro_batches': 2}, 'each': hybrid | {'micro_batches': 2, 'each': True}}""")

    def calls(self, name):
        return torch_traces.in_groups(calls(**ASKED[name]))

    def settings(self, name):
        strategy = 'hybrid_shard_zero2' if name == 'kept' else 'hybrid_shard'
        return settings(ASKED[name] | {'strategy': strategy})

    def test_groups_are_those_of_pytorch(self):
        for name, elements in self.said.items():
            self.check_groups(name, elements)
            self.assertEqual(self.calls_of_steps(name), STEPS * [self.calls(name)])

    def test_a_predicted_schedule_is_that_which_pytorch_runs(self):
        for name in self.said:
            # From other prefetches as without groups, above.
            for other in self.said if name in ('full', 'kept', 'accumulated') else [name]:
                answer, scheduled = self.scheduled(name, *self.settings(other))
                self.assertEqual(scheduled, self.calls(other), f'{name} → {other}')
                if name == other: self.assertEqual(answer['changed'], {}, 'as recorded')
        self.assertIn('hybrid_shard and hybrid_shard_zero2 alone', self.refused('full', 'sharding_strategy=full_shard'))


if __name__ == '__main__':
    harness.main()
