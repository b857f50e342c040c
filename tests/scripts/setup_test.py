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
            'install_trainer() { echo fetched; }; install_trainer_behind_window() { :; }\n')
        program = self.root / 'build' / 'release' / 'bin' / 'shardlens'
        program.parent.mkdir()
        program.write_text('#!/bin/sh\necho "$*"\n')
        program.chmod(0o755)

    def run_with(self, *arguments, **display):
        environment = {name: value for name, value in os.environ.items() if name not in ('DISPLAY', 'WAYLAND_DISPLAY')}
        return subprocess.run([self.root / 'run', *arguments], env=environment | display, capture_output=True, text=True,
                              check=True).stdout

    def test_the_trainer_is_fetched_for_what_trains_or_records(self):
        for line in ('', '--runs-dir d', 'run --steps 3', '--runs-dir d run', 'record -- train.py --help', 'sweep', 'tune',
                     'calibrate', 'bench recorder'):
            self.assertEqual(self.run_with(*line.split()), f'fetched\n{line}\n')

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

    def test_what_was_fetched_counts_as_progress_and_is_less_than_all(self):
        (self.root / '.deps').mkdir(exist_ok=True)
        for megabytes, fraction in ((2300, '0.5'), (9000, '0.99')):
            self.program('du', f'#!/bin/sh\necho "{megabytes}\ttotal"\n')
            done = subprocess.run(self.bash('TORCH_MEGABYTES=4600; libtorch_ready() { false; }; asked=0\n'
                                            'sleep() { [ $((asked++)) = 0 ]; }; mkdir -p "$(dirname "$TRAINER_STATUS")"\n'
                                            'report_progress; cat "$TRAINER_STATUS"'),
                                  env=self.environment, cwd=self.root, capture_output=True, text=True)
            self.assertIn(f'message=Fetching LibTorch: {megabytes} of about 4600 MB\nfraction={fraction}\n', done.stdout)
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
