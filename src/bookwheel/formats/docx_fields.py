"""Fields of a Word document: of an instruction and its result, the result is what people see."""

from __future__ import annotations

from bookwheel.formats.fields import button_text, link_target
from bookwheel.formats.manuscript import write_link

_MAX_OPEN = 50
"""Fields within fields; more of them are never ended."""


class _Field:
    """An open field: from `start` on stands its instruction, then its result."""

    __slots__ = ("instruction", "is_result", "start")

    def __init__(self, start: int) -> None:
        self.start = start
        self.instruction = ""
        self.is_result = False


class Fields:
    """The fields that are open at a point of the text, which is put together in `out`."""

    def __init__(self, out: list[str], *, is_used: bool = True) -> None:
        self._out = out
        self._is_used = is_used
        self._open: list[_Field] = []
        self._is_overfull = False

    @property
    def are_open(self) -> bool:
        """Tell whether the text so far ends within a field."""
        return bool(self._open)

    @property
    def are_broken(self) -> bool:
        """Tell whether an instruction never ended, so that it has swallowed what follows."""
        return self._is_overfull or any(not field.is_result for field in self._open)

    def mark(self, kind: str) -> None:
        """Begin a field, go from its instruction to its result, or end it."""
        if not self._is_used:
            return
        if kind == "begin" and len(self._open) >= _MAX_OPEN:
            self._is_overfull = True
        elif kind == "begin":
            self._open.append(_Field(len(self._out)))
        elif self._open and kind == "separate":
            field = self._open[-1]
            self._take_instruction(field)
            field.is_result = True
        elif self._open and kind == "end":
            self._settle(self._open.pop())

    def instruct(self, text: str) -> None:
        """Add to the instruction of the field that is open."""
        if self._open and not self._open[-1].is_result:
            self._out.append(text)

    def pause(self) -> None:
        """End the paragraph; fields that are open go on in the next one."""
        for field in reversed(self._open):
            if field.is_result:
                self._settle(field)
            else:
                self._take_instruction(field)
            field.start = 0

    def _settle(self, field: _Field) -> None:
        if not field.is_result:
            self._take_instruction(field)
            self._out.append(button_text(field.instruction))
        elif target := link_target(field.instruction):
            shown = "".join(self._out[field.start :])
            del self._out[field.start :]
            self._out.append(write_link(shown, target))

    def _take_instruction(self, field: _Field) -> None:
        field.instruction += "".join(self._out[field.start :])
        del self._out[field.start :]
