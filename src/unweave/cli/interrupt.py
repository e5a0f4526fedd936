"""End a command on Ctrl-C within a second: with the model that a fit has reached, or with nothing."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from types import FrameType
from typing import Any

_PATIENCE = 0.4  # seconds for Python to end by itself, where there is nothing to keep
NOTHING = "interrupted: nothing was written"
EXIT = 130  # what a shell expects of a command that Ctrl-C has ended


def end_at_once() -> None:
    """From now on Ctrl-C ends the process at once, until there is something to keep; for the start of a command.

    An exception will not do while modules are being imported: some of them take it for a failure of their own.
    """
    signal.signal(signal.SIGINT, _at_once)


def end_by_exception() -> None:
    """From now on Ctrl-C is an exception, so that files which are being written are cleaned up."""
    if signal.getsignal(signal.SIGINT) is _at_once:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _at_once(number: int, frame: FrameType | None) -> None:
    _leave(NOTHING)


class Interrupted(BaseException):
    """Raised by Ctrl-C where nothing is worth keeping; no fit takes it for an end of its own, as it does Ctrl-C."""


class Ending:
    """Watch for Ctrl-C around a fit.

    Before the model's own fit has done an iteration (in a search for the number of components, say) Ctrl-C ends
    everything. After it, the fit ends with what it has reached, and `asked` says that it was asked to. `heard` is to
    be the callback of the model. Code that does not come back to Python within a second (a long kernel, a
    decomposition) is left by ending the process; a second Ctrl-C does that at once.
    """

    def __init__(self, nothing: str = NOTHING):
        self.asked = self.reached = False
        self._nothing = nothing
        self._over = threading.Event()
        self._installed = False

    def heard(self, progress: Any) -> bool:
        """Note that the fit has come somewhere, and tell it to end if that was asked for; a callback."""
        self.reached = True
        return self.asked

    def __deepcopy__(self, memo: dict) -> Ending:
        """Stay the same where scikit-learn copies the parameters of a model."""
        return self

    def __enter__(self) -> Ending:
        if threading.current_thread() is threading.main_thread():  # signals are for it alone
            self._reader, self._writer = socket.socketpair()
            self._writer.setblocking(False)
            self._before = signal.signal(signal.SIGINT, self._on_signal)
            # The byte is written even while the main thread is deep in a kernel, where no handler of Python can run.
            self._old_fd = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
            self._installed = True
            threading.Thread(target=self._watch, name="unweave-ctrl-c", daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and issubclass(kind, Interrupted):
            self._nothing = ""  # the sentence is on its way; threads of a search may still keep the process from ending
        else:
            self._over.set()
        if self._installed:
            signal.set_wakeup_fd(self._old_fd)
            signal.signal(signal.SIGINT, self._before)
            self._writer.close()  # which ends the watch

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        if not self.reached:
            raise Interrupted(self._nothing)
        if _in_loop(frame):
            raise KeyboardInterrupt  # which the loop takes as its end; elsewhere the fit is closing by itself

    def _watch(self) -> None:
        times = 0
        with self._reader:
            while signals := self._reader.recv(64):
                times += signals.count(signal.SIGINT)
                if times > 1 and not self._over.is_set():
                    _leave(self._nothing)
                if times and not self.reached and not self._over.wait(_PATIENCE):
                    _leave(self._nothing)


def _in_loop(frame: FrameType | None) -> bool:
    """Tell whether the one loop of the library is running in this frame."""
    while frame is not None:
        if frame.f_code.co_name == "iterate" and frame.f_globals.get("__name__") == "unweave.solve.iterate":
            return True
        frame = frame.f_back
    return False


def _leave(message: str) -> None:
    """End the process at once, with one sentence and a visible cursor."""
    cursor = "\x1b[?25h" if sys.stderr.isatty() else ""
    os.write(2, f"{cursor}unweave: {message}\n".encode() if message else cursor.encode())
    os._exit(EXIT)
