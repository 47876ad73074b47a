from __future__ import annotations

import pytest

from ragkit.errors import SettingsError
from ragkit.models.factory import open_embedder
from ragkit.settings import ModelSettings


def test_an_unknown_embedder_names_the_choices():
    with pytest.raises(SettingsError, match="magic") as caught:
        open_embedder(ModelSettings(embedder="magic"))
    assert "wordllama" in caught.value.cure
