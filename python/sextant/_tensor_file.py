"""Files of named tensors."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterator, Mapping

from . import _core
from ._sources import path_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


class TensorFile(Mapping[str, "NDArray[Any]"]):
    """The tensors of a .safetensors file by name: read-only arrays of NumPy that borrow the mapped file, so that opening takes no
    time and memory holds what is looked at. They stay valid when the file is removed or replaced by another one, as programs that
    save do; they are not when it is overwritten in place, and a program that looks at what was cut off is ended by the system
    (SIGBUS): np.array(file["name"]) is a copy. bfloat16 is that of ml_dtypes.

    Args:
        path: the file; a model.safetensors.index.json of several files; or a folder with one of these

    Raises:
        ValueError: a file that is missing or damaged, or does not fit the index
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._core = _core.TensorFile.open(path_of(path, "tensor_file.path"))

    @property
    def path(self) -> str:
        """Of the file, or of the index."""
        return self._core.path

    @property
    def files(self) -> list[str]:
        """The .safetensors files."""
        return self._core.files

    @property
    def metadata(self) -> dict[str, str]:
        """The texts that the file stores with its tensors."""
        return self._core.metadata

    def __getitem__(self, name: str) -> NDArray[Any]:
        array: Any = self._core.array(name) if isinstance(name, str) else None
        if array is None:
            raise KeyError(name)
        return array  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[str]:
        return iter(self._core.names())

    def __len__(self) -> int:
        return len(self._core.names())

    def __copy__(self) -> TensorFile:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> TensorFile:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorFile, (self.path,)

    def __repr__(self) -> str:
        return f"TensorFile({self.path!r}, {len(self)} tensors)"
