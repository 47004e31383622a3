"""How the documentation is built: `make docs`."""

import re
from pathlib import Path

project = "ringconv"
author = "The ringconv authors"
release = re.search(r'"(.+)"', (Path(__file__).parent.parent / "src/ringconv/_version.py").read_text())[1]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["dollarmath"]
html_theme = "furo"
html_title = f"ringconv {release}"
exclude_patterns = ["_build"]
nitpicky = False

autodoc_member_order = "bysource"
autodoc_typehints = "description"
napoleon_google_docstring = True
