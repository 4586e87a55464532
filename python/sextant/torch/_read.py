"""What a function of flex_attention does with the score and reads of the indices, found by running it once on numbers that are watched.

Every function of torch that it calls is seen. Its steps do not depend on the indices, because a branch on one of them is refused, so
what is found once holds for all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, NoReturn

import torch
from torch.overrides import TorchFunctionMode

from .._errors import ArgumentError, ArgumentTypeError, UnsupportedError
from ._tensors import functorch

WHOLE = (torch.int32, torch.int64)
WIDE = (*WHOLE, torch.float32, torch.float64)  # positions are the same numbers in these
SHAPES = {"__get__", "__len__", "dim", "is_complex", "is_contiguous", "is_floating_point", "is_signed", "numel", "size", "stride"}
FRESH = {"new_ones", "new_zeros", "ones_like", "zeros_like"}
CONVERSIONS = {"bfloat16", "clone", "contiguous", "double", "float", "half", "int", "long", "to", "type_as"}
DIFFERENCES = {"eq", "ge", "gt", "le", "lt", "ne", "sub", "subtract"}


@dataclass(frozen=True)
class Score:
    """factor * score, or factor * tanh(inner * score); `shifted`: plus what does not depend on the score."""

    factor: float = 1.0
    inner: float = 1.0
    capped: bool = False
    shifted: bool = False


@dataclass(frozen=True)
class Reads:
    """What a number depends on."""

    batch: bool = False
    head: bool = False
    # A whole number that is step[0] * query + step[1] * key plus something else.
    step: tuple[int, int] | None = None
    positions: bool = False
    distance: bool = False  # of the positions, query - key alone
    score: Score | None = None


NOTHING = Reads()


def placed(step: tuple[int, int], **others: Any) -> Reads:
    return Reads(step=step, positions=step != (0, 0), distance=sum(step) == 0, **others)


@dataclass(eq=False)
class Watch(TorchFunctionMode):
    name: str  # of the function, for errors
    known: dict[int, tuple[torch.Tensor, Reads]] = field(default_factory=dict)  # by id, with what keeps it alive
    weights: dict[int, torch.Tensor] = field(default_factory=dict)  # tensors of its own that require gradients
    made: dict[int, torch.Tensor] = field(default_factory=dict)  # what it made of these alone

    def __post_init__(self) -> None:
        super().__init__()

    def add(self, tensor: torch.Tensor, reads: Reads) -> torch.Tensor:
        self.known[id(tensor)] = (tensor, reads)
        return tensor

    def of(self, value: Any) -> Reads | None:
        found = self.known.get(id(value))
        return None if found is None else found[1]

    def refuse(self, what: str) -> NoReturn:
        raise UnsupportedError(
            f"[flex_attention.{self.name}] must give a factor times the score, or a factor times its tanh, plus numbers that do not depend "
            f"on the score, with -inf where a pair is hidden, without branches on indices; it has {what}"
        )

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if any(functorch.is_functorch_wrapped_tensor(tensor) for tensor in tensors_in((args, kwargs))):
            raise UnsupportedError(
                f"[flex_attention.{self.name}] must not read a tensor that torch.func (grad, vmap, ...) derives or batches, nor call torch.func: "
                "query, key and value alone may be inside; make what it reads outside"
            )
        out = func(*args, **kwargs)
        raw = getattr(func, "__name__", str(func))
        read = []
        for tensor in tensors_in((args, kwargs)):
            reads = self.of(tensor)
            if reads is not None:
                read.append(reads)
            elif tensor.requires_grad and id(tensor) not in self.made:
                self.weights[id(tensor)] = tensor
        if not read:
            self.made.update((id(tensor), tensor) for tensor in tensors_in(out))
            return out
        if not isinstance(out, torch.Tensor):
            if raw in SHAPES:
                return out
            self.refuse(f"'{raw}' of an index or a score")
        if raw.endswith("_") and not raw.startswith("__"):
            self.refuse(f"'{raw}', which changes a number in place")
        if raw in FRESH:
            return out
        return self.add(out, self.result(raw.strip("_"), args, kwargs, read, out))

    def result(self, name: str, args: Any, kwargs: Any, read: list[Reads], out: torch.Tensor) -> Reads:
        batch, head = any(one.batch for one in read), any(one.head for one in read)
        reads = Reads(
            batch, head, None, any(one.positions for one in read), all(one.distance for one in read if one.positions)
        )
        if any(one.score is not None for one in read):
            score = self.score(name, args, kwargs)
            return Reads(batch, head, None, reads.positions, reads.distance, score)
        step = self.step(name, args, kwargs, out)
        if step is None:
            return reads
        reads = placed(step, batch=batch, head=head)
        return reads if out.dtype in WIDE and name not in DIFFERENCES - {"sub", "subtract"} else Reads(batch, head, None, reads.positions, reads.distance)

    def step(self, name: str, args: Any, kwargs: Any, out: torch.Tensor) -> tuple[int, int] | None:
        """Of a result that is, or compares, sums of positions: how far it moves with each of them."""
        if kwargs or not args:
            return None
        steps = [self.step_of(arg) for arg in args[:2]]
        first = steps[0]
        if first is None:
            return None
        if name in CONVERSIONS:
            return first if out.dtype in WIDE else None
        if name == "neg":
            return (-first[0], -first[1])
        second = steps[1] if len(args) == 2 else None
        if second is None:
            return None
        if name in ("add", "radd"):
            return (first[0] + second[0], first[1] + second[1])
        if name in DIFFERENCES:
            return (first[0] - second[0], first[1] - second[1])
        if name == "rsub":
            return (second[0] - first[0], second[1] - first[1])
        if name in ("mul", "rmul") and isinstance(args[1], int) and out.dtype in WHOLE:
            return (first[0] * args[1], first[1] * args[1])
        return None

    def step_of(self, value: Any) -> tuple[int, int] | None:
        if isinstance(value, int):
            return (0, 0)
        if not isinstance(value, torch.Tensor):
            return None
        reads = self.of(value) or NOTHING
        if reads.step is not None:
            return reads.step
        return (0, 0) if not reads.positions and value.dtype in WHOLE else None

    def score(self, name: str, args: Any, kwargs: Any) -> Score:
        scores = [(self.of(arg) or NOTHING).score for arg in args]
        first = scores[0] if scores else None
        second = scores[1] if len(scores) > 1 else None
        if kwargs and name not in CONVERSIONS:
            self.refuse(f"'{name}' of the score with {', '.join(kwargs)}")
        if name in CONVERSIONS and first is not None:
            return first
        if name in ("neg", "negative") and first is not None:
            return times(first, -1)
        if name == "tanh" and first is not None and not first.capped and not first.shifted:
            return Score(1.0, first.factor, capped=True)
        if name in ("mul", "multiply", "rmul", "div", "divide", "truediv") and len(args) == 2 and (first is None) != (second is None):
            if first is not None:
                factor = self.factor(args[1])
                return times(first, factor if "mul" in name else 1 / factor if factor != 0 else float("nan"))
            if second is not None and "mul" in name:
                return times(second, self.factor(args[0]))
        if name in ("add", "radd", "sub", "subtract", "rsub") and len(args) == 2:
            sign = -1.0 if name.startswith("sub") else 1.0
            if name == "rsub":
                (first, second), sign = (second, first), -1.0
            if first is not None and second is None:
                return Score(first.factor, first.inner, first.capped, True)
            if second is not None and first is None:
                return Score(sign * second.factor, second.inner, second.capped, True)
            if first is not None and second is not None and (first.inner, first.capped) == (second.inner, second.capped):
                return Score(first.factor + sign * second.factor, first.inner, first.capped, first.shifted or second.shifted)
        if name == "where" and len(args) == 3 and scores[0] is None:
            return self.chosen(args[1], args[2])
        if name == "masked_fill" and len(args) == 3 and first is not None and scores[1] is None:
            return self.chosen(args[0], args[2])
        self.refuse(f"'{name}' of the score")

    def chosen(self, one: Any, other: Any) -> Score:
        """One or the other: the same of the score, or hidden."""
        first, second = (self.of(each) or NOTHING for each in (one, other))
        found = [each.score for each in (first, second) if each.score is not None]
        hidden = [value for value, each in ((one, first), (other, second)) if each.score is None]
        if any(self.of(value) is not None or float(value) != float("-inf") for value in hidden):
            self.refuse("a number other than -inf in place of the score")
        kept = Score(found[0].factor, found[0].inner, found[0].capped, True)
        if any(Score(each.factor, each.inner, each.capped, True) != kept for each in found):
            self.refuse("factors of the score that depend on indices")
        return kept

    def factor(self, value: Any) -> float:
        if isinstance(value, torch.Tensor) and (self.of(value) is not None or value.requires_grad or value.numel() != 1):
            self.refuse("factors of the score that depend on indices or have gradients")
        return float(value)


def times(score: Score, factor: float) -> Score:
    return Score(score.factor * factor, score.inner, score.capped, score.shifted)


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from tensors_in(one)
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))


def read(name: str, function: Callable[..., Any], dtype: torch.dtype | None) -> tuple[Reads, list[torch.Tensor]]:
    """What function(score, batch, head, query, key) depends on, or function(batch, head, query, key) where `dtype` is None; and its own
    tensors that require gradients."""
    watch = Watch(name)
    with torch.enable_grad(), watch:
        indices = [
            watch.add(torch.zeros((), dtype=torch.int32), reads)
            for reads in (placed((0, 0), batch=True), placed((0, 0), head=True), placed((1, 0)), placed((0, 1)))
        ]
        scores = [] if dtype is None else [watch.add(torch.zeros((), dtype=dtype), Reads(score=Score()))]
        out = function(*scores, *indices)
    if not isinstance(out, torch.Tensor):
        raise ArgumentTypeError(f"[flex_attention.{name}] must give a tensor, got {type(out).__name__}")
    reads = watch.of(out) or NOTHING
    if dtype is None:
        if out.dtype != torch.bool:
            raise ArgumentTypeError(f"[flex_attention.{name}] must give a bool, got {str(out.dtype)[6:]}")
    elif reads.score is None:
        raise ArgumentError(f"[flex_attention.{name}] must give a number that depends on the score")
    return reads, list(watch.weights.values())
