"""Makes small e-books for tests."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

CONTAINER = """<?xml version="1.0"?>
<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>
<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/>
</rootfiles></container>"""

METADATA = """<dc:title>The Sea</dc:title><dc:creator>Ann Ash</dc:creator>
<dc:creator>Bob Birch</dc:creator><dc:language>en-GB</dc:language><dc:date>2001-02-03</dc:date>
<dc:description>&lt;p&gt;About &lt;i&gt;water&lt;/i&gt;.&lt;/p&gt;</dc:description>
<dc:subject>Tides</dc:subject><dc:subject>Ships</dc:subject>"""

NAVIGATION = """<html xmlns:epub="http://www.idpf.org/2007/ops"><body>
<nav epub:type="toc"><ol><li><a href="text/one.xhtml">Ebb</a></li>
<li><a href="text/two.xhtml#x">Flow</a></li></ol></nav></body></html>"""

NCX = """<?xml version="1.0"?>
<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://www.daisy.org/z3986/2005/ncx.dtd">
<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>
<navPoint><navLabel><text>Old ebb</text></navLabel><content src="text/one.xhtml"/></navPoint>
<navPoint><navLabel><text>Last</text></navLabel><content src="text/three.xhtml"/></navPoint>
</navMap></ncx>"""


def page(body: str, head: str = "") -> str:
    """Return a chapter in XHTML."""
    return (
        '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html>'
        f'<html xmlns="http://www.w3.org/1999/xhtml"><head>{head}</head><body>{body}</body></html>'
    )


def package_document(names: list[str], *, metadata: str = METADATA, extra: str = "") -> str:
    """Return an OPF whose spine has these files in this order."""
    items = "".join(
        f'<item id="i{number}" href="text/{name}" media-type="application/xhtml+xml"/>'
        for number, name in enumerate(names)
    )
    spine = "".join(f'<itemref idref="i{number}"/>' for number in range(len(names)))
    return f"""<package xmlns="http://www.idpf.org/2007/opf" version="3.0">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">{metadata}</metadata>
<manifest>{items}
<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest>
<spine><itemref idref="nav"/>{spine}</spine>{extra}</package>"""


def pack(members: Mapping[str, str | bytes]) -> bytes:
    """Return an e-book of these members."""
    file = BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as package:
        package.writestr("mimetype", "application/epub+zip", ZIP_STORED)
        for name, content in members.items():
            package.writestr(name, content)
    return file.getvalue()


def book(chapters: Mapping[str, str | bytes], **extra: str | bytes) -> bytes:
    """Return an e-book of these chapters, with a table of contents in both ways."""
    return pack(
        {
            "META-INF/container.xml": CONTAINER,
            "OEBPS/book.opf": package_document(list(chapters)),
            "OEBPS/nav.xhtml": NAVIGATION,
            "OEBPS/toc.ncx": NCX,
            **{f"OEBPS/text/{name}": content for name, content in chapters.items()},
            **extra,
        }
    )
