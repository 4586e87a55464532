"""Chromium over the DevTools protocol through two pipes: Python's own library is enough."""
import base64
import json
import os
import shutil
import subprocess
import tempfile

FLAGS = ["--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--hide-scrollbars", "--disable-gpu",
         "--disable-lcd-text", "--font-render-hinting=none", "--force-device-scale-factor=1", "--no-first-run",
         "--disable-background-networking", "about:blank"]


def find():
    """The browser's program, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    """One tab. `events` are those since the last open()."""

    def __init__(self, program):
        self.profile = tempfile.TemporaryDirectory()
        reads, self.to_browser = os.pipe()
        self.from_browser, writes = os.pipe()
        # Chromium reads 3 and writes 4.
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{reads} 4>&{writes}', "bash", program,
             f"--user-data-dir={self.profile.name}", *FLAGS],
            pass_fds=(reads, writes), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(reads)
        os.close(writes)
        self.buffer, self.number, self.session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log", "Accessibility"):
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.to_browser)  # its end is the browser's
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.from_browser)
        self.profile.cleanup()

    def _next(self):
        while b"\0" not in self.buffer:
            more = os.read(self.from_browser, 1 << 20)
            if not more:
                raise RuntimeError("the browser ended")
            self.buffer += more
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to_browser, data):]
        while True:
            answer = self._next()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, event):
        while not any(each.get("method") == event for each in self.events):
            self.events.append(self._next())

    def open(self, url, width, height=900, dark=False, media=""):
        """Loads a page in a window of that size; `media` "print" shows it as a printer gets it."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                            {"name": "prefers-reduced-motion", "value": "reduce"}])
        self.call("Page.navigate", url="about:blank")  # the same page with another fragment would not load
        self.events = []
        self.call("Page.navigate", url=url)
        self.wait_for("Page.loadEventFired")
        self.run("document.fonts.ready.then(() => new Promise(requestAnimationFrame)).then(() => 0)")

    def run(self, script):
        """The value of a JavaScript expression, awaited."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"].get("description", "a script failed"))
        return result["result"].get("value")

    def picture(self, scale, quality=45):
        """The whole page or picture as WebP."""
        size = self.run("(({width, height}) => ({width, height}))(document.documentElement.getBoundingClientRect())")
        data = self.call("Page.captureScreenshot", format="webp", quality=quality, captureBeyondViewport=True,
                         clip={"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": scale})
        return base64.b64decode(data["data"])
