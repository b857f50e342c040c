"""scripts/setup.sh with programs that are made up: a ninja that takes its time, a machine without our packages."""
import os
import pathlib
import pty
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).parents[2] / 'scripts'
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
