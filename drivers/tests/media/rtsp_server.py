"""A network camera on 127.0.0.1: a drawn picture and a tone, H.264 with A-law at /camera and with Opus at /opus; at
/short it hangs up after a moment.

usage: rtsp_server.py PORT (0 picks a free one)

Prints PORT when it is ready. Ends with its standard input, on which it takes a command a line:

    hold         nothing more is sent; every connection stays open and new ones are taken
    go           goes on
    size W H     the picture has another size from now on
"""
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

Gst.init(None)
state = {"held": False, "size": (320, 180)}
filters = []


def caps():
    return Gst.Caps.from_string("video/x-raw,width=%d,height=%d,framerate=25/1" % state["size"])


def configured(_, media):
    size = media.get_element().get_by_name("size")
    size.set_property("caps", caps())
    filters.append(size)
    media.connect("prepared", prepared)


# Not before the streams are described, or nobody could connect while they are held.
def prepared(media):
    for number in range(media.n_streams()):
        pad = media.get_stream(number).get_srcpad()
        pad.add_probe(Gst.PadProbeType.BUFFER | Gst.PadProbeType.BUFFER_LIST, passing)


def passing(*_):
    return Gst.PadProbeReturn.DROP if state["held"] else Gst.PadProbeReturn.OK


def obey(stream, _):
    line = stream.readline()
    words = line.split()
    if not line:
        loop.quit()
        return False
    if words[0] == "size":
        state["size"] = (int(words[1]), int(words[2]))
        for size in filters:
            size.set_property("caps", caps())
    else:
        state["held"] = words[0] == "hold"
    print("done", flush=True)
    return True


server = GstRtspServer.RTSPServer()
server.set_address("127.0.0.1")
server.set_service(sys.argv[1])
OPUS = "opusenc ! rtpopuspay name=pay1 pt=97"
for path, pictures, sounds, sound in (
    ("/camera", -1, -1, "audio/x-raw,rate=8000 ! alawenc ! rtppcmapay name=pay1 pt=8"),
    ("/opus", -1, -1, OPUS),
    ("/short", 2, 2, OPUS),
):
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch(
        "( videotestsrc is-live=true num-buffers=%d ! capsfilter name=size ! x264enc speed-preset=ultrafast tune=zerolatency"
        " key-int-max=25 ! rtph264pay config-interval=-1 name=pay0 pt=96"
        " audiotestsrc is-live=true num-buffers=%d ! audioconvert ! audioresample ! %s )" % (pictures, sounds, sound)
    )
    factory.set_shared(pictures < 0)
    factory.connect("media-configure", configured)
    server.get_mount_points().add_factory(path, factory)
if server.attach(None) == 0:
    sys.exit("the port is taken")
print(server.get_bound_port(), flush=True)
loop = GLib.MainLoop()
GLib.io_add_watch(sys.stdin, GLib.PRIORITY_DEFAULT, GLib.IO_IN | GLib.IO_HUP, obey)
loop.run()
