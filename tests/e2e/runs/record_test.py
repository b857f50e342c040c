"""Programs that know nothing of us are recorded: PyTorch's own DistributedDataParallel under torchrun, marked with NVTX, and
what goes wrong; programs without any mark on a GPU, or on one that computes nothing."""
import ctypes
import functools
import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness  # noqa: E402

PYTHON = harness.TORCH_PYTHON

# Writes what it measured itself: begin and end of every step in ns since 1970.
MARKED = '''
import json, os, sys, time, torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
torch.set_num_threads(1)
dist.init_process_group("gloo")
model = DistributedDataParallel(torch.nn.Linear(128, 128))
optimizer = torch.optim.AdamW(model.parameters())
range_ = torch.cuda.nvtx.range
steps = []
for step in range(20):
    begin = time.time_ns()
    with range_(f"step {step}"):
        with range_("data"):
            batch = torch.randn(8, 128)
        with range_("forward"):
            loss = model(batch).square().mean()
        with range_("backward"):
            loss.backward()
        with range_("optimizer"):
            optimizer.step()
            optimizer.zero_grad()
        time.sleep(0.005)
    steps.append((begin, time.time_ns()))
print("a line of the program's own")
with open(f"{sys.argv[1]}.{dist.get_rank()}", "w") as out:
    json.dump(steps, out)
dist.destroy_process_group()
sys.exit(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
'''

# Two ranks on a shared GPU.
TWO_RANKS = '''
import os, sys, torch
import torch.distributed as dist
rank = int(os.environ["RANK"])
os.environ["NCCL_HOSTID"] = f"rank-{rank}"  # two ranks on one GPU
os.environ["NCCL_SOCKET_IFNAME"] = "lo"
dist.init_process_group("nccl")
model = torch.nn.Sequential(*(torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.GELU()) for _ in range(6))).cuda()
'''

# Neither NVTX nor anything else of ours.
UNMARKED = TWO_RANKS + '''
if sys.argv[1] == "ddp":
    model = torch.nn.parallel.DistributedDataParallel(model)
else:
    from torch.distributed.fsdp import fully_shard
    for block in model:
        fully_shard(block)
    fully_shard(model)
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
for step in range(30):
    loss = model(torch.randn(64, 512, device="cuda")).square().mean()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
torch.cuda.synchronize()
# PyTorch's backward thread lets go of a pass, for which fully_shard's callback needs Python, after backward() has
# returned, and aborts where Python has ended. It has let go before it takes another pass.
torch.ones(1, device="cuda", requires_grad=True).backward()
dist.destroy_process_group()
'''

# A whole step, DDP's collectives in it, captured after a warm-up and replayed, with one collective by hand now and then.
GRAPHED = TWO_RANKS + '''
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    model = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=3)
optimizer = torch.optim.AdamW(model.parameters(), fused=True, capturable=True)
batch = torch.randn(64, 512, device="cuda")
def step():
    optimizer.zero_grad(set_to_none=False)
    model(batch).square().mean().backward()
    optimizer.step()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(11):  # as many as DDP needs
        step()
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    step()
for replay in range(20):
    batch.copy_(torch.randn(64, 512))
    graph.replay()
    if replay % 7 == rank * 3:
        torch.cuda.synchronize()  # ranks are recorded at different times
    if replay % 5 == 0:
        dist.all_reduce(batch)
torch.cuda.synchronize()
graph.reset()  # a communicator's end waits for that of its graphs
dist.destroy_process_group()
'''

# Two graphs, of which one gets the other's work.
CHANGED = '''
import ctypes, os, subprocess, sys, torch
import torch.distributed as dist
UNTIL_RECORDED = """
import sqlite3, sys, time
file = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
while file.execute("select count(*) from collective").fetchone()[0] < int(sys.argv[2]):
    time.sleep(0.05)
"""
def wait_until_recorded(collectives):
    file = f"{os.environ['SHARDLENS_RECORD_FOLDER']}/rank_{os.environ['RANK']}.sqlite"
    # In another process: who closes a file here ends the recorder's locks on it.
    subprocess.run([sys.executable, "-c", UNTIL_RECORDED, file, str(collectives)], check=True, timeout=60)
dist.init_process_group("nccl")
def capture(values):
    graph = torch.cuda.CUDAGraph(keep_graph=True)
    with torch.cuda.graph(graph):
        dist.all_reduce(values)
    graph.instantiate()
    return graph
def replay(graph):
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
small, large = torch.ones(1024, device="cuda"), torch.ones(4096, device="cuda")
dist.all_reduce(small)
first, second = capture(small), capture(large)
replay(first)
replay(second)
wait_until_recorded(1 + 3 + 3)
result = (ctypes.c_uint64 * 3)()
handles = [ctypes.c_void_p(handle) for handle in (first.raw_cuda_graph_exec(), second.raw_cuda_graph())]
assert ctypes.CDLL(None).cudaGraphExecUpdate(*handles, ctypes.byref(result)) == 0
replay(first)
dist.destroy_process_group()
'''

# What CUDA says of captures: copies are work whose values the made-up GPU knows.
CAPTURED = '''
import threading, torch
on_gpu = torch.zeros(8, device="cuda")
source, target = torch.arange(8.0).pin_memory(), torch.zeros(8).pin_memory()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    on_gpu.copy_(source, non_blocking=True)
    target.copy_(on_gpu, non_blocking=True)
torch.cuda.synchronize()
assert target.sum() == 0, "captured work is not done"
for added in (1, 2):
    source += 1
    graph.replay()
    torch.cuda.synchronize()
    assert target[0] == added, "a replay does it anew"

def capture(work, mode="global"):
    try:
        with torch.cuda.graph(torch.cuda.CUDAGraph(), capture_error_mode=mode):
            on_gpu.copy_(source, non_blocking=True)
            work()
    except RuntimeError as error:
        return str(error).splitlines()[0].removeprefix("CUDA error: ")

def ask_elsewhere():
    def ask():
        try:
            before.query()
        except RuntimeError:
            pass
    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()

def leave_unjoined():
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        on_gpu.add_(1)

side = torch.cuda.Stream()
before = torch.cuda.Event()
before.record()
assert capture(ask_elsewhere, "thread_local") is None
assert capture(ask_elsewhere, "relaxed") is None
assert capture(ask_elsewhere) == "operation failed due to a previous error during capture"
assert capture(leave_unjoined) == "capturing stream has unjoined work"
'''

# Ranks that no launcher numbers. The second one starts first, and both compute before they meet.
SPAWNED = '''
import os, sys, time, torch
import torch.distributed as dist
import torch.multiprocessing as mp

def work(rank, ranks):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29557", NCCL_SOCKET_IFNAME="lo",
                      NCCL_HOSTID=f"rank-{rank}")
    with open(f"{sys.argv[1]}.{rank}", "w") as out:
        out.write(str(os.getpid()))
    torch.cuda.set_device(rank % torch.cuda.device_count())
    time.sleep(0 if rank else 1)
    torch.ones(512, device="cuda").mul_(2)
    time.sleep(1)
    dist.init_process_group("nccl", rank=rank, world_size=ranks)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(512, 512).cuda())
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    for _ in range(20):
        model(torch.randn(64, 512, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.cuda.synchronize()
    dist.destroy_process_group()

if __name__ == "__main__":
    assert torch.cuda.is_available()
    mp.spawn(work, args=(2,), nprocs=2)
'''

# Products one right after the other, timed by CUDA. The GPU begins with them once all are launched.
TIMED = '''
import torch
matrix = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
for _ in range(5):
    matrix @ matrix
torch.cuda.synchronize()
begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
with torch.cuda.nvtx.range("step"):
    torch.cuda._sleep(50_000_000)  # cycles
    begin.record()
    for _ in range(50):
        matrix @ matrix
    end.record()
    torch.cuda.synchronize()
print("took", begin.elapsed_time(end), flush=True)
'''

# Knows NVTX and nothing else: PyTorch takes seconds to import.
NVTX_PROGRAM = str(harness.BIN / 'nvtx_program')


@functools.cache
def has_gpus():
    try:
        driver = ctypes.CDLL('libcuda.so.1')
    except OSError:
        return False
    count = ctypes.c_int(0)
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0


def with_gpus():
    """An environment with this machine's GPUs or, where it has none, with some that compute nothing."""
    return dict(os.environ) if has_gpus() else harness.fake_gpu()


def torchrun(ranks):
    return [PYTHON, '-m', 'torch.distributed.run', '--nproc-per-node', str(ranks),
            '--master-port', '0', '--rdzv-backend', 'c10d', '--rdzv-endpoint', 'localhost:0']


def start_ranks(count, program=PYTHON):
    """As torchrun's, whose own import of PyTorch takes as long as a rank's."""
    return [sys.executable, str(harness.ROOT / 'tests/e2e/support/start_ranks.py'), str(count), program]


class Record(harness.ShardlensTest):
    def script(self, text):
        file = self.folder / 'train.py'
        file.write_text(textwrap.dedent(text))
        return str(file)

    def record(self, name, *command, code=0, options=(), **kwargs):
        """The library's option stands in front of the command, whose arguments are its own."""
        done = subprocess.run([harness.SHARDLENS, 'record', '--name', name, '--runs-dir', str(self.runs), *options,
                               '--', *command], capture_output=True, text=True, timeout=300, cwd=self.folder,
                              stdin=subprocess.DEVNULL, **kwargs)
        self.assertEqual(done.returncode, code, f'{done.stdout[-3000:]}\n{done.stderr[-3000:]}')
        return done

    def query(self, run, sql):
        answer = json.loads(self.shardlens('query', run, sql, '--format', 'json').stdout)
        return [dict(zip(answer['columns'], row)) for row in answer['rows']]

    def test_a_marked_program_tells_its_steps_as_it_measured_them(self):
        measured = self.folder / 'measured'
        report = json.loads(self.record('ddp', *torchrun(2), self.script(MARKED), str(measured),
                                        options=['--json']).stdout)
        self.assertEqual(report['run']['status'], 'done')
        self.assertEqual(report['run']['world_size'], 2)
        self.assertEqual(len(report['steps']), 20)
        self.assertIsNone(report['summary']['exposed_ms'], 'nothing recorded what a step consists of')
        for rank in (0, 1):
            own = json.loads(pathlib.Path(f'{measured}.{rank}').read_text())
            rows = self.query('ddp', f'select start_ns, end_ns from step where rank = {rank} order by step')
            self.assertEqual(len(rows), len(own))
            for row, (begin, end) in zip(rows, own):
                # The program's clock is read outside of its range.
                self.assertGreaterEqual(row['start_ns'], begin)
                self.assertLessEqual(row['end_ns'], end)
                self.assertGreater(row['end_ns'] - row['start_ns'], 5_000_000)
        phases = self.query('ddp', 'select phase, count(*) as n from span group by phase')
        self.assertEqual({row['phase']: row['n'] for row in phases},
                         {phase: 40 for phase in ('data', 'forward', 'backward', 'optimizer')})
        self.assertEqual(self.query('ddp', 'select sum(count) as n from lost')[0]['n'], None)
        self.shardlens('verify', 'ddp')

    def test_who_only_asks_for_gpus_does_not_compute_on_them(self):
        report = json.loads(self.record('asks', PYTHON, self.script(
            'import time, torch\nassert torch.cuda.is_available()\nfor i in range(5):\n'
            '    with torch.cuda.nvtx.range(f"step {i}"): time.sleep(0.01)'),
            options=['--json'], env=with_gpus()).stdout)
        self.assertEqual(len(report['steps']), 5)
        self.assertEqual(report['run']['device'], 'cpu')
        self.assertIsNone(report['summary']['exposed_ms'], 'what the processor did was not recorded')

    def test_spawned_workers_have_the_ranks_of_their_communicator(self):
        told = self.folder / 'process'
        report = json.loads(self.record('spawned', PYTHON, self.script(SPAWNED), str(told), options=['--json'],
                                        env=with_gpus()).stdout)
        self.assertEqual(report['run']['world_size'], 2)
        self.assertGreater(len(report['steps']), 10)
        ranks = self.query('spawned', 'select rank, process_id, sources from rank order by rank')
        self.assertEqual([row['rank'] for row in ranks], [0, 1])
        for row in ranks:
            self.assertEqual(row['process_id'], int(pathlib.Path(f'{told}.{row["rank"]}').read_text()))
            self.assertIn("rank: that of NCCL's communicator", row['sources'])
        self.assertEqual(self.query('spawned', 'select sum(count) as n from lost')[0]['n'], None)
        self.shardlens('verify', 'spawned')

    def test_a_program_that_fails_is_kept_and_its_end_is_told(self):
        done = self.record('fails', PYTHON, self.script(
            'import torch, sys\nfor i in range(5):\n'
            '    with torch.cuda.nvtx.range("step"): pass\nsys.exit(3)'), code=1)
        self.assertIn('the program ended with exit code 3', done.stderr)
        report = self.json('report', 'fails')
        self.assertEqual(report['run']['status'], 'failed')
        self.assertEqual(len(report['steps']), 5)

    def test_a_program_that_is_restarted_is_said_not_to_be_recorded_on(self):
        script = self.script('import os, sys, torch\nfor i in range(5):\n'
                             '    with torch.cuda.nvtx.range("step"): pass\n'
                             'sys.exit(os.environ["TORCHELASTIC_RESTART_COUNT"] == "0")')
        done = self.record('restarted', *torchrun(2), '--max-restarts', '1', script, code=1)
        self.assertIn('2 ranks ended and began again', done.stderr)
        report = self.json('report', 'restarted')
        self.assertEqual(report['run']['status'], 'incomplete')
        self.assertEqual(report['run']['world_size'], 2)
        self.assertEqual(len(report['steps']), 5)
        self.assertEqual(list(self.runs.glob('*/*.restarted')), [])

    def test_a_crash_is_reported_by_pythons_own_handler_and_what_came_before_is_kept(self):
        done = self.record('crashes', PYTHON, '-X', 'faulthandler', self.script(
            'import ctypes, torch\nfor i in range(5):\n'
            '    with torch.cuda.nvtx.range("step"): pass\nctypes.string_at(0)'), code=1)
        self.assertIn('Fatal Python error: Segmentation fault', done.stderr)
        self.assertIn('ended by signal 11', done.stderr)
        self.assertEqual(len(self.json('report', 'crashes')['steps']), 5)

    def test_a_stopped_program_is_kept(self):
        process = subprocess.Popen([harness.SHARDLENS, 'record', '--name', 'endless', '--runs-dir', str(self.runs),
                                    '--', NVTX_PROGRAM, 'steps', '-', '1000000', '10'], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, cwd=self.folder)
        self.addCleanup(process.kill)
        harness.wait_until(lambda: list(self.runs.glob('*/rank_0.sqlite')), 60, 'the recording')
        harness.wait_until(
            lambda: self.query('endless', 'select count(*) as n from step')[0]['n'] > 20, 60, 'steps')
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
        report = self.json('report', 'endless')
        self.assertEqual(report['run']['status'], 'stopped')
        self.assertGreater(len(report['steps']), 20)

    def test_where_nothing_can_be_recorded_it_is_said_and_nothing_is_left(self):
        done = self.record('a', 'true', code=1)
        self.assertIn('Nothing was recorded', done.stderr)
        self.assertEqual(list(self.runs.iterdir()), [])
        done = self.record('a', 'no-such-program', code=2)
        self.assertIn('could not be started', done.stderr)
        self.assertEqual(list(self.runs.iterdir()), [])
        done = self.record('a', 'true', options=['--steps', 'some'], code=2)
        self.assertIn('some', done.stderr)
        environment = dict(os.environ, CUDA_INJECTION64_PATH='/opt/nsight/injection.so')
        done = self.record('a', 'true', code=2, env=environment)
        self.assertIn('Another profiler is set', done.stderr)

    def test_the_programs_words_are_handed_on_as_they_are(self):
        words = ['--betas', '[0.9,0.999]', '[]', '--', 'a b', '']
        done = self.record('a', 'printf', '<%s>', *words, code=1)
        self.assertTrue(done.stdout.startswith(''.join(f'<{word}>' for word in words)), done.stdout)

    def test_what_is_to_be_replaced_stays_until_something_was_recorded(self):
        self.shardlens('generate', 'precious', '--ranks', '1', '--events', '1000')
        before = self.run_folders()
        self.record('precious', 'no-such-program', options=['--overwrite'], code=2)
        self.record('precious', 'true', options=['--overwrite'], code=1)
        self.assertEqual(self.run_folders(), before)
        self.shardlens('verify', 'precious')
        self.record('precious', NVTX_PROGRAM, 'steps', '-', '5', '0', options=['--overwrite'])
        [run] = self.run_folders()
        self.assertNotIn(run, before)

    def test_what_was_to_be_replaced_is_kept_once_it_is_renamed(self):
        self.shardlens('generate', 'precious', '--ranks', '1', '--events', '1000')
        [old] = self.run_folders()
        rename = [harness.SHARDLENS, 'runs', old, '--rename', 'kept', '--runs-dir', self.runs]
        self.record('precious', 'sh', '-c', f'{shlex.join(map(str, rename))} && {NVTX_PROGRAM}',
                    options=['--overwrite'])
        self.assertEqual(len(self.run_folders()), 2)
        self.shardlens('verify', 'kept')
        self.shardlens('verify', 'precious')

    def test_a_program_that_leaves_without_its_end_has_lost_something(self):
        done = self.record('left', NVTX_PROGRAM, 'leave', '100', '8', '0', options=['--json'], code=1)
        report = json.loads(done.stdout)
        self.assertEqual(report['run']['status'], 'incomplete')
        self.assertIn('os._exit', report['run']['reason'])
        self.assertIsNone(report['recorder']['lost'])

    def test_steps_have_the_numbers_of_their_ranges(self):
        program = [NVTX_PROGRAM, 'steps', '100', '8', '0']
        self.assertNotIn('warning', self.record('some', *program, options=['--steps', '103']).stderr)
        steps = [row['step'] for row in self.query('some', 'select step from step order by step')]
        self.assertEqual(steps, list(range(100, 108)))
        done = self.record('none', *program, options=['--steps', '2..4'])
        self.assertIn('steps 100 to 107, none of which is among --steps 2..4', done.stderr)
        done = self.record('later', *program, options=['--steps', '200..'])
        self.assertIn('none of which is among --steps 200..: nothing', done.stderr)
        self.assertIn('first..last', self.record('bad', 'true', options=['--steps', '4-8'], code=2).stderr)

    def test_ranks_that_count_their_steps_apart_are_named(self):
        first = '$([ $RANK = 0 ] && echo 5000 || echo -)'
        done = self.record('apart', *start_ranks(2, 'sh'), '-c', f'exec {NVTX_PROGRAM} steps {first} 5 0', code=1)
        self.assertIn('rank 1 counts its steps from 0, rank 0 from 5000', done.stderr)
        self.assertEqual(self.json('report', 'apart')['run']['status'], 'incomplete')

    def test_the_step_in_which_a_program_is_stopped_is_not_measured(self):
        process = subprocess.Popen([harness.SHARDLENS, 'record', '--name', 'hung', '--runs-dir', str(self.runs), '--',
                                    NVTX_PROGRAM, 'hang', '0', '8', '0'], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, cwd=self.folder, stdin=subprocess.DEVNULL)
        self.assertEqual(process.stdout.readline(), 'hangs\n')
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        report = self.json('report', 'hung')
        self.assertEqual(report['run']['status'], 'stopped')
        self.assertEqual((len(report['steps']), report['summary']['steps_measured']), (8, 4))

    def test_nohup_protects_the_program(self):
        done = self.record('a', 'sh', '-c', 'kill -HUP $PPID $$; echo still there', code=1,
                           preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.assertIn('still there', done.stdout)

    def test_a_parent_that_ignores_its_childrens_ends_does_not_hide_the_programs(self):
        self.record('a', 'true', code=1, preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))

    def test_the_second_signal_kills_workers_in_sessions_of_their_own(self):
        script = self.script('''
            import os, signal, subprocess, sys
            for number in (signal.SIGTERM, signal.SIGINT):
                # Not by print(), in the midst of which it may be.
                signal.signal(number, lambda *_: os.write(1, b'heard\\n'))
            worker = subprocess.Popen(['sleep', '600'], start_new_session=True)
            print(worker.pid, flush=True)
            while True:
                signal.pause()
        ''')
        process = subprocess.Popen([harness.SHARDLENS, 'record', '--runs-dir', str(self.runs), '--', sys.executable, script],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=self.folder)
        worker = pathlib.Path('/proc') / process.stdout.readline().strip()
        self.assertTrue(harness.is_alive(worker))
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.stdout.readline(), 'heard\n')
        process.send_signal(signal.SIGTERM)  # of another kind it may be of the same event
        process.communicate(timeout=60)
        harness.wait_until(lambda: not harness.is_alive(worker), 10, 'the end of the worker')

    def test_an_unmarked_program_on_a_gpu(self):
        script = self.script(UNMARKED)
        for strategy in ('ddp', 'fully_shard'):
            report = json.loads(self.record(strategy, *start_ranks(2), script, strategy,
                                            options=['--json'], env=with_gpus()).stdout)
            self.assertEqual(report['run']['device'], 'cuda')
            # The first step is only known to have been one when it has ended.
            self.assertIn(len(report['steps']), (28, 29, 30))
            self.assertGreater(report['summary']['compute_ms'], 0)
            self.assertGreater(report['summary']['comm_ms'], 0)
            kernels = self.query(strategy, "select count(*) as n from kernel where name like '%nccl%' and rank = 0")
            told = self.query(strategy, "select count(*) as n from collective where rank = 0 and algorithm <> ''")
            self.assertEqual(told[0]['n'], kernels[0]['n'], 'every kernel of NCCL belongs to a collective')
            self.assertEqual(self.query(strategy, 'select sum(count) as n from lost')[0]['n'], None)

    def test_what_a_cuda_graph_replays_after_it_was_changed_is_shown_as_kernels(self):
        self.record('changed', *start_ranks(2), self.script(CHANGED), env=harness.fake_gpu())
        rows = self.query('changed', 'select c.bytes, count(*) as n from collective c join process_group g on g.rank = c.rank '
                                     'and g.process_group = c.process_group where g.name like "%CUDA graphs" group by c.bytes')
        self.assertEqual({row['bytes']: row['n'] for row in rows}, {4096: 2 * 3, 16384: 2 * 3})
        kernels = self.query('changed', 'select count(*) as n from kernel where name like "%AllReduce%"')[0]['n']
        self.assertEqual(kernels, 2 * (1 + 9))
        told = self.query('changed', 'select count(*) as n from log where text like "%changes CUDA graphs%"')[0]['n']
        self.assertEqual(told, 2)

    def test_a_program_that_replays_a_cuda_graph(self):
        self.check_replays(with_gpus())

    def test_a_program_that_replays_a_cuda_graph_across_machines(self):
        """NCCL then tells what it does with each replay, on another thread."""
        self.check_replays(harness.fake_gpu(FAKE_GPU_NETWORK='1'))

    def check_replays(self, environment):
        report = json.loads(self.record('graphed', *start_ranks(2), self.script(GRAPHED), options=['--json'],
                                        env=environment).stdout)
        # Of the steps of the warm-up and the replays, those in between, which lead from stream to stream, are one.
        self.assertIn(len(report['steps']), range(25, 32))
        for rank in (0, 1):
            replays = self.query('graphed', 'select l.correlation, count(*) as kernels, sum(k.name like "%nccl%") as nccl '
                                            'from launch l join kernel k on k.rank = l.rank and k.correlation = '
                                            f'l.correlation where l.name = "cudaGraphLaunch" and l.rank = {rank} '
                                            'group by l.correlation')
            self.assertEqual(len(replays), 20)
            self.assertEqual(len({row['kernels'] for row in replays}), 1, 'every replay runs the same kernels')
            self.assertGreater(replays[0]['kernels'], 40)
            nccl = self.query('graphed', f'select count(*) as n from kernel where name like "%nccl%" and rank = {rank}')
            told = self.query('graphed', f'select count(*) as n from collective where algorithm <> "" and rank = {rank}')
            self.assertEqual(told[0]['n'], nccl[0]['n'], 'every kernel of NCCL belongs to a collective')
            # What the replays communicate is what one step of the warm-up did, the gradients of all parameters.
            rows = self.query('graphed', 'select c.bytes, c.data_type, c.function, c.channels, l.correlation from collective c '
                                         'join process_group g on g.rank = c.rank and g.process_group = c.process_group '
                                         'left join launch l on l.rank = c.rank and l.start_ns = c.enqueued_ns and '
                                         'l.name = "cudaGraphLaunch" '
                                         f'where g.name like "%CUDA graphs" and c.rank = {rank}')
            self.assertEqual(len(rows), sum(row['nccl'] for row in replays))
            self.assertEqual({(row['function'], row['data_type']) for row in rows}, {('all_reduce', 'float32')})
            self.assertEqual(sum(row['bytes'] for row in rows), 20 * 6 * 4 * (512 * 512 + 512))
            self.assertEqual({row['correlation'] for row in rows}, {row['correlation'] for row in replays},
                             'the host asked for it when it replayed the graph')
            self.assertGreater(min(row['channels'] for row in rows), 0)
        # Ranks meet in each of them, so that it runs on both at the same time.
        sums = self.query('graphed', 'select count(*) as n from collective where function = "all_reduce" and rank = 0')
        matched = self.query('graphed', 'select max(a.start_ns, b.start_ns) < min(a.end_ns, b.end_ns) as at_once, a.bytes = '
                                        'b.bytes as alike from collective a join collective b on a.process_group = '
                                        'b.process_group and a.sequence = b.sequence where a.rank = 0 and b.rank = 1 and '
                                        'a.function = "all_reduce"')
        self.assertEqual(len(matched), sums[0]['n'], 'each has its counterpart on the other rank')
        self.assertEqual({(row['at_once'], row['alike']) for row in matched}, {(1, 1)})
        self.assertEqual(self.query('graphed', 'select sum(count) as n from lost')[0]['n'], None)

    def test_a_gpu_that_computes_nothing_captures_as_cuda_does(self):
        subprocess.run([PYTHON, self.script(CAPTURED)], env=harness.fake_gpu(), check=True, timeout=120)

    def test_kernels_take_as_long_as_cuda_events_say(self):
        # One that computes nothing never waits for its host.
        done = self.record('timed', PYTHON, self.script(TIMED), env=dict(with_gpus(), FAKE_GPU_HOST_AHEAD='1'))
        took_ms = next(float(line.split()[1]) for line in done.stdout.splitlines() if line.startswith('took '))
        kernels = self.query('timed', 'select count(*) as n, sum(k.duration_ns) / 1e6 as ms from kernel k '
                                      'join step s on k.start_ns between s.start_ns and s.end_ns '
                                      'where k.name not like "%spin_kernel%"')[0]
        self.assertEqual(kernels['n'], 50)
        # Between two kernels a GPU rests for about a microsecond.
        self.assertAlmostEqual(kernels['ms'] / took_ms, 1, delta=0.03)


if __name__ == '__main__':
    harness.main()
