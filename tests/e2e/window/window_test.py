"""The window, driven by a real mouse and keyboard: change a knob, start, stop, replay, close."""
import gzip
import json
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from support import harness, virtual_screen  # noqa: E402
from support.display import WindowTest  # noqa: E402
from support.file_drop import FileDrag  # noqa: E402


class Window(WindowTest):
    def setUp(self):
        super().setUp()
        self.open_window()

    def run_folders(self):
        return sorted(p for p in self.runs.iterdir() if p.is_dir()) if self.runs.exists() else []

    def recorded(self, sql):
        """Of the last run; '' while there is none."""
        done = subprocess.run([harness.SHARDLENS, 'query', *map(str, self.run_folders()[-1:]), sql,
                               '--format', 'csv'], capture_output=True, text=True)
        return done.stdout.split()[-1] if done.returncode == 0 and done.stdout else ''

    def test_a_user_tunes_starts_stops_replays_and_closes(self):
        for assignment in ('bucket_cap_mb=1', 'steps=5000', 'batch_per_rank=2', 'ranks=2',
                           'sequence_length=32', 'device=cpu'):
            self.display.command(assignment)
        # The start button at the foot of the settings panel, above the new run's name.
        self.display.click(75, self.display.height - 62)
        harness.wait_until(self.run_folders, 20, 'the run to start')
        harness.wait_until(lambda: int(self.recorded('select count(*) from step') or 0) > 20, 60,
                           'steps to be recorded')
        self.assertEqual(
            self.recorded("select value from setting where key = 'bucket_cap_mb'"), '1')
        self.assertEqual(len(self.rank_processes()), 2)

        self.display.command('Stop the run')
        harness.wait_until(lambda: not self.rank_processes(), 30, 'the ranks to stop')
        report = harness.wait_until(self.stopped_report, 20, 'the status')
        self.assertGreater(len(report['steps']), 10)

        harness.wait_until(self.display.rests, 20, 'the stopped run to be shown')
        self.display.command('Replay this run')
        harness.wait_until(self.moves_for_a_second, 20, 'the replay to play')
        self.assertEqual(self.rank_processes(), [], 'a replay trains nothing')
        self.assertEqual(len(self.run_folders()), 1)
        self.assertIsNone(self.program.poll())
        self.display.command('Leave the replay')

        self.display.keys('ctrl+Return')  # and once more, by keyboard
        harness.wait_until(lambda: len(self.run_folders()) == 2, 20, 'the second run')
        harness.wait_until(self.rank_processes, 20, 'its ranks')
        self.display.close_window()
        self.display.keys('Escape')
        time.sleep(1)
        self.assertIsNone(self.program.poll(), 'it asks first')
        self.assertNotEqual(self.rank_processes(), [])
        self.display.command('Quit')
        self.display.keys('Return')
        self.assertEqual(self.program.wait(timeout=40), 0)
        harness.wait_until(lambda: not self.rank_processes(), 10, 'the ranks to end with the window')

    def test_the_title_bars_cross_asks_while_a_run_goes_on(self):
        for assignment in ('steps=5000', 'batch_per_rank=2', 'ranks=1', 'sequence_length=32', 'device=cpu'):
            self.display.command(assignment)
        self.display.keys('ctrl+Return')
        harness.wait_until(self.rank_processes, 20, 'its ranks')
        self.display.close_window()
        time.sleep(1)
        self.assertIsNone(self.program.poll(), 'it asks first')
        self.display.close_window()
        self.assertEqual(self.program.wait(timeout=40), 0)
        self.assertEqual(self.json('report', str(self.run_folders()[-1]))['run']['status'], 'stopped')

    def test_a_signal_ends_it_without_a_question(self):
        self.display.command('steps=5000')
        self.display.keys('ctrl+Return')
        harness.wait_until(self.rank_processes, 20, 'its ranks')
        self.program.terminate()
        self.assertEqual(self.program.wait(timeout=40), 0)

    def moves_for_a_second(self):
        return not any(self.display.rests() for _ in range(3))

    def stopped_report(self):
        report = self.json('report', str(self.run_folders()[-1]))
        return report if report['run']['status'] == 'stopped' else None

    def recorded_strategy(self):
        return self.recorded("select value from setting where key = 'sharding_strategy'")

    def choose_on_plan_card(self, row):
        """Clicks a strategy's row of the open plan card; its rows are 50 high, the card centred."""
        top = (self.display.height - 544) // 2
        self.display.click(200, top + 148 + 50 * row + 25)

    def test_a_strategy_is_chosen_on_the_plan_card_by_mouse_and_by_key(self):
        harness.wait_until(lambda: '·' in self.display.xdotool('getwindowname', self.display.window),
                           30, 'the recorded run')
        self.display.keys('p')
        self.choose_on_plan_card(4)
        self.display.keys('Escape')
        for assignment in ('steps=3', 'batch_per_rank=2', 'ranks=2', 'sequence_length=32',
                           'device=cpu'):
            self.display.command(assignment)
        self.display.keys('ctrl+Return')
        harness.wait_until(lambda: self.recorded_strategy() == 'full_shard', 30, 'the first run')
        harness.wait_until(lambda: not self.rank_processes(), 30, 'the first run to end')

        self.display.keys('p')
        self.choose_on_plan_card(1)
        self.display.keys('p')
        self.display.keys('ctrl+Return')
        harness.wait_until(lambda: self.recorded_strategy() == 'zero1', 30, 'the second run')
        harness.wait_until(lambda: not self.rank_processes(), 30, 'the second run to end')
        self.display.command('Quit')
        self.assertEqual(self.program.wait(timeout=40), 0)

    def test_keys_change_the_look_and_the_window_remembers_it(self):
        self.display.keys('F11')
        self.display.keys('ctrl+t')
        self.display.keys('question')
        self.display.keys('Escape')
        self.display.command('Quit')
        self.assertEqual(self.program.wait(timeout=20), 0)
        remembered = [p for p in (self.folder / 'config').rglob('*') if p.is_file()]
        self.assertEqual(len(remembered), 1)
        self.assertIn('present', remembered[0].read_text())


class Traces(WindowTest):
    def write_trace(self, path):
        events = [{'ph': 'X', 'cat': 'kernel', 'name': 'gemm', 'pid': 0, 'tid': 7, 'ts': 1000 + i, 'dur': 1,
                   'args': {'device': 0, 'stream': 7}} for i in range(10)]
        path.parent.mkdir(exist_ok=True)
        with gzip.open(path, 'wt') as out:
            json.dump({'traceEvents': events}, out)
        return path

    def wait_for_run(self, name):
        harness.wait_until(lambda: name in self.display.xdotool('getwindowname', self.display.window), 30,
                           'the run to be shown')

    def imported_runs(self):
        # Beside them lies what the library keeps for itself.
        return [p.name.split('_', 1)[1] for p in self.runs.iterdir() if not p.name.startswith('.')]

    def quit(self):
        self.display.command('Quit')
        self.assertEqual(self.program.wait(timeout=20), 0)

    def drop(self, *files):
        drag = FileDrag(self.display.environment['DISPLAY'], files)
        self.assertTrue(drag.drop(int(self.display.window), self.display.x + 800, self.display.y + 500))
        drag.close()

    def remembered(self):
        return self.folder / 'config' / 'shardlens' / 'preferences.yaml'

    def leave(self, **remembered):
        """As a window that was closed."""
        self.remembered().parent.mkdir(parents=True, exist_ok=True)
        self.remembered().write_text(''.join(f'{key}: {value}\n' for key, value in remembered.items()))

    def test_what_is_named_is_shown_whatever_was_left_and_a_view_by_any_name_of_its_run(self):
        self.shardlens('generate', 'made up', '--ranks', '1', '--events', '1')
        for what, shown in ((['made up'], 'workspace: tune'), (['--view', 'inspect/1?tab=Steps'], 'inspect_tab: Steps')):
            self.leave(workspace='compare')
            self.open_window(what=what)
            self.wait_for_run('made up')
            harness.wait_until(self.display.rests, 30, 'the run to be shown')
            self.quit()
            self.assertIn(shown, self.remembered().read_text())
            self.display.close()

    def test_a_trace_named_on_the_command_line_is_imported_and_shown(self):
        self.write_trace(self.folder / 'little.json.gz')
        self.open_window(what=['little.json.gz'])
        self.wait_for_run('little')
        self.assertEqual(self.imported_runs(), ['little'])
        self.quit()

    def test_what_a_file_manager_drops_is_shown_traces_as_runs_and_runs_where_they_lie(self):
        elsewhere = self.folder / 'elsewhere'
        subprocess.run([harness.SHARDLENS, 'generate', 'made up', '--ranks', '1', '--events', '1', '--runs-dir', elsewhere],
                       check=True, capture_output=True, timeout=60)
        [run] = [p for p in elsewhere.iterdir() if not p.name.startswith('.')]
        self.open_window()
        self.drop(self.write_trace(self.folder / 'a folder' / 'größer.json.gz'))
        self.wait_for_run('größer')
        self.drop(run)
        self.wait_for_run('made up')
        self.assertEqual(self.imported_runs(), ['gr_er'])
        self.quit()


class SmallScreen(WindowTest):
    def test_the_first_window_is_not_larger_than_its_screen(self):
        self.open_window('1280x720')
        self.assertEqual((self.display.width, self.display.height), (1280, 720))
        self.display.command('Quit')
        self.assertEqual(self.program.wait(timeout=20), 0)


class Screen(harness.ShardlensTest):
    def test_no_screen_outlives_who_opened_it(self):
        opener = subprocess.Popen([sys.executable, '-B', virtual_screen.__file__, 'sleep', '60'])
        children = pathlib.Path(f'/proc/{opener.pid}/task/{opener.pid}/children')

        def names():
            return sorted(harness.name_of(pathlib.Path('/proc', pid)) for pid in children.read_text().split())
        # What `setpriv` asks for holds once it has become the command.
        harness.wait_until(lambda: names() == ['Xvfb', 'sleep'], 30, 'the screen and the command')
        started = [pathlib.Path('/proc', pid) for pid in children.read_text().split()]
        opener.kill()
        opener.wait()
        harness.wait_until(lambda: not any(map(harness.is_alive, started)), 10, 'their end')


if __name__ == '__main__':
    harness.main()
