"""Proves from the #include lines that dependencies point only the way ARCHITECTURE.md says, that no folders depend on each
other, that a folder is a namespace, and that it can be taken in at a glance.

    python3 tests/check_layers.py CHECKOUT
"""
import pathlib
import re
import sys

LAYERS = ('trace', 'profiler', 'trainer', 'ui', 'app')
MOST_ENTRIES = 25

# Folder: project folders it may include (all below them, too), third-party headers it may include. The most specific
# folder decides; what it says holds for all folders below it.
JOB = 'trace/base trace/job'
MODEL = f'{JOB} trace/model'
STORE = f'{MODEL} trace/store'
FIGURES = f'{MODEL} trace/predict trace/analysis trace/timeline'
TUNING = f'{FIGURES} trace/tuning'
ADVICE = f'{TUNING} trace/advice'
RECORDER = f'{STORE} profiler/queue profiler/recorder profiler/collective profiler/memory profiler/process'
BLOCKS = f'{MODEL} trainer/tensor trainer/comm trainer/checkpoint trainer/strategy trainer/model'
APP = f'{STORE} {ADVICE} trace/interop trace/frameworks trace/synthetic trace/explore ui app'
RULES = {
    'trace/base': ('', 'tl/ xxhash'),
    'trace/job': ('trace/base', 'yaml-cpp/'),
    'trace/job/huggingface': (JOB, 'nlohmann/'),
    'trace/model': (JOB, ''),
    'trace/frameworks': (MODEL, 'nlohmann/ yaml-cpp/'),
    'trace/store': (MODEL, 'sqlite3 zstd yaml-cpp/'),
    'trace/interop': (STORE, 'tl/ simdjson zlib'),
    'trace/synthetic': (STORE, ''),
    'trace/predict': (MODEL, ''),
    'trace/predict/costs': (f'{MODEL} trace/predict', 'nlohmann/'),
    'trace/analysis': (f'{MODEL} trace/predict', ''),
    'trace/timeline': (FIGURES, ''),
    'trace/tuning': (TUNING, ''),
    'trace/advice': (ADVICE, ''),
    'trace/explore': (f'{STORE} {FIGURES}', 're2/ zstd'),
    'profiler': (RECORDER, ''),
    'profiler/nvml': (RECORDER, ''),
    'profiler/pytorch': (RECORDER, 'torch/ ATen/ c10/'),
    'profiler/cupti': (RECORDER, 'cupti cuda'),
    'profiler/nccl': (RECORDER, ''),
    'profiler/inject': (f'{RECORDER} trace/timeline profiler/cupti profiler/nccl profiler/nvml', ''),
    'trainer': (f'{STORE} trace/predict profiler trainer', 'torch/ ATen/ c10/ cuda nccl'),
    'trainer/calibration': (f'{BLOCKS} {RECORDER}', 'torch/ c10/'),
    'trainer/cuda': ('trace/base', 'torch/ ATen/ c10/ nccl'),
    'trainer/checkpoint': (f'{STORE} {BLOCKS}', 'torch/ nlohmann/'),
    'trainer/huggingface': (f'{STORE} {BLOCKS}', 'torch/ nlohmann/'),
    'trainer/lora': (BLOCKS, 'torch/ ATen/ c10/ nlohmann/'),
    'trainer/text': (MODEL, 'simdjson xxhash nlohmann/'),
    'ui': (ADVICE, 'imgui'),
    'ui/present': (f'{ADVICE} ui/state', ''),
    'ui/state': (ADVICE, ''),
    'app': (APP, 'CLI/ nlohmann/'),
    'app/cli': (f'{APP} profiler/nvml', 'CLI/ nlohmann/'),
    'app/lessons': (f'{STORE} ui/state app/launch', 'cmark'),
    'app/window': (APP, 'imgui GLFW/ GL/ stb yaml-cpp/'),
}
GUARDED = re.compile(r'tl/|sqlite3|xxhash|zstd|simdjson|zlib|re2/|yaml-cpp/|torch/|ATen/|c10/|cupti|cuda|nccl|imgui|GLFW/|GL/|stb'
                     r'|CLI/|nlohmann/|cmark')


def rule_of(path):
    return max((folder for folder in RULES if path.startswith(folder + '/')), key=len, default=None)


def folder_of(path):
    return path.rpartition('/')[0]


def includes(file):
    return re.findall(r'^#include [<"]([^>"]+)[>"]', file.read_text(), re.MULTILINE)


def check_include(path, header):
    """What is wrong with it; None if nothing is."""
    rule = rule_of(path)
    if rule is None:
        return f'{path} lies in a folder that has no rule in check_layers.py'
    folders, libraries = RULES[rule]
    if header.startswith(tuple(layer + '/' for layer in LAYERS)):
        allowed = tuple(folder + '/' for folder in [*folders.split(), rule])
        return None if header.startswith(allowed) else f'{path} includes "{header}", but its folder may only include: {folders}'
    is_free = not GUARDED.match(header) or header.startswith(tuple(libraries.split()))
    return None if is_free else f'{path} includes <{header}>, which its folder may not use'


def check_namespaces(path, text):
    """What trace/store declares lies in shardlens::trace::store; of others' it may only say that they exist."""
    own = 'shardlens::' + '::'.join(path.split('/')[:2])
    wrong = []
    for name, body in re.findall(r'^namespace (shardlens[a-z_:]*) \{\n(.*?)^\}', text, re.MULTILINE | re.DOTALL):
        is_declared_only = all(re.fullmatch(r'(class|struct) \w+;', line) for line in body.split('\n') if line)
        if name != own and not name.startswith(own + '::') and not is_declared_only:
            wrong.append(f'{path} defines in namespace {name}, but lies in {own}')
    return wrong


def find_cycle(edges):
    """Folders that include one another, in a ring; [] if there are none. `edges`: folder to {folder: include}."""
    done, path = set(), []

    def visit(folder):
        if folder in path:
            return path[path.index(folder):] + [folder]
        if folder in done:
            return []
        path.append(folder)
        for next_folder in sorted(edges.get(folder, ())):
            if ring := visit(next_folder):
                return ring
        path.pop()
        done.add(folder)
        return []

    for folder in sorted(edges):
        if ring := visit(folder):
            return ring
    return []


def check(root):
    files = [path for layer in LAYERS for pattern in ('*.h', '*.cpp') for path in sorted((root / layer).rglob(pattern))]
    if not files:
        return [f'no source files found in {root}']
    wrong, edges, entries = [], {}, {}
    for file in files:
        path = file.relative_to(root).as_posix()
        wrong += check_namespaces(path, file.read_text())
        for header in includes(file):
            if problem := check_include(path, header):
                wrong.append(problem)
            if header.startswith(tuple(layer + '/' for layer in LAYERS)) and folder_of(header) != folder_of(path):
                edges.setdefault(folder_of(path), {}).setdefault(folder_of(header), f'{path} includes "{header}"')
    if ring := find_cycle(edges):
        wrong.append('these folders depend on each other:\n  ' + '\n  '.join(edges[a][b] for a, b in zip(ring, ring[1:])))
    for folder in {file.parent for file in files}:
        count = sum(1 for _ in folder.iterdir())
        if count > MOST_ENTRIES:
            wrong.append(f'{folder.relative_to(root)} has {count} entries: give its parts folders with names')
    print(f'{len(files)} files read')
    return wrong


if __name__ == '__main__':
    problems = check(pathlib.Path(sys.argv[1]))
    print('\n'.join(problems))
    sys.exit(1 if problems else 0)
