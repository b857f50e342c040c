"""Asks model_folder_probe, which takes half a second to start, about any number of folders."""
import subprocess


class FolderProbe:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *words):
        """See its source for what it can be asked."""
        print(*words, sep="\t", file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline().strip()
        assert answer == "done", f"{words}: {answer or 'the probe ended'}"
