"""Which model is asked: the first in the operator's order that there is, and no other."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bookwheel.llm.base import Check, Model
from bookwheel.settings import CLIENT, ENDPOINT, describe

if TYPE_CHECKING:
    from bookwheel.llm.sampling import Sample
    from bookwheel.settings import Settings

HOW_TO = (
    "Set llm_url to an OpenAI-compatible address, as http://localhost:11434/v1, and llm_model; or "
    "use a client that offers its own model (sampling)."
)


def choose_model(
    settings: Settings, sample: Sample | None, check: Check = lambda: None
) -> Model | None:
    """Return the model to ask; None where there is none.

    A model that fails is not followed by another: what is sent goes to one place.
    """
    for each in settings["llm_order"].split(","):
        if each == CLIENT and sample is not None:
            from bookwheel.llm.sampling import ClientModel

            return ClientModel(sample)
        if each == ENDPOINT and settings["llm_url"]:
            from bookwheel.llm.http import Endpoint, HttpModel

            url, model = settings["llm_url"], settings["llm_model"]
            key, timeout = _key_for(settings), settings["llm_timeout"]
            return HttpModel(Endpoint(url, model, key, timeout), check=check)
    return None


def _key_for(settings: Settings) -> str | None:
    """Return the key, unless it is one that was set for another place.

    A key in a variable that other programs share belongs to the address in the other such
    variable, or to the service that it is named for.
    """
    key: str | None = settings["llm_key"]
    is_shared = settings.origins["llm_key"] in describe("llm_key").other_names
    if not key or not is_shared:
        return key
    host = urlsplit(settings["llm_url"]).hostname or ""
    is_theirs = host == "openai.com" or host.endswith(".openai.com")
    came_along = settings.origins["llm_url"] in describe("llm_url").other_names
    return key if is_theirs or came_along else None
