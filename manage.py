#!/usr/bin/env python
"""Django's command line."""

import os
import sys


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kernelhub.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db import OperationalError

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        # A wrong setting is the operator's to mend: one sentence, no traceback.
        print(f"Configuration error: {error}", file=sys.stderr)  # noqa: T201
        return 1
    except OperationalError as error:
        if not str(error).startswith("connection "):
            raise
        from kernelhub.settings import DATA_DIR, DATABASES

        place = DATABASES["default"]
        known = place["HOST"] and place["PORT"] not in ("", 1)
        where = f"{place['HOST']}:{place['PORT']}" if known else f"{DATA_DIR} (KERNELHUB_DATA)"
        print(f"no database at {where}: start the site first: make run", file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
