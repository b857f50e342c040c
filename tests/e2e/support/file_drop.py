"""Drops files on a window as file managers do: the source's side of XDND 5 (freedesktop.org/wiki/Specifications/XDND)."""
import ctypes
import pathlib
import select
import time
from ctypes import byref, c_int, c_long, c_ulong, c_void_p

from support import x11
from support.x11 import CLIENT_MESSAGE, LIBRARY, ClientMessage

SELECTION_REQUEST, SELECTION_NOTIFY = 30, 31
CURRENT_TIME, REPLACE = 0, 0


class Request(ctypes.Structure):
    """The target asks for what the selection holds."""
    _fields_ = [('type', c_int), ('serial', c_ulong), ('sent', c_int), ('display', c_void_p), ('owner', c_ulong),
                ('requestor', c_ulong), ('selection', c_ulong), ('target', c_ulong), ('property', c_ulong),
                ('time', c_ulong)]


class Answer(ctypes.Structure):
    _fields_ = [('type', c_int), ('serial', c_ulong), ('sent', c_int), ('display', c_void_p),
                ('requestor', c_ulong), ('selection', c_ulong), ('target', c_ulong), ('property', c_ulong),
                ('time', c_ulong)]


class Event(ctypes.Union):
    _fields_ = [('type', c_int), ('message', ClientMessage), ('request', Request), ('answer', Answer),
                ('room', c_long * 24)]


class FileDrag:
    """Files held by a mouse; `display`: as in DISPLAY."""

    def __init__(self, display, files):
        self.files = '\r\n'.join(pathlib.Path(file).absolute().as_uri() for file in files).encode() + b'\r\n'
        self.display = x11.open_display(display)
        root = c_ulong(LIBRARY.XDefaultRootWindow(self.display))
        self.window = LIBRARY.XCreateSimpleWindow(self.display, root, 0, 0, 1, 1, 0, c_ulong(0), c_ulong(0))
        LIBRARY.XSetSelectionOwner(self.display, self.atom('XdndSelection'), c_ulong(self.window), CURRENT_TIME)

    def atom(self, name):
        return x11.atom(self.display, name)

    def say(self, target, what, *data):
        x11.say(self.display, target, what, self.window, *data)

    def hand_over(self, request):
        LIBRARY.XChangeProperty(self.display, c_ulong(request.requestor), c_ulong(request.property),
                                c_ulong(request.target), 8, REPLACE, self.files, len(self.files))
        event = Event()
        event.answer = Answer(type=SELECTION_NOTIFY, requestor=request.requestor, selection=request.selection,
                              target=request.target, property=request.property, time=request.time)
        LIBRARY.XSendEvent(self.display, c_ulong(request.requestor), 0, c_long(0), byref(event))
        LIBRARY.XFlush(self.display)

    def wait_for(self, what, seconds=20):
        """The data of the target's message; hands the files over when it asks for them."""
        wanted, deadline, event = self.atom(what).value, time.monotonic() + seconds, Event()
        while True:
            while not LIBRARY.XPending(self.display):
                left = deadline - time.monotonic()
                if left <= 0:
                    raise AssertionError(f'the window did not send {what}')
                select.select([LIBRARY.XConnectionNumber(self.display)], [], [], left)
            LIBRARY.XNextEvent(self.display, byref(event))
            if event.type == SELECTION_REQUEST:
                self.hand_over(event.request)
            elif event.type == CLIENT_MESSAGE and event.message.message == wanted:
                return list(event.message.data)

    def drop(self, target, x, y):
        """Over the window `target`, whose place on the screen this is; whether it took them."""
        version = 5
        copy = self.atom('XdndActionCopy').value
        self.say(target, 'XdndEnter', version << 24, self.atom('text/uri-list').value, 0, 0)
        self.say(target, 'XdndPosition', 0, x << 16 | y, CURRENT_TIME, copy)
        if not self.wait_for('XdndStatus')[1] & 1:
            return False
        self.say(target, 'XdndDrop', 0, CURRENT_TIME, 0)
        # Bit 0 says so by the protocol; GLFW puts there how many bytes it took.
        return self.wait_for('XdndFinished')[1] != 0

    def close(self):
        LIBRARY.XCloseDisplay(self.display)
