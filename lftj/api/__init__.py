"""The classes that users hold: `connect`, `Workspace`, `Transaction`, `Snapshot`."""
