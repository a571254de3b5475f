"""Embedders are found by name; only the chosen one is loaded, and what is missing is named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bookwheel.embedders import registry
from bookwheel.errors import BadRequest
from bookwheel.settings import Settings, load
from tests.embedders.endpoints import serving, vectors

SETTINGS = load(use_start_folder=False, environment={})


def test_the_default_is_the_static_model() -> None:
    """It is loaded by its setting's default."""
    found = registry.load(SETTINGS["embedder"], SETTINGS)
    assert found is not None
    assert found.name == "static"


def test_none_is_none() -> None:
    """Whoever wants words alone gets no model."""
    assert registry.load("none", SETTINGS) is None


def test_minilm_is_found_by_its_name() -> None:
    """With its extra installed."""
    found = registry.load("minilm", SETTINGS)
    assert found is not None
    assert (found.name, found.dimensions) == ("minilm", 384)


def test_an_endpoint_is_made_from_the_settings() -> None:
    """Address, model and key come from the environment."""
    with serving(lambda _: vectors([[1.0, 2.0]])) as service:
        settings = _settings(
            BOOKWHEEL_EMBEDDER="http",
            BOOKWHEEL_EMBEDDING_URL=service.url,
            BOOKWHEEL_EMBEDDING_MODEL="tiny",
            BOOKWHEEL_EMBEDDING_KEY="sk-1",
        )
        found = registry.load(settings["embedder"], settings)
    assert found is not None
    assert found.dimensions == 2
    assert service.asked[0].key == "Bearer sk-1"


def _settings(**environment: str) -> Settings:
    return load(use_start_folder=False, environment=environment)


@pytest.mark.parametrize("name", ["", "Static", "statik", "static:x", "model2vec", "model2vec:"])
def test_an_unknown_name_is_refused_with_those_there_are(name: str) -> None:
    """Also a kind of model without the model, and a model where none is to be named."""
    with pytest.raises(BadRequest, match="There is no embedder") as refusal:
        registry.load(name, SETTINGS)
    assert "static, minilm, http, model2vec:MODEL" in refusal.value.advice


@pytest.mark.parametrize(
    ("name", "extra"),
    [("fastembed:x", "fastembed"), ("sentence-transformers:x", "sentence-transformers")],
)
def test_a_missing_extra_is_named(name: str, extra: str) -> None:
    """The hint is the line to type."""
    with pytest.raises(BadRequest, match="not installed") as refusal:
        registry.load(name, SETTINGS)
    assert f"needs {extra}, which is not installed" in refusal.value.advice
    assert f"pip install 'bookwheel[{extra}]'" in refusal.value.advice


def test_a_model_that_lacks_its_packages_says_what_to_install() -> None:
    """Where those that the tests have installed cannot be found."""
    program = """
import sys
sys.modules.update(dict.fromkeys(["onnxruntime", "model2vec"]))  # as if they could not be found
from bookwheel.embedders import registry
from bookwheel.errors import BadRequest
from bookwheel.settings import load
for name in ("minilm", "model2vec:x"):
    try:
        registry.load(name, load(use_start_folder=False, environment={}))
    except BadRequest as error:
        print(error.advice)
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert said.stdout.splitlines() == [
        "The embedder 'minilm' needs onnxruntime, which is not installed. "
        "Run pip install 'bookwheel[minilm]', or set the embedder to none.",
        "The embedder 'model2vec:x' needs model2vec, which is not installed. "
        "Run pip install 'bookwheel[model2vec]', or set the embedder to none.",
    ]


def test_only_what_is_chosen_is_imported() -> None:
    """The interface and the table cost nothing; the static model needs numpy alone."""
    program = """
import sys
heavy = ("numpy", "tokenizers", "huggingface_hub", "wordllama", "safetensors", "onnxruntime",
         "model2vec", "requests", "urllib.request")
import bookwheel.cli, bookwheel.library, bookwheel.embedders.base, bookwheel.embedders.registry
print([name for name in heavy if name in sys.modules])
from bookwheel.settings import load
settings = load(use_start_folder=False, environment={})
bookwheel.embedders.registry.load("none", settings)
print([name for name in heavy if name in sys.modules])
bookwheel.embedders.registry.load("static", settings).embed(["some text"])
print([name for name in heavy if name in sys.modules])
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert said.stdout.splitlines() == ["[]", "[]", "['numpy']"], said.stderr


def test_a_search_by_words_loads_no_model(tmp_path: Path) -> None:
    """The command line pays for numpy only when a model is asked."""
    (tmp_path / "page.md").write_text("# Salt\n\nA pinch of salt.", encoding="utf-8")
    program = f"""
import sys
from bookwheel.library import Library
from bookwheel.query import SearchRequest
from bookwheel.settings import load
settings = load({{"index": {str(tmp_path / "index")!r}, "embedder": "none"}},
                use_start_folder=False, environment={{}})
if __name__ == "__main__":
    with Library.open(settings, [{str(tmp_path)!r}]) as library:
        library.update()
        library.search(SearchRequest("salt"))
    print([name for name in ("numpy", "tokenizers") if name in sys.modules])
"""
    script = tmp_path / "program.py"
    script.write_text(program, encoding="utf-8")
    said = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert said.stdout == "[]\n", said.stderr
