"""A virtual screen with a real mouse and keyboard, for windows under test."""
import contextlib
import pathlib
import re
import subprocess
import time

from support import harness, virtual_screen, x11


class Display(virtual_screen.VirtualScreen):
    """A virtual screen, and the window on it."""

    def xdotool(self, *arguments):
        done = subprocess.run(['xdotool', *arguments], env=self.environment, capture_output=True,
                              text=True, timeout=30)
        return done.stdout

    def wait_for_window(self):
        name = harness.wait_until(
            lambda: self.xdotool('search', '--onlyvisible', '--name', 'Shardlens').split(), 30,
            'the window')[-1]
        geometry = self.xdotool('getwindowgeometry', name)
        self.x, self.y = map(int, re.search(r'Position: (-?\d+),(-?\d+)', geometry).groups())
        self.width, self.height = map(int, re.search(r'Geometry: (\d+)x(\d+)', geometry).groups())
        self.window = name
        # With no window manager nobody gives the window the focus.
        self.xdotool('windowfocus', '--sync', name)

    def keys(self, *keys):
        """The window takes them in their order, however late it is."""
        self.xdotool('key', *keys)

    def command(self, text):
        """Types into the command palette."""
        self.keys('ctrl+k')
        self.xdotool('type', text)
        self.keys('Return')

    def close_window(self):
        """As the title bar's cross does."""
        x11.ask_to_close(self.environment['DISPLAY'], int(self.window))

    def click(self, x, y, *more):
        """Where it was meant: once the window has nothing more to draw. It must not show a live run."""
        self.xdotool('mousemove', str(self.x + x), str(self.y + y))
        harness.wait_until(self.rests, 30, 'the window to rest')
        self.xdotool('click', *more, '1')

    def rests(self):
        """Whether the thread that draws has slept for a third of a second, and no thread waits for a processor: it may
        sleep until others have painted what it drew."""
        process = self.xdotool('getwindowpid', self.window).strip()
        threads = pathlib.Path('/proc', process, 'task')

        def states_and_times():
            states = set()
            for stat in threads.glob('*/stat'):
                with contextlib.suppress(OSError):  # it has ended
                    fields = stat.read_text().rsplit(')', 1)[1].split()
                    states.add(fields[0])
                    if stat.parent.name == process:
                        times = fields[11:13]
            return states, times

        before = states_and_times()
        time.sleep(0.33)
        return before[0] == {'S'} and states_and_times() == before


class WindowTest(harness.ShardlensTest):
    """One window on a display of its own."""

    def open_window(self, screen='1600x1000', what=()):
        self.display = Display(screen)
        environment = {**self.display.environment, 'XDG_CONFIG_HOME': str(self.folder / 'config')}
        self.program = subprocess.Popen(
            [harness.SHARDLENS, *what, '--runs-dir', str(self.runs)], env=environment, cwd=self.folder,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.display.wait_for_window()

    def tearDown(self):
        if self.program.poll() is None:
            self.program.kill()
        self.program.communicate()
        self.display.close()
        harness.wait_until(lambda: not self.rank_processes(), 10, 'the ranks to end')
        super().tearDown()
