"""Which process runs which test, where several share a session."""

from xdist.scheduler import LoadScopeScheduling


class OneProcessForTheBrowser(LoadScopeScheduling):
    """Test by test, but all of the browser together and first: they share a site and take longest."""

    def _split_scope(self, nodeid: str) -> str:
        return "browser" if nodeid.startswith("tests/browser/") else nodeid
