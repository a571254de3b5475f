"""Plants canaries: an address and a token of its own in every field of files of every kind.

Whatever a redacted library says to anybody must hold none of them.
"""

from __future__ import annotations

import json
from email.message import EmailMessage
from pathlib import Path
from random import Random

from tests.formats import making_office as office
from tests.formats import making_word as word
from tests.formats.making_epub import book, page
from tests.formats.making_pdf import Entry, Page, make_pdf

_LETTERS = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"


class Canaries:
    """Makes canaries and remembers them."""

    def __init__(self, seed: int = 7) -> None:
        self._random = Random(seed)
        self.all: list[str] = []

    def __call__(self, field: str) -> str:
        """Return a few words with an address and a token in them."""
        return f"walrus {self.address(field)} {self.token()} ice"

    def address(self, field: str) -> str:
        word = "".join(self._random.choices(_LETTERS[:23], k=8))
        self.all.append(f"{word}@{field}")
        return f"{word}@{field}.example.com"

    def token(self) -> str:
        token = "".join(self._random.choices(_LETTERS, k=36))
        self.all += [token[:12], token[-12:]]
        return "gh" + f"p_{token}"

    def seen_in(self, text: str) -> list[str]:
        """Return what of them a text holds, in whatever spelling of cases."""
        lowered = text.lower()
        return [canary for canary in self.all if canary.lower() in lowered]


def plant(folder: Path, canary: Canaries) -> None:
    """Write files of every kind below a folder."""
    texts = {name: text.encode() for name, text in _texts(canary).items()}
    for name, content in (texts | _binaries(canary)).items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def _texts(canary: Canaries) -> dict[str, str]:
    return {
        f"{_name(canary)}/of {_name(canary)}.md": f"# Walrus\n\n{canary('named')}\n",
        "note.md": (
            f"---\ntitle: {canary('title')}\ndescription: {canary('about')}\n"
            f"tags: [{canary('tag')}]\nauthor: {canary('author')}\nsource: {canary('source')}\n"
            f"url: https://example.org/?access_token={canary.token()}\n---\n"
            f"# {canary('heading')}\n\n{canary('text')} [{canary('link')}]"
            f"(https://example.org/?access_token={canary.token()}) and "
            f"[[{canary('wiki')}]] and [there](note2.md).\n\n## {canary('deeper')}\n\n"
            f"| a | b |\n|---|---|\n| {canary('cell')} | 1 |\n\n```sh\n{canary('code')}\n```\n"
        ),
        "note2.md": f"# Two\n\n[back](note.md) {canary('back')}\n",
        "page.html": (
            f"<html><head><title>{canary('title')}</title>"
            f'<meta name="description" content="{canary("about")}">'
            f'<meta name="author" content="{canary("author")}"></head><body>'
            f"<h1>{canary('heading')}</h1><p>{canary('text')}</p>"
            f'<a href="https://example.org/{canary.token()}">{canary("link")}</a>'
            f"<table><tr><td>{canary('cell')}</td></tr></table></body></html>"
        ),
        "plain.txt": f"{canary('first')}\n\n{canary('text')}\n",
        "rows.csv": f"who,{canary('column')}\nWalrus,{canary('cell')}\n",
        "old.rst": f"Walrus\n======\n\n{canary('text')}\n\n`{canary('link')} <http://a.example>`_\n",
        "list.org": f"#+TITLE: {canary('title')}\n* {canary('heading')}\n{canary('text')}\n",
        "guide.adoc": f"= {canary('title')}\n\n== {canary('heading')}\n\n{canary('text')}\n",
        "letter.rtf": "{\\rtf1\\ansi " + canary("text") + "\\par}",
        "work.ipynb": json.dumps(
            {
                "nbformat": 4,
                "nbformat_minor": 5,
                "metadata": {},
                "cells": [
                    {"cell_type": "markdown", "metadata": {}, "source": f"# {canary('heading')}"},
                    {
                        "cell_type": "code",
                        "metadata": {},
                        "execution_count": 1,
                        "source": f"print('{canary('code')}')",
                        "outputs": [
                            {"output_type": "stream", "name": "stdout", "text": canary("output")}
                        ],
                    },
                ],
            }
        ),
    }


def _name(canary: Canaries) -> str:
    """Return a name for a file or a folder."""
    return canary.address("path")


def _binaries(canary: Canaries) -> dict[str, bytes]:
    properties = office.core(
        title=canary("title"), creator=canary("author"), subject=canary("subject")
    )
    note = office.slide(office.shape(canary("notes"), "body"))
    return {
        "letter.docx": word.docx(
            word.styled(canary("heading"), "Heading1")
            + word.p(canary("text"))
            + word.table(word.cell(canary("cell")))
            + word.p(more=word.related(canary("link"), "r1")),
            links={"r1": f"https://example.org/{canary.token()}"},
        ),
        "talk.pptx": office.pptx(
            office.slide(
                office.shape(canary("heading"), "title"), office.shape(canary("text"), "body")
            ),
            more={
                "docProps/core.xml": properties,
                "ppt/notesSlides/notesSlide1.xml": note,
                "ppt/slides/_rels/slide1.xml.rels": office.relations(
                    "r1 notesSlide ../notesSlides/notesSlide1.xml"
                ),
            },
        ),
        "sums.xlsx": office.xlsx(
            {_name(canary)[:31]: office.sheet(f"1: A1={canary('cell')} | B1=2")},
            more={"docProps/core.xml": properties},
        ),
        "letter.odt": word.odt(
            f'<text:h text:outline-level="1">{canary("heading")}</text:h>'
            f"<text:p>{canary('text')}</text:p>",
            meta=f"<dc:title>{canary('title')}</dc:title><dc:creator>{canary('who')}</dc:creator>",
        ),
        "paper.pdf": make_pdf(
            [Page((canary("text"), canary("line")), links=((f"mailto:{_name(canary)}", 0),))],
            properties={"Title": canary("title"), "Author": canary("author")},
            outline=(Entry(canary("heading"), 1),),
            attachments=(f"{_name(canary)}.txt",),
        ),
        "tale.epub": book({"one.xhtml": page(f"<h1>{canary('heading')}</h1><p>{canary('p')}</p>")}),
        "post.eml": _mail(canary).as_bytes(),
    }


def _mail(canary: Canaries) -> EmailMessage:
    message = EmailMessage()
    message["From"] = _name(canary)
    message["To"] = f"Walrus <{_name(canary)}>"
    message["Subject"] = canary("subject")
    message.set_content(canary("text"))
    message.add_attachment(b"x", maintype="application", subtype="zip", filename=_name(canary))
    return message
