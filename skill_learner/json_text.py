"""JSON text of many small values.

`json` sets its encoder up anew for every value, which takes it longer than a small one is long.
"""

from __future__ import annotations

import json
import json.encoder
from collections.abc import Callable
from typing import Any


def made_once(encoder: json.JSONEncoder) -> Callable[[Any], str]:
    """What `encoder.encode` does, set up once; that itself where this Python has another way,
    and for an encoder that looks for circles or leaves letters as they are."""
    if not encoder.ensure_ascii or encoder.check_circular:
        return encoder.encode
    try:
        chunks = json.encoder.c_make_encoder(  # type: ignore[attr-defined]  # as `iterencode` does
            None,
            encoder.default,
            json.encoder.encode_basestring_ascii,
            encoder.indent,
            encoder.key_separator,
            encoder.item_separator,
            encoder.sort_keys,
            encoder.skipkeys,
            encoder.allow_nan,
        )
    except (AttributeError, TypeError):
        return encoder.encode
    return lambda value: "".join(chunks(value, 0))
