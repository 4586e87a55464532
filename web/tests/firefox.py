"""Firefox by its own protocol, Marionette: a socket that carries JSON. Python's library is enough."""
import json
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

PROGRAM = shutil.which("firefox-esr") or shutil.which("firefox")


class Firefox:
    def __init__(self, width=1000, height=900):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.profile = tempfile.TemporaryDirectory()
        (pathlib.Path(self.profile.name) / "user.js").write_text(
            f'user_pref("marionette.port", {port});\nuser_pref("browser.shell.checkDefaultBrowser", false);\n'
            'user_pref("datareporting.policy.dataSubmissionEnabled", false);\nuser_pref("app.update.enabled", false);\n')
        self.process = subprocess.Popen([PROGRAM, "--headless", "--marionette", "--no-remote", "--profile", self.profile.name,
                                         f"--width={width}", f"--height={height}", "about:blank"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.socket, self.buffer, self.number = self._connect(port), b"", 0
        self._read()  # its greeting
        self.call("WebDriver:NewSession", {"capabilities": {"alwaysMatch": {"timeouts": {"script": 60000, "pageLoad": 60000}}}})

    @staticmethod
    def _connect(port):
        for _ in range(240):
            try:
                return socket.create_connection(("127.0.0.1", port), timeout=120)
            except OSError:
                time.sleep(0.5)
        raise RuntimeError("Firefox does not answer")

    def _read(self):
        while b":" not in self.buffer:
            self.buffer += self.socket.recv(1 << 16)
        size, self.buffer = self.buffer.split(b":", 1)
        while len(self.buffer) < int(size):
            self.buffer += self.socket.recv(1 << 20)
        text, self.buffer = self.buffer[:int(size)], self.buffer[int(size):]
        return json.loads(text)

    def call(self, name, parameters=None):
        self.number += 1
        message = json.dumps([0, self.number, name, parameters or {}]).encode()
        self.socket.sendall(str(len(message)).encode() + b":" + message)
        _, _, problem, result = self._read()
        if problem:
            raise RuntimeError(f"{name}: {problem['message']}")
        return result

    def open(self, url):
        self.call("WebDriver:Navigate", {"url": "about:blank"})
        self.call("WebDriver:Navigate", {"url": url})

    def run(self, script):
        """What `script`, the body of a function, returns."""
        return self.call("WebDriver:ExecuteScript", {"script": script, "args": [], "sandbox": None})["value"]

    def wait_for(self, script, seconds=60):
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            value = self.run("return " + script)
            if value:
                return value
            time.sleep(0.2)
        raise RuntimeError(f"after {seconds} s there is no {script}")

    def press(self, key):
        """A key, by its code of WebDriver."""
        self.call("WebDriver:PerformActions", {"actions": [{"type": "key", "id": "keys", "actions": [{"type": kind, "value": key} for kind in ("keyDown", "keyUp")]}]})

    def close(self):
        try:
            self.call("Marionette:Quit", {"flags": ["eForceQuit"]})
        except (OSError, RuntimeError, ValueError):
            pass
        self.socket.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.profile.cleanup()
