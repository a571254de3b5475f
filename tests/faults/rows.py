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
        "What was written is found, nothing is half indexed, the next run goes on from there.",
    ),
    "F02": Row(
        "A write, sync or truncation of the database that fails, once or from then on",
        "The error is told; the index is as it was before or after, never between.",
        "Tried by a layer below SQLite that fails. What the word index writes does not pass "
        "through it: its library makes and syncs its files by itself.",
    ),
    "F03": Row(
        "A power failure: what was written and not synced is lost, in any order and in part",
        "The index is as it was before or after the step under way; what was told as written is "
        "kept.",
        "Tried below SQLite, by a disk that forgets. The word index is taken to have synced what "
        "its library says it has; where it is ahead of the documents or broken it is made anew. "
        "A disk that says it has synced and has not may lose more.",
    ),
    "F04": Row(
        "A full disk",
        "The run ends with the reason, search goes on in an index that was whole, and the work "
        "when there is room again.",
        "Where there was no room to make the index, a search ends with that reason too.",
    ),
    "F05": Row(
        "An index or documents on read-only media",
        "Served, and said so; an index with changes not yet merged is refused in words.",
    ),
    "F06": Row(
        "Cut, zeroed or flipped bytes in any file of the index",
        "Never answered from: each page of the database and each file of the word index carries a "
        "sum that is verified as it is read. What is damaged is refused or made anew by itself, "
        "and every cut is noticed. `bookwheel doctor --repair` makes the whole index anew.",
        "A file of the word index that looks as it did, size and times, is read whole again only "
        "after a day. Bits that flip in the log of a database that is being written are not seen, "
        "and those that nothing reads may go unnoticed.",
    ),
    "F07": Row(
        "Several processes on one index, the writer killed",
        "Another takes over at once, and nothing that was told as written is lost.",
    ),
    "F08": Row(
        "Files that change, vanish or turn into links while they are read",
        "Read again once, else listed with the reason; never half.",
    ),
    "F09": Row(
        "Any history of a folder: files and folders made, edited, renamed, moved, deleted, dated "
        "anew, locked away, replaced by another type",
        "The index that followed it says what one made afresh says.",
        "Among hits of equal score those come first that were indexed first. How rare a word is "
        "counts what was removed until its part of the word index is merged. A document that "
        "states no date keeps the day of its content when its file is merely touched.",
    ),
    "F10": Row(
        "Other content under the same size and time",
        "Found by `bookwheel index --full`; what is written in the moment of reading is seen "
        "by itself.",
        "Not seen otherwise: files are told apart by size and time.",
    ),
    "F11": Row(
        "Events that are lost, or that the system does not grant; a listener that dies",
        "Folders are looked through every `reconcile_seconds` whatever was heard. That nothing is "
        "heard is logged once, and tried again before each of these looks; looks that find what no "
        "event told of are counted (`bookwheel_unheard_changes_total`).",
    ),
    "F12": Row(
        "Clocks that jump by years, files dated in the past or the future",
        "Nothing is read anew for it, and limits count by a clock that nobody sets.",
    ),
    "F13": Row(
        "Files and folders without permission, names that are no text, paths too long",
        "Passed over, counted and listed with the reason; what was known of them is kept.",
    ),
    "F14": Row(
        "A share that is slow, hangs, or fails now and then",
        "A file that fails is listed and tried again, a folder that fails keeps its documents. A "
        "folder of which no name has come for 30 seconds is said to hang: others are indexed, and "
        "it is again when it answers.",
        "A read that never returns holds its worker up to the limit of time of a file. A share "
        "that does not even tell that it is a folder holds up indexing, or a start. One that "
        "begins to hang just when it begins to be listened to holds up the process.",
    ),
    "F15": Row(
        "A folder that is gone, empty or not mounted",
        "Its documents are kept and the problem is said, also where other files lie in the place "
        "of a share that is not mounted.",
        "Deleting all but a few files is taken at its word. So is a share within a collection's "
        "folder that is not mounted: name it as a folder of its own.",
    ),
    "F16": Row(
        "A reader of a file that crashes, hangs or takes all memory",
        "Its process is ended, the file is listed, the others are indexed.",
    ),
    "F17": Row(
        "No descriptors left, or no threads",
        "Connections beyond what the process may hold are refused with 503, those that are open "
        "are answered, indexing is whole. Calls for which there is no thread are refused as by a "
        "full server, and answered when there is one again.",
        "Below about 200 descriptors a server of many clients has none to spare.",
    ),
    "F18": Row(
        "Clients that stall, drop, half-close or flood",
        "Others are answered; who is silent for 30 seconds within a request is let go of.",
    ),
    "F19": Row(
        "SIGTERM, Ctrl-C or the end of input, under load too",
        "Calls are answered or their connections closed, the log of the database is merged, and "
        "the process is gone within five seconds.",
    ),
    "F20": Row(
        "A model that is missing, slow or of another dimension",
        "Words alone are searched, and it is said so. A server whose endpoint gives other "
        "dimensions makes all vectors anew, without being started again.",
    ),
    "F21": Row(
        "An upgrade that is interrupted, a downgrade",
        "A change of format is made in one transaction; an older version refuses a newer index and "
        "leaves it.",
        "0.1.0 has the first format that is kept: there is no change yet to interrupt.",
    ),
}
