"""Where links lead and what documents are called, as keys that meet when the two are the same.

A link has one or two keys, the likelier first; a document has one for each of its names. A link
leads to a document that has its key. Nothing else is kept of the matter, so that documents may
come, go and be renamed in any order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple
from unicodedata import normalize
from urllib.parse import quote, unquote, urljoin

WIKILINK, DOI, ARXIV = "wikilink", "doi", "arxiv"
"""Kinds of links whose target is no address but a name."""
PAGE_EXTENSIONS = frozenset(
    ("md", "markdown", "mdx", "mdown", "mkd", "rst", "adoc", "asciidoc", "org", "txt", "text")
) | {"html", "htm", "xhtml", "php", "ipynb"}
"""Pages: links leave these extensions out, or have that of the published form."""
FRONT_PAGES = ("index", "_index", "readme")
"""What a link to a folder leads to, the likelier first."""
_PICTURES = frozenset(
    ("png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "bmp", "tif", "tiff", "ico", "heic")
)
CONFIDENCE = {"bare": 0.9, DOI: 0.8, ARXIV: 0.8}
"""How sure it is that a link cites, by its kind; all others are explicit links."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_WEB = frozenset(("http", "https", "ftp"))
_HOST = re.compile(r"(?:[^/?#@]*@)?([^/?#:@\[\]]*|\[[^\]]*\])(?::([0-9]*))?(?=[/?#]|$)")
_TRACKING = re.compile(
    r"(?:utm_\w+|fbclid|gclid|dclid|msclkid|igshid|mc_[ce]id|ref_src|_hs(?:enc|mi)|yclid)(?:=|$)",
    re.I,
)
_DOI = re.compile(r"10\.[0-9]{4,9}(?:\.[0-9]+)*/[^\s\"<>]+")
_DOI_HOSTS = frozenset(("doi.org", "dx.doi.org"))
_ARXIV = re.compile(
    r"(?:arxiv:)?\s*([0-9]{4}\.[0-9]{4,5}|[a-z-]+(?:\.[a-z]{2})?/[0-9]{7})(?:v[0-9]+)?(?:\.pdf)?",
    re.I,
)
_RESOLVERS = {DOI: "https://doi.org/", ARXIV: "https://arxiv.org/abs/"}
_PLAIN = "/:;()[],@!$&'*+="
"""Signs that stand for themselves in the path of an address, beside letters and digits."""
_ARXIV_DOI = "10.48550/arxiv."
_ARXIV_FILE = re.compile(r"([0-9]{4}\.[0-9]{4,5})(?:v[0-9]+)?")
_ARXIV_PATH = re.compile(r"/(?:abs|pdf|html|e-print)/(.+)", re.I)
_SPACES = re.compile(r"[\s_-]+")
_LONGEST_NAME = 300
_KEPT = 100_000


class Origin(NamedTuple):
    """The document that a link stands in."""

    collection: str
    path: str
    url: str | None = None
    folder: str = ""
    """What the collection's own folder is called, where that is known."""


def key(name: str) -> int:
    """Return the number that stands for a name."""
    from hashlib import blake2b  # which brings OpenSSL; a search asks for no key

    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def document_key(collection: str, path: str) -> int:
    """Return the key that one document alone has, the same wherever it is indexed."""
    return key(f"I:{collection}\0{path}")


def link_keys(kind: str, target: str, origin: Origin) -> tuple[int, ...]:
    """Return the keys of what a link leads to, at most two; none where it cites nothing."""
    if _is_picture(target):
        return ()
    if kind == WIKILINK:
        return _wiki_keys(target)
    if kind == DOI:
        return (doi_key(target),)
    if kind == ARXIV:
        return _arxiv_keys(target)
    scheme = _SCHEME.match(target)
    if scheme:
        return _scheme_keys(scheme[1].lower(), target, scheme.end(), origin)
    if _is_bare_address(target):
        return url_keys(target)
    return () if _DRIVE.match(target) else _path_keys(target, origin)


def _is_picture(target: str) -> bool:
    """Tell a link to a picture, which shows something and cites nothing."""
    path = target.partition("#")[0].partition("?")[0].rstrip()
    stem, dot, extension = path.rpartition(".")
    return bool(dot) and not stem.endswith("/") and extension.lower() in _PICTURES


def _is_bare_address(target: str) -> bool:
    """Tell a web address that is written without its scheme."""
    return target.startswith("//") or target[:4].lower() == "www."


def _scheme_keys(scheme: str, target: str, end: int, origin: Origin) -> tuple[int, ...]:
    if scheme in _WEB:
        return url_keys(target)
    if scheme == "docs":
        rest = target_path(target[end:]).strip("/")
        return key(f"P:{canonical(rest)}"), key(f"P:{canonical(f'{origin.collection}/{rest}')}")
    if scheme == "doi":
        return (doi_key(target[end:]),)
    return _arxiv_keys(target[end:]) if scheme == "arxiv" else ()


def confidence(kind: str) -> float:
    """Return how sure it is that a link of a kind cites what it leads to."""
    return CONFIDENCE.get(kind, 1.0)


def is_inside(kind: str, target: str) -> bool:
    """Tell a link to something of the library's own, which must be there, from one to the web."""
    if kind in (DOI, ARXIV):
        return False
    scheme = _SCHEME.match(target) if kind != WIKILINK else None
    if scheme:
        return scheme[1].lower() == "docs"
    return kind == WIKILINK or not _is_bare_address(target)


def place_of(kind: str, target: str, origin: Origin) -> str | None:
    """Return where a link by path leads to, the collection's name first; None for all others."""
    if kind == WIKILINK or not is_inside(kind, target) or _SCHEME.match(target):
        return None
    return "/".join(follow(absolute(target_path(target), origin)))


def web_address(kind: str, target: str) -> str:
    """Return where on the web a DOI or an arXiv id is found; any other target as it stands."""
    host = _RESOLVERS.get(kind)
    return host + quote(target, safe=_PLAIN) if host else target


def _path_keys(target: str, origin: Origin) -> tuple[int, ...]:
    path = target_path(target)
    if not path:
        return ()
    place = canonical(absolute(path, origin))
    if path.startswith("/"):
        # The site may be served from another folder than the collection's own.
        first, *others = _site_keys(place, origin)
    else:
        first, others = key(f"P:{place}"), []
    if origin.url and _SCHEME.match(origin.url):
        return _distinct(first, *url_keys(_join(origin.url, target)))
    if path.startswith("/"):
        return (first, *others)
    stem, is_page = without_extension(origin.path.rpartition("/")[2])
    if has_extension(path) or not is_page or stem.lower() in FRONT_PAGES:
        return (first,)
    # Published as `page/`, a page is itself the folder that its links begin from.
    inner = absolute(f"{stem}/{path}", origin)
    return _distinct(first, key(f"P:{canonical(inner)}"))


def _distinct(*keys: int) -> tuple[int, ...]:
    return tuple(dict.fromkeys(keys))[:2]


def _join(base: str, target: str) -> str:
    try:
        return urljoin(base, target)
    except ValueError:  # brackets that are no address
        return target


def _wiki_keys(target: str) -> tuple[int, ...]:
    name = target.partition("#")[0].partition("^")[0].strip().strip("/")
    if not name:
        return ()
    last = key(f"W:{squash(without_extension(name.rpartition('/')[2])[0])}")
    return _distinct(last, key(f"W:{squash(name)}")) if "/" in name else (last,)


def _arxiv_keys(target: str) -> tuple[int, ...]:
    found = _ARXIV.fullmatch(target.strip())
    return (key(f"A:{found[1].lower()}"),) if found else ()


@lru_cache(maxsize=_KEPT)
def url_keys(url: str) -> tuple[int, ...]:
    """Return the keys of a web address, however it is written."""
    host, rest = _split_url(url)
    if host in _DOI_HOSTS:
        return (doi_key(rest),)
    if host in ("arxiv.org", "export.arxiv.org"):
        paper = _ARXIV_PATH.match(rest)
        if paper and (keys := _arxiv_keys(paper[1].partition("?")[0])):
            return keys
    own = key(f"U:{host}{rest}")
    doi = _DOI.search(rest) if "/10." in rest else None
    return (own, doi_key(doi[0].partition("?")[0])) if doi else (own,)


def _split_url(url: str) -> tuple[str, str]:
    """Return host and rest of an address in their one form."""
    bare = url.strip().partition("//")[2] if "//" in url[:10] else url.strip()
    if "#/" not in bare and "#!" not in bare:  # where a page is drawn by its own script
        bare = bare.partition("#")[0]
    found = _HOST.match(bare)
    host, port = (found[1], found[2]) if found else ("", "")
    rest = bare[found.end() :] if found else bare
    host = host.lower().rstrip(".").removeprefix("www.")
    if port and port not in ("80", "443"):
        host = f"{host}:{port}"
    path, _, query = rest.partition("?")
    path = normalize("NFC", unquote(path)).rstrip("/")
    head, _, last = path.rpartition("/")
    path = head if last.lower() in ("index.html", "index.htm") else path
    kept = [part for part in query.split("&") if part and not _TRACKING.match(part)]
    return host, f"{path}?{'&'.join(kept)}" if kept else path


def doi_key(text: str) -> int:
    """Return the key of a DOI, whatever leads it; those of arXiv are its own ids."""
    found = _DOI.search(unquote(text))
    doi = (found[0] if found else text.strip().strip("/")).lower().rstrip(".,;:")
    paper = _ARXIV.fullmatch(doi.removeprefix(_ARXIV_DOI)) if doi.startswith(_ARXIV_DOI) else None
    return key(f"A:{paper[1]}" if paper else f"D:{doi}")


def target_path(target: str) -> str:
    """Return the path of a link without its query and anchor, decoded."""
    path = target.partition("#")[0].partition("?")[0].strip()
    if "%" in path:
        path = unquote(path)
    return path.replace("\\", "/") if "\\" in path else path


def absolute(path: str, origin: Origin) -> str:
    """Return a path as seen from above the collections, the collection's name leading it."""
    if path.startswith("/"):
        return f"{origin.collection}/{path.lstrip('/')}"
    inner = f"{origin.path.rpartition('/')[0]}/{path}"
    if origin.folder and ".." in path:
        # It may leave the collection and come back by the name of its folder.
        parts = follow(inner)
        if parts[:2] == ["..", origin.folder]:
            return "/".join((origin.collection, *parts[2:]))
    return f"{origin.collection}/{inner}"


@lru_cache(maxsize=_KEPT)
def canonical(path: str) -> str:
    """Return what several spellings of the path of one page have in common."""
    parts = follow(normalize("NFC", path).casefold())
    if parts:
        parts[-1] = without_extension(parts[-1])[0]
        if parts[-1] in FRONT_PAGES and len(parts) > 1:
            parts.pop()
    return "/".join(parts)


def follow(path: str) -> list[str]:
    """Return the parts of a path with `.` and `..` followed."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part and part != ".":
            parts.append(part)
    return parts


def _site_keys(place: str, origin: Origin) -> list[int]:
    """Return the keys of a page wherever its site begins: of its last two names.

    Between the language and a page near the top, `/en/docs/page`, a site may have a name more.
    """
    parts = place.split("/")
    keys = [_tail_key(parts, origin)]
    if len(parts) == 4:  # the collection's name leads
        keys.append(key(f"P:{parts[0]}/{parts[1]}/{parts[3]}"))
    return keys


def _tail_key(parts: list[str], origin: Origin) -> int:
    return key(f"S:{origin.collection}/{'/'.join(parts[-2:])}")


def without_extension(name: str) -> tuple[str, bool]:
    """Return a file's name without the extension of a page, and whether it had one."""
    stem, dot, extension = name.rpartition(".")
    is_page = bool(dot and stem) and extension.lower() in PAGE_EXTENSIONS
    return (stem, True) if is_page else (name, False)


def has_extension(path: str) -> bool:
    """Tell whether a path names a file by its extension."""
    name = path.rpartition("/")[2]
    extension = name.rpartition(".")[2] if "." in name.strip(".") else ""
    return 0 < len(extension) <= 5 and extension.isalnum() and not extension.isdigit()


def same_anchor(heading: str, anchor: str) -> bool:
    """Tell whether an anchor is one that publishers make of a heading: its letters and digits."""
    wanted = _letters(unquote(anchor))
    return bool(wanted) and _letters(heading) == wanted


def _letters(text: str) -> str:
    return "".join(letter for letter in normalize("NFC", text).casefold() if letter.isalnum())


def squash(name: str) -> str:
    """Return what spellings of a name have in common: neither case nor kind of blank counts."""
    return _SPACES.sub(" ", normalize("NFC", name[:_LONGEST_NAME]).casefold()).strip()


def document_names(origin: Origin, title: str, aliases: Iterable[str] = ()) -> tuple[int, ...]:
    """Return the keys of all that a link may call a document by."""
    stem, place = _stem(origin.path), f"{origin.collection}/{origin.path}"
    names = [*_place_keys(canonical(place), origin), key(f"W:{squash(stem)}")]
    if not without_extension(place)[1]:  # `paper.pdf` may be called `paper` too
        bare = place[: -len(place.rpartition(".")[2]) - 1] if "." in stem.strip(".") else place
        names += _place_keys(canonical(bare), origin)
        names.append(key(f"W:{squash(bare.rpartition('/')[2])}"))
    if title:
        names.append(key(f"W:{squash(title)}"))
    if origin.url:
        names += alias_keys(origin.url, origin)
    for alias in aliases:
        names += alias_keys(alias, origin)
    if paper := _ARXIV_FILE.fullmatch(re.sub(r"\.(?:pdf|html?|md|txt)$", "", stem)):
        names.append(key(f"A:{paper[1]}"))
    return tuple(dict.fromkeys([document_key(origin.collection, origin.path), *names]))


def _place_keys(place: str, origin: Origin) -> list[int]:
    return [key(f"P:{place}"), _tail_key(place.split("/"), origin)]


def _stem(path: str) -> str:
    """Return what a page is called by: the name of its file, or of its folder's front page."""
    folder, _, name = path.rpartition("/")
    stem = without_extension(name)[0]
    return folder.rpartition("/")[2] if folder and stem.lower() in FRONT_PAGES else stem


def alias_keys(alias: str, origin: Origin) -> list[int]:
    """Return the keys of another name: an address, a DOI, an arXiv id, a path or a title."""
    scheme = _SCHEME.match(alias)
    if (scheme and scheme[1].lower() in _WEB) or _is_bare_address(alias):
        return list(url_keys(alias))
    if (scheme and scheme[1].lower() == "doi") or _DOI.match(alias):
        return [doi_key(alias)]
    if scheme and scheme[1].lower() == "arxiv":
        return list(_arxiv_keys(alias[scheme.end() :]))
    names = [key(f"W:{squash(alias)}")]
    if "/" in alias:
        names += _place_keys(canonical(f"{origin.collection}/{alias}"), origin)
    return names
