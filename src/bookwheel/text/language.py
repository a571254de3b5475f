"""Which language a text is written in, told cheaply: by script, then by its commonest words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache

STEMMERS = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nb": "norwegian",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
"""Language codes with a stemmer; every other language is indexed by its surface forms."""

_COMMON = {
    "en": "the and of to is in that for with are this be on as it by from or an not can you",
    "de": "der die und das ist nicht mit ein eine den von zu auf für im dem des sich auch werden",
    "fr": "le la les et des est une pour dans que qui du sur pas avec par vous sont au ce",
    "es": "el la los las y que en es una para por con se del no como está más su al",
    "it": "il la che di e un una per non con sono del della le si gli come da nel è",
    "pt": "o a os as que e de do da em um uma para não com por se é mais no",
    "nl": "de het een en van is dat op te in voor niet met zijn die aan er ook als worden",
    "sv": "och att det som en på är av för med till den inte om ett har de kan jag var",
    "da": "og at det en er af på til for med den der ikke som et har de kan vi jeg",
    "no": "og det at en er på av for til med som ikke den et har de kan jeg vi om",
    "fi": "ja on ei se että hän ovat joka mutta kun niin tai myös oli ole voi sen kuin mitä sitä",
    "pl": "i w nie na się że do jest to z jak o co ale po przez dla są być czy",
    "ro": "și de la în nu că pe cu este o un pentru din care mai sunt se ce sau prin",
    "hu": "a az és hogy nem is egy van ez meg de volt csak ha mint már el azt vagy még",
    "tr": "ve bir bu için ile de da olarak çok daha gibi olan en kadar ama var ne ya her sonra",
    "cs": "a se na je že to v do s o jako ale za by jsou pro si ve aby od",
    "id": "yang dan di dengan untuk tidak ini dari dalam akan pada itu adalah ke juga bisa ada",
    "ca": "el la els les i de que en és una per amb del no com més al són aquest o",
}
_ASKING = {
    "en": "how what when where why who which do does did i me my we our us a at so if",
    "de": "wie was wann wo warum wer welche welcher welches ich mir mich wir uns man kann",
    "fr": "comment quoi quand où pourquoi quel quelle quels quelles je me mon ma mes nous un",
    "es": "cómo qué cuándo dónde cuál cuáles quién yo me mi nos nuestro un",
    "it": "come cosa quando dove quale quali chi perché io mi mio ci i",
    "pt": "como quando onde porque qual quais quem eu me meu nos",
    "nl": "hoe wat wanneer waar waarom wie welke ik mij mijn wij ons",
}
"""Words with which people ask, beside the common ones: they say little about the answer."""
_FURTHER = {
    "en": "he him his she her they them their its your yours was were been being am have has had "
    "will would could should may might must shall but than then there these those here into out "
    "up over under about after before while because though only also just very too more most some "
    "any each both few such other no nor all much many off again once until upon through between "
    "during against without within",
    "de": "er sie es ihr ihm ihn ihnen ihre ihrer ihrem ihren sein seine seiner seinem seinen "
    "mein meine meinen dein deine unser unsere euch dir dich bin bist sind seid war waren wird "
    "wurde wurden habe hast hat haben hatte hatten wäre soll sollen muss müssen darf können "
    "könnte an am ab aus bei beim bis durch gegen ins in nach ob oder ohne seit so um unter über "
    "vor vom wegen wenn weil dass denn doch aber als also da dann dort hier noch nur schon sehr "
    "viel viele wieder zum zur zwischen einen einem einer eines kein keine keinen diese dieser "
    "dieses diesem diesen jede jeder jedes alle allen wem wen wessen woher wohin wozu welchem "
    "welchen",
    "fr": "il elle ils elles on tu te se sa ses son leur leurs notre nos votre vos ai as a avons "
    "avez ont était être avoir en y ne ni ou mais donc car si de aux cette ces cet plus moins "
    "très aussi sans sous entre chez vers comme dont tout tous toute toutes",
    "es": "él ella ellos ellas usted ustedes tú te ti lo le les un unos unas de a o u e ni pero "
    "si sin sobre entre desde hasta muy también ya son era fue ser ha han hay este esta estos "
    "estas ese esa eso sus mis todo todos toda todas porque cuando donde quien",
    "it": "lui lei loro noi voi lo ti vi ne ho hai ha abbiamo avete hanno era essere o ma se in "
    "su tra fra dal dalla nella al alla alle dei degli delle questo questa questi queste quello "
    "quella molto anche più senza tutto tutti suo sua",
    "pt": "ele ela eles elas você lhe ao à aos às na nas dos das um uns umas foi era ser são está "
    "tem têm há ou mas nem sem sobre entre até muito também já este esta isto esse essa isso seu "
    "sua seus suas todo todos toda todas",
    "nl": "hij zij ze wij we jij je u hem haar hun mij me ben bent was waren heeft heb hebben had "
    "zal zou kan kunnen moet moeten om bij naar uit over tot door maar of want dan nog wel geen "
    "deze dit daar hier veel meer zo",
}
"""More of the words that hold a sentence together, which a slip is never taken for."""
_SCRIPTS = (
    ("ja", "[\u3040-\u30ff]"),
    ("zh", "[\u4e00-\u9fff]"),
    ("ko", "[\uac00-\ud7af]"),
    ("th", "[\u0e00-\u0e7f]"),
    ("ru", "[\u0400-\u04ff]"),
    ("el", "[\u0370-\u03ff]"),
    ("hi", "[\u0900-\u097f]"),
    ("fa", "[\u067e\u0686\u0698\u06af\u06cc]"),
    ("ar", "[\u0600-\u06ff]"),
    ("hy", "[\u0530-\u058f]"),
    ("ta", "[\u0b80-\u0bff]"),
    ("he", "[\u0590-\u05ff]"),
)
_LETTERS, _ASCII_LETTERS = r"[^\W\d_]+", "[a-z]+"
_SAMPLE = 3000
_ENOUGH = 8
"""So many common words tell a language."""
_SHORT_TEXT, _FEW, _SHARE = 64, 4, 6
"""A text of no more words is told by so many different ones, if they are one word in so many."""


@cache
def _common_words() -> dict[str, tuple[str, ...]]:
    """Return for each common word the languages that have it."""
    languages: dict[str, list[str]] = {}
    for language, words in _COMMON.items():
        for word in words.split():
            languages.setdefault(word, []).append(language)
    return {word: tuple(names) for word, names in languages.items()}


@cache
def _all_function_words() -> dict[str, tuple[str, ...]]:
    """Return for each word that holds sentences together the languages that have it."""
    every = {word for language in _COMMON for word in function_words(language)}
    return {word: tuple(each for each in _COMMON if word in function_words(each)) for word in every}


@cache
def filler_words(language: str) -> frozenset[str]:
    """Return the words of a language that a question holds and its answer need not."""
    return frozenset(f"{_COMMON.get(language, '')} {_ASKING.get(language, '')}".split())


@cache
def function_words(language: str) -> frozenset[str]:
    """Return all words of a language that only hold its sentences together."""
    return filler_words(language) | frozenset(_FURTHER.get(language, "").split())


def spoken_function_words(words: Iterable[str]) -> frozenset[str]:
    """Return those of some words that hold sentences together, in a language that has several."""
    known = _all_function_words()
    said = [word for word in words if word in known]
    counts = Counter(language for word in dict.fromkeys(said) for language in known[word])
    return frozenset(word for word in said if any(counts[each] > 1 for each in known[word]))


def detect_language(text: str, default: str = "en") -> str:
    """Return the language code of a text, or the default where there is too little to tell by."""
    sample = text[:_SAMPLE]
    if not sample.isascii():
        script = _by_script(sample)
        if script:
            return script
    words = re.findall(_ASCII_LETTERS if sample.isascii() else _LETTERS, sample.lower())
    counts = _count_languages(words, _common_words())
    if not counts:
        return default
    best, count = max(counts.items(), key=lambda item: item[1])
    if count >= _ENOUGH and count > 2 * counts.get(default, 0):
        return best
    return _by_few_words(words, default) if len(words) <= _SHORT_TEXT else default


def _count_languages(words: list[str], known: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    """Return how many of some words each language has."""
    counts: dict[str, int] = {}
    for word in words:
        for language in known.get(word, ()):
            counts[language] = counts.get(language, 0) + 1
    return counts


def _by_few_words(words: list[str], default: str) -> str:
    """Return the language of a short text, by all words that hold sentences together.

    A good share of it must be such words of one language, several of them, and fewer of any other.
    Single letters tell nothing: tables and programs are full of them.
    """
    words = [word for word in words if len(word) > 1]
    counts = _count_languages(words, _all_function_words())
    rivals = sorted(counts.items(), key=lambda item: -item[1])[:2]
    (best, count), (_, second) = (*rivals, ("", 0), ("", 0))[:2]
    different = len(function_words(best).intersection(words))
    is_clear = count > second and count > 2 * counts.get(default, 0)
    return best if different >= _FEW and count * _SHARE >= len(words) and is_clear else default


def _by_script(sample: str) -> str | None:
    """Return the language of the script that makes up a good part of the sample."""
    enough = max(4, len(sample) // 8)
    for language, letters in _SCRIPTS:
        if len(re.findall(letters, sample)) >= enough:
            return language
    return None


def base_language(code: str | None) -> str | None:
    """Return `pt` for `pt-BR` and `PT_br`; None for what is no language code."""
    if not code:
        return None
    base = re.split("[-_]", code.strip().lower(), maxsplit=1)[0]
    return base if 2 <= len(base) <= 3 and base.isalpha() else None
