"""A real browser for tests of pages."""

import json
import shutil
import sys
from base64 import b64decode
from io import BytesIO
from pathlib import Path

AXE = Path(sys.prefix, "node_modules", "axe-core", "axe.min.js")  # where `make test` puts it


class Browser:
    """Chromium without a window, its console and its requests."""

    def __init__(self, folder: Path) -> None:
        from selenium import webdriver

        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
            options.add_argument(word)
        options.add_argument(f"--user-data-dir={folder}")
        service = webdriver.ChromeService(shutil.which("chromedriver"))
        self.driver = webdriver.Chrome(options=options, service=service)
        self.width(1280)

    def close(self) -> None:
        """End the browser."""
        self.driver.quit()

    def width(self, pixels: int, height: int = 900) -> None:
        """How wide the page is; a phone has 390."""
        size = {"width": pixels, "height": height, "deviceScaleFactor": 1, "mobile": pixels < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def media(self, kind: str = "screen", scheme: str = "light") -> None:
        """On a screen or on paper, light or dark."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        asked = {"media": kind, "features": features}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", asked)

    def scripts(self, on: bool) -> None:
        """Whether pages may run scripts."""
        self.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not on})

    def open(self, path: Path, fragment: str = "") -> None:
        """A page from a file, as for the first time."""
        self.driver.get("about:blank")
        self.logs(), self.requests()
        self.driver.get(path.as_uri() + fragment)

    def run(self, script: str, *arguments: object) -> object:
        """What a script returns."""
        return self.driver.execute_script(script, *arguments)

    def logs(self) -> list[str]:
        """What the console has said since the last time."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """What pages have asked for since the last time."""
        events = [json.loads(e["message"])["message"] for e in self.driver.get_log("performance")]
        sent = [e["params"] for e in events if e["method"] == "Network.requestWillBeSent"]
        return [params["request"]["url"] for params in sent]

    def printed(self, path: Path, fragment: str = "") -> list[str]:
        """The text of each page that printing gives."""
        from pypdf import PdfReader

        self.media("")
        self.open(path, fragment)
        asked = {"preferCSSPageSize": True, "printBackground": True}
        found = self.driver.execute_cdp_cmd("Page.printToPDF", asked)["data"]
        return [page.extract_text() for page in PdfReader(BytesIO(b64decode(found))).pages]

    def violations(self) -> list[str]:
        """What axe-core finds wrong with the page for people who cannot see it well."""
        script = AXE.read_text("utf-8")
        self.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": script})
        found = self.driver.execute_async_script(
            "const done = arguments[0]; axe.run(document).then((found) => done(found.violations))"
        )
        return [f"{v['id']}: {[node['html'][:200] for node in v['nodes'][:3]]}" for v in found]
