"""``python -m ragkit.surfaces.http.api`` prints the description that docs/openapi.json holds."""

from __future__ import annotations

import json
import sys

from ragkit.settings import load_settings
from ragkit.surfaces.http.api.app import application
from ragkit.surfaces.http.shared import SharedLibrary

described = application(SharedLibrary(load_settings())).openapi()
sys.stdout.write(json.dumps(described, indent=1, ensure_ascii=False) + "\n")
