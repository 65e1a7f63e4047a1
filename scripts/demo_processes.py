"""The demo's child processes: each bounded in time, none left behind, Ctrl-C passed on to whoever is at work."""

import os
import pathlib
import queue
import signal
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Failed(Exception):
    """The demo cannot go on; the text says why and what to do."""


class Interrupted(Exception):
    """Somebody asked the demo to stop."""


class Children:
    """Starts child processes, each in a process group of its own, and ends them.

    A signal to the demo is therefore passed on by us, once, to the program that is at work: a terminal would send
    Ctrl-C to Terraform and its provider alike. A shell of three lines watches us and ends all groups if we are killed.
    """

    def __init__(self):
        self.interrupted = False
        self._at_work = None
        self._groups = {}
        self._watch = subprocess.Popen(
            ["sh", str(ROOT / "tests/support/reaper.sh")],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)

    def _on_signal(self, _number, _frame):
        self.interrupted = True
        child = self._at_work
        if child and child.poll() is None:
            # Terraform finishes what is in flight after the first one and gives up at once after the second.
            os.kill(child.pid, signal.SIGINT)

    def check(self):
        """Raises if we were asked to stop."""
        if self.interrupted:
            raise Interrupted

    def start(self, command, **options):
        """Starts a program that stays at work beside us."""
        try:
            child = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, start_new_session=True, **options
            )
        except OSError as error:
            raise Failed(f"{command[0]} cannot be started: {error}") from error
        self._groups[child.pid] = child
        self._tell_watch(f"group {child.pid}")
        return child

    def run(self, command, seconds, on_line=None, on_idle=None, quiet_streams=False, **options):
        """Runs a program to its end and returns its exit code and what it printed.

        `on_line` takes each line of its output as it comes, `on_idle` is called ten times a second.
        With `quiet_streams` only standard output is taken; standard error goes where ours goes.
        """
        self.check()
        errors = None if quiet_streams else subprocess.STDOUT
        child = self.start(command, stdout=subprocess.PIPE, stderr=errors, text=True, errors="replace", **options)
        self._at_work = child
        if self.interrupted:  # The signal came before there was anybody to pass it on to.
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
                raise Failed(f"{command[0]} was still at work after {seconds} s and was ended:\n{''.join(printed)}")
        code = child.wait()
        self._at_work = None
        self._forget(child)
        self.check()
        return code, "".join(printed)

    def end(self, child):
        """Ends a program and all that it has started."""
        for number, seconds in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
            try:
                os.killpg(child.pid, number)
            except ProcessLookupError:
                break
            except PermissionError:
                pass  # macOS says this of a group whose last member is a zombie.
            try:
                child.wait(seconds)
            except subprocess.TimeoutExpired:
                continue
        self._forget(child)

    def leave(self, child):
        """Lets a program live on after the demo."""
        self._forget(child)

    def end_all(self):
        """Ends whatever is still there."""
        for child in list(self._groups.values()):
            self.end(child)
        self._watch.stdin.close()
        self._watch.wait()

    def _forget(self, child):
        self._groups.pop(child.pid, None)
        self._tell_watch(f"ended {child.pid}")

    def _tell_watch(self, line):
        self._watch.stdin.write(f"{line}\n".encode())
        self._watch.stdin.flush()


def _read(stream, lines):
    for line in stream:
        lines.put(line)
    lines.put(None)
