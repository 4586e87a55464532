"""How far a training is: a bar of tqdm, or a line now and then."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._core import StepMetrics

PAUSE = 0.1  # seconds between two updates on a terminal
FILE_PAUSE = 30.0


def is_shown(progress: bool | None) -> bool:
    if progress is None:
        return sys.stderr.isatty() or "ipykernel" in sys.modules
    return bool(progress)


class Progress:
    """Shows the progress of a training that is limited by steps or by minutes; shows nothing where it is off."""

    def __init__(self, show: bool | None, steps: int, minutes: float, what: str) -> None:
        self.steps, self.minutes, self.what = steps, minutes, what
        self.validation = ""
        self.shown_at = float("-inf")
        self.bar: Any = None
        self.shown = is_shown(show)
        if not self.shown:
            return
        try:
            from tqdm.auto import tqdm  # type: ignore[import-untyped, import-not-found, unused-ignore]
        except ImportError:
            return
        unit = "step" if steps else "s"
        self.bar = tqdm(total=steps or round(60 * minutes) or None, unit=unit, desc=what, mininterval=PAUSE)

    def step(self, metrics: StepMetrics, what: str = "") -> None:
        if not self.shown:
            return
        validated = metrics.validation_loss is not None
        if validated:
            self.validation = f", held-out loss {metrics.validation_loss:.4g} at step {metrics.step}"
        now = time.monotonic()
        pause = PAUSE if self.bar is not None or sys.stderr.isatty() else FILE_PAUSE
        last = self.steps > 0 and metrics.step >= self.steps
        if now < self.shown_at + pause and not validated and not last:
            return
        self.shown_at = now
        numbers = f"loss {metrics.mean_loss:.4g}, {metrics.tokens_per_second:.0f} tokens/s{self.validation}"
        if self.bar is None:
            of = f"/{self.steps}" if self.steps else ""
            print(f"{what or self.what}: step {metrics.step}{of}, {numbers}", file=sys.stderr, flush=True)
            return
        if what:
            self.bar.set_description(what, refresh=False)
        self.bar.set_postfix_str(numbers, refresh=False)
        done = metrics.step if self.steps else min(round(metrics.seconds), self.bar.total)
        self.bar.update(done - self.bar.n)

    def say(self, words: str) -> None:
        if self.shown and self.bar is None:
            print(words, file=sys.stderr, flush=True)
        elif self.bar is not None:
            self.bar.set_description(words)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
