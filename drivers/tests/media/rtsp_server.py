"""A network camera: serves a drawn picture and a tone at rtsp://127.0.0.1:PORT/camera and prints PORT when ready.

usage: rtsp_server.py PORT (0 picks a free one)
"""
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

Gst.init(None)
server = GstRtspServer.RTSPServer()
server.set_address("127.0.0.1")
server.set_service(sys.argv[1])
factory = GstRtspServer.RTSPMediaFactory()
factory.set_launch(
    "( videotestsrc is-live=true ! video/x-raw,width=320,height=180,framerate=25/1"
    " ! x264enc speed-preset=ultrafast tune=zerolatency key-int-max=25 ! rtph264pay name=pay0 pt=96"
    " audiotestsrc is-live=true ! audioconvert ! audioresample ! audio/x-raw,rate=8000 ! alawenc ! rtppcmapay name=pay1 pt=8 )"
)
factory.set_shared(True)
server.get_mount_points().add_factory("/camera", factory)
if server.attach(None) == 0:
    sys.exit("the port is taken")
print(server.get_bound_port(), flush=True)
GLib.MainLoop().run()
