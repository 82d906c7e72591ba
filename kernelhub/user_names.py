"""Names of new accounts: plain ASCII, so that none looks like another or means something in an address."""

from django.core.validators import RegexValidator

# 39 letters are what GitHub allows; who comes from there keeps the name.
validators = [
    RegexValidator(
        r"\A[A-Za-z0-9][A-Za-z0-9_.-]{0,37}[A-Za-z0-9_-]\Z",
        "A user name has 2 to 39 of the letters a to z, digits, _, - and . It begins with a letter or a "
        "digit and does not end with a dot.",
    )
]
