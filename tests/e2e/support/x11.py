"""What a test says to a window in place of the desktop: messages of X11."""
import ctypes
from ctypes import byref, c_char_p, c_int, c_long, c_ulong, c_void_p

LIBRARY = ctypes.CDLL('libX11.so.6')
for name, result in (('XOpenDisplay', c_void_p), ('XInternAtom', c_ulong), ('XDefaultRootWindow', c_ulong),
                     ('XCreateSimpleWindow', c_ulong)):
    getattr(LIBRARY, name).restype = result

CLIENT_MESSAGE = 33


class ClientMessage(ctypes.Structure):
    _fields_ = [('type', c_int), ('serial', c_ulong), ('sent', c_int), ('display', c_void_p), ('window', c_ulong),
                ('message', c_ulong), ('format', c_int), ('data', c_long * 5)]


def atom(display, name):
    return c_ulong(LIBRARY.XInternAtom(display, c_char_p(name.encode()), 0))


def open_display(name):
    """`name`: as in DISPLAY."""
    return c_void_p(LIBRARY.XOpenDisplay(name.encode()))


def say(display, window, what, *data):
    event = (c_long * 24)()  # room for any
    message = ClientMessage(type=CLIENT_MESSAGE, window=window, message=atom(display, what).value, format=32,
                            data=(c_long * 5)(*data))
    ctypes.memmove(byref(event), byref(message), ctypes.sizeof(message))
    LIBRARY.XSendEvent(display, c_ulong(window), 0, c_long(0), byref(event))
    LIBRARY.XFlush(display)


def ask_to_close(display_name, window):
    """As the title bar's cross does."""
    display = open_display(display_name)
    say(display, window, 'WM_PROTOCOLS', atom(display, 'WM_DELETE_WINDOW').value, 0)
    LIBRARY.XCloseDisplay(display)
