"""What can go wrong beside an attacker, and what then happens: the rows of docs/operations.md.

A test shows a row by the number in its name: `test_f04_...` is about F04.
"""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """One fault, what is promised of it, and what is not."""

    fault: str
    promise: str
    limits: str = ""


ROWS = {
    "F01": Row(
        "kill -9, or the machine's memory killer, while documents are indexed or embedded",
        "What was written is found, nothing is half indexed, and the next run goes on from there.",
    ),
    "F02": Row(
        "A write, sync or truncation of the database that fails, once or from then on",
        "The error is reported; the index is as it was before or after, never between.",
        "Tested by a layer below SQLite that fails. The word index does not write through that "
        "layer: its library makes and syncs its files by itself.",
    ),
    "F03": Row(
        "A power failure: what was written but not synced is lost, in any order and in part",
        "The index is as it was before or after the step under way; what was reported as written "
        "is kept.",
        "Tested below SQLite, by a disk that forgets. The word index is assumed to have synced "
        "what its library says it has; if it is ahead of the documents or broken, it is made anew. "
        "A disk that falsely says it has synced may lose more.",
    ),
    "F04": Row(
        "A full disk",
        "The run ends with the reason. Search goes on in an index that was whole, and indexing "
        "goes on when there is room again.",
        "If there was no room to make the index, a search ends with that reason too.",
    ),
    "F05": Row(
        "An index or documents on read-only media",
        "Both are served, with a remark; an index with changes not yet merged is refused, with the "
        "reason.",
        "Where the folder of the index may not be written, a server answers from the index as it "
        "was when it started, even if its owner goes on indexing.",
    ),
    "F06": Row(
        "Cut, zeroed or flipped bytes in any file of the index",
        "Never answered from: each page of the database and each file of the word index carries a "
        "sum that is verified as it is read, and in a running server too as soon as a file looks "
        "other than it did. What is damaged is refused or made anew by itself, "
        "and every cut is noticed. `bookwheel doctor --repair` makes the whole index anew.",
        "A file of the word index that looks as it did, size and times, is read whole again only "
        "after a day. Bits that flip in the log of a database that is being written are not seen, "
        "and those that nothing reads may go unnoticed.",
    ),
    "F07": Row(
        "Several processes on one index, the writer killed",
        "Another takes over at once, and nothing that was reported as written is lost.",
    ),
    "F08": Row(
        "Files that change, vanish or turn into links while they are read",
        "Read again once, else listed with the reason; never half.",
    ),
    "F09": Row(
        "Any history of a folder: files and folders are made, edited, renamed, moved, deleted, "
        "given other dates or permissions, replaced by another type",
        "The index that followed it answers as one made afresh does.",
        "Among hits of equal score those indexed first come first. Removed documents count for how "
        "rare a word is until their part of the word index is merged. A document that states no "
        "date keeps the day of its content when its file is merely touched.",
    ),
    "F10": Row(
        "Other content under the same size and time",
        "Found by `bookwheel index --full`; a change in the moment of reading is noticed without "
        "it.",
        "Not noticed otherwise: files are compared by size and time.",
    ),
    "F11": Row(
        "Notices of changes that are lost, or that the system does not give; a listener that dies",
        "Folders are looked through every `reconcile_seconds` in any case. If the system gives no "
        "notices, that is logged once, and listening is tried again before each of these looks. "
        "Looks that find changes of which there was no notice are counted "
        "(`bookwheel_unheard_changes_total`).",
    ),
    "F12": Row(
        "Clocks that jump by years, files dated in the past or the future",
        "Nothing is read anew because of it, and limits count by a clock that cannot be set.",
    ),
    "F13": Row(
        "Files and folders that may not be read, names that are not text, paths that are too long",
        "They are skipped, counted and listed with the reason; what was known of them is kept.",
    ),
    "F14": Row(
        "A share that is slow, hangs, or fails now and then",
        "A file that fails is listed and tried again, a folder that fails keeps its documents. A "
        "folder that has listed no name for 30 seconds is reported as hanging: the others are "
        "indexed, and so is this one when it answers again.",
        "A read that never returns holds up its worker until the time limit of a file. A share "
        "that does not even answer whether it is a folder holds up indexing, or a start. One that "
        "begins to hang just when listening to it begins holds up the process.",
    ),
    "F15": Row(
        "A folder that is gone, empty or not mounted",
        "Its documents are kept and the problem is reported, even if other files are in the place "
        "of a share that is not mounted.",
        "If all but a few files are deleted, their documents go. So do those of a share inside a "
        "collection's folder while it is not mounted: give such a share as a folder of its own.",
    ),
    "F16": Row(
        "A reader of a file that crashes, hangs or takes all memory",
        "Its process is ended, the file is listed, the others are indexed.",
    ),
    "F17": Row(
        "No descriptors left, or no threads",
        "Connections beyond what the process may hold are refused with 503; those that are open "
        "are answered, and indexing is complete. Calls for which there is no thread are refused as "
        "by a full server, and answered when there is one again.",
        "Below about 200 descriptors a server of many clients has none to spare.",
    ),
    "F18": Row(
        "Clients that stall, drop, half-close or flood",
        "Others are answered; a client that is silent for 30 seconds within a request is "
        "disconnected.",
    ),
    "F19": Row(
        "SIGTERM, Ctrl-C or the end of input, under load too",
        "Calls are answered or their connections closed, the log of the database is merged, and "
        "the process is gone within five seconds.",
    ),
    "F20": Row(
        "A model that is missing, slow or of another dimension",
        "Search goes by words alone, and says so. If its endpoint gives other dimensions, a server "
        "makes all vectors anew without a restart.",
    ),
    "F21": Row(
        "An upgrade that is interrupted, a downgrade",
        "A change of format is made in one transaction; an older version refuses a newer index and "
        "leaves it as it is.",
        "0.1.0 has the first format that is kept: there is no change yet to interrupt.",
    ),
}
