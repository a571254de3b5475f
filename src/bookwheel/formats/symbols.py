"""Letters of the Symbol and Wingdings fonts, which files store as codes without meaning."""

from __future__ import annotations

_PRIVATE = range(0xF000, 0xF100)
_GREEK = dict(
    zip(
        "ABCDEFGHIKLMNOPQRSTUWXYZabcdefghijklmnopqrstuwxyz",
        "ΑΒΧΔΕΦΓΗΙΚΛΜΝΟΠΘΡΣΤΥΩΞΨΖαβχδεφγηιϕκλμνοπθρστυωξψζ",
        strict=True,
    )
)
_SYMBOL = {
    0xA3: "≤",
    0xA5: "∞",
    0xAC: "←",
    0xAD: "↑",
    0xAE: "→",
    0xAF: "↓",
    0xB0: "°",
    0xB1: "±",
    0xB3: "≥",
    0xB4: "\u00d7",
    0xB7: "•",
    0xB9: "≠",
    0xBA: "≡",
    0xBB: "≈",
    0xD2: "®",
    0xD3: "©",
    0xD4: "™",
    0xE5: "∑",
}
_WINGDINGS = {
    0x6F: "☐",
    0xA8: "☐",
    0xDF: "←",
    0xE0: "→",
    0xFB: "✗",
    0xFC: "✓",
    0xFD: "☒",
    0xFE: "☑",
}


def symbol(font: str, code: str) -> str:
    """Return the letter that a font shows for a hexadecimal code, nothing for an ornament."""
    try:
        number = int(code[:6], 16)
    except ValueError:
        return ""
    if number not in _PRIVATE and number > 0xFF:
        return chr(number) if number < 0xD800 or 0xE000 <= number < 0x110000 else ""
    number &= 0xFF
    if font.lower().startswith("symbol"):
        return _SYMBOL.get(number) or _GREEK.get(chr(number)) or _ascii(number)
    if font.lower().startswith("wingdings"):
        return _WINGDINGS.get(number, "")
    return _ascii(number)


def _ascii(number: int) -> str:
    return chr(number) if 32 <= number < 127 else ""
