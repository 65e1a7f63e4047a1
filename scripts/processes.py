"""The child processes of a script: each has a time limit, none is left behind, and the active one receives Ctrl-C."""

import os
import pathlib
import queue
import signal
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Failed(Exception):
    """The script cannot continue; the text states the reason and what to do."""


class Interrupted(Exception):
    """The user has stopped the script."""


class Children:
    """Starts child processes, each in its own process group, and ends them.

    The script itself forwards a signal, once, to the active program: a terminal would send Ctrl-C to both Terraform and
    its provider. A small shell script watches this process and ends all groups if it is killed.
    """

    def __init__(self):
        self.interrupted = False
        self._active = None
        self._groups = {}
        self._watch = subprocess.Popen(
            ["sh", str(ROOT / "tests/support/reaper.sh")],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)

    def _on_signal(self, _number, _frame):
        self.interrupted = True
        child = self._active
        if child and child.poll() is None:
            # After the first signal, Terraform waits for running operations; after the second, it stops at once.
            os.kill(child.pid, signal.SIGINT)

    def check(self):
        """Raises Interrupted if the user has stopped the script."""
        if self.interrupted:
            raise Interrupted

    def start(self, command, **options):
        """Starts a program in the background."""
        try:
            child = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, start_new_session=True, **options
            )
        except OSError as error:
            raise Failed(f"{command[0]} cannot be started: {error}") from error
        self._groups[child.pid] = child
        self._notify_watch(f"group {child.pid}")
        return child

    def run(self, command, seconds, on_line=None, on_idle=None, quiet_streams=False, **options):
        """Runs a program to its end and returns its exit code and what it printed.

        `on_line` receives each line of its output at once, and `on_idle` is called ten times a second.
        With `quiet_streams`, only standard output is read, and standard error is inherited.
        """
        self.check()
        errors = None if quiet_streams else subprocess.STDOUT
        child = self.start(command, stdout=subprocess.PIPE, stderr=errors, text=True, errors="replace", **options)
        self._active = child
        if self.interrupted:  # The signal arrived before the program started.
            os.kill(child.pid, signal.SIGINT)
        lines, printed = queue.Queue(), []
        reader = threading.Thread(target=_read, args=(child.stdout, lines), daemon=True)
        reader.start()
        deadline = time.monotonic() + seconds
        while True:
            try:
                line = lines.get(timeout=0.1)
            except queue.Empty:
                line = ""
            if line is None:
                break
            if line:
                printed.append(line)
                if on_line:
                    on_line(line)
            if on_idle:
                on_idle()
            if time.monotonic() > deadline:
                self.end(child)
                raise Failed(f"{command[0]} did not finish within {seconds} s and was ended:\n{''.join(printed)}")
        code = child.wait()
        self._active = None
        self._forget(child)
        self.check()
        return code, "".join(printed)

    def end(self, child):
        """Ends a program and its child processes."""
        for number, seconds in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
            try:
                os.killpg(child.pid, number)
            except ProcessLookupError:
                break
            except PermissionError:
                pass  # macOS returns this for a group whose last member is a zombie.
            try:
                child.wait(seconds)
            except subprocess.TimeoutExpired:
                continue
        self._forget(child)

    def leave(self, child):
        """Keeps a program running after the script."""
        self._forget(child)

    def end_all(self):
        """Ends all programs that are still running."""
        for child in list(self._groups.values()):
            self.end(child)
        self._watch.stdin.close()
        self._watch.wait()

    def _forget(self, child):
        self._groups.pop(child.pid, None)
        self._notify_watch(f"ended {child.pid}")

    def _notify_watch(self, line):
        self._watch.stdin.write(f"{line}\n".encode())
        self._watch.stdin.flush()


def _read(stream, lines):
    for line in stream:
        lines.put(line)
    lines.put(None)
