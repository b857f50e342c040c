"""A virtual screen of its own, whichever others there are. As a program: runs a command on one.

    virtual_screen.py COMMAND ARGUMENT…
"""
import os
import subprocess
import sys

# None of what is started here outlives us, however we end.
WITH_US = ['setpriv', '--pdeathsig', 'TERM']


class VirtualScreen:
    def __init__(self, screen='1600x1000'):
        read, write = os.pipe()
        self.server = subprocess.Popen(
            [*WITH_US, 'Xvfb', '-displayfd', str(write), '-screen', '0', f'{screen}x24', '-nolisten', 'tcp', '-noreset'],
            pass_fds=(write,), stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as pipe:
            number = pipe.readline().strip()
        self.environment = {**os.environ, 'DISPLAY': f':{number}', 'LIBGL_ALWAYS_SOFTWARE': '1'}

    def close(self):
        self.server.terminate()
        self.server.wait()


def main():
    screen = VirtualScreen()
    try:
        return subprocess.run([*WITH_US, *sys.argv[1:]], env=screen.environment).returncode
    finally:
        screen.close()


if __name__ == '__main__':
    sys.exit(main())
