"""./run and its scripts with programs that are made up: a ninja that takes its time, a machine without our packages, a trainer
that is never fetched."""
import os
import pathlib
import pty
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).parents[2]
SCRIPTS = ROOT / 'scripts'
NINJA = """#!/bin/sh
echo '[1/34] Building CXX object a.cpp.o'
sleep 2.5
[ -z "$NINJA_FAILS" ] || { echo 'a.cpp:1: error: no such thing'; exit 1; }
echo '[34/34] Linking CXX executable'
"""


# As Debian's: it fails where it has never heard of one of the packages.
DPKG_QUERY = """#!/bin/sh
echo 'ii known'
exit 1
"""
APT_GET = """#!/bin/sh
echo "apt-get $*" >> "$ROOT/installed"
"""


class Setup(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = root = pathlib.Path(self.folder.name)
        (root / 'bin').mkdir()
        (root / 'build' / 'release').mkdir(parents=True)
        (root / 'build' / 'release' / 'build.ninja').touch()
        (root / 'build' / 'release' / 'CMakeCache.txt').write_text('SHARDLENS_TRAINER:BOOL=OFF\n')
        (root / 'trainer' / 'text' / 'prepare').mkdir(parents=True)
        (root / 'trainer' / 'text' / 'prepare' / 'packages.py').write_text('PACKAGES = "a b"\n')
        self.environment = {**os.environ, 'PATH': f'{root}/bin:{os.environ["PATH"]}', 'ROOT': str(root)}
        for name in ('SHARDLENS_LIBTORCH', 'SHARDLENS_WITH_CUDA'):
            self.environment.pop(name, None)

    def tearDown(self):
        self.folder.cleanup()

    def program(self, name, text):
        path = self.root / 'bin' / name
        path.write_text(text)
        path.chmod(0o755)


class Packages(Setup):
    def test_what_debian_has_never_heard_of_is_installed_also_by_a_script_that_ends_at_errors(self):
        self.program('dpkg-query', DPKG_QUERY)
        self.program('apt-get', APT_GET)
        self.program('id', '#!/bin/sh\necho 0\n')
        script = f'source "{SCRIPTS}/setup.sh"; ensure_packages known unknown; echo goes on'
        done = subprocess.run(['bash', '-euo', 'pipefail', '-c', script], env=self.environment, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, 'goes on\n'), done.stderr)
        self.assertTrue((self.root / 'installed').read_text().endswith(' unknown\n'))


class Run(Setup):
    """What ./run fetches before it starts the program."""

    def setUp(self):
        super().setUp()
        shutil.copy(ROOT / 'run', self.root)
        (self.root / 'scripts').mkdir()
        (self.root / 'scripts' / 'setup.sh').write_text(
            'VIEWER_PACKAGES= TRAINER_PACKAGES=; ensure_packages() { :; }; build() { :; }; say() { :; }\n')
        (self.root / 'scripts' / 'trainer.sh').write_text(
            'TRAINER_STATUS=status; trainer_configured() { false; }; trainer_current() { false; }\n'
            'install_trainer() { echo fetched ${SHARDLENS_WITH_CUDA:+all}; }; install_trainer_behind_window() { :; }\n')
        program = self.root / 'build' / 'release' / 'bin' / 'shardlens'
        program.parent.mkdir()
        program.write_text('#!/bin/sh\necho "$*"\n')
        program.chmod(0o755)

    def run_with(self, *arguments, **display):
        environment = {name: value for name, value in os.environ.items()
                       if name not in ('DISPLAY', 'WAYLAND_DISPLAY', 'SHARDLENS_WITH_CUDA')}
        return subprocess.run([self.root / 'run', *arguments], env=environment | display, capture_output=True, text=True,
                              check=True).stdout

    def test_the_trainer_is_fetched_for_what_trains_or_records(self):
        for line in ('', '--runs-dir d', 'run --steps 3', '--runs-dir d run', 'record -- train.py --help', 'sweep', 'tune',
                     'calibrate'):
            self.assertEqual(self.run_with(*line.split()), f'fetched\n{line}\n')

    def test_what_is_measured_beside_pytorch_needs_all_of_it(self):
        self.assertEqual(self.run_with('bench', 'strategies'), 'fetched all\nbench strategies\n')

    def test_nothing_is_fetched_for_what_looks_at_runs_or_is_misspelt(self):
        for line in ('reprot a', 'x.shardlens', '--runs-dir d report a', '--view inspect/a', 'report run', '--version', '-h',
                     'run --help', '--viewer run'):
            self.assertEqual(self.run_with(*line.split()), line.removeprefix('--viewer ') + '\n')
        self.assertEqual(self.run_with('learn', DISPLAY=':7'), 'learn\n')

    def test_with_a_display_the_window_opens_before_the_trainer_is_there(self):
        for line in ('', 'a', '--view inspect/a'):
            self.assertEqual(self.run_with(*line.split(), DISPLAY=':7'), f'--trainer-status status {line}'.rstrip() + '\n')


class Trainer(Setup):
    def bash(self, script):
        return ['bash', '-uo', 'pipefail', '-c', f'source "{SCRIPTS}/setup.sh"; source "{SCRIPTS}/trainer.sh"; {script}']

    def test_its_installation_ends_with_the_window(self):
        started = self.root / 'process'
        window = subprocess.Popen(self.bash('install_trainer() { sleep 600 & echo $! >"$ROOT/process.new"; '
                                            'mv "$ROOT/process.new" "$ROOT/process"; wait; }; ensure_packages() { :; }; '
                                            'install_trainer_behind_window & exec cat'),
                                  env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.wait_until(started.exists)
        process = pathlib.Path('/proc') / started.read_text().strip()
        self.assertTrue(process.exists())
        window.communicate()
        self.wait_until(lambda: not process.exists())

    def test_its_downloads_lie_where_there_is_room(self):
        pip = self.root / '.deps' / 'venv' / 'bin' / 'pip'
        pip.parent.mkdir(parents=True)
        pip.write_text('#!/bin/sh\ntouch "$TMPDIR/wheel"; echo "$TMPDIR $*"; exit 3\n')
        pip.chmod(0o755)
        done = subprocess.run(self.bash('pip_install "$VENV" torch'), env=self.environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 3)
        folder, words = done.stdout.rstrip().split(' ', 1)
        self.assertEqual(pathlib.Path(folder).parent, self.root / '.deps')
        self.assertTrue(words.endswith(' torch'))
        self.assertFalse(pathlib.Path(folder).exists())

    def test_it_is_not_all_there_where_a_gpu_has_appeared(self):
        self.program('ninja', '#!/bin/sh\n')
        (self.root / 'build' / 'release' / 'CMakeCache.txt').write_text('SHARDLENS_TRAINER:BOOL=ON\n')
        for file, text in (('build/release/bin/shardlens-rank', ''), ('.deps/venv/text-packages', 'a b'),
                           ('.deps/libtorch-2.11.0', 'cpu\n')):
            (self.root / file).parent.mkdir(parents=True, exist_ok=True)
            (self.root / file).write_text(text)
        (self.root / 'build/release/bin/shardlens-rank').chmod(0o755)
        for gpus, is_current in ((0, True), (1, False)):
            done = subprocess.run(self.bash(f'GPUS={gpus}; trainer_configured && echo configured; trainer_current'),
                                  env=self.environment, stdout=subprocess.PIPE, text=True)
            self.assertEqual((done.stdout, done.returncode == 0), ('configured\n', is_current))

    def test_what_was_fetched_counts_as_progress_and_is_less_than_all(self):
        (self.root / '.deps').mkdir(exist_ok=True)
        for megabytes, fraction in ((850, '0.5'), (9000, '0.99')):
            self.program('du', f'#!/bin/sh\necho "{megabytes}\ttotal"\n')
            done = subprocess.run(self.bash('libtorch_ready() { false; }; asked=0; GPUS=0; mkdir -p "$VENV"\n'
                                            'sleep() { [ $((asked++)) = 0 ]; }; mkdir -p "$(dirname "$TRAINER_STATUS")"\n'
                                            'report_progress; cat "$TRAINER_STATUS"'),
                                  env=self.environment, cwd=self.root, capture_output=True, text=True)
            self.assertIn(f'message=Fetching LibTorch: {megabytes} of about 1700 MB\nfraction={fraction}\n', done.stdout)
            self.assertFalse((self.root / '0.99').exists())

    def test_what_two_want_at_once_is_fetched_by_one(self):
        script = ('oracles_ready() { [ -e "$ROOT/there" ]; }; '
                  'install_oracles() { mkdir "$ROOT/.deps/downloads.$BASHPID"; echo fetched >>"$ROOT/fetched"; '
                  'while [ ! -e "$ROOT/go" ]; do sleep 0.05; done; ls -d "$DEPS/downloads.$BASHPID"; touch "$ROOT/there"; }; '
                  'install_libtorch() { rm -rf "$DEPS"/downloads.*; }; ')
        first = subprocess.Popen(self.bash(script + 'fetch_oracles'), env=self.environment,
                                 stdout=subprocess.PIPE)
        self.wait_until((self.root / 'fetched').exists)
        others = [subprocess.Popen(self.bash(script + fetch), env=self.environment, stderr=subprocess.PIPE, text=True)
                  for fetch in ('fetch_oracles', 'fetch_libtorch')]
        for other in others:  # they say that they wait
            self.assertIn('waiting for another', other.stderr.readline())
        (self.root / 'go').touch()
        self.assertIn(b'downloads.', first.communicate()[0])
        self.assertEqual([other.communicate() and other.returncode for other in others], [0, 0])
        self.assertEqual((self.root / 'fetched').read_text(), 'fetched\n')

    def wait_until(self, condition):
        end = time.monotonic() + 30
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)


# Its answers are those of a made-up driver, from one line each.
DRIVER = """
int cuInit(unsigned flags) { return %d; }
int cuDeviceGetCount(int* count) { return *count = %d, 0; }
"""
# Torch as it comes: it names CUDA's release. What pip is asked for is written down, and PIP_FAILS names what it cannot get.
PIP = """#!/bin/bash
echo "$*" >>"$ROOT/asked"
[[ -z "${PIP_FAILS:-}" || "$*" != *"$PIP_FAILS"* ]] || exit 1
packages=$ROOT/.deps/venv/lib/python3.11/site-packages
mkdir -p "$packages/torch-2.11.0.dist-info"
for system in Linux Windows; do
  echo "Requires-Dist: cuda-toolkit[cublas,cudart,cupti]==13.0.2; platform_system == \\"$system\\""
done >"$packages/torch-2.11.0.dist-info/METADATA"
"""
SMALL = ['--no-deps torch==2.11.0', 'cuda-toolkit[crt,cudart,cupti]==13.0.2']
WHOLE = ['torch==2.11.0 numpy cuda-toolkit[cccl]==13.0.2']


class LibTorch(Setup):
    """What of it is fetched, by a pip that is made up."""

    def setUp(self):
        super().setUp()
        self.program('pip', PIP)

    def fetch(self, gpus=0, is_enough=False, **environment):
        """What pip was asked for, and what was said. `is_enough`: also with what fails."""
        asked = self.root / 'asked'
        asked.unlink(missing_ok=True)
        script = (f'source "{SCRIPTS}/setup.sh"; GPUS={gpus}; /usr/bin/python3() {{ mkdir "$VENV"; }}\n'
                  'pip_install() { shift; pip "$@"; }; fetch_libtorch')
        done = subprocess.run(['bash', '-uo', 'pipefail', '-c', script], env=self.environment | environment, capture_output=True,
                              text=True)
        self.assertEqual(done.returncode != 0, 'PIP_FAILS' in environment and not is_enough, done.stderr)
        self.assertEqual('pip could not install' in done.stderr, 'PIP_FAILS' in environment)
        return asked.read_text().splitlines() if asked.exists() else [], done.stderr

    def test_without_a_gpu_it_is_what_a_cpu_needs_and_once(self):
        asked, said = self.fetch()
        self.assertEqual(asked, SMALL)
        self.assertIn('without what only GPUs need', said)
        self.assertEqual(self.fetch(), ([], ''))

    def test_with_a_gpu_or_for_another_machine_it_is_all_and_stays_all(self):
        for wish in ({'gpus': 2}, {'SHARDLENS_WITH_CUDA': '1'}):
            shutil.rmtree(self.root / '.deps', ignore_errors=True)
            asked, said = self.fetch(**wish)
            self.assertEqual(asked, SMALL + WHOLE)
            self.assertIn('with CUDA, CUPTI and NCCL', said)
            for later in ({'gpus': 0}, {'gpus': 1}, {'SHARDLENS_WITH_CUDA': '1'}):
                self.assertEqual(self.fetch(**later), ([], ''))

    def test_what_a_cpu_needs_is_completed_where_a_gpu_appears(self):
        self.fetch()
        text = self.root / '.deps' / 'venv' / 'text-packages'
        text.touch()
        asked, said = self.fetch(gpus=1)
        self.assertEqual(asked, WHOLE)
        self.assertIn('what GPUs need beside LibTorch', said)
        self.assertTrue(text.exists())
        self.assertEqual(self.fetch(gpus=1), ([], ''))

    def test_what_was_interrupted_does_not_count(self):
        for failing in ('torch', 'toolkit'):
            self.fetch(PIP_FAILS=failing)
            (self.root / '.deps' / 'venv' / 'rest').touch()
        self.assertEqual(self.fetch()[0], SMALL)
        self.assertFalse((self.root / '.deps' / 'venv' / 'rest').exists())
        self.fetch(gpus=1, PIP_FAILS='numpy', SHARDLENS_WITH_CUDA='1')
        downloads = self.root / '.deps' / 'downloads.1'
        downloads.mkdir()
        self.assertEqual(self.fetch(), ([], ''))  # a CPU still has what it needs
        self.assertEqual(self.fetch(gpus=1)[0], WHOLE)
        self.assertFalse(downloads.exists())

    def test_where_a_gpu_has_no_network_a_cpu_does(self):
        self.fetch()
        asked, said = self.fetch(gpus=1, PIP_FAILS='numpy', is_enough=True)
        self.assertEqual(asked, WHOLE)
        self.assertIn('device=cpu alone', said)
        self.assertEqual(self.fetch(gpus=1)[0], WHOLE)

    def test_another_release_is_fetched_anew(self):
        (self.root / '.deps').mkdir()
        (self.root / '.deps' / 'libtorch-2.10.0').touch()
        self.assertEqual(self.fetch()[0], SMALL)
        self.assertEqual([file.name for file in (self.root / '.deps').glob('libtorch-*')], ['libtorch-2.11.0'])

    def test_somebody_elses_is_taken_as_it_is(self):
        self.assertEqual(self.fetch(gpus=1, SHARDLENS_LIBTORCH='/shared/torch'), ([], ''))

    def test_a_gpu_is_what_cudas_driver_counts(self):
        for code, count, is_there in ((0, 2, True), (0, 0, False), (100, 2, False)):
            subprocess.run(['gcc', '-shared', '-x', 'c', '-', '-o', self.root / 'libcuda.so.1'], input=DRIVER % (code, count),
                           text=True, check=True)
            done = subprocess.run(['bash', '-uc', f'source "{SCRIPTS}/setup.sh"; has_gpu'],
                                  env=self.environment | {'LD_LIBRARY_PATH': str(self.root)})
            self.assertEqual(done.returncode == 0, is_there, (code, count))


class Help(Setup):
    def test_asking_how_tests_are_run_runs_none(self):
        shutil.copy(ROOT / 'test', self.root)
        said = subprocess.run([self.root / 'test', '--help'], env=self.environment, capture_output=True, text=True, check=True).stdout
        self.assertIn('  ./test --all', said)
        self.assertNotIn('#', said)
        self.assertFalse((self.root / 'installed').exists())


class BuildProgress(Setup):
    def setUp(self):
        super().setUp()
        self.program('ninja', NINJA)

    def build(self, stderr, **environment):
        return subprocess.run(['bash', '-uc', f'source "{SCRIPTS}/setup.sh"; build release OFF shardlens'],
                              env={**self.environment, **environment}, stderr=stderr).returncode

    def build_on_terminal(self, **environment):
        ours, theirs = pty.openpty()
        status = self.build(theirs, **environment)
        os.close(theirs)
        said = b''
        try:
            while some := os.read(ours, 4096):
                said += some
        except OSError:  # nobody holds the other end any more
            pass
        os.close(ours)
        return status, said.decode()

    def test_a_terminal_shows_how_many_files_are_built_and_no_trace_of_it_is_left(self):
        status, said = self.build_on_terminal()
        self.assertEqual(status, 0)
        self.assertIn('\r\033[Kshardlens: 1 of 34 files are built', said)
        self.assertTrue(said.endswith('\r\033[K'), said)

    def test_a_build_that_fails_says_why(self):
        status, said = self.build_on_terminal(NINJA_FAILS='1')
        self.assertEqual(status, 1)
        self.assertIn('the build failed', said)
        self.assertIn('no such thing', said)

    def test_elsewhere_a_short_build_says_nothing(self):
        with tempfile.TemporaryFile() as said:
            self.assertEqual(self.build(said), 0)
            said.seek(0)
            self.assertEqual(said.read(), b'')


if __name__ == '__main__':
    sys.exit(unittest.main())
