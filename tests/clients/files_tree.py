"""A share as companies have it: contracts and figures in many formats, some not to be read."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import Shelf
from tests.formats.making_office import pptx, shape, sheet, slide, xlsx
from tests.formats.making_pdf import Page, make_pdf
from tests.formats.making_word import docx, p

SECRET = "sk_live_4eC39HqLyjWDarjtT1zdp7dc"
LONG = "".join(
    f"## Part {n}\n\nThe vendor delivers lot {n} for the contract.\n\n" for n in range(400)
)

PAGES = [Page(["Vendor contract", f"This is sheet number {n} of the agreement."]) for n in range(5)]
SHEETS = {
    "Q1": sheet("1: A1=vendor | B1=amount", "2: A2=Acme | B2=contract 10"),
    "Q2": sheet("1: A1=vendor | B1=amount", *(f"{n}: A{n}=Lot {n} contract" for n in range(2, 60))),
}
NOTEBOOK = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {},
    "cells": [
        {"cell_type": "markdown", "id": "a", "metadata": {}, "source": "# Vendor contract model"},
        {"cell_type": "markdown", "id": "b", "metadata": {}, "source": "It predicts lots."},
    ],
}

FILES: dict[str, str | bytes] = {
    "contracts/vendor_x_contract.docx": docx(
        "".join(
            p(f"Vendor X contract, clause {n}. {'More words of law. ' * 40}") for n in range(20)
        )
    ),
    "contracts/vendor_x_summary.pptx": pptx(
        *(slide(shape(f"Vendor X contract scope {n}"), shape("In 2021.")) for n in range(1, 4))
    ),
    "contracts/plan_20210503.md": "# Plan\n\nThe vendor plan without its year.\n",
    "contracts/agreement.pdf": make_pdf(PAGES),
    "finance/figures.xlsx": xlsx(SHEETS),
    "finance/lots.csv": "vendor,contract\n" + "".join(f"Acme {n},lot {n}\n" for n in range(50)),
    "finance/model.ipynb": json.dumps(NOTEBOOK),
    "finance/FY2021.txt": "Vendor spending, all of it under contract.\n",
    "mail/offer.eml": "From: Ann <ann@example.com>\nTo: bob@example.com\nSubject: Vendor contract\n"
    "Date: Tue, 04 May 2021 10:00:00 +0000\n\nPlease sign the vendor contract.\n",
    "site/page.html": "<html><head><title>Vendor page</title></head><body><h1>Vendor</h1>"
    "<p>About the contract, written in 2019.</p></body></html>",
    "site/long.md": f"# Everything about the vendor\n\n{LONG}",
    "people/secrets of ann.md": f"# Ann\n\nReach ann@example.com with {SECRET} for the vendor.\n",
    "people/ann@example.com notes.md": "# Notes of a person\n\nThe vendor called.\n",
    "locked.pdf": make_pdf([Page(["vendor"])], encrypt="secret"),
    "empty.pdf": make_pdf([Page([])]),
    ".env": f"TOKEN={SECRET}",
}
READABLE = [path for path in FILES if path not in ("locked.pdf", "empty.pdf", ".env")]


def write_tree(place: Path) -> Shelf:
    """Write the share and index it."""
    shelf = Shelf(place)
    for path, content in FILES.items():
        shelf.put(path, content)
    shelf.update()
    return shelf
