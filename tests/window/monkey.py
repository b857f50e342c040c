"""A monkey at the real window: random clicks, drags, keys, wheel turns, run switches, live runs, sizes.

    monkey.py build/asan/bin/shardlens build/asan/monkey --events 20000 --seed 7

What it does depends on the seed alone, which is printed; `--events` and `--seconds` say how long. The program must not
crash, hang or say anything of a sanitizer, and must leave in time when it is asked to.
"""
import argparse
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SCREEN = (1600, 1000)
SIZES = [(1280, 800), (1600, 1000), (1000, 700), (640, 480), (1280, 720)]
BATCH = 25            # events that one xdotool carries out
PAUSE = '0.012'       # between them, so that most get a frame of their own
LEAVE_SECONDS = 40
KEYS = ['Escape', 'Return', 'Tab', 'shift+Tab', 'space', 'Left', 'Right', 'Up', 'Down', 'Home', 'End', 'Prior', 'Next',
        'w', 'a', 's', 'd', 'f', 'm', 'b', 'p', 'bracketleft', 'bracketright', 'question', 'Delete', 'BackSpace',
        'ctrl+1', 'ctrl+2', 'ctrl+f', 'ctrl+k', 'ctrl+b', 'ctrl+t', 'ctrl+a', 'ctrl+c', 'ctrl+z', 'ctrl+Tab',
        'ctrl+shift+Tab', 'ctrl+equal', 'ctrl+minus', 'ctrl+0', 'F11', 'ctrl+Return', 'shift+Return', 'alt+d']
TYPED = ['Fit', 'Replay this run', 'Leave the replay', 'Stop the run', 'theme', 'scale', 'Stragglers', 'Memory', 'SQL',
         'steps=30', 'ranks=2', 'ranks=3', 'bucket_cap_mb=4', 'Steps', 'device=cpu', 'plan', 'Open', 'Import', 'log']
NAMES = ['nccl', 'gemm.*', '(', 'aten::', 'all', 'x' * 80]


class Monkey:
    """Knows only numbers: its tricks are lines for xdotool."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.size = SIZES[0]

    def at(self):
        # One in three near where it was: menus and pop-ups open there.
        if self.random.random() < 0.33 and hasattr(self, 'last'):
            x, y = (c + self.random.randint(-60, 60) for c in self.last)
        else:
            x, y = self.random.randrange(self.size[0]), self.random.randrange(self.size[1])
        self.last = max(0, min(x, self.size[0] - 1)), max(0, min(y, self.size[1] - 1))
        return ['mousemove', str(self.last[0]), str(self.last[1])]

    def key(self, *keys):
        return ['key', '--delay', '2', *keys]

    def command(self, text):
        return self.key('Escape', 'ctrl+k') + ['sleep', '0.05', 'type', '--delay', '2', text, 'sleep', '0.05'] + \
            self.key('Return')

    def drag(self):
        button = self.random.choice(['1', '1', '1', '3', '2'])
        moves = [part for _ in range(self.random.randint(1, 4)) for part in self.at() + ['sleep', PAUSE]]
        held = self.random.choice([[], [], ['shift'], ['ctrl']])
        down, up = (['keydown', held[0]], ['keyup', held[0]]) if held else ([], [])
        return self.at() + down + ['mousedown', button, 'sleep', PAUSE] + moves + ['mouseup', button] + up

    def switch_run(self):
        # The ledger lies at the foot of Tune, right of the settings.
        x, row = self.random.randint(self.size[0] // 3, self.size[0] - 40), self.size[1] - self.random.randint(20, 140)
        go = ['mousemove', str(x), str(row), 'sleep', '0.1', 'click', '1', 'sleep', '0.2']
        if self.random.random() < 0.3:
            go += ['click', '--repeat', '2', '--delay', '5', '1']
        return self.key('Escape', 'ctrl+1') + ['sleep', '0.1'] + go + self.key('ctrl+2')

    def resize(self):
        self.size = self.random.choice(SIZES)
        return ['windowsize', '%1', str(self.size[0]), str(self.size[1])]

    def trick(self):
        choose = self.random.random()
        pick = self.random.choice
        if choose < 0.40:
            return self.at() + ['sleep', PAUSE, 'click', pick(['1'] * 6 + ['3', '2'])]
        if choose < 0.46:
            return self.at() + ['click', '--repeat', '2', '--delay', '10', '1']
        if choose < 0.56:
            return self.drag()
        if choose < 0.80:
            return self.key(*(pick(KEYS) for _ in range(self.random.randint(1, 3))))
        if choose < 0.90:
            turns = str(self.random.randint(1, 6))
            return self.at() + ['click', '--repeat', turns, '--delay', '3', pick(['4', '5', '4', '5', '6', '7'])]
        if choose < 0.95:
            return self.switch_run()
        if choose < 0.975:
            return self.command(pick(TYPED))
        if choose < 0.985:
            return self.key('Escape', 'ctrl+f') + ['type', '--delay', '2', pick(NAMES)]
        if choose < 0.995:
            return self.resize()
        return self.key('Escape') + self.key('ctrl+Return')  # a live run


def make_library(program, runs):
    for name, ranks, events in (('one', 1, 20000), ('eight', 8, 300000), ('many', 96, 400000)):
        subprocess.run([program, 'generate', name, '--ranks', str(ranks), '--events', str(events), '--runs-dir', runs],
                       check=True, stdout=subprocess.DEVNULL)


class Window:
    """The program on a screen of its own, in a folder of its own."""

    def __init__(self, program, folder):
        self.folder = folder
        read, write = os.pipe()
        self.server = subprocess.Popen(
            ['Xvfb', '-displayfd', str(write), '-screen', '0', f'{SCREEN[0]}x{SCREEN[1]}x24', '-nolisten', 'tcp'],
            pass_fds=(write,), stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as pipe:
            number = pipe.readline().strip()
        sanitizers = {'ASAN_OPTIONS': 'exitcode=99:detect_leaks=0:abort_on_error=0',
                      'UBSAN_OPTIONS': 'print_stacktrace=1:halt_on_error=1:exitcode=99',
                      # Without them: glibc overwrites what is freed, at once.
                      'GLIBC_TUNABLES': 'glibc.malloc.perturb=165:glibc.malloc.tcache_count=0'}
        self.environment = {**os.environ, **sanitizers, 'DISPLAY': f':{number}', 'LIBGL_ALWAYS_SOFTWARE': '1',
                            'XDG_CONFIG_HOME': str(folder / 'config')}
        self.program, self.process = program, None

    def open(self):
        self.said = open(self.folder / 'said.txt', 'ab')
        self.process = subprocess.Popen([self.program, '--runs-dir', str(self.folder / 'runs')], env=self.environment,
                                        cwd=self.folder / 'work', stdout=self.said, stderr=self.said)
        for _ in range(300):
            found = self.xdotool('search', '--onlyvisible', '--name', 'Shardlens').split()
            if found:
                break
            if self.process.poll() is not None:
                return
            time.sleep(0.1)
        self.xdotool('search', '--onlyvisible', '--name', 'Shardlens', 'windowmove', '0', '0', 'windowfocus')

    def xdotool(self, *arguments):
        return subprocess.run(['xdotool', *arguments], env=self.environment, capture_output=True, text=True,
                              timeout=60).stdout

    def play(self, tricks):
        script = ['search', '--onlyvisible', '--name', 'Shardlens']
        for trick in tricks:
            script += trick + ['sleep', PAUSE]
        self.xdotool(*script)

    def ended(self):
        """None while it goes on; 0 where it was told to quit through its own menus."""
        return self.process.poll()

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(LEAVE_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                return f'it did not leave within {LEAVE_SECONDS} s'
        return '' if self.process.returncode == 0 else f'exit code {self.process.returncode}'


def run(options, folder):
    program = options.monkey_folder / 'shardlens'
    program.unlink(missing_ok=True)
    shutil.copy2(options.program, program)  # beside the made-up rank, which it then finds
    (folder / 'work').mkdir()
    make_library(program, folder / 'runs')
    window, monkey = Window(program, folder), Monkey(options.seed)
    done, began, trail, problem = 0, time.monotonic(), [], ''
    window.open()
    while not problem and done < options.events and time.monotonic() - began < options.seconds:
        tricks = [monkey.trick() for _ in range(BATCH)]
        trail = (trail + tricks)[-3 * BATCH:]
        window.play(tricks)
        done += BATCH
        if window.ended() is None:
            continue
        problem = window.close()
        window.open()
    problem = problem or window.close()
    window.close()
    window.server.terminate()
    window.server.wait()
    seconds = time.monotonic() - began
    print(f'seed {options.seed}: {done} events in {seconds:.0f} s')
    if not problem:
        return 0
    print(f'{problem} after event {done}. The last ones:')
    for trick in trail:
        print('  ' + ' '.join(trick))
    print((folder / 'said.txt').read_text(errors='replace')[-12000:])
    return 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('program', type=pathlib.Path)
    parser.add_argument('monkey_folder', type=pathlib.Path, help='with the made-up rank')
    parser.add_argument('--seed', type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument('--events', type=int, default=1 << 62)
    parser.add_argument('--seconds', type=float, default=float('inf'))
    options = parser.parse_args()
    print(f'seed {options.seed}', flush=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix='shardlens-monkey-'))
    try:
        return run(options, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == '__main__':
    sys.exit(main())
