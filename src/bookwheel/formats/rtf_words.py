"""Control words of RTF: letters that they stand for, groups that hold no text, code pages."""

from __future__ import annotations

import codecs
from typing import NamedTuple

LETTERS = {
    "tab": "\t",
    "line": "\n",
    "lbr": "\n",
    "softline": "\n",
    "column": "\n",
    "emdash": "\u2014",
    "endash": "\u2013",
    "emspace": "\u2003",
    "enspace": "\u2002",
    "qmspace": "\u2005",
    "bullet": "\u2022",
    "lquote": "\u2018",
    "rquote": "\u2019",
    "ldblquote": "\u201c",
    "rdblquote": "\u201d",
    "zwj": "\u200d",
    "zwnj": "\u200c",
}
SIGNS = {"~": "\u00a0", "_": "-", "{": "{", "}": "}", "\\": "\\"}

# fmt: off
UNSHOWN = frozenset((
    "aftncn", "aftnsep", "aftnsepc", "atndate", "atnicn", "atnparent", "atnref", "atntime",
    "atrfend", "atrfstart", "background", "bkmkend", "bkmkstart", "blipuid", "buptim", "category",
    "colorschememapping", "colortbl", "comment", "company", "datafield", "datastore", "defchp",
    "defpap", "docvar", "ebcend", "ebcstart", "factoidname", "falt", "fchars", "ffdeftext",
    "ffentrymcr", "ffexitmcr", "ffformat", "ffhelptext", "ffl", "ffname", "ffstattext", "file",
    "filetbl", "fldtype", "fontemb", "fontfile", "formfield", "ftncn", "ftnsep", "ftnsepc",
    "generator", "gridtbl", "hlinkbase", "htmltag", "keycode", "latentstyles", "lchars",
    "listname", "listoverridetable", "listpicture", "liststylename", "listtable",
    "lsdlockedexcept", "mailmerge", "manager", "mhtmltag", "mmathPr", "nextfile", "nonesttables",
    "nonshppict", "objalias", "objclass", "objdata", "objname", "objsect", "objtime", "oldcprops",
    "oldpprops", "oldsprops", "oldtprops", "oleclsid", "operator", "panose", "password",
    "passwordhash", "pgp", "pgptbl", "picprop", "pict", "pn", "pnseclvl", "pntxta", "pntxtb",
    "printim", "private", "propname", "protend", "protstart", "protusertbl", "pxe", "revtbl",
    "revtim", "rsidtbl", "rxe", "shppict", "shprslt", "sn", "sp", "staticval", "svb", "tc",
    "template", "themedata", "txe", "userprops", "wgrffmtfilter", "windowcaption",
    "writereservation", "writereservhash", "xe", "xform", "xmlattrname", "xmlattrvalue",
    "xmlclose", "xmlname", "xmlnstbl", "xmlopen",
))
# fmt: on
"""Destinations whose text is for programs."""
ENTERED = frozenset(
    {"shpinst", "shpgrp", "do", "mmath", "moMath", "moMathPara", "mr", "nesttableprops", "ud"}
)
"""Destinations that may be passed over but hold text within them."""

_CHARSETS = {
    77: "mac_roman",
    78: "shift_jis",
    79: "big5",
    80: "euc_kr",
    81: "mac_arabic",
    82: "cp1255",
    83: "mac_greek",
    84: "mac_cyrillic",
    85: "gb2312",
    86: "mac_romanian",
    87: "mac_cyrillic",
    88: "cp874",
    89: "mac_latin2",
    128: "cp932",
    129: "cp949",
    130: "johab",
    134: "gb18030",
    136: "cp950",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
    254: "cp437",
    255: "cp850",
}
_SYMBOL_CHARSET = 2
DOUBLE_BYTE = frozenset(
    {
        "cp932",
        "shift_jis",
        "cp949",
        "euc_kr",
        "johab",
        "gb18030",
        "gb2312",
        "cp936",
        "cp950",
        "big5",
    }
)


class Font(NamedTuple):
    """A font as far as it says which letters bytes stand for."""

    name: str = ""
    codec: str = ""
    """Nothing where the document's own holds."""
    is_symbol: bool = False


def set_charset(font: Font, charset: int) -> Font:
    """Return the font with the letters of this charset."""
    return font._replace(codec=_CHARSETS.get(charset, ""), is_symbol=charset == _SYMBOL_CHARSET)


def codec_of_page(page: int) -> str:
    """Return the codec of a code page."""
    name = {65001: "utf-8", 10000: "mac_roman", 936: "gb18030"}.get(page, f"cp{page}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "cp1252"
